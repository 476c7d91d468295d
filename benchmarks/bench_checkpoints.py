"""How long may a log be that is left when the file is let go of, and what the guard of checkpoints costs.

The file is let go of after each grade, as where two people think for seconds, or after twelve, as where 25
people grade twice a second. Whoever opens it next reads the log again, and a checkpoint is made once the log
is longer than so many bytes. The project has 20,000 judgments. The ways take turns, a block of grades each,
and processor time is counted, because other work on the machine changes it little. Then one commit of many
documents that goes straight into the file, with the guard and without it.

Usage: python -m benchmarks.bench_checkpoints [times that the file is let go of, default 480]
    [--judgments 20000] [--documents 20000]
Smallest: python -m benchmarks.bench_checkpoints 4 --judgments 100 --documents 50
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from benchmarks.bench_leases import INSERT, project
from curation.store import Store, append, database, files, utc_now
from curation.store.on_disk import checkpoints
from curation.text import digest

LEFT = (0, 4_096, 8_192, 16_384, 32_768, 65_536)
BLOCKS = 4
TOGETHER = (1, 12)


class Cost(NamedTuple):
    """Milliseconds of processor and of the clock."""

    processor: float
    clock: float


def grade(store: Store, number: int, together: int) -> None:
    """A grade as it is stored; the file is let go of after so many."""
    with store.transaction() as cursor:
        key = f"key {number}"
        cursor.execute(INSERT, [digest(key), "ada", key, utc_now()])
    if number % together == together - 1:
        store._let_go()


def measured(store: Store, left: int, numbers: range, together: int) -> Cost:
    """A block of grades with so many bytes of log left."""
    with patch.object(files, "LOG_LEFT", left), patch.object(database, "LONGEST", 60.0):
        clock, processor = time.perf_counter(), time.process_time()
        for number in numbers:
            grade(store, number, together)
        return Cost(1000 * (time.process_time() - processor), 1000 * (time.perf_counter() - clock))


def logs(graded: Path, grades: int, together: int) -> dict[int, Cost]:
    """Bytes of log left → the mean cost of a grade, each on a copy of the project."""
    stores = {
        left: Store(Path(shutil.copy(graded, graded.with_stem(f"left {left} of {together}"))))
        for left in LEFT
    }
    block, found = max(1, grades // BLOCKS), {left: [0.0, 0.0] for left in LEFT}
    for number in range(BLOCKS):
        for left, store in stores.items():
            cost = measured(store, left, range(number * block, (number + 1) * block), together)
            found[left] = [had + new for had, new in zip(found[left], cost, strict=True)]
    for store in stores.values():
        store.close()
    return {left: Cost(*(part / block / BLOCKS for part in sums)) for left, sums in found.items()}


def big_commit(small: Path, documents: int, guard: bool) -> Cost:
    """One commit of documents of 2,000 characters, to a copy of the project."""
    store = Store(Path(shutil.copy(small, small.with_stem(f"commit {guard}"))))
    ids = [f"d{number}" for number in range(documents)]
    bodies = [digest(number) * 31 for number in range(documents)]
    unguarded = patch.object(checkpoints, "guarded", lambda *_: nullcontext())
    with nullcontext() if guard else unguarded:
        clock, processor = time.perf_counter(), time.process_time()
        with store.transaction(large=True) as cursor:
            hashes = list(map(digest, ids))
            rows = {"content_hash": hashes, "document_id": ids, "title": ids, "body": bodies}
            append(cursor, "documents", {**rows, "metadata": ["{}"] * documents})
        cost = Cost(1000 * (time.process_time() - processor), 1000 * (time.perf_counter() - clock))
    store.close()
    return cost


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("grades", type=int, nargs="?", default=480)
    parser.add_argument("--judgments", type=int, default=20_000)
    parser.add_argument("--documents", type=int, default=20_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        graded, small = (
            project(folder, name, number) for name, number in (("graded", asked.judgments), ("small", 100))
        )
        for together in TOGETHER:
            found = logs(graded, asked.grades * together, together)
            usual = found[files.LOG_LEFT].processor
            for left, cost in found.items():
                print(
                    f"{together:2} at a time, log of {left:6,} bytes left: {cost.processor:5.1f} ms of "
                    f"processor a grade, {cost.clock:5.1f} of the clock; "
                    f"ratio to that of {files.LOG_LEFT:,} bytes {cost.processor / usual:.2f}",
                    flush=True,
                )
        with_guard, without = (big_commit(small, asked.documents, guard) for guard in (True, False))
        print(
            f"a commit of {asked.documents:,} documents: {with_guard.processor:.0f} ms of processor with the "
            f"guard, {without.processor:.0f} without: ratio {with_guard.processor / without.processor:.2f}"
        )


if __name__ == "__main__":
    main()
