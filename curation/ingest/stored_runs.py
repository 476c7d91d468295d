"""Stored runs of a project: writing a run under a name, and reading it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from curation.core.digests import canonical_json, digest
from curation.core.errors import InputError, RefusedError, find_named
from curation.store import Cursor, append_rows, fetch, record_event, utc_now

_NAME = re.compile(r"[\w.+@-]+")


class Run(NamedTuple):
    """A stored run without its entries."""

    run_id: str
    name: str
    source: str


class RunEntry(NamedTuple):
    """A place of a stored run; rank 1 is the top. Lines that were left out leave gaps."""

    query_id: str
    document_id: str
    rank: int
    score: float | None


def stored_runs(cursor: Cursor) -> list[Run]:
    """Return all runs of the project, by name."""
    return fetch(cursor, Run, "SELECT run_id, name, source FROM runs ORDER BY name")


def find_run(cursor: Cursor, name: str) -> Run:
    """Return the run of a name.

    Raises
    ------
    NotFoundError: the run does not exist.
    """
    command = f"`goldgrade import run PATH --name {name}` does."
    return find_named(stored_runs(cursor), name, "run", " Import it first.", command)


def run_entries(cursor: Cursor, run: Run) -> list[RunEntry]:
    """Return the entries of a run, by query id and rank."""
    sql = (
        "SELECT query_id, document_id, rank, score FROM run_entries WHERE run_id = ? ORDER BY query_id, rank"
    )
    return fetch(cursor, RunEntry, sql, [run.run_id])


def check_name(name: str) -> None:
    """Refuse an invalid name of a run.

    Raises
    ------
    InputError: the name has a character that a list of systems cannot have.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a run: a pool calls it run:NAME in a list.",
            way_out="Use letters, digits, dots, dashes, underscores and @, such as --name bm25-tuned.",
        )


def store_run(
    cursor: Cursor, name: str, source: str, entries: Sequence[RunEntry], left_out: dict[str, int], author: str
) -> tuple[Run, bool]:
    """Store entries as a run, whose id is a hash of name and entries; return whether the run is new, too.

    Raises
    ------
    RefusedError: a different run has the name.
    """
    run = Run(digest("run", name, entries), name, source)
    stored_run = {known.name: known for known in stored_runs(cursor)}.get(name)
    if stored_run is not None and stored_run.run_id != run.run_id:
        raise RefusedError(
            f"The project has another run {name!r} (from {stored_run.source}), on which pools may rest. "
            "Give this run a different name."
        )
    if stored_run is None:
        cursor.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", [*run, canonical_json(left_out), utc_now()])
        append_rows(cursor, "run_entries", entries, run_id=run.run_id)
        detail = {**run._asdict(), "entries": len(entries), "left out": left_out}
        record_event(cursor, "import run", detail, author)
    return run, stored_run is None
