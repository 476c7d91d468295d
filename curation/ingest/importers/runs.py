"""Runs that other systems made, as they are stored: ranked lists per query, by name."""

from __future__ import annotations

from typing import NamedTuple

from curation.core.errors import find_named
from curation.store import Cursor, fetch


class Run(NamedTuple):
    """A stored run, without its entries."""

    run_id: str
    name: str
    source: str


class RunEntry(NamedTuple):
    """One place of a stored run; rank 1 is the top. Lines that were left out leave gaps."""

    run_id: str
    query_id: str
    document_id: str
    rank: int
    score: float | None


def stored_runs(cursor: Cursor) -> list[Run]:
    """All runs of the project, by name."""
    return fetch(cursor, Run, "SELECT run_id, name, source FROM runs ORDER BY name")


def find_run(cursor: Cursor, name: str) -> Run:
    """The run of that name.

    Raises
    ------
    NotFoundError: there is none.
    """
    command = f"`goldgrade import run PATH --name {name}` does."
    return find_named(stored_runs(cursor), name, "run", " Import it first.", command)


def run_entries(cursor: Cursor, run: Run) -> list[RunEntry]:
    """The entries of a run, by query id and rank."""
    return fetch(
        cursor,
        RunEntry,
        "SELECT run_id, query_id, document_id, rank, score FROM run_entries WHERE run_id = ? "
        "ORDER BY query_id, rank",
        [run.run_id],
    )
