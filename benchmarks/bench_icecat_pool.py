"""What is a pool worth? The Icecat products with bm25, dense, hybrid and three foreign runs, as tables.

Builds a project with the commands, imports the campaign's ratings and the runs of its second campaign,
pools all six systems to depth 10 and prints: what each system alone found and what would be lost without it,
the judged share of its first ten places, how many hard negatives the queries have, and the near-duplicates
and suspects. Needs ../shared/data beside the checkout; dense embeds 19,406 products: ten minutes of CPU.

Usage: python -m benchmarks.bench_icecat_pool [--without-dense] [--project FILE]
Smallest: python -m benchmarks.bench_icecat_pool --without-dense
Needs: minutes

--project keeps the project in FILE, or goes on from one that holds all but the pool.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support import GOLDSET, ROOT

ICECAT = ROOT.parent / "shared" / "data" / "chorus_icecat"
RATINGS = ICECAT / "Broad_Query_Set_rated.csv"
RUNS = ("no-vector", "vector-2", "with-vector")


def goldset(project: Path, *arguments: str | Path) -> dict[str, Any]:
    """Run one command and give its JSON.

    Raises
    ------
    SystemExit: the command failed.
    """
    command = [GOLDSET, "--project", str(project), *map(str, arguments), "--json"]
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}\n{done.stderr}")
    print(
        f"{time.monotonic() - started:6.1f} s  goldset {' '.join(map(str, arguments[:2]))}", file=sys.stderr
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def fill(project: Path, folder: Path) -> None:
    """The products, the rated queries, their ratings and the three runs."""
    goldset(project, "init")
    fields = ("--id-field", "id", "--title-field", "title", "--body-field", "short_description")
    goldset(project, "import", "corpus", ICECAT / "products.jsonl.gz", *fields)
    with RATINGS.open(encoding="utf-8", newline="") as file:
        texts = sorted({row["query"] for row in csv.DictReader(file)})
    (folder / "queries.tsv").write_text("text\n" + "\n".join(texts) + "\n", encoding="utf-8")
    goldset(project, "import", "queries", folder / "queries.tsv")
    fields = ("--query-field", "query", "--document-field", "docid", "--grade-field", "rating")
    goldset(project, "import", "judgments", RATINGS, *fields, "--annotator", "campaign", "--skip-unknown")
    for name in RUNS:
        path = ICECAT / "campaign_2" / f"run_{name}.tsv"
        options = ("--name", name, "--query-field", "query", "--skip-unknown", "--skip-repeated")
        goldset(project, "import", "run", path, *options)


def share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def print_contributions(report: dict[str, Any]) -> None:
    print(
        f"\n{report['queries']} queries to depth {report['depth']}: {report['candidates']:,} candidates, "
        f"{report['graded']:,} graded, {report['relevant']:,} relevant.\n"
    )
    print("| system | candidates | alone | graded | relevant | lost without | share lost | judged at 10 |")
    print("|---|---|---|---|---|---|---|---|")
    for line in report["systems"]:
        counts = " | ".join(
            f"{line[name]:,}" for name in ("candidates", "alone", "graded", "relevant", "lost")
        )
        print(
            f"| {line['system']} | {counts} | {share(line['lost_share'])} | {share(line['judged_at_10'])} |"
        )
    for twins in report["twins"]:
        print(f"\nThe same list: {' and '.join(twins['systems'])}; without all of them {twins['lost']} lost.")


def print_negatives(report: dict[str, Any]) -> None:
    counts = [len(query["negatives"]) for query in report["queries"]]
    bands = Counter("0" if n == 0 else "1–4" if n < 5 else "5–9" if n < 10 else "10 or more" for n in counts)
    print("\n| hard negatives | queries |\n|---|---|")
    for band in ("0", "1–4", "5–9", "10 or more"):
        print(f"| {band} | {bands[band]} |")
    print(
        f"\n{report['negatives']:,} hard negatives, {report['near_duplicates']} near-duplicates of a "
        f"relevant document excluded, {report['suspects']:,} suspects."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--without-dense", action="store_true", help="pool bm25 and the runs only: seconds")
    parser.add_argument("--project", type=Path, help="keep the project here, or go on from it")
    asked = parser.parse_args()
    if not ICECAT.is_dir():
        sys.exit(f"the Icecat products are not at {ICECAT}")
    own = ("bm25",) if asked.without_dense else ("bm25", "dense", "hybrid")
    systems = ",".join([*own, *(f"run:{name}" for name in RUNS)])
    with tempfile.TemporaryDirectory() as name:
        project = asked.project or Path(name) / "project.duckdb"
        if not project.exists():
            fill(project, Path(name))
        goldset(
            project, "pool", "--systems", systems, "--depth", "10", "--random-negatives", "0", "--seed", "1"
        )
        print_contributions(goldset(project, "contributions"))
        print_negatives(goldset(project, "negatives"))


if __name__ == "__main__":
    main()
