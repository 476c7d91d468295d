"""Each annotator's consistency: the share of blind duplicates that they gave the same grade again.

A repeat is a pair that an annotator saw twice and graded both times. The first grade counts as it was when
the second was given, because a later change is made with both showings known. Repeats close together look
falsely consistent, so the distance between the showings is reported too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.core.statistics.intervals import clustered_share_interval, effective_sample_size
from curation.store import Cursor, fetch

MINIMUM_REPEATS = 10
"""Minimum number of repeats for showing a share without a warning."""
NOT_PLANTED = "the rounds had no blind duplicates"
NOT_JUDGED = "no blind duplicate judged twice yet"
# `duplicate` is the id of a repeat's second showing; each repeat has two rows, one for each showing.
_REPEATS = """
WITH showings AS (
    SELECT second.presentation_id AS duplicate, second.position - first.position AS distance,
           unnest([second.presentation_id, first.presentation_id]) AS showing,
           unnest([first.presentation_id, second.presentation_id]) AS other_showing
    FROM presentations second JOIN presentations first ON first.presentation_id = second.duplicate_of),
events AS MATERIALIZED (
    SELECT showings.*, event.kind, event.grade, event.rowid AS event_row
    FROM showings JOIN judgment_events event ON event.presentation_id = showings.showing),
first_answers AS (
    SELECT showing, min(event_row) AS event_row
    FROM events WHERE kind IN ('grade', 'cannot_tell') GROUP BY showing),
answers AS (
    SELECT duplicate, distance, showing,
           arg_max({'kind': events.kind, 'grade': events.grade}, events.event_row)
               FILTER (other_first.event_row < own_first.event_row
                       OR events.event_row < other_first.event_row) AS answer
    FROM events JOIN first_answers own_first USING (showing)
    JOIN first_answers other_first ON other_first.showing = events.other_showing
    GROUP BY ALL),
repeats AS (
    SELECT duplicate AS presentation_id, any_value(distance) AS distance,
           bool_and(answer.kind = 'grade') AS is_graded,
           bool_or(answer.kind = 'cannot_tell') AS is_cannot_tell,
           min(answer.grade) = max(answer.grade) AS is_identical
    FROM answers GROUP BY duplicate),
query_counts AS (
    SELECT annotator, query_id, count(duplicate_of) AS planted,
           count(*) FILTER (is_graded) AS graded, count(*) FILTER (is_graded AND is_identical) AS identical,
           count(*) FILTER (is_cannot_tell) AS cannot_tell, sum(distance) FILTER (is_graded) AS distance
    FROM live_presentations p JOIN rounds r USING (round_id) LEFT JOIN repeats USING (presentation_id)
    WHERE p.round_id = ? OR (?::TEXT IS NULL AND r.kind NOT IN ('pilot', 'practice'))
    GROUP BY ALL)
SELECT annotator, sum(planted)::BIGINT,
       coalesce(list(graded ORDER BY query_id) FILTER (graded > 0), []),
       coalesce(list(identical ORDER BY query_id) FILTER (graded > 0), []),
       sum(cannot_tell)::BIGINT, sum(distance) / nullif(sum(graded), 0)
FROM query_counts GROUP BY annotator ORDER BY annotator
"""


@dataclass(frozen=True)
class IntraAgreement:
    """One annotator's consistency: the share of blind duplicates with the same grade, with its interval.

    Attributes
    ----------
    identical: share of repeats with the same grade; None if n is 0. The 95 % interval of the share treats the
        repeats of a query as a cluster.
    n: number of repeats with a grade on both showings.
    undefined: the reason for a missing share.
    too_few: whether there are fewer than `MINIMUM_REPEATS` repeats, so that the share is not shown.
    planted: number of blind duplicates among this annotator's presentations, judged or not.
    cannot_tell: number of repeats with a cannot-tell on either showing.
    distance: mean distance between the two showings, in presentations.
    queries, effective: number of queries of the repeats, and effective number of independent repeats; None in
        releases of earlier goldgrades, whose intervals treated repeats as independent.
    """

    annotator: str
    identical: float | None
    low: float | None
    high: float | None
    n: int
    undefined: str | None
    too_few: bool
    planted: int
    cannot_tell: int
    distance: float | None
    queries: int | None = None
    effective: float | None = None

    @property
    def unreliable_reason(self) -> str | None:
        """Return the reason why the share of identical grades is not reliable; None if it is reliable."""
        if self.too_few:
            return f"too few: {self.n} of at least {MINIMUM_REPEATS} blind duplicates judged twice"
        return self.undefined


class Repeats(NamedTuple):
    """Counts of one annotator's answers to blind duplicates.

    Attributes
    ----------
    planted: number of blind duplicates, judged or not.
    graded_counts: number of repeats with a grade on both showings, for each query that has such repeats.
    identical_counts: number of these repeats with the same grade, for each of the queries.
    cannot_tell: number of repeats with a cannot-tell on either showing.
    distance: mean distance between the two showings of the repeats with grades, in presentations.
    """

    annotator: str
    planted: int
    graded_counts: Sequence[int]
    identical_counts: Sequence[int]
    cannot_tell: int
    distance: float | None


def read_repeats(cursor: Cursor, round_id: str | None = None) -> list[Repeats]:
    """Count each annotator's repeats by name, in one round or in all rounds except pilots and practice."""
    return fetch(cursor, Repeats, _REPEATS, [round_id, round_id])


def score_repeats(repeats: Repeats) -> IntraAgreement:
    """Compute one annotator's consistency from the counts of repeats."""
    graded_counts = np.array(repeats.graded_counts, dtype=np.int64)
    identical_counts = np.array(repeats.identical_counts, dtype=np.int64)
    n = int(graded_counts.sum())
    return _make_agreement(
        repeats,
        share=float(identical_counts.sum() / n) if n else None,
        n=n,
        query_count=len(graded_counts),
        effective=effective_sample_size(identical_counts, graded_counts) if n else 0.0,
    )


def pool_consistency(agreements: Sequence[IntraAgreement]) -> IntraAgreement:
    """Compute the consistency of several annotators combined, for the gate and for reports.

    The repeats of each annotator and query are one cluster.
    """
    scored = [agreement for agreement in agreements if agreement.n]
    n = sum(agreement.n for agreement in scored)
    identical_count = round(sum((agreement.identical or 0.0) * agreement.n for agreement in scored))
    planted = sum(agreement.planted for agreement in agreements)
    cannot_tell = sum(agreement.cannot_tell for agreement in agreements)
    return _make_agreement(
        Repeats("", planted, (), (), cannot_tell, None),
        share=identical_count / n if n else None,
        n=n,
        query_count=sum(agreement.queries or agreement.n for agreement in scored),
        effective=sum(agreement.effective or float(agreement.n) for agreement in scored),
    )


def _make_agreement(
    repeats: Repeats, share: float | None, n: int, query_count: int, effective: float
) -> IntraAgreement:
    low, high = (None, None) if share is None else clustered_share_interval(share, effective, query_count)
    undefined = None
    if not n:
        undefined = NOT_JUDGED if repeats.planted else NOT_PLANTED
    return IntraAgreement(
        annotator=repeats.annotator,
        identical=share,
        low=low,
        high=high,
        n=n,
        undefined=undefined,
        too_few=0 < n < MINIMUM_REPEATS,
        planted=repeats.planted,
        cannot_tell=repeats.cannot_tell,
        distance=repeats.distance,
        queries=query_count,
        effective=effective,
    )
