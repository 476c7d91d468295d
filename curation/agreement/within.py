"""Agreement of each annotator with themselves, on blind duplicates.

A repeat is a pair that was shown to the same annotator twice and graded both times. Repeats that stand
close together look falsely consistent, so the distance between the showings is told beside the share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from curation.agreement.intervals import wilson
from curation.store import Cursor, fetch

MINIMUM_REPEATS = 10
"""With fewer repeats a share is marked as resting on too few."""

NOT_PLANTED = "no blind duplicate was planted"
NOT_JUDGED = "no blind duplicate judged twice yet"


@dataclass(frozen=True)
class Within:
    """One annotator's consistency.

    Attributes
    ----------
    identical: share of repeats with the same grade, with Wilson's 95 % interval; None where n is 0.
    n: repeats with a grade on both showings.
    undefined: why there is no share.
    too_few: fewer than `MINIMUM_REPEATS` repeats: not a figure to show.
    planted: blind duplicates among this annotator's presentations, judged or not.
    cannot_tell: repeats with a cannot-tell on either showing, kept apart.
    distance: mean distance between the two showings, in presentations.
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


class Repeats(NamedTuple):
    """What one annotator did with their blind duplicates, counted."""

    annotator: str
    planted: int
    graded: int
    identical: int
    cannot_tell: int
    distance: float | None


def read_repeats(cursor: Cursor, round_id: str | None = None) -> list[Repeats]:
    """Everyone with presentations (in the round, if one is given), by name."""
    return fetch(
        cursor,
        Repeats,
        """
        SELECT p.annotator,
               count(p.duplicate_of),
               count(*) FILTER (again.kind = 'grade' AND first.kind = 'grade'),
               count(*) FILTER (again.grade = first.grade),
               count(*) FILTER (again.kind = 'cannot_tell' OR first.kind = 'cannot_tell'),
               avg(again.position - first.position) FILTER (again.kind = 'grade' AND first.kind = 'grade')
        FROM presentations p
        LEFT JOIN (
            current_judgments again JOIN current_judgments first ON first.presentation_id = again.duplicate_of
        ) ON again.presentation_id = p.presentation_id
        WHERE ?::TEXT IS NULL OR p.round_id = ?
        GROUP BY p.annotator ORDER BY p.annotator
        """,
        [round_id, round_id],
    )


def within(repeats: Repeats) -> Within:
    """One annotator's consistency from their counts."""
    identical = low = high = None
    if repeats.graded:
        identical = repeats.identical / repeats.graded
        low, high = wilson(repeats.identical, repeats.graded)
    return Within(
        annotator=repeats.annotator,
        identical=identical,
        low=low,
        high=high,
        n=repeats.graded,
        undefined=None if repeats.graded else NOT_JUDGED if repeats.planted else NOT_PLANTED,
        too_few=0 < repeats.graded < MINIMUM_REPEATS,
        planted=repeats.planted,
        cannot_tell=repeats.cannot_tell,
        distance=repeats.distance,
    )
