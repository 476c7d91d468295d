"""A release with enough queries to be evaluated, also on its sealed part, and run files to score on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from curation.core.characters import normalise_query
from curation.core.digests import digest
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.releases.frozen_release import load_release
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from curation.store.row_types import Query
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL, write_corpus
from tests.support.projects import add_names, copied, new_project

QUERIES = 60
DOCUMENTS = 6
GRADES = (3, 2, 1, 0)
Ranked = dict[str, list[str]]


def document_ids(number: int) -> list[str]:
    return [f"d{number}.{place}" for place in range(DOCUMENTS)]


@copied
def evaluated_project(folder: Path) -> Store:
    """60 queries of two strata with 4 judged and 2 unjudged documents each, half of them sealed.

    vera and walt evaluate, lee leads, anna grades.
    """
    store = new_project(folder / "project.duckdb")
    rows = [
        {"id": name, "title": name, "text": f"all of {digest(name)}"}
        for number in range(QUERIES)
        for name in document_ids(number)
    ]
    import_corpus(store, write_corpus(folder / "corpus.jsonl", rows))
    for who in ("ada", "ben"):
        add_judgments(store, _judgments(who), f"{who}.csv", list(map(query, range(QUERIES))))
    make_split(store, SplitRequest((("dev", 0.5), ("test", 0.5)), 1, LEXICAL))
    freeze(store, "v1")
    add_names(store, "vera", "walt", role="evaluator")
    add_names(store, "lee", role="lead")
    add_names(store, "anna")
    return store


def _judgments(who: str, grades: Sequence[int] = GRADES) -> list[ImportedJudgment]:
    return [
        ImportedJudgment(f"q{number}", name, who, grade)
        for number in range(QUERIES)
        for name, grade in zip(document_ids(number), grades, strict=False)
    ]


def freeze_against_the_gate(store: Store, name: str) -> None:
    """A third annotator contradicts the two others, who outvote them; a release is frozen all the same."""
    add_judgments(store, _judgments("odd", GRADES[::-1]), "odd.csv")
    freeze(store, name, override="a draft")


def query(number: int) -> Query:
    text = f"{digest('word', number)[:12]} {number}"
    return Query(f"q{number}", text, normalise_query(text), ("imported", "written")[number % 2])


def sealed_queries(store: Store) -> list[str]:
    return sorted(
        row["query_id"] for row in load_release(store, "v1").rows("queries") if row["part"] == "test"
    )


def ranked(name: str) -> Ranked:
    """A system's own order of each query's documents."""
    return {
        f"q{number}": sorted(document_ids(number), key=lambda one: digest(name, number, one))
        for number in range(QUERIES)
    }


def write_run(path: Path, lists: Mapping[str, Sequence[str]]) -> Path:
    """A run file in the form of TREC: query id → document ids, best first."""
    lines = [
        f"{query_id} Q0 {name} {place} {len(found) - place} run\n"
        for query_id, found in lists.items()
        for place, name in enumerate(found, 1)
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path
