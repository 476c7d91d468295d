"""Small projects of tests, filled through the store or by imports, and what is read of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from curation.core.digests import digest
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.labeling.judging import Outcome, Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import OpenedRound, open_round
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.operations.jobs import Job, read_last_job
from curation.operations.project import init_project
from curation.people.accounts import add_annotator
from curation.store import Document, Store, append, get_setting, open_store, put_setting, utc_now
from curation.store.documents import StoredDocuments, current_corpus, snapshot_versions
from curation.store.duckdb_format import log_path
from tests.support.once import once_a_run

PASSWORD = "a long password"


@once_a_run
def _built(build: Callable[..., Store], *arguments: object) -> bytes:
    """The file of a project that `build` makes in a folder."""
    with TemporaryDirectory() as folder:
        store = build(Path(folder), *arguments)
        store.close()
        return store.path.read_bytes()


def copied(build: Callable[..., Store]) -> Callable[..., Store]:
    """A builder of projects that works once in a run for its options: each call gets a copy in its folder."""

    @wraps(build)
    def copy(folder: Path, **options: object) -> Store:
        asked = signature(build).bind(folder, **options)
        asked.apply_defaults()
        return _copy_to(folder / "project.duckdb", _built(build, *asked.args[1:]))

    return copy


def _copy_to(path: Path, content: bytes) -> Store:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(0o600)
    path.write_bytes(content)
    return open_store(path)


def _empty(folder: Path) -> Store:
    return init_project(folder / "project.duckdb")


def new_project(path: Path) -> Store:
    """A project as `goldgrade init` makes it: a copy of one."""
    return _copy_to(path, _built(_empty))


def _filled(folder: Path, fill: Callable[[Store], Store]) -> Store:
    return fill(new_project(folder / "project.duckdb"))


def built_once(fill: Callable[[Store], Store]) -> Any:
    """A fixture: a copy of a fresh project that `fill` has filled, once in a run of all its processes."""

    @pytest.fixture
    def project(store: Store) -> Store:
        store.path.write_bytes(_built(_filled, fill))
        return store

    return project


def discard(store: Store) -> None:
    """Close a project that nobody reads again: a checkpoint of its last writes would take 10 ms."""
    log_path(store.path).unlink(missing_ok=True)
    store.close()


def per_test(build: Callable[[Path], Store]) -> Any:
    """A fixture: the project that `build` makes in the folder of the test."""

    @pytest.fixture
    def project(tmp_path: Path) -> Iterator[Store]:
        store = build(tmp_path)
        yield store
        discard(store)

    return project


def per_module(build: Callable[[Path], Store]) -> Any:
    """A fixture: the project that `build` makes in a folder, one for all tests of a module."""

    @pytest.fixture(scope="module")
    def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
        store = build(tmp_path_factory.mktemp("project"))
        yield store
        store.close()

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


def grade_next(
    store: Store, annotator: str, count: int = 1, grade: int = 2, note: str | None = None
) -> list[Outcome]:
    """The annotator's next items, graded."""
    items = read_queue(store, annotator, count).showings
    return submit_judgments(
        store,
        annotator,
        [
            Submission(
                one.presentation_id,
                one.revision,
                "grade",
                digest(one.presentation_id, one.revision),
                grade,
                note=note,
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


def open_for(
    store: Store,
    pairs: Mapping[str, list[str]],
    *annotators: str,
    overlap: int | None = None,
    duplicates: float = 0,
    **layout: Any,
) -> OpenedRound:
    """Open the round `first` over these pairs for these annotators, who all judge everything."""
    add_pairs(store, pairs)
    add_names(store, *annotators)
    shares = {"overlap": overlap or len(annotators), "duplicates": duplicates}
    return open_round(store, RoundRequest("first", annotators, **shares, **layout))


def import_rows(
    store: Store, documents: Sequence[Mapping[str, object]], queries: Sequence[Mapping[str, object]] = ()
) -> None:
    """Import documents and queries from files of these rows beside the project."""
    for name, rows, take in (("corpus", documents, import_corpus), ("queries", queries, import_queries)):
        if rows:
            path = store.path.with_name(f"{name}.jsonl")
            path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
            take(store, path)


def newest_job(store: Store) -> Job:
    with store.reading() as cursor:
        job = read_last_job(cursor)
    assert job is not None
    return job


def count_rows(store: Store, table: str) -> int:
    return int(rows_of(store, f"SELECT count(*) FROM {table}")[0][0])


def rows_of(store: Store, sql: str, *values: object) -> list[tuple[Any, ...]]:
    with store.reading() as cursor:
        return cursor.execute(sql, list(values)).fetchall()


def documents_in_force(store: Store) -> list[Document]:
    """All documents of the corpus in force, by id."""
    with store.reading() as cursor:
        corpus = current_corpus(cursor)
    return sorted(StoredDocuments(store, corpus.hashes), key=lambda document: document.document_id)
