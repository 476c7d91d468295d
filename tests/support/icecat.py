"""The whole path on the Icecat products, as the commands a lead would type.

Used by the pipeline test, by benchmarks/bench_path.py, and in small by the story of a lead in a browser.
"""

from __future__ import annotations

import csv
import gzip
import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

RATERS = ("agent_1_rating", "agent_2_rating", "agent_3_rating")
FEW = ("tripod", "camera bag", "projector", "calculator", "usb hub", "microsoft office", "coffee")
"""Queries about which the raters differ here and there, and which share few products."""
A_QUERY, OTHERS = 24, 60
"""The cut has so many rated products of a query at most, and so many others."""


class Cut(NamedTuple):
    """Files of a small part of the data: products, the log, and the ratings with the final one."""

    corpus: Path
    traffic: Path
    ratings: Path


@cache
def ratings(shared: Path) -> list[dict[str, str]]:
    """The rows of the three raters' file: query, docid, three ratings, the final one."""
    path = shared / "chorus_icecat" / "Broad_Query_Set_individual_ratings.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def given_grades(shared: Path) -> list[tuple[str, str, str, int]]:
    """Query, document, rater and grade of every rating."""
    return [
        (row["query"], row["docid"], rater, int(row[rater])) for row in ratings(shared) for rater in RATERS
    ]


def first_products(shared: Path, count: int) -> list[dict[str, str]]:
    """The first products of the file: id, title and perhaps a short description."""
    path = shared / "chorus_icecat" / "products.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]


def write_traffic(shared: Path, path: Path) -> None:
    """The 135 rated queries as a log, each as often as it has rated products."""
    counts: dict[str, int] = {}
    for row in ratings(shared):
        counts[row["query"]] = counts.get(row["query"], 0) + 1
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query", "count"])
        writer.writerows(counts.items())


def write_cut(shared: Path, folder: Path) -> Cut:
    """A few queries with their first rated products, and some products that nobody rated."""
    rows = [row for text in FEW for row in _rated(shared, text)[:A_QUERY]]
    rated, others = {row["docid"] for row in rows}, 0
    found = Cut(folder / "products.jsonl", folder / "traffic.csv", folder / "ratings.csv")
    whole = shared / "chorus_icecat" / "products.jsonl.gz"
    with (
        gzip.open(whole, "rt", encoding="utf-8") as products,
        found.corpus.open("w", encoding="utf-8") as out,
    ):
        for line in products:
            is_rated = json.loads(line)["id"] in rated
            others += not is_rated
            if is_rated or others <= OTHERS:
                out.write(line)
    counts = {text: len(_rated(shared, text)) for text in FEW}
    _write(found.traffic, [{"query": text, "count": str(count)} for text, count in counts.items()])
    _write(found.ratings, rows)
    return found


def _rated(shared: Path, query: str) -> list[dict[str, str]]:
    return [row for row in ratings(shared) if row["query"] == query]


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def path(shared: Path, folder: Path, raters: tuple[str, ...] = RATERS) -> list[str]:
    """The commands, in order; `folder` takes the traffic and the exports."""
    icecat = shared / "chorus_icecat"
    rated = icecat / "Broad_Query_Set_individual_ratings.csv"
    fields = "--map query=query --map document=docid"
    return [
        "init",
        f"import corpus {icecat / 'products.jsonl.gz'} "
        "--map id=id --map title=title --map body=short_description",
        f"import traffic {folder / 'traffic.csv'} --map query=query --map count=count",
        "sample --size 135 --seed 1 --no-group-spellings",  # laptop and laptops were rated apart
        "pool --systems bm25 --depth 10 --random-negatives 5 --seed 1",
        *(f"people add {name} --role annotator --password-stdin" for name in raters),
        f"round open first --annotators {','.join(RATERS)} --overlap 3 --duplicates 0.08 --seed 1",
        f"import judgments {rated} {fields} --annotator-columns {','.join(raters)}",
        "agreement",
        "disputes",
        f"decide --file {rated} {fields} --map grade=final_rating --reason final-rating-of-the-campaign",
        "split --part dev=0.7 --part test=0.3 --seed 1 --largest-group 0.11",  # 14 share products
        "freeze v1",
        "verify v1",
        *(
            f"export v1 --format {name} --out {folder / name} --reason pipeline-test"
            for name in ("beir", "trec", "csv", "parquet")
        ),
    ]
