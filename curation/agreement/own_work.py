"""What annotators may see of their own work: consistency, pace, and pairs with a different consensus.

A pair has a consensus if the reviewer decided it, or if all its annotators have answered and the project's
rule gives a grade. In a closed round, the rule decides from the judgments given. The page never shows other
annotators or their number, blind duplicates, pilots, practice or control items. The page shows no consensus
while items can still come to the annotator. A grade would reveal the answer to a repeated pair, and a list
without the repeated pairs would reveal these pairs (`labeling.session.queue`).

A single answer changes only the pace, never the consistency or the differences, because the change would
reveal whether the answer was a repeat. An annotator's answers are released in blocks of 50, in the order of
the first answers. A block is released if it was full when the day began (UTC). An answer counts as it was
when its block was full, because a later change would reveal one item. When a round closes, all its answers
are released in their last state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import pyarrow as pa

from curation.agreement.intra_annotator import MINIMUM_REPEATS, Repeats, score_repeats
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.labeling.consensus.consensus import PairConsensus, compute_consensus
from curation.labeling.consensus.votes import Votes, read_votes
from curation.labeling.rounds.withheld_answers import may_see_own_answers
from curation.labeling.session.recent_answers import Pace, read_recent_answers
from curation.people.seal_access import read_closed_access
from curation.store import Store, utc_now
from curation.store.documents import VERSION

REVIEWER = "reviewer"
NOT_SETTLED = ("disputed", "unjudgeable", "single")
"""Outcomes without a consensus. A single grade is the annotator's own, or would reveal another person's."""
MIN_SETTLED = 10
"""Minimum number of pairs with a consensus for the share of equal grades."""
BLOCK = 50
"""Number of answers that are released together."""
_HAS_ITEMS = """
SELECT 1 FROM live_presentations p JOIN rounds r USING (round_id)
WHERE p.annotator = ? AND r.kind NOT IN ('pilot', 'practice') LIMIT 1
"""
_RELEASED = """
WITH events AS (
    SELECT e.*, e.rowid AS written, r.closed
    FROM judgment_events e
    JOIN live_presentations p USING (presentation_id)
    JOIN round_states r USING (round_id)
    WHERE e.author = $who AND p.annotator = $who AND r.kind NOT IN ('pilot', 'practice')),
firsts AS (
    SELECT presentation_id, min(written) AS first_written, arg_min(submitted_at, written) AS given_at
    FROM events WHERE kind IN ('grade', 'cannot_tell') GROUP BY presentation_id),
placed AS (
    SELECT *, (row_number() OVER (ORDER BY first_written) - 1) // $block AS block
    FROM firsts),
blocks AS (
    SELECT block, max(first_written) AS filled FROM placed
    GROUP BY block HAVING count(*) = $block AND max(given_at) < $today),
released AS (
    SELECT p.*, s.kind, s.grade, s.submitted_at, s.written
    FROM (
        SELECT e.* FROM events e LEFT JOIN placed USING (presentation_id) LEFT JOIN blocks b USING (block)
        WHERE CASE WHEN e.closed THEN NOT coalesce(e.late, false) ELSE e.written <= b.filled END
        QUALIFY row_number() OVER (PARTITION BY presentation_id ORDER BY revision DESC) = 1) s
    JOIN presentations p USING (presentation_id)
    WHERE s.kind IN ('grade', 'cannot_tell'))
"""
_REPEATS = """
SELECT count(*), count(*) FILTER (again.grade = first.grade)
FROM released again JOIN released first ON first.presentation_id = again.duplicate_of
WHERE again.kind = 'grade' AND first.kind = 'grade'
GROUP BY again.query_id ORDER BY again.query_id
"""
_MINE = f""",
mine AS (
    SELECT j.* FROM released j JOIN rounds r USING (round_id)
    JOIN judged_versions v USING (query_id, document_id, content_hash)
    WHERE j.duplicate_of IS NULL AND r.kind IN ('labeling', 'audit') AND NOT EXISTS (
        FROM known_answers k
        WHERE k.round_id = j.round_id AND k.query_id = j.query_id AND k.document_id = j.document_id)
    QUALIFY row_number() OVER (
        PARTITION BY j.query_id, j.document_id ORDER BY r.sequence DESC) = 1),
unfinished AS (
    SELECT DISTINCT p.query_id, p.document_id
    FROM live_presentations p JOIN round_states r USING (round_id)
    LEFT JOIN presentation_states s USING (presentation_id)
    WHERE r.kind IN ('labeling', 'audit') AND NOT r.closed
      AND p.annotator <> $who AND p.duplicate_of IS NULL AND NOT coalesce(s.answered, false))
SELECT m.query_id, m.document_id, q.text, coalesce(nullif(d.title, ''), m.document_id), m.grade,
       m.submitted_at, o.query_id IS NULL, a.reason
