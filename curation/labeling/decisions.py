"""Decisions on pairs as they are stored: appended with the next revision, of which the latest stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import pyarrow as pa

from curation.store import Cursor, Store, append_rows, fetch, utc_now

Pair = tuple[str, str]


class Decision(NamedTuple):
    """A reviewer's decision; grade is None for "no grade can be given"."""

    query_id: str
    document_id: str
    revision: int
    grade: int | None
    reason: str
    reviewer: str
    decided_at: datetime


class Ruling(NamedTuple):
    """A decision that is to be written."""

    query_id: str
    document_id: str
    grade: int | None
    reason: str

    @property
    def pair(self) -> Pair:
        return (self.query_id, self.document_id)

    def repeats(self, decision: Decision, reviewer: str) -> bool:
        """Whether the same reviewer has decided just so."""
        said = (decision.grade, decision.reason, decision.reviewer)
        return said == (self.grade, self.reason, reviewer)


class Ruled(NamedTuple):
    """A decision that stands, with the words by which a person knows the pair."""

    decision: Decision
    query: str
    title: str


def standing_decisions(cursor: Cursor, pairs: Iterable[Pair] | None = None) -> dict[Pair, Decision]:
    """The decision that stands for each decided pair: of all, or of these."""
    columns = ", ".join(Decision._fields)
    sql = f"SELECT {columns} FROM current_adjudications"  # noqa: S608
    if pairs is None:
        rows = fetch(cursor, Decision, sql)
    else:
        ids = [list(part) for part in zip(*pairs, strict=True)] or [[], []]
        wanted = " WHERE (query_id, document_id) IN (SELECT (unnest(?::TEXT[]), unnest(?::TEXT[])))"
        rows = fetch(cursor, Decision, sql + wanted, ids)
    return {(row.query_id, row.document_id): row for row in rows}


def recent_decisions(store: Store, reviewer: str, limit: int = 10) -> list[Ruled]:
    """The reviewer's own decisions that stand, newest first."""
    with store.reading() as cursor:
        rows = cursor.execute(_RECENT, [reviewer, limit]).fetchall()
    return [Ruled(Decision(*row[:-2]), *row[-2:]) for row in rows]


def append_decisions(
    cursor: Cursor, rulings: Sequence[Ruling], standing: Mapping[Pair, Decision], reviewer: str
) -> list[Decision]:
    """Write rulings, each with the revision after the decision that stands."""
    now = utc_now()
    decisions = []
    for ruling in rulings:
        before = standing.get(ruling.pair)
        revision = 0 if before is None else before.revision + 1
        decisions.append(Decision(*ruling.pair, revision, ruling.grade, ruling.reason, reviewer, now))
    append_rows(cursor, "adjudications", decisions, _TYPES)
    return decisions


_RECENT = """
    SELECT a.query_id, a.document_id, a.revision, a.grade, a.reason, a.reviewer, a.decided_at,
           coalesce(q.text, a.query_id),
           coalesce((SELECT max_by(d.title, p.presentation_id) FROM presentations p
                     JOIN documents d USING (content_hash)
                     WHERE p.query_id = a.query_id AND p.document_id = a.document_id), a.document_id)
    FROM current_adjudications a LEFT JOIN queries q USING (query_id)
    WHERE a.reviewer = ?
    ORDER BY a.decided_at DESC, a.query_id, a.document_id LIMIT ?
"""

_TYPES = pa.schema(
    {
        "query_id": pa.string(),
        "document_id": pa.string(),
        "revision": pa.int32(),
        "grade": pa.int32(),
        "reason": pa.string(),
        "reviewer": pa.string(),
        "decided_at": pa.timestamp("us"),
    }
)
