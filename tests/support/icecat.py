"""The whole path on the Icecat products, as the commands a lead would type.

Used by the pipeline test and by benchmarks/bench_path.py.
"""

from __future__ import annotations

import csv
from pathlib import Path

RATERS = ("agent_1_rating", "agent_2_rating", "agent_3_rating")


def ratings(shared: Path) -> list[dict[str, str]]:
    """The rows of the three raters' file: query, docid, three ratings, the final one."""
    path = shared / "chorus_icecat" / "Broad_Query_Set_individual_ratings.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_traffic(shared: Path, path: Path) -> None:
    """The 135 rated queries as a log, each as often as it has rated products."""
    counts: dict[str, int] = {}
    for row in ratings(shared):
        counts[row["query"]] = counts.get(row["query"], 0) + 1
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query", "count"])
        writer.writerows(counts.items())


def path(shared: Path, folder: Path, raters: tuple[str, ...] = RATERS) -> list[str]:
    """The commands, in order; `folder` takes the traffic and the exports."""
    icecat = shared / "chorus_icecat"
    rated = icecat / "Broad_Query_Set_individual_ratings.csv"
    fields = "--query-field query --document-field docid"
    return [
        "init",
        f"import corpus {icecat / 'products.jsonl.gz'} "
        "--id-field id --title-field title --body-field short_description",
        f"import traffic {folder / 'traffic.csv'} --query-field query --count-field count",
        "sample --size 135 --seed 1 --no-group-spellings",  # laptop and laptops were rated apart
        "pool --systems bm25 --depth 10 --random-negatives 5 --seed 1",
        *(f"annotator add {name} --role annotator --password-stdin" for name in raters),
        f"round open first --annotators {','.join(RATERS)} --overlap 3 --duplicates 0.08 --seed 1",
        f"import judgments {rated} {fields} --annotator-columns {','.join(raters)}",
        "agreement",
        "adjudicate list",
        f"adjudicate decide --from {rated} {fields} --grade-field final_rating "
        "--reason final-rating-of-the-campaign",
        "split --dev 0.7 --test 0.3 --seed 1 --largest-group 0.11",  # 14 queries share products in a chain
        "freeze v1",
        "verify v1",
        *(
            f"export v1 --format {name} --out {folder / name} --reason pipeline-test"
            for name in ("beir", "trec", "csv", "parquet")
        ),
    ]
