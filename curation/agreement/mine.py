"""What annotators may know of their own work: how consistent, how fast, and what was settled otherwise.

A pair is settled when the reviewer decided it, or when everybody who was to judge it has and the project's
rule gives a grade; in a closed round, when the rule gives one to what was said. Never told: who else
graded or how many, which items were blind duplicates, and anything of pilots, practice or known answers. A
pair that may still come back to the annotator is held back: its grade would give the answer away.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from curation.agreement.consensus import PairConsensus, read_votes, settled
from curation.agreement.intervals import wilson
from curation.agreement.within import Within, read_repeats, within
from curation.labeling.queue import pace
from curation.store import Store

REVIEWER = "reviewer"
NOT_SETTLED = ("disputed", "unjudgeable", "single")
"""A single grade is either the annotator's own, or would tell that one other person graded."""
FEWEST_SETTLED = 10
"""Settled pairs below which the share of equal grades is not told."""


class Difference(NamedTuple):
    """A settled pair on which the annotator said something else.

    Attributes
    ----------
    mine: the annotator's grade; None for cannot-tell.
    settled: the grade that stands; None where the reviewer decided that none can be given.
    how: 'reviewer', or the rule that gave the grade, such as 'majority'.
    reason: the reviewer's, else None.
    """

    query: str
    title: str
    mine: int | None
    settled: int | None
    how: str
    reason: str | None
    answered_at: datetime


@dataclass(frozen=True)
class MyDifferences:
    """Where an annotator differs; `alike` of `settled` pairs have their grade.

    share: with Wilson's 95 % interval; None below 10 settled pairs.
    """

    differences: tuple[Difference, ...]
    alike: int
    settled: int
    share: float | None
    low: float | None
    high: float | None


class MyWork(NamedTuple):
    """Consistency (None without items), answers in the last 60 minutes, median seconds of the last 50."""

    consistency: Within | None
    hour: int
    seconds_each: float | None


def my_work(store: Store, annotator: str) -> MyWork:
    """How consistently and how fast an annotator works."""
    with store.reading() as cursor:
        mine = [within(row) for row in read_repeats(cursor) if row.annotator == annotator]
        return MyWork(mine[0] if mine else None, *pace(cursor, annotator))


def my_differences(store: Store, annotator: str) -> MyDifferences:
    """Where the annotator's grades differ from settled ones, the latest answer first."""
    with store.reading() as cursor:
        rows = [_Row(*row) for row in cursor.execute(_MINE, {"who": annotator}).fetchall()]
        votes = read_votes(cursor) if rows else None
    standing = {pair[:2]: pair for pair in settled(votes).pairs} if votes else {}
    found = [one for row in rows if (one := _settled(row, standing[row.query_id, row.document_id]))]
    different = tuple(one for one in found if one.mine != one.settled)
    alike, n = len(found) - len(different), len(found)
    if n < FEWEST_SETTLED:
        return MyDifferences(different, alike, n, None, None, None)
    return MyDifferences(different, alike, n, alike / n, *wilson(alike, n))


class _Row(NamedTuple):
    """A pair that the annotator judged; `finished` when nobody else's first showing of it is open."""

    query_id: str
    document_id: str
    query: str
    title: str
    mine: int | None
    at: datetime
    finished: bool
    reason: str | None


def _settled(row: _Row, pair: PairConsensus) -> Difference | None:
    """What was settled by others than the annotator alone, if anything was."""
    if pair.how == "adjudicated":
        return Difference(row.query, row.title, row.mine, pair.grade, REVIEWER, row.reason, row.at)
    if not row.finished or pair.judgments < 2 or pair.how in NOT_SETTLED:
        return None
    return Difference(row.query, row.title, row.mine, pair.grade, pair.how, None, row.at)


_MINE = """
WITH mine AS (
    SELECT j.* FROM counted_judgments j JOIN rounds r USING (round_id)
    WHERE j.annotator = $who AND r.kind IN ('labeling', 'audit')),
shown AS (
    SELECT p.query_id, p.document_id, p.annotator, p.duplicate_of IS NULL AS first,
           NOT coalesce(s.answered, false) AND NOT r.closed AS open
    FROM live_presentations p JOIN round_states r USING (round_id)
    LEFT JOIN presentation_states s USING (presentation_id)
    WHERE r.kind IN ('labeling', 'audit')
      AND (p.query_id, p.document_id) IN (SELECT (query_id, document_id) FROM mine)),
standing AS (
    SELECT query_id, document_id, bool_or(open AND first) AS unfinished,
           bool_or(open AND annotator = $who) AS may_come_back
    FROM shown GROUP BY query_id, document_id)
SELECT m.query_id, m.document_id, q.text, coalesce(nullif(d.title, ''), m.document_id), m.grade,
       m.submitted_at, NOT o.unfinished, a.reason
FROM mine m
JOIN standing o USING (query_id, document_id)
JOIN queries q USING (query_id)
JOIN documents d USING (content_hash)
LEFT JOIN current_adjudications a USING (query_id, document_id)
WHERE NOT o.may_come_back
ORDER BY m.submitted_at DESC, m.presentation_id
"""
