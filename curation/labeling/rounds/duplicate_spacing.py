"""The spacing of blind duplicates: how far apart their two showings are, in presentations and in time.

Repeats close together look falsely consistent, so every report of consistency shows these distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.store import Cursor

NAMES = ("min", "q1", "median", "q3", "max")


class Spacing(NamedTuple):
    """The spacing of a round's blind duplicates.

    Attributes
    ----------
    distances: quantiles in presentations as planned, less what moved to others, by name ('min', 'q1',
        'median', 'q3', 'max'); {} without any.
    judged: duplicates answered on both showings.
    another_day: how many of these were answered on another day (UTC) than the first showing.
    hours: quantiles of the time between the two answers; {} where none is judged.
    """

    duplicates: int
    distances: dict[str, float]
    judged: int
    another_day: int
    hours: dict[str, float]


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Minimum, quartiles (interpolated linearly) and maximum by name; {} without values."""
    if not values:
        return {}
    cuts = np.quantile(np.asarray(values, dtype=float), [0, 0.25, 0.5, 0.75, 1])
    return dict(zip(NAMES, map(float, cuts), strict=True))


_PAIRS = """
WITH places AS (
    SELECT presentation_id, duplicate_of,
           row_number() OVER (PARTITION BY annotator ORDER BY position) AS place
    FROM live_presentations WHERE round_id = ?)
SELECT again.place - first.place, s.submitted_at, t.submitted_at
FROM places again
JOIN places first ON first.presentation_id = again.duplicate_of
LEFT JOIN current_judgments s ON s.presentation_id = first.presentation_id
LEFT JOIN current_judgments t ON t.presentation_id = again.presentation_id
"""


def spacing(cursor: Cursor, round_id: str) -> Spacing:
    """Measure the spacing of a round's blind duplicates."""
    rows = cursor.execute(_PAIRS, [round_id]).fetchall()
    times = [(first, second) for _, first, second in rows if first is not None and second is not None]
    return Spacing(
        duplicates=len(rows),
        distances=quantiles([row[0] for row in rows]),
        judged=len(times),
        another_day=sum(first.date() != second.date() for first, second in times),
        hours=quantiles([abs((second - first).total_seconds()) / 3600 for first, second in times]),
    )
