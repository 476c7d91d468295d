"""A project's stored runs, each under its own name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from curation.core.digests import canonical_json, digest
from curation.core.errors import InputError, RefusedError, find_named
from curation.store import Cursor, append_rows, fetch, record_event, utc_now

_NAME = re.compile(r"[\w.+@-]+")


class Run(NamedTuple):
    """A stored run: its id, its name and where it came from, without its ranked documents."""

    run_id: str
    name: str
    source: str


class RunEntry(NamedTuple):
    """An entry in a stored run: a document at a rank, where 1 is the top; ranks may have gaps."""

    query_id: str
    document_id: str
    rank: int
    score: float | None


def read_stored_runs(cursor: Cursor) -> list[Run]:
    """Return all of the project's stored runs, sorted by name."""
    return fetch(cursor, Run, "SELECT run_id, name, source FROM runs ORDER BY name")


def find_run(cursor: Cursor, name: str) -> Run:
    """Return the stored run with this name.

    Raises
    ------
    NotFoundError: the run does not exist.
    """
    command = f"`goldgrade import run PATH --name {name}` imports the run."
    return find_named(read_stored_runs(cursor), name, "run", " First import the run.", command)


def read_run_entries(cursor: Cursor, run: Run) -> list[RunEntry]:
    """Return a stored run's entries, by query id and rank."""
    sql = "SELECT query_id, document_id, rank, score FROM run_entries WHERE run_id = ?"
    return fetch(cursor, RunEntry, f"{sql} ORDER BY query_id, rank", [run.run_id])


def check_run_name(name: str) -> None:
    """Reject a name that is not valid for a run.

    Raises
    ------
    InputError: the name has a character that is not allowed in a list of systems.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a run: a pool refers to a run as run:NAME in a list.",
            way_out="Use letters, digits, dots, dashes, underscores and @, such as --name bm25-tuned.",
        )


def store_run(
    cursor: Cursor, name: str, source: str, entries: Sequence[RunEntry], left_out: dict[str, int], author: str
) -> tuple[Run, bool]:
    """Store entries as a run, with a hash as its id; return the run, and whether it is new.

    Raises
    ------
    RefusedError: a different run already has the name.
    """
    run = Run(digest("run", name, entries), name, source)
    stored_run = {stored.name: stored for stored in read_stored_runs(cursor)}.get(name)
    if stored_run is not None and stored_run.run_id != run.run_id:
        problem = f"The project has a different run {name!r} (from {stored_run.source}), which pools may use."
        raise RefusedError(f"{problem} Give this run a different name.")
    if stored_run is None:
        cursor.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", [*run, canonical_json(left_out), utc_now()])
        append_rows(cursor, "run_entries", entries, run_id=run.run_id)
        detail = {**run._asdict(), "entries": len(entries), "left out": left_out}
        record_event(cursor, "import run", detail, author)
    return run, stored_run is None