FROM mine m
LEFT JOIN unfinished o USING (query_id, document_id)
JOIN queries q USING (query_id)
JOIN {VERSION}
LEFT JOIN counted_adjudications a USING (query_id, document_id)
ORDER BY m.written DESC
"""  # noqa: S608


class Difference(NamedTuple):
    """A judged pair whose consensus differs from the annotator's judgment.

    Attributes
    ----------
    mine: grade that the annotator gave; None for cannot-tell.
    consensus: the grade of the pair; None if the reviewer decided that no grade can be given.
    how: 'reviewer', or the rule that gave the grade, such as 'majority'.
    reason: reason of the reviewer's decision, else None.
    """

    query: str
    title: str
    mine: int | None
    consensus: int | None
    how: str
    reason: str | None
    answered_at: datetime


@dataclass(frozen=True)
class MyDifferences:
    """Differences between an annotator and the consensus; `alike` of `compared` pairs have the annotator's
    grade.

    sealed: number of pairs with a consensus that are left out because a release seals the pairs.
    share: share of equal grades with Wilson's 95 % interval; None with fewer than 10 pairs.
    waits: whether items can still come to the annotator, so that nothing is shown.
    """

    differences: tuple[Difference, ...]
    alike: int
    compared: int
    share: Estimate
    sealed: int = 0
    waits: bool = False


class _JudgedPair(NamedTuple):
    """A pair that the annotator judged; `finished` is True if all other annotators have answered the pair
    once.
    """

    query_id: str
    document_id: str
    query: str
    title: str
    mine: int | None
    at: datetime
    finished: bool
    reason: str | None


def measure_own_work(
    store: Store, annotator: str, now: datetime | None = None
) -> tuple[Estimate | None, Pace]:
    """Compute the consistency and the pace of an annotator.

    Parameters
    ----------
    now: time (UTC) at which the work is measured; None for the current time.

    Returns
    -------
    The consistency, and the pace. The consistency is the share of released repeats with the same grade again,
    of `n` repeats with a grade on both showings. The share has no value below `MINIMUM_REPEATS` repeats; the
    consistency is None if the annotator has no items.
    """
    now = now or utc_now()
    with store.reading() as cursor:
        has_items = bool(cursor.execute(_HAS_ITEMS, [annotator]).fetchall())
        rows = cursor.execute(_RELEASED + _REPEATS, _bind_parameters(annotator, now)).fetchall()
        pace = read_recent_answers(cursor, annotator, now).compute_pace(now)
    return _estimate_consistency(annotator, rows) if has_items else None, pace


def find_own_differences(store: Store, annotator: str, now: datetime | None = None) -> MyDifferences:
    """Compare the annotator's released grades with the consensus at a time (UTC), the latest answer first."""
    with store.reading() as cursor:
        if not may_see_own_answers(cursor, annotator):
            return WAITING
        cursor.execute(_RELEASED + _MINE, _bind_parameters(annotator, now or utc_now()))
        rows = [_JudgedPair(*row) for row in cursor.fetchall()]
        votes = read_votes(cursor) if rows else None
        access = read_closed_access(cursor)
    pairs = compute_consensus(_replace_own_votes(votes, annotator, rows)).pairs if votes else ()
    by_pair = {(pair.query_id, pair.document_id): pair for pair in pairs}
    comparisons = [
        (row.query_id, comparison)
        for row in rows
        if (comparison := _compare_with_consensus(row, by_pair[row.query_id, row.document_id])) is not None
    ]
    shown = [comparison for query_id, comparison in comparisons if access.can_show(query_id)]
    different = tuple(difference for difference in shown if difference.mine != difference.consensus)
    alike, n, sealed = len(shown) - len(different), len(shown), len(comparisons) - len(shown)
    return MyDifferences(different, alike, n, share_estimate(alike, n, MIN_SETTLED), sealed)


def _bind_parameters(annotator: str, now: datetime) -> dict[str, object]:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return {"who": annotator, "block": BLOCK, "today": midnight}


def _estimate_consistency(annotator: str, rows: Sequence[tuple[int, int]]) -> Estimate:
    """Compute the consistency from the number of repeats and of equal repeats of each query."""
    graded, identical = [count for count, _ in rows], [count for _, count in rows]
    consistency = score_repeats(Repeats(annotator, len(rows), graded, identical, 0, None))
    if consistency.n < MINIMUM_REPEATS:
        return Estimate()
    return Estimate(consistency.identical, consistency.low, consistency.high, consistency.n)


def _replace_own_votes(votes: Votes, annotator: str, rows: Sequence[_JudgedPair]) -> Votes:
    """Replace the annotator's votes by the released votes, so that a new answer changes no consensus."""
    released = {(row.query_id, row.document_id): row.mine for row in rows}
    table = votes.rows
    pairs = list(zip(table["query_id"].to_pylist(), table["document_id"].to_pylist(), strict=True))
    is_own = [name == annotator for name in table["annotator"].to_pylist()]
    grades = [
        released.get(pair) if own else grade
        for pair, own, grade in zip(pairs, is_own, table["grade"].to_pylist(), strict=True)
    ]
    index = table.schema.get_field_index("grade")
    replaced = table.set_column(index, "grade", pa.array(grades, table.schema.field(index).type))
    is_kept = [pair in released or not own for pair, own in zip(pairs, is_own, strict=True)]
    return votes._replace(rows=replaced.filter(pa.array(is_kept)))


def _compare_with_consensus(row: _JudgedPair, pair: PairConsensus) -> Difference | None:
    """Compare a judgment with the consensus, unless the consensus rests only on this annotator."""
    if pair.how == "adjudicated":
        return Difference(row.query, row.title, row.mine, pair.grade, REVIEWER, row.reason, row.at)
    if not row.finished or pair.judgments < 2 or pair.how in NOT_SETTLED:
        return None
    return Difference(row.query, row.title, row.mine, pair.grade, pair.how, None, row.at)


WAITING = MyDifferences((), 0, 0, Estimate(), waits=True)
