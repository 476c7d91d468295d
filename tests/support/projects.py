"""Small projects for the labeling tests, built through the store alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from curation.core.text import digest
from curation.labeling.judgments.judging import Outcome, Submission
from curation.labeling.session.queue import next_showings
from curation.labeling.session.submit import submit
from curation.operations.project import init_project
from curation.people.annotators import add_annotator
from curation.store import Document, Store, append, get_setting, open_store, put_setting, utc_now
from curation.store.documents import StoredDocuments, current_corpus, snapshot_versions
from tests.support.once import once_a_run

PASSWORD = "a long password"


@once_a_run
def _empty() -> bytes:
    with TemporaryDirectory() as folder:
        store = init_project(Path(folder) / "project.duckdb").store
        store.close()
        return store.path.read_bytes()


def new_project(path: Path) -> Store:
    """A project as `goldgrade init` makes it: a copy of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(0o600)
    path.write_bytes(_empty())
    return open_store(path)


@once_a_run
def _filled(fill: Callable[[Store], Store]) -> bytes:
    with TemporaryDirectory() as folder:
        store = fill(new_project(Path(folder) / "project.duckdb"))
        store.close()
        return store.path.read_bytes()


def built_once(fill: Callable[[Store], Store]) -> Any:
    """A fixture: a copy of a fresh project that `fill` has filled, once in a run of all its processes."""

    @pytest.fixture
    def project(store: Store) -> Store:
        store.path.write_bytes(_filled(fill))
        return store

    return project


def all_rows(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, to compare before and after."""
    with store.reading() as cursor:
        sql = "SELECT table_name, estimated_size > 0 FROM duckdb_tables() ORDER BY table_name"
        return {
            name: cursor.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall() if any_rows else []
            for name, any_rows in cursor.execute(sql).fetchall()
        }


def add_pairs(store: Store, pairs: Mapping[str, list[str]]) -> None:
    """Queries with their candidate documents; ids serve as texts."""
    documents = sorted({document for found in pairs.values() for document in found})
    hashes = [digest(document) for document in documents]
    rows = [(query, document) for query, found in pairs.items() for document in found]
    with store.transaction() as cursor:
        append(
            cursor,
            "documents",
            {
                "content_hash": hashes,
                "document_id": documents,
                "title": documents,
                "body": [f"The body of {document}." for document in documents],
                "metadata": ["{}"] * len(documents),
            },
        )
        snapshot = {"snapshot_id": ["now"] * len(documents), "document_id": documents, "content_hash": hashes}
        append(cursor, "snapshot_documents", snapshot)
        put_setting(cursor, "corpus", "now")
        queries = list(pairs)
        append(
            cursor,
            "queries",
            {
                "query_id": queries,
                "text": queries,
                "normalised": queries,
                "source": ["written"] * len(queries),
                "metadata": ["{}"] * len(queries),
            },
        )
        append(cursor, "candidates", {"query_id": [q for q, _ in rows], "document_id": [d for _, d in rows]})


def change_text(store: Store, *documents: str, version: str = "second") -> None:
    """A corpus in which these documents have another text; of the same version it is the same text."""
    with store.transaction() as cursor:
        texts = {document: digest(document, version) for document in documents}
        known = {row[0] for row in cursor.execute("SELECT content_hash FROM documents").fetchall()}
        new = {name: content for name, content in texts.items() if content not in known}
        rows = {"content_hash": list(new.values()), "document_id": list(new), "title": list(new)}
        body, metadata = [f"The {version} body of {name}." for name in new], ["{}"] * len(new)
        append(cursor, "documents", {**rows, "body": body, "metadata": metadata})
        snapshot = digest(version, *documents)
        texts = snapshot_versions(cursor, get_setting(cursor, "corpus")) | texts
        columns = {"document_id": list(texts), "content_hash": list(texts.values())}
        append(cursor, "snapshot_documents", {"snapshot_id": [snapshot] * len(texts), **columns})
        put_setting(cursor, "corpus", snapshot)


def add_people(store: Store, *names: str) -> None:
    for name in names:
        add_annotator(store, name, "annotator", PASSWORD)


def grid(queries: int, documents: int) -> dict[str, list[str]]:
    """`queries` queries with `documents` candidates each."""
    return {f"query {q}": [f"document {q}.{d}" for d in range(documents)] for q in range(queries)}


def add_names(store: Store, *names: str, role: str = "annotator") -> None:
    """People without a password: hashing one takes longer than most tests."""
    with store.transaction() as cursor:
        rows = {"name": names, "role": [role] * len(names), "imported": [False] * len(names)}
        append(cursor, "annotators", {**rows, "added_at": [utc_now()] * len(names)})


def grade_next(store: Store, annotator: str, count: int = 1, grade: int = 2) -> list[Outcome]:
    """The annotator's next items, graded."""
    items = next_showings(store, annotator, count).showings
    return submit(
        store,
        annotator,
        [
            Submission(
                one.presentation_id, one.revision, "grade", digest(one.presentation_id, one.revision), grade
            )
            for one in items
        ],
    )


def turn_clock_back(store: Store) -> None:
    """What was written later has an earlier time, as after a clock that stepped back."""
    times = {
        "judgment_events": "submitted_at",
        "guide_questions": "asked_at",
        "traffic_imports": "imported_at",
        "samples": "drawn_at",
    }
    with store.transaction() as cursor:
        for hours, (table, column) in enumerate(times.items()):
            cursor.execute(
                f"UPDATE {table} SET {column} = TIMESTAMP '2026-05-31' - to_hours(rowid + 1000 * {hours})"
            )


def decide_pairs(store: Store, grades: Mapping[tuple[str, str], int]) -> None:
    """Decisions of the reviewer on pairs, as they lie in the database."""
    with store.transaction() as cursor:
        append(
            cursor,
            "adjudications",
            {
                "query_id": [query for query, _ in grades],
                "document_id": [document for _, document in grades],
                "revision": [0] * len(grades),
                "grade": list(grades.values()),
                "reason": [f"because of {document}" for _, document in grades],
                "reviewer": ["rita"] * len(grades),
                "decided_at": [utc_now()] * len(grades),
            },
        )


def rows_of(store: Store, sql: str, *values: object) -> list[tuple[Any, ...]]:
    with store.reading() as cursor:
        return cursor.execute(sql, list(values)).fetchall()


def documents_in_force(store: Store) -> list[Document]:
    """All documents of the corpus in force, by id."""
    with store.reading() as cursor:
        corpus = current_corpus(cursor)
    return sorted(StoredDocuments(store, corpus.hashes), key=lambda document: document.document_id)
