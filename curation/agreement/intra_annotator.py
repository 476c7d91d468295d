"""Consistency of each annotator: the share of blind duplicates that got the same grade again.

A repeat is a pair that was shown to the same annotator twice and graded both times. The first showing counts
with the answer that it had when the second showing was answered, because an annotator who changes the answer
later has seen both showings. Repeats close together look falsely consistent, so the distance between the
showings is reported with the share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.core.statistics.intervals import clustered_share_interval, effective_sample_size
from curation.store import Cursor, fetch

MINIMUM_REPEATS = 10
"""Minimum number of repeats for a share that is shown without a warning."""
NOT_PLANTED = "no blind duplicate was planted"
NOT_JUDGED = "no blind duplicate judged twice yet"
_REPEATS = """
WITH shown AS (
    SELECT a.presentation_id, a.position - f.position AS distance,
           unnest([a.presentation_id, f.presentation_id]) AS showing,
           unnest([f.presentation_id, a.presentation_id]) AS other
    FROM presentations a JOIN presentations f ON f.presentation_id = a.duplicate_of),
events AS MATERIALIZED (
    SELECT s.*, e.kind, e.grade, e.rowid AS written
    FROM shown s JOIN judgment_events e ON e.presentation_id = s.showing),
began AS (
    SELECT showing, min(written) AS at FROM events WHERE kind IN ('grade', 'cannot_tell') GROUP BY showing),
answered AS (
    SELECT e.presentation_id, e.distance, e.showing,
           arg_max({'kind': e.kind, 'grade': e.grade}, e.written)
               FILTER (other.at < own.at OR e.written < other.at) AS answer
    FROM events e JOIN began own USING (showing) JOIN began other ON other.showing = e.other
    GROUP BY ALL),
twice AS (
    SELECT presentation_id, any_value(distance) AS distance, bool_and(answer.kind = 'grade') AS graded,
           bool_or(answer.kind = 'cannot_tell') AS cannot_tell, min(answer.grade) = max(answer.grade) AS alike
    FROM answered GROUP BY presentation_id),
of_query AS (
    SELECT p.annotator, p.query_id, count(p.duplicate_of) AS planted,
           count(*) FILTER (graded) AS graded, count(*) FILTER (graded AND alike) AS identical,
           count(*) FILTER (cannot_tell) AS cannot_tell, sum(distance) FILTER (graded) AS distance
    FROM live_presentations p JOIN rounds r USING (round_id) LEFT JOIN twice USING (presentation_id)
    WHERE p.round_id = ? OR (?::TEXT IS NULL AND r.kind NOT IN ('pilot', 'practice'))
    GROUP BY ALL)
SELECT annotator, sum(planted)::BIGINT,
       coalesce(list(graded ORDER BY query_id) FILTER (graded > 0), []),
       coalesce(list(identical ORDER BY query_id) FILTER (graded > 0), []),
       sum(cannot_tell)::BIGINT, sum(distance) / nullif(sum(graded), 0)
FROM of_query GROUP BY annotator ORDER BY annotator
"""


@dataclass(frozen=True)
class IntraAgreement:
    """One annotator's consistency.

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
    def why(self) -> str | None:
        """The reason why the share is not reliable; None if the share is reliable."""
        few = f"too few: {self.n} of at least {MINIMUM_REPEATS} blind duplicates judged twice"
        return self.undefined or (few if self.too_few else None)


class Repeats(NamedTuple):
    """Counts of one annotator's answers to blind duplicates.

    Attributes
    ----------
    graded, identical: number of repeats of each query with a grade on both showings, and with the same grade.
    """

    annotator: str
    planted: int
    graded: Sequence[int]
    identical: Sequence[int]
    cannot_tell: int
    distance: float | None


def read_repeats(cursor: Cursor, round_id: str | None = None) -> list[Repeats]:
    """Count each annotator's repeats by name; without a round, in all rounds except pilots and practice."""
    return fetch(cursor, Repeats, _REPEATS, [round_id, round_id])


def score_repeats(repeats: Repeats) -> IntraAgreement:
    """Compute one annotator's consistency from the counts."""
    graded, identical = np.array(repeats.graded, dtype=np.int64), np.array(repeats.identical, dtype=np.int64)
    return _score(
        repeats,
        share=float(identical.sum() / graded.sum()) if len(graded) else None,
        n=int(graded.sum()),
        queries=len(graded),
        effective=effective_sample_size(identical, graded) if len(graded) else 0.0,
    )


def pool_consistency(people: Sequence[IntraAgreement]) -> IntraAgreement:
    """Compute the consistency of all these annotators together, for the gate and for reports.

    The repeats of each annotator and query are one cluster.
    """
    with_repeats = [person for person in people if person.n]
    n = sum(person.n for person in with_repeats)
    identical = sum((person.identical or 0.0) * person.n for person in with_repeats)
    planted = sum(person.planted for person in people)
    cannot_tell = sum(person.cannot_tell for person in people)
    sizes = [(person.queries or person.n, person.effective or float(person.n)) for person in with_repeats]
    return _score(
        Repeats("", planted, (), (), cannot_tell, None),
        share=round(identical) / n if n else None,
        n=n,
        queries=sum(queries for queries, _ in sizes),
        effective=sum(effective for _, effective in sizes),
    )


def _score(repeats: Repeats, share: float | None, n: int, queries: int, effective: float) -> IntraAgreement:
    low, high = (None, None) if share is None else clustered_share_interval(share, effective, queries)
    return IntraAgreement(
        annotator=repeats.annotator,
        identical=share,
        low=low,
        high=high,
        n=n,
        undefined=None if n else NOT_JUDGED if repeats.planted else NOT_PLANTED,
        too_few=0 < n < MINIMUM_REPEATS,
        planted=repeats.planted,
        cannot_tell=repeats.cannot_tell,
        distance=repeats.distance,
        queries=queries,
        effective=effective,
    )
