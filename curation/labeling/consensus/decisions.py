"""Stored decisions of reviewers: each change of a pair's decision is a new revision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from curation.core.errors import NotFoundError
from curation.core.evidence_spans import QUOTE_COLUMNS, quote_spans
from curation.core.spans import Spans
from curation.store import Cursor, Store, append_rows, fetch, get_setting, utc_now
from curation.store.documents import documents_by_hash

Pair = tuple[str, str]
Pairs = Iterable[Pair]
_DECISION_MARKS = """
SELECT query_id, document_id, list(start_at ORDER BY start_at), list(end_at ORDER BY start_at)
FROM decision_marks
WHERE (query_id, document_id, revision) IN (
    SELECT (unnest(?::TEXT[]), unnest(?::TEXT[]), unnest(?::INTEGER[])))
GROUP BY query_id, document_id
"""
_AMONG_PAIRS = " WHERE (query_id, document_id) IN (SELECT (unnest(?::TEXT[]), unnest(?::TEXT[])))"


class ReviewerDecision(NamedTuple):
    """A reviewer's decision; the grade None means "no grade can be given".

    Attributes
    ----------
    content_hash: the version of the document that the reviewer read; None in older decisions.
    guide_hash: hash of the labeling guide at the time of the decision; None in older decisions.
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
    """A reviewer's decision that is not stored yet; `content_hash` None stands for the document version that
    annotators judged.

    evidence: characters of the body that the reviewer marked. Without evidence, the characters that most
        annotators marked count.
    """

    query_id: str
    document_id: str
    grade: int | None
    reason: str
    content_hash: str | None = None
    evidence: Spans = ()

    @property
    def pair(self) -> Pair:
        return (self.query_id, self.document_id)

    def repeats(self, decision: ReviewerDecision, reviewer: str) -> bool:
        """Return whether the reviewer has made the same decision on the same version of the document."""
        before = (decision.grade, decision.reason, decision.reviewer)
        same_text = decision.content_hash in (None, self.content_hash)
        return same_text and before == (self.grade, self.reason, reviewer)


_COLUMNS = ", ".join(ReviewerDecision._fields)


def read_current_decisions(cursor: Cursor, pairs: Pairs | None = None) -> dict[Pair, ReviewerDecision]:
    """Read the current decision of every decided pair, or of each decided pair among `pairs`."""
    return _read_decisions(cursor, "current_adjudications", pairs)


def read_counted_decisions(cursor: Cursor, pairs: Pairs | None = None) -> dict[Pair, ReviewerDecision]:
    """Read the decision that counts for every pair, or for each pair among `pairs`.

    If the corpus returned to an older text of a document, the decision that counts may not be the newest.
    """
    return _read_decisions(cursor, "counted_adjudications", pairs)


def read_query_decisions(cursor: Cursor, query_id: str) -> dict[str, ReviewerDecision]:
    """Read the newest decision on each document of a query, even if a newer text has made it outdated."""
    sql = f"SELECT {_COLUMNS} FROM current_adjudications WHERE query_id = ?"  # noqa: S608
    return {row.document_id: row for row in fetch(cursor, ReviewerDecision, sql, [query_id])}


def find_decision(cursor: Cursor, pair: Pair, revision: int) -> ReviewerDecision | None:
    """Read the decision on a pair with this revision number; None if no decision has it."""
    sql = f"SELECT {_COLUMNS} FROM adjudications WHERE (query_id, document_id, revision) = (?, ?, ?)"  # noqa: S608
    decisions = fetch(cursor, ReviewerDecision, sql, [*pair, revision])
    return decisions[0] if decisions else None


def is_judged(cursor: Cursor, pair: Pair) -> bool:
    """Return whether somebody has judged a pair."""
    sql = "SELECT 1 FROM eligible_judgments WHERE query_id = ? AND document_id = ? LIMIT 1"
    return cursor.execute(sql, list(pair)).fetchone() is not None


def unjudged_error(query: str, document_id: str) -> NotFoundError:
    """Return the error to raise for a pair that nobody has judged."""
    return NotFoundError(
        f"Nobody has judged the document {document_id!r} for the query {query!r}.",
        command="`goldgrade disputes` shows the pairs that wait for a decision.",
    )


def read_judged_versions(cursor: Cursor, pairs: Pairs | None = None) -> dict[Pair, str]:
    """Read the document version of each judged pair: the corpus's current version if people judged it,
    otherwise the last version that they judged."""
    sql = "SELECT query_id, document_id, content_hash FROM judged_versions"
    rows = cursor.execute(sql) if pairs is None else cursor.execute(sql + _AMONG_PAIRS, _split_ids(pairs))
    return {(row[0], row[1]): row[2] for row in rows.fetchall()}


def read_recent_decisions(store: Store, reviewer: str, limit: int = 10) -> list[ReviewerDecision]:
    """Read the last decisions of a reviewer that still count, newest first."""
    sql = f"SELECT {_COLUMNS} FROM current_adjudications WHERE reviewer = ? ORDER BY written DESC LIMIT ?"  # noqa: S608
    with store.reading() as cursor:
        return fetch(cursor, ReviewerDecision, sql, [reviewer, limit])


def append_decisions(
    cursor: Cursor, rulings: Sequence[Ruling], current: Mapping[Pair, ReviewerDecision], reviewer: str
) -> list[ReviewerDecision]:
    """Write decisions, each as the revision after the pair's current decision."""
    decided_at, guide_hash = utc_now(), get_setting(cursor, "guide")
    decisions = []
    for ruling in rulings:
        current_decision = current.get(ruling.pair)
        revision = 0 if current_decision is None else current_decision.revision + 1
        decision = ReviewerDecision(*ruling.pair, revision, ruling.grade, ruling.reason, reviewer, decided_at)
        decisions.append(decision._replace(content_hash=ruling.content_hash, guide_hash=guide_hash))
    append_rows(cursor, "adjudications", decisions)
    texts = documents_by_hash(cursor, [ruling.content_hash or "" for ruling in rulings if ruling.evidence])
    marks = [
        (*decision[:3], *mark)
        for decision, ruling in zip(decisions, rulings, strict=True)
        if ruling.evidence
        for mark in quote_spans(texts[ruling.content_hash or ""].body, ruling.evidence)
    ]
    append_rows(cursor, "decision_marks", marks, ("query_id", "document_id", "revision", *QUOTE_COLUMNS))
    return decisions


def read_decision_marks(cursor: Cursor, decisions: Iterable[ReviewerDecision]) -> dict[Pair, Spans]:
    """Read the characters that reviewers marked with their decisions, by pair; decisions without marks are
    left out."""
    keys = [list(column) for column in zip(*(decision[:3] for decision in decisions), strict=True)]
    rows = cursor.execute(_DECISION_MARKS, keys).fetchall() if keys else []
    return {(row[0], row[1]): tuple(zip(row[2], row[3], strict=True)) for row in rows}


def _read_decisions(cursor: Cursor, view: str, pairs: Pairs | None) -> dict[Pair, ReviewerDecision]:
    sql = f"SELECT {_COLUMNS} FROM {view}"  # noqa: S608
    query = (sql,) if pairs is None else (sql + _AMONG_PAIRS, _split_ids(pairs))
    return {(row.query_id, row.document_id): row for row in fetch(cursor, ReviewerDecision, *query)}


def _split_ids(pairs: Iterable[Pair]) -> list[list[str]]:
    return [list(column) for column in zip(*pairs, strict=True)] or [[], []]
