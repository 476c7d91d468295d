"""The fingerprint of agreement reports, which changes whenever a figure of a report could.

Reports read tables whose rows are appended and never changed. So the number of rows and the latest time of
each table identify a state of the tables. Settings do change, so the fingerprint contains all settings.
"""

from __future__ import annotations

from collections.abc import Mapping

from curation.core.digests import digest
from curation.store import Cursor, all_settings

TABLES: Mapping[str, str | None] = {
    "judgment_events": "submitted_at",
    **dict.fromkeys(("presentations", "withdrawals")),
    **{"rounds": "opened_at", "round_events": "happened_at"},
    **{"known_answers": None, "adjudications": "decided_at"},
    **dict.fromkeys(("guide_questions", "queries", "query_tags", "sample_queries", "releases")),
    **dict.fromkeys(("relabeling_rounds", "relabeling_pairs", "corpus_snapshots")),
}
"""Table that agreement reports read → the column with the time of its newest row, or None."""


def read_fingerprint(cursor: Cursor, tables: Mapping[str, str | None] = TABLES) -> str:
    """Compute a digest that changes whenever data changes that agreement reports read."""
    states = []
    for table, time in tables.items():
        latest = f"max({time})" if time else "NULL"
        states.append(cursor.execute(f"SELECT count(*), {latest} FROM {table}").fetchall()[0])  # noqa: S608
    settings = (f"{name}={value}" for name, value in all_settings(cursor))
    return digest(*(str(row) for row in states), *settings)


def read_set_fingerprint(cursor: Cursor) -> str:
    """Compute a digest that changes whenever data changes that staleness or drift reports read."""
    events = cursor.execute("SELECT count(*), max(rowid) FROM events").fetchall()[0]
    return digest(read_fingerprint(cursor), str(events))
