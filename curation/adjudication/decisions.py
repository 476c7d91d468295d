"""Decisions of reviewers as they are stored: appended with the next revision; the latest one counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import pyarrow as pa

from curation.store import Cursor, Store, append_rows, fetch, get_setting, utc_now
from curation.store.documents import title_last_shown

Pair = tuple[str, str]


class ReviewerDecision(NamedTuple):
    """A reviewer's decision; grade is None for "no grade can be given".

    Attributes
    ----------
    content_hash: the version of the document that was read; None where older decisions do not say.
    guide_hash: the guide in force; None where older decisions do not say.
    """

    query_id: str
    document_id: str
    revision: int
    grade: int | None
    reason: str
    reviewer: str
    decided_at: datetime
    content_hash: str | None = None
    guide_hash: str | None = None


class Ruling(NamedTuple):
    """A decision that is to be written; `content_hash` is the version that was read, None the judged one."""

    query_id: str
    document_id: str
    grade: int | None
    reason: str
    content_hash: str | None = None

    @property
    def pair(self) -> Pair:
        return (self.query_id, self.document_id)

    def repeats(self, decision: ReviewerDecision, reviewer: str) -> bool:
        """Whether the same reviewer has made the same decision on the same version of the document."""
        said = (decision.grade, decision.reason, decision.reviewer)
        same_text = decision.content_hash in (None, self.content_hash)
        return same_text and said == (self.grade, self.reason, reviewer)


class DecidedPair(NamedTuple):
    """A current decision with the query's text and the document's title."""

    decision: ReviewerDecision
    query: str
    title: str


def current_decisions(cursor: Cursor, pairs: Iterable[Pair] | None = None) -> dict[Pair, ReviewerDecision]:
    """The current decision of every decided pair, or of those among `pairs`."""
    return _decisions(cursor, "current_adjudications", pairs)


def counted_decisions(cursor: Cursor, pairs: Iterable[Pair] | None = None) -> dict[Pair, ReviewerDecision]:
    """The decision that counts of every pair that has one, or of those among `pairs`: not always the newest,
    where an older text of the document came back.
    """
    return _decisions(cursor, "counted_adjudications", pairs)


def _decisions(cursor: Cursor, view: str, pairs: Iterable[Pair] | None) -> dict[Pair, ReviewerDecision]:
    columns = ", ".join(ReviewerDecision._fields)
    sql = f"SELECT {columns} FROM {view}"  # noqa: S608
    if pairs is None:
        rows = fetch(cursor, ReviewerDecision, sql)
    else:
        rows = fetch(cursor, ReviewerDecision, sql + _AMONG, _ids(pairs))
    return {(row.query_id, row.document_id): row for row in rows}


def decision_at(cursor: Cursor, pair: Pair, revision: int) -> ReviewerDecision | None:
    """The decision on a pair that had this revision, if there was one."""
    columns = ", ".join(ReviewerDecision._fields)
    sql = f"SELECT {columns} FROM adjudications WHERE (query_id, document_id, revision) = (?, ?, ?)"  # noqa: S608
    found = fetch(cursor, ReviewerDecision, sql, [*pair, revision])
    return found[0] if found else None


def judged_versions(cursor: Cursor, pairs: Iterable[Pair] | None = None) -> dict[Pair, str]:
    """The version of the document by which each judged pair is read: in force, or else judged last."""
    sql = "SELECT query_id, document_id, content_hash FROM judged_versions"
    found = cursor.execute(sql) if pairs is None else cursor.execute(sql + _AMONG, _ids(pairs))
    return {(row[0], row[1]): row[2] for row in found.fetchall()}


def _ids(pairs: Iterable[Pair]) -> list[list[str]]:
    return [list(part) for part in zip(*pairs, strict=True)] or [[], []]


def recent_decisions(store: Store, reviewer: str, limit: int = 10) -> list[DecidedPair]:
    """The reviewer's own current decisions, newest first."""
    with store.reading() as cursor:
        rows = cursor.execute(_RECENT, [reviewer, limit]).fetchall()
    return [DecidedPair(ReviewerDecision(*row[:-2]), *row[-2:]) for row in rows]


def append_decisions(
    cursor: Cursor, rulings: Sequence[Ruling], current: Mapping[Pair, ReviewerDecision], reviewer: str
) -> list[ReviewerDecision]:
    """Write rulings, each with the revision after the pair's current decision."""
    now, guide_hash = utc_now(), get_setting(cursor, "guide")
    decisions = []
    for ruling in rulings:
        before = current.get(ruling.pair)
        revision = 0 if before is None else before.revision + 1
        decisions.append(
            ReviewerDecision(
                *ruling.pair,
                revision,
                ruling.grade,
                ruling.reason,
                reviewer,
                now,
                ruling.content_hash,
                guide_hash,
            )
        )
    append_rows(cursor, "adjudications", decisions, _TYPES)
    return decisions


_AMONG = " WHERE (query_id, document_id) IN (SELECT (unnest(?::TEXT[]), unnest(?::TEXT[])))"

_RECENT = f"""
    SELECT a.query_id, a.document_id, a.revision, a.grade, a.reason, a.reviewer, a.decided_at,
           a.content_hash, a.guide_hash, coalesce(q.text, a.query_id),
           {title_last_shown("a")}
    FROM current_adjudications a LEFT JOIN queries q USING (query_id)
    WHERE a.reviewer = ?
    ORDER BY a.written DESC LIMIT ?
"""  # noqa: S608

_TYPES = pa.schema(
    {
        "query_id": pa.string(),
        "document_id": pa.string(),
        "revision": pa.int32(),
        "grade": pa.int32(),
        "reason": pa.string(),
        "reviewer": pa.string(),
        "decided_at": pa.timestamp("us"),
        "content_hash": pa.string(),
        "guide_hash": pa.string(),
    }
)
