"""Small projects with real labels, built by the same functions as any other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from curation.core.characters import normalise_query
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.imported import add_judgments
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.splits.stored_split import read_current_parts
from curation.store import Store, utc_now
from curation.store.row_types import Query
from tests.support.freezing import export as export_release
from tests.support.freezing import freeze
from tests.support.projects import copied, new_project, rows_of

TOPICS = ["kettle", "router", "violin", "passport", "glacier", "sourdough", "tractor", "origami"]
PARTS = {"dev": 0.5, "test": 0.5}
DISPUTE = ("q-kettle", "kettle-2")

Qrels = dict[str, dict[str, int]]
export = partial(export_release, reason="to test it")
"""Exports with the grades of sealed parts."""
LEXICAL = Rules(paraphrase=None)
"""Ties that need no model."""


def documents() -> list[dict[str, str]]:
    return [
        {
            "id": f"{topic}-{number}",
            "title": f"{topic.title()} number {number}",
            "text": text,
            "url": f"u/{topic}",
        }
        for topic in TOPICS
        for number, text in enumerate((f"All about the {topic}.", f"Nothing, “{topic}” ünd so\nweiter"), 1)
    ]


def write_corpus(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def judgments(annotator: str, shift: int = 0) -> list[ImportedJudgment]:
    """One grade for each pair; `shift` moves the grade of the disputed pair."""
    given = []
    for topic in TOPICS:
        for number, grade in ((1, 3), (2, 0)):
            pair = (f"q-{topic}", f"{topic}-{number}")
            given.append(ImportedJudgment(*pair, annotator, grade + shift * (pair == DISPUTE)))
    return given


def queries() -> list[Query]:
    return [
        Query(f"q-{topic}", f"best {topic}", normalise_query(f"best {topic}"), "imported") for topic in TOPICS
    ]


@copied
def labelled(
    folder: Path,
    backwards: bool = False,
    decided: bool = True,
    people: tuple[str, str] = ("zoe.miller", "abe.jones"),
) -> Store:
    """A project with corpus, queries, two annotators' grades and one dispute, decided or open."""
    step = -1 if backwards else 1
    store = new_project(folder / "project.duckdb")
    import_corpus(store, write_corpus(folder / "corpus.jsonl", documents()[::step]))
    zoe, abe = people
    files = [(f"{zoe}.csv", judgments(zoe)), (f"{abe}.csv", judgments(abe, shift=2))]
    for source, given in files[::step]:
        add_judgments(store, given[::step], source, queries()[::step])
    if decided:
        decide_pair(store, *DISPUTE, grade=1, reason="only the title fits")
    return store


@copied
def gold_project(folder: Path) -> Store:
    """A project that is ready to be frozen."""
    store = labelled(folder)
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    return store


@copied
def frozen_project(folder: Path) -> Store:
    """The same with its release v1."""
    store = gold_project(folder)
    freeze(store, "v1")
    return store


def parts_of(store: Store) -> dict[str, str]:
    """The split in force: query id → part."""
    with store.reading() as cursor:
        return read_current_parts(cursor)


def add_pool(store: Store, ranks: Mapping[tuple[str, str], int | None], system: str = "bm25") -> None:
    """A pool of one system: (query id, document id) → rank, None for a random document."""
    pool_id = f"pool of {system}"
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO pools VALUES (?, 's', '{\"depth\": 3}', '{}', ?)", [pool_id, utc_now()])
        for (query_id, document_id), rank in ranks.items():
            pair = [query_id, document_id]
            cursor.execute("INSERT OR IGNORE INTO candidates VALUES (?, ?)", pair)
            cursor.execute(
                "INSERT INTO candidate_sources VALUES (?, ?, ?, ?, ?, 1.5, NULL, NULL)",
                [pool_id, *pair, system, rank],
            )


def pooled_project(folder: Path) -> Store:
    """The same with a pool: each query's judged documents and one that nobody judged, its neighbour's."""
    store = gold_project(folder)
    ranks = {}
    for topic, other in zip(TOPICS, [*TOPICS[1:], TOPICS[0]], strict=True):
        for rank, document_id in enumerate((f"{topic}-2", f"{topic}-1", f"{other}-1"), 1):
            ranks[f"q-{topic}", document_id] = rank
    add_pool(store, ranks)
    return store


def consensus_grades(store: Store) -> Qrels:
    """The grades straight from the votes of this small project: both agree but for the decided dispute."""
    sql = """
        SELECT j.query_id, j.document_id, coalesce(any_value(a.grade), any_value(j.grade))
        FROM current_judgments j LEFT JOIN adjudications a USING (query_id, document_id) GROUP BY ALL
    """
    found: Qrels = {}
    for query_id, document_id, grade in rows_of(store, sql):
        found.setdefault(query_id, {})[document_id] = grade
    return found


def awkward(folder: Path) -> Store:
    """Queries and documents that share an id, ids with spaces, percent signs and quotes."""
    store = new_project(folder / "awkward.duckdb")
    texts = {"1": "alpha", "a b": "beta", "a%20b": "gamma", 'say "x"': "delta"}
    import_corpus(
        store,
        write_corpus(
            folder / "c.jsonl", [{"id": name, "title": text, "text": ""} for name, text in texts.items()]
        ),
    )
    asked = [
        Query("1", "alpha\tone", "alpha one", "imported"),
        Query("two words", "zulu", "zulu", "imported"),
    ]
    given = [
        ImportedJudgment(query, name, "x", 1 if query == "1" else 0)
        for query in ("1", "two words")
        for name in texts
    ]
    add_judgments(store, given, "x.csv", asked)
    make_split(store, SplitRequest(tuple(PARTS.items()), rules=LEXICAL))
    freeze(store, "v1", override="one annotator is enough for ids")
    return store
