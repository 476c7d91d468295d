"""An annotator's released grades, compared with the consensus on the same pairs.

A pair has a consensus if the reviewer decided it, or if all its annotators have answered and the project's
rule gives a grade. In a closed round, the rule decides from the judgments given. The comparison never shows
other annotators or their number, blind duplicates, pilots, practice or control items. It shows no consensus
while items can still come to the annotator. A grade would reveal the answer to a repeated pair, and a list
without the repeated pairs would reveal these pairs (`labeling.session.queue`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import pyarrow as pa

from curation.agreement.released_answers import RELEASED_ANSWERS, bind_release_parameters
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.labeling.consensus.consensus import PairConsensus, compute_consensus
from curation.labeling.consensus.votes import Votes, read_votes
from curation.labeling.rounds.withheld_answers import may_see_own_answers
from curation.people.seal_access import read_closed_access
from curation.store import Store
from curation.store.documents import VERSION

REVIEWER = "reviewer"
NO_CONSENSUS = ("disputed", "unjudgeable", "single")
"""Outcomes that are not a consensus: a single grade is the annotator's own, or would reveal another's."""
MIN_COMPARED = 10
"""Minimum number of pairs with a consensus for the share of equal grades."""
_JUDGED_PAIRS = f"""{RELEASED_ANSWERS},
latest AS (
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
      AND p.annotator <> $annotator AND p.duplicate_of IS NULL AND NOT coalesce(s.answered, false))
SELECT m.query_id, m.document_id, q.text, coalesce(nullif(d.title, ''), m.document_id), m.grade,
       m.submitted_at, o.query_id IS NULL, a.reason
FROM latest m
LEFT JOIN unfinished o USING (query_id, document_id)
JOIN queries q USING (query_id)
JOIN {VERSION}
LEFT JOIN counted_adjudications a USING (query_id, document_id)
ORDER BY m.event_row DESC
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
class OwnDifferences:
    """Pairs on which an annotator's grade differs from the consensus, with counts of the compared pairs.

    Attributes
    ----------
    compared, equal: number of pairs with a consensus that is shown, and number of these pairs whose consensus
        is the annotator's grade.
    sealed: number of pairs with a consensus that are left out because a release seals the pairs.
    share: share of equal grades with Wilson's 95 % interval; None with fewer than 10 pairs.
    waits: whether items can still come to the annotator, so that nothing is shown.
    """

    differences: tuple[Difference, ...]
    equal: int
    compared: int
    share: Estimate
    sealed: int = 0
    waits: bool = False


class _JudgedPair(NamedTuple):
    """A pair that the annotator judged; `is_finished` says whether all other annotators have answered it."""

    query_id: str
    document_id: str
    query: str
    title: str
    mine: int | None
    answered_at: datetime
    is_finished: bool
    reason: str | None


def find_own_differences(store: Store, annotator: str, now: datetime | None = None) -> OwnDifferences:
    """Compare the annotator's released grades with the consensus, latest answer first."""
    with store.reading() as cursor:
        if not may_see_own_answers(cursor, annotator):
            return WAITING
        cursor.execute(_JUDGED_PAIRS, bind_release_parameters(annotator, now))
        rows = [_JudgedPair(*row) for row in cursor.fetchall()]
        votes = read_votes(cursor) if rows else None
        access = read_closed_access(cursor)
    pairs = compute_consensus(_replace_own_votes(votes, annotator, rows)).pairs if votes else ()
    pair_by_ids = {(pair.query_id, pair.document_id): pair for pair in pairs}
    shown: list[Difference] = []
    sealed_count = 0
    for row in rows:
        comparison = _compare_with_consensus(row, pair_by_ids[row.query_id, row.document_id])
        if comparison is None:
            continue
        if access.can_show(row.query_id):
            shown.append(comparison)
        else:
            sealed_count += 1
    different = tuple(comparison for comparison in shown if comparison.mine != comparison.consensus)
    equal_count = len(shown) - len(different)
    share = share_estimate(equal_count, len(shown), MIN_COMPARED)
    return OwnDifferences(different, equal_count, len(shown), share, sealed_count)


def _replace_own_votes(votes: Votes, annotator: str, rows: Sequence[_JudgedPair]) -> Votes:
    """Replace the annotator's votes with the released votes, so that a new answer does not change the
    consensus."""
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
    is_counted = [pair in released or not own for pair, own in zip(pairs, is_own, strict=True)]
    return votes._replace(rows=replaced.filter(pa.array(is_counted)))


def _compare_with_consensus(row: _JudgedPair, pair: PairConsensus) -> Difference | None:
    """Compare a judgment with the consensus, unless the consensus comes only from this annotator's vote."""
    if pair.how == "adjudicated":
        return Difference(row.query, row.title, row.mine, pair.grade, REVIEWER, row.reason, row.answered_at)
    if not row.is_finished or pair.judgments < 2 or pair.how in NO_CONSENSUS:
        return None
    return Difference(row.query, row.title, row.mine, pair.grade, pair.how, None, row.answered_at)


WAITING = OwnDifferences((), 0, 0, Estimate(), waits=True)
