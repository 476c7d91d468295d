"""A fingerprint of the data that agreement reports read; it changes whenever a report could change.

The tables are append-only, so the number of rows and the latest time identify a table's state. Settings can
change, so the fingerprint contains them.
"""

from __future__ import annotations

from collections.abc import Mapping

from curation.core.digests import digest
from curation.store import Cursor, all_settings

TABLES: Mapping[str, str | None] = {
    "judgment_events": "submitted_at",
    **dict.fromkeys(("presentations", "withdrawals", "query_retirements")),
    **{"rounds": "opened_at", "round_events": "happened_at"},
    **{"known_answers": None, "adjudications": "decided_at"},
    **dict.fromkeys(("guide_questions", "queries", "query_tags", "sample_queries", "releases")),
    **dict.fromkeys(("relabeling_rounds", "relabeling_pairs", "corpus_snapshots")),
}
"""Map from each table that agreement reports read to the column with the time of its newest row, or None."""


def read_fingerprint(cursor: Cursor, tables: Mapping[str, str | None] = TABLES) -> str:
    """Compute a digest that changes whenever the data in agreement reports changes."""
    states = []
    for table, time in tables.items():
        latest = f"max({time})" if time else "NULL"
        states.append(cursor.execute(f"SELECT count(*), {latest} FROM {table}").fetchall()[0])  # noqa: S608
    settings = (f"{name}={value}" for name, value in all_settings(cursor))
    return digest(*(str(row) for row in states), *settings)


def read_set_fingerprint(cursor: Cursor) -> str:
    """Compute a digest that changes whenever the data in staleness or drift reports changes."""
    events = cursor.execute("SELECT count(*), max(rowid) FROM events").fetchall()[0]
    return digest(read_fingerprint(cursor), str(events))
