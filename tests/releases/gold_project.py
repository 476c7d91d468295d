"""Small projects with real labels, built by the same functions as any other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from curation.labeling.adjudication import decide
from curation.labeling.imported import ImportedJudgment, add_judgments
from curation.project import init_project
from curation.sources.corpus import import_corpus
from curation.splits import make_split
from curation.store import Store, open_store
from curation.store.rows import Query
from curation.text import normalise_query

TOPICS = ["kettle", "router", "violin", "passport", "glacier", "sourdough", "tractor", "origami"]
PARTS = {"dev": 0.5, "test": 0.5}
DISPUTE = ("q-kettle", "kettle-2")


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


def write_corpus(path: Path, rows: Sequence[dict[str, str]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def judgments(annotator: str, shift: int = 0) -> list[ImportedJudgment]:
    """One grade for each pair; `shift` moves that of the disputed pair."""
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


def labelled(
    folder: Path,
    *,
    backwards: bool = False,
    decided: bool = True,
    people: tuple[str, str] = ("zoe.miller", "abe.jones"),
) -> Store:
    """A project with corpus, queries, two annotators' grades and one dispute, decided or open."""
    folder.mkdir(exist_ok=True)
    step = -1 if backwards else 1
    store = init_project(folder / "project.duckdb").store
    import_corpus(store, write_corpus(folder / "corpus.jsonl", documents()[::step]))
    zoe, abe = people
    files = [(f"{zoe}.csv", judgments(zoe)), (f"{abe}.csv", judgments(abe, shift=2))]
    for source, given in files[::step]:
        add_judgments(store, given[::step], source, queries()[::step])
    if decided:
        decide(store, *DISPUTE, grade=1, reason="only the title fits")
    return store


def gold_project(folder: Path) -> Store:
    """A project that is ready to be frozen: a copy of one that was built once."""
    path = folder / "project.duckdb"
    path.write_bytes(_gold_project())
    return open_store(path)


@cache
def _gold_project() -> bytes:
    with TemporaryDirectory() as folder:
        store = labelled(Path(folder))
        make_split(store, PARTS, seed=1)
        store.close()
        return store.path.read_bytes()
