"""What systems reach on each topic of the real collections in ../shared/data: where intervals are tried.

Touché 2020's published runs, the three runs of the shop search campaign, and BM25 over the titles or the
whole texts, with a stemmer and without, on MEDLINE, CISI, the Icecat products and the ESCI products. A
document is relevant from the lowest grade above 0 on. trec_eval's own test data has three topics: too few.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from curation.retrieval import Bm25
from curation.scoring.metrics.engine import RunScores, score_run
from curation.scoring.metrics.measures import measures_for
from curation.scoring.metrics.qrels import qrels_from
from curation.store.rows import Document, Query
from tests.support.smart import qrels, records

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
MEASURES = (
    "map",
    "ndcg@10",
    "ndcg_exp@10",
    "mrr@10",
    "precision@10",
    "recall@10",
    "recall@100",
    "success@10",
)
DEPTH = 100
ESCI_GRADES = {"100.000": 3, "10.000": 2, "1.000": 1, "0.000": 0}

Grades = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]


class Topics(NamedTuple):
    """What one system reaches on a collection's topics."""

    collection: str
    system: str
    scores: RunScores


def real_topics() -> Iterator[Topics]:
    """Every system on every collection."""
    yield from _scored("Touché 2020", _touche_runs(), _touche_grades())
    for name in ("med", "cisi"):
        stem = SHARED / "smart" / name / name.upper()
        texts = records(stem.with_suffix(".ALL"))
        documents = [Document(one, one, *text.partition("\n")[::2]) for one, text in texts.items()]
        asked, grades = records(stem.with_suffix(".QRY")), qrels(stem.with_suffix(".REL"))
        yield from _scored(name.upper(), _bm25_runs(documents, asked, grades), grades)
    rated = _icecat_grades()
    asked = {query: query for query in rated}
    yield from _scored("Icecat", _campaign_runs() | _bm25_runs(_icecat_products(), asked, rated), rated)
    rated = _esci_grades()
    yield from _scored("ESCI", _bm25_runs(_esci_products(), {query: query for query in rated}, rated), rated)


def _scored(collection: str, runs: Mapping[str, Run], grades: Grades) -> Iterator[Topics]:
    judged = qrels_from(grades)
    for system, run in runs.items():
        yield Topics(collection, system, score_run(run, judged, measures_for(judged.scale, MEASURES)))


def _bm25_runs(documents: list[Document], texts: Mapping[str, str], grades: Grades) -> dict[str, Run]:
    asked = [Query(one, texts[one], texts[one], "imported") for one in sorted(grades) if one in texts]
    titles = [document._replace(body="") for document in documents]
    found = {}
    for fields, of in (("titles", titles), ("texts", documents)):
        for stemmer in (None, "english"):
            hits = Bm25(of, stemmer=stemmer).search(asked, DEPTH)
            found[f"BM25 {fields}{', stemmed' if stemmer else ''}"] = {
                query.query_id: {hit.document_id: float(hit.score or 0) for hit in own}
                for query, own in zip(asked, hits, strict=True)
            }
    return found


def _touche_grades() -> Grades:
    grades: dict[str, dict[str, int]] = {}
    text = (SHARED / "touche2020" / "qrels.beir-v1.0.0-webis-touche2020.test.txt").read_text()
    for query, _, name, grade in map(str.split, text.splitlines()):
        grades.setdefault(query, {})[name] = max(int(grade), 0)
    return grades


def _touche_runs() -> dict[str, Run]:
    found: dict[str, Run] = {}
    for path in sorted((SHARED / "touche2020" / "runs").glob("*/*.gz")):
        run: dict[str, dict[str, float]] = {}
        with gzip.open(path, "rt") as lines:
            for query, _, name, _, score, _ in map(str.split, lines):
                run.setdefault(query, {})[name] = float(score)
        found[f"{path.name.split('.')[0].removeprefix('run-')}, {path.parent.name[-2:]}"] = run
    return found


def _icecat_grades() -> Grades:
    grades: dict[str, dict[str, int]] = {}
    with (SHARED / "chorus_icecat" / "Broad_Query_Set_rated.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            grades.setdefault(row["query"], {})[row["docid"]] = int(float(row["rating"]))
    return grades


def _campaign_runs() -> dict[str, Run]:
    found: dict[str, Run] = {}
    for path in sorted((SHARED / "chorus_icecat" / "campaign_2").glob("run_*.tsv")):
        run: dict[str, dict[str, float]] = {}
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                run.setdefault(row["query"], {})[row["doc_id"]] = -float(row["rank"])
        found[path.stem.removeprefix("run_")] = run
    return found


def _icecat_products() -> list[Document]:
    with gzip.open(SHARED / "chorus_icecat" / "products.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [Document(row["id"], row["id"], row["title"], row.get("short_description") or "") for row in rows]


def _esci_grades() -> Grades:
    rated = json.loads((SHARED / "esci_us" / "esci_us_judgments.json").read_text(encoding="utf-8"))
    return {
        one["query"]: {row["docId"]: ESCI_GRADES[row["rating"]] for row in one["ratings"]}
        for one in rated["judgmentRatings"]
    }


def _esci_products() -> list[Document]:
    with gzip.open(SHARED / "esci_us" / "products.json.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Document(row["asin"], row["asin"], row["title"], f"{row['description']}\n{row['bullet_points']}")
        for row in rows
    ]
