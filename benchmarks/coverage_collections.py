"""The collections on which coverage is measured: MED, CISI and Icecat as projects, with what is relevant.

"abstracts" is for what a map costs: MED, CISI and 2,500 news articles in one, with MED's queries, ungraded.

A project is made once and then read again, with the embeddings that it has stored.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from curation.files.fields import CorpusFields
from curation.project import init_project
from curation.sources.corpus import import_corpus
from curation.sources.query_import import import_queries
from curation.store import Store, open_store
from curation.text import digest
from tests.support import ROOT
from tests.support.smart import qrels, records

SHARED = ROOT.parent / "shared" / "data"
SMART = ("med", "cisi")
COLLECTIONS = (*SMART, "icecat")
ABSTRACTS = "abstracts"
ICECAT_FIELDS = CorpusFields(id="id", title="title", body=("short_description",))


class CoverageCollection(NamedTuple):
    """A project, and the grades of its queries: query id → document → grade."""

    name: str
    store: Store
    grades: dict[str, dict[str, int]]

    @property
    def relevant(self) -> dict[str, list[str]]:
        """Query id → its relevant documents: those above grade 0."""
        return {
            query_id: sorted(document_id for document_id, grade in graded.items() if grade > 0)
            for query_id, graded in self.grades.items()
        }


def collection(name: str, folder: Path) -> CoverageCollection:
    """The collection as a project in the folder, made if it is not there."""
    path = folder / f"{name}.duckdb"
    if name in SMART:
        stem = SHARED / "smart" / name / name.upper()
        texts = records(stem.with_suffix(".QRY"))
        grades = qrels(stem.with_suffix(".REL"))
    elif name == ABSTRACTS:
        texts, grades = records(SHARED / "smart" / "med" / "MED.QRY"), {}
    else:
        texts, grades = rated_queries()
    store = open_store(path) if path.exists() else _made(name, path, texts)
    return CoverageCollection(name, store, grades)


def _made(name: str, path: Path, texts: Mapping[str, str]) -> Store:
    store = init_project(path).store
    if name in SMART:
        documents = records(SHARED / "smart" / name / f"{name.upper()}.ALL")
        import_corpus(store, _written(path.with_suffix(".documents.jsonl"), documents))
    elif name == ABSTRACTS:
        import_corpus(store, _written(path.with_suffix(".documents.jsonl"), _abstracts()))
    else:
        import_corpus(store, SHARED / "chorus_icecat" / "products.jsonl.gz", ICECAT_FIELDS)
    import_queries(store, _written(path.with_suffix(".queries.jsonl"), texts))
    return store


def _abstracts() -> dict[str, str]:
    """Id → text, so that the first of them are of all three sources."""
    path = SHARED / "minhash_articles" / "articles_2500.train.gz"
    with gzip.open(path, "rt", errors="replace") as articles:
        found = dict(line.rstrip("\n").split(" ", 1) for line in articles)
    for name in SMART:
        texts = records(SHARED / "smart" / name / f"{name.upper()}.ALL")
        found |= {f"{name}{key}": text for key, text in texts.items()}
    return dict(sorted(found.items(), key=lambda item: digest(item[0])))


def _written(path: Path, texts: Mapping[str, str]) -> Path:
    lines = (json.dumps({"id": key, "text": text}) + "\n" for key, text in texts.items())
    path.write_text("".join(lines), encoding="utf-8")
    return path


def rated_queries() -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """The rated queries of the Icecat products by id, and their grades from 0 to 3."""
    with (SHARED / "chorus_icecat" / "Broad_Query_Set_rated.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    ids = {text: f"i{number:03}" for number, text in enumerate(sorted({row["query"] for row in rows}), 1)}
    grades: dict[str, dict[str, int]] = {query_id: {} for query_id in ids.values()}
    for row in rows:
        grades[ids[row["query"]]][row["docid"]] = int(float(row["rating"]))
    return {query_id: text for text, query_id in ids.items()}, grades
