"""A log of ten million rows: seconds and peak memory of its import and of a sample of 500 queries.

Writes a seeded CSV log in a temporary folder (queries by Zipf's law over two million texts, one row in two
hundred with an e-mail address, some quoted commas, times in order, four rows a session, six segments), then
runs `goldgrade import traffic` and `goldgrade sample --size 500`, each as a process of its own.
Written are wall and processor seconds and peak memory, and import and sample together as shares of the
limits (60 s, 2 GB, ten million rows). The other side, in the same run: the import of 500,000 of the rows in
the way that goes row by row, extrapolated to the whole log, and `csv.reader` counting the rows and doing
nothing else.

Usage: python -m benchmarks.bench_log [ROWS] [FOLDER] [--here]      (default 500000)
    The full size is 10000000. --here takes all steps in one process.
Smallest: python -m benchmarks.bench_log 600 --here
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import steps
from curation.operations.project import init_project

ROWS, QUERIES, ROW_PATH_ROWS = 500_000, 2_000_000, 500_000
SECONDS, MEGABYTES, FULL = 60.0, 2_000.0, 10_000_000
PART = 500_000
WORDS = (
    "red blue green black white shoes boots jacket coat dress shirt bag belt phone case cable charger "
    "laptop screen mouse desk chair lamp table sofa rug mirror towel soap brush bike helmet tent rope "
    "stove knife pan pot plate glass cup spoon fork book pen paper card box tape glue paint nail screw "
    "drill saw hammer ladder hose seed plant soil"
).split()
IMPORT = """
import sys
from pathlib import Path
from unittest.mock import patch
from curation.ingest.readers.blocks import NeedsRowReader
from curation.ingest.importers.traffic import log_columns
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.store import open_store
with patch.object(log_columns, "read_by_block", side_effect=NeedsRowReader):
    import_traffic(open_store(Path(sys.argv[1])), Path(sys.argv[2]))
"""
"""The import that goes row by row, as it does where a file is not plain."""
IDLE = "import curation.ingest.importers.traffic.traffic_import"


def write_log(path: Path, rows: int) -> None:
    """A seeded log of so many rows."""
    random = np.random.default_rng(3)
    with path.open("w", encoding="utf-8") as file:
        file.write("time,session,segment,query\n")
        for start in range(0, rows, PART):
            file.writelines(_rows(random, start, min(PART, rows - start), rows))


def _rows(random: np.random.Generator, start: int, size: int, rows: int) -> Iterator[str]:
    """Rows start to start + size; the second of a row grows with its number."""
    ranks = np.floor(np.exp(random.random(size) * np.log(QUERIES))).astype(int)
    seconds = np.datetime64("2026-01-01T00:00:00") + (np.arange(start, start + size) * 2_592_000 // rows)
    sessions = random.integers(max(1, rows // 4), size=size)
    segments = random.choice(
        ["de", "en", "fr", "it", "es", "pl"], p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05], size=size
    )
    for rank, second, session, segment, kind in zip(
        ranks.tolist(),
        seconds.astype(str).tolist(),
        sessions.tolist(),
        segments,
        random.integers(200, size=size),
        strict=True,
    ):
        query = _query(rank)
        if kind == 0:
            query = f"order of user{rank}@example.com"
        elif kind < 4:
            query = f'"{query}, large"'
        yield f"{second},s{session:08d},{segment},{query}\n"


def _query(rank: int) -> str:
    first, rest = divmod(rank * 7919, len(WORDS))
    second, third = first % len(WORDS), first // len(WORDS)
    return f"{WORDS[rest]} {WORDS[second]} {third:x}"


def count_rows(path: Path) -> float:
    """Seconds in which `csv.reader` reads the rows, and nothing is done with them."""
    started = time.monotonic()
    with path.open(encoding="utf-8", newline="") as file:
        sum(1 for _ in csv.reader(file))
    return time.monotonic() - started


def row_path(folder: Path, rows: int, here: bool) -> float:
    """Processor seconds a row of the import that goes row by row; the start of the process left out."""
    part, project = folder / "part.csv", folder / "rows.duckdb"
    write_log(part, rows)
    init_project(project).close()
    idle = steps.python(IDLE, here=here)
    cost = steps.python(IMPORT, project, part, here=here)
    return (cost.processor - idle.processor) / rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int, nargs="?", default=ROWS)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--here", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        measure(Path(name), arguments.rows, arguments.here)


def measure(folder: Path, rows: int, here: bool) -> None:
    """Print what both ways of the import and the sample cost."""
    log, project = folder / "log.csv", folder / "project.duckdb"
    write_log(log, rows)
    print(f"a log of {rows:,} rows, {log.stat().st_size / 1e6:,.0f} MB")
    init_project(project).close()
    costs = []
    for command in (["import", "traffic", log], ["sample", "--size", min(500, rows // 10), "--seed", 1]):
        cost = steps.goldgrade(project, *command, here=here)
        costs.append(cost)
        print(
            f"{cost.wall:7.1f} s ({cost.processor:.1f} s of processor) {cost.megabytes:6.0f} MB  "
            f"{' '.join(map(str, command[:2]))}",
            flush=True,
        )
    wall, peak = sum(cost.wall for cost in costs), max(cost.megabytes for cost in costs)
    share = f" ({wall / SECONDS:.2f} of the limit)" if rows == FULL else ""
    print(f"together {wall:.1f} s{share}, peak {peak:.0f} MB ({peak / MEGABYTES:.2f} of the limit)")
    part = min(rows, ROW_PATH_ROWS)
    by_row, plain = row_path(folder, part, here) * rows, count_rows(log)
    print(
        f"row by row the import takes {by_row:.1f} s of processor (extrapolated from {part:,} rows): "
        f"{by_row / costs[0].processor:.1f} times as much"
    )
    print(f"csv.reader counting rows takes {plain:.1f} s: {plain / costs[0].wall:.2f} of the import's time")


if __name__ == "__main__":
    main()
