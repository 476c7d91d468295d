"""Agreement of each annotator with themselves, on blind duplicates.

A repeat is a pair that was shown to the same annotator twice and graded both times. The showing that was
answered first counts with the answer that was in force when the other one was answered: a later change is
made by somebody who has seen both. Repeats close together look falsely consistent, so the distance between
the showings is reported with the share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.core.statistics.intervals import clustered_share, effective_size
from curation.store import Cursor, fetch

MINIMUM_REPEATS = 10
"""With fewer repeats a share is marked as resting on too few."""
NOT_PLANTED = "no blind duplicate was planted"
NOT_JUDGED = "no blind duplicate judged twice yet"
_REPEATS = """
WITH began AS (
    SELECT presentation_id, min(rowid) AS at FROM judgment_events
    WHERE kind IN ('grade', 'cannot_tell') GROUP BY presentation_id),
shown AS (
    SELECT presentation_id, presentation_id AS showing, true AS repeated FROM presentations
    WHERE duplicate_of IS NOT NULL
    UNION ALL
    SELECT presentation_id, duplicate_of, false FROM presentations WHERE duplicate_of IS NOT NULL),
answered AS (
    SELECT s.presentation_id, s.repeated, arg_max({'kind': e.kind, 'grade': e.grade, 'at': e.submitted_at},
               e.rowid) FILTER (other.at < own.at OR e.rowid < other.at) AS answer
    FROM shown s
    JOIN shown o ON o.presentation_id = s.presentation_id AND o.repeated <> s.repeated
    JOIN began own ON own.presentation_id = s.showing
    JOIN began other ON other.presentation_id = o.showing
    JOIN judgment_events e ON e.presentation_id = s.showing
    GROUP BY ALL),
twice AS (
    SELECT a.presentation_id, a.position - f.position AS distance, one.answer AS one, two.answer AS two
    FROM presentations a JOIN presentations f ON f.presentation_id = a.duplicate_of
    JOIN answered one ON one.presentation_id = a.presentation_id AND NOT one.repeated
    JOIN answered two ON two.presentation_id = a.presentation_id AND two.repeated),
of_query AS (
    SELECT p.annotator, p.query_id,
           count(p.duplicate_of) AS planted,
           count(*) FILTER (one.kind = 'grade' AND two.kind = 'grade') AS graded,
           count(*) FILTER (one.grade = two.grade) AS identical,
           count(*) FILTER ('cannot_tell' IN (one.kind, two.kind)) AS cannot_tell,
           sum(distance) FILTER (one.kind = 'grade' AND two.kind = 'grade') AS distance
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
    identical: share of repeats with the same grade; None if n is 0. Its 95 % interval takes the repeats of
        a query as a cluster.
    n: repeats with a grade on both showings.
    undefined: why there is no share.
    too_few: fewer than `MINIMUM_REPEATS` repeats: not a figure to show.
    planted: blind duplicates among this annotator's presentations, judged or not.
    cannot_tell: repeats with a cannot-tell on either showing, kept apart.
    distance: mean distance between the two showings, in presentations.
    queries, effective: how many queries the repeats are of, and how many independent repeats would tell as
        much; None in releases of earlier goldgrades, whose intervals took repeats as independent.
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
        """Why there is no figure to rely on; None if there is one."""
        few = f"too few: {self.n} of at least {MINIMUM_REPEATS} blind duplicates judged twice"
        return self.undefined or (few if self.too_few else None)


class Repeats(NamedTuple):
    """What one annotator did with their blind duplicates, counted.

    Attributes
    ----------
    graded, identical: repeats with a grade on both showings, and with the same grade, of each query.
    """

    annotator: str
    planted: int
    graded: Sequence[int]
    identical: Sequence[int]
    cannot_tell: int
    distance: float | None


def read_repeats(cursor: Cursor, round_id: str | None = None) -> list[Repeats]:
    """Everyone with presentations in the round, or in any but pilot and practice rounds, by name."""
    return fetch(cursor, Repeats, _REPEATS, [round_id, round_id])


def intra_agreement(repeats: Repeats) -> IntraAgreement:
    """One annotator's consistency from their counts."""
    graded, identical = np.array(repeats.graded, dtype=np.int64), np.array(repeats.identical, dtype=np.int64)
    return _consistency(
        repeats,
        share=float(identical.sum() / graded.sum()) if len(graded) else None,
        n=int(graded.sum()),
        queries=len(graded),
        effective=effective_size(identical, graded) if len(graded) else 0.0,
    )


def pooled_consistency(people: Sequence[IntraAgreement]) -> IntraAgreement:
    """The repeats of all of them together: what the gate demands, and what reports say.

    What two annotators did with a query are two clusters.
    """
    with_repeats = [person for person in people if person.n]
    n = sum(person.n for person in with_repeats)
    same = sum((person.identical or 0.0) * person.n for person in with_repeats)
    planted, unclear = (
        sum(getattr(person, name) for person in people) for name in ("planted", "cannot_tell")
    )
    sizes = [(person.queries or person.n, person.effective or float(person.n)) for person in with_repeats]
    return _consistency(
        Repeats("", planted, (), (), unclear, None),
        share=round(same) / n if n else None,
        n=n,
        queries=sum(queries for queries, _ in sizes),
        effective=sum(effective for _, effective in sizes),
    )


def _consistency(
    repeats: Repeats, share: float | None, n: int, queries: int, effective: float
) -> IntraAgreement:
    low, high = (None, None) if share is None else clustered_share(share, effective, queries)
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
