"""A log of queries in a project, and the sample that was drawn from it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.characters import normalise_query
from curation.core.digests import digest
from curation.store import Store, append_rows, get_setting


class Asked(NamedTuple):
    """A row of the log; `day` is one of March 2026."""

    text: str
    count: int = 1
    segment: str | None = None
    day: int | None = None
    metadata: dict[str, str | None] | None = None


def log(store: Store, rows: Iterable[tuple[Any, ...]]) -> None:
    """Put logged queries into the project as one import; rows are `Asked`, or begin like one."""
    asked = [Asked(*row) for row in rows]
    with store.transaction() as cursor:
        import_id = digest("test", asked)
        cursor.execute(
            "INSERT INTO traffic_imports VALUES (?, 'log', ?, '{}', now()::TIMESTAMP)",
            [import_id, len(asked)],
        )
        names = ("line", "text", "normalised", "time", "segment", "count", "metadata")
        values = [
            (
                *(line, row.text, normalise_query(row.text), row.day and datetime(2026, 3, row.day)),
                *(row.segment, row.count, None if row.metadata is None else json.dumps(row.metadata)),
            )
            for line, row in enumerate(asked)
        ]
        append_rows(cursor, "traffic", values, names, import_id=import_id)


def drawn(store: Store) -> dict[str, tuple[str, int, float]]:
    """The current sample: text → stratum, traffic, probability."""
    with store.reading() as cursor:
        rows = cursor.execute(
            "SELECT text, stratum, traffic, inclusion_probability FROM sample_queries JOIN queries "
            "USING (query_id) WHERE sample_id = ?",
            [get_setting(cursor, "sample")],
        ).fetchall()
    return {text: (stratum, traffic, chance) for text, stratum, traffic, chance in rows}
