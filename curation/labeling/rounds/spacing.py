"""The spacing of blind duplicates: the distance and the time between a pair's two showings.

Repeated items that are close together make an annotator look too consistent, so every report on consistency
shows the distances between repeats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.reports.tables import NumberCell, Table
from curation.store import Cursor

QUANTILE_NAMES = ("min", "q1", "median", "q3", "max")
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


class Spacing(NamedTuple):
    """How far apart a round's blind duplicates were shown.

    Attributes
    ----------
    distances: quantiles of the distances in presentations, without items that moved to others, by name
        ('min', 'q1', 'median', 'q3', 'max'); {} if the round has no blind duplicates.
    judged: the number of duplicates with an answer to both showings.
    another_day: the number of judged duplicates whose two answers were given on different days (UTC).
    hours: quantiles of the hours between the two answers; {} if no duplicate has both answers.
    """

    duplicates: int
    distances: dict[str, float]
    judged: int
    another_day: int
    hours: dict[str, float]


def compute_quantiles(values: Sequence[float]) -> dict[str, float]:
    """Compute the minimum, quartiles (interpolated linearly) and maximum, by name; {} if there are no
    values."""
    if not values:
        return {}
    quantiles = np.quantile(np.asarray(values, dtype=float), [0, 0.25, 0.5, 0.75, 1])
    return dict(zip(QUANTILE_NAMES, map(float, quantiles), strict=True))


def measure_spacing(cursor: Cursor, round_id: str) -> Spacing:
    """Measure the spacing of a round's blind duplicates."""
    rows = cursor.execute(_PAIRS, [round_id]).fetchall()
    times = [(first, second) for _, first, second in rows if first is not None and second is not None]
    return Spacing(
        duplicates=len(rows),
        distances=compute_quantiles([row[0] for row in rows]),
        judged=len(times),
        another_day=sum(first.date() != second.date() for first, second in times),
        hours=compute_quantiles([abs((second - first).total_seconds()) / 3600 for first, second in times]),
    )


def build_spacing_table(distances: Mapping[str, float], hours: Mapping[str, float]) -> Table:
    """Draw the table of distances between blind duplicates; it has no rows if there are no duplicates."""
    quantiles_by_unit = {"Presentations": distances, "Hours": hours}
    rows = (
        (unit, *(NumberCell(values.get(name), 1) for name in QUANTILE_NAMES))
        for unit, values in quantiles_by_unit.items()
        if values
    )
    columns = ("Measured in", "Least", "Quarter", "Median", "Three quarters", "Most")
    return Table("Distance between the two showings of blind duplicates", columns, tuple(rows))
