"""The report fingerprint: a short text that changes whenever a figure of a report could.

What reports read is appended and never changed, so a few counts and latest times tell one state from another
without reading it; the settings, which do change, are hashed whole. It takes some milliseconds for a million
judgments, and sees what another process wrote.
"""

from __future__ import annotations

from collections.abc import Mapping

from curation.core.text import digest
from curation.store import Cursor, all_settings

TABLES: Mapping[str, str | None] = {
    "judgment_events": "submitted_at",
    "presentations": None,
    "withdrawals": None,
    "rounds": "opened_at",
    "round_events": "happened_at",
    "known_answers": None,
    "adjudications": "decided_at",
    "guide_questions": None,
    "queries": None,
    "query_tags": None,
    "sample_queries": None,
    "releases": None,
    "relabeling_rounds": None,
    "relabeling_pairs": None,
    "corpus_snapshots": None,
}
"""The tables that reports read from, and the time by which rows of one are ordered, if it has one."""


def read_fingerprint(cursor: Cursor, tables: Mapping[str, str | None] = TABLES) -> str:
    """The same text for the same state of all that agreement reports read."""
    states = []
    for table, time in tables.items():
        latest = f"max({time})" if time else "NULL"
        states.append(cursor.execute(f"SELECT count(*), {latest} FROM {table}").fetchall()[0])  # noqa: S608
    settings = (f"{name}={value}" for name, value in all_settings(cursor))
    return digest(*(str(row) for row in states), *settings)
