"""The summary of a measure over queries: a mean, a geometric mean, or a total.

A geometric mean is the mean of logarithms. So that intervals of means apply to gmap, gmap is averaged on a
scale from 0 to 1: 1 + ln(AP) / −ln(FLOOR), where an AP below the floor is raised to the floor. The mean on
that scale is converted back to average precision. The floor is trec_eval's (Robertson 2006, On GMAP: and
other transformations, CIKM).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from curation.core.statistics.arrays import Floats
from curation.evaluation.scoring.measure_names import Measure

FLOOR = 0.00001
"""The lowest average precision of a query in a geometric mean."""


def to_mean_scale(measure: Measure, values: Floats) -> Floats:
    """Convert queries' values to the scale on which their measure is averaged; NaN for a total."""
    if measure.summary == "total":
        return np.full(values.shape, np.nan)
    if measure.summary == "geometric":
        return 1 - np.log(np.maximum(values, FLOOR)) / log(FLOOR)
    return values


def to_mean_scales(measures: Sequence[Measure], values: Floats) -> Floats:
    """Convert values of shape (Q, M) to the scales on which M measures are averaged."""
    columns = [to_mean_scale(measure, column) for measure, column in zip(measures, values.T, strict=True)]
    return np.stack(columns, axis=1)


def from_mean_scale(measure: Measure, mean: float | None) -> float | None:
    """Convert a mean on the averaging scale back to the measure's own scale."""
    return float(FLOOR ** (1 - mean)) if mean is not None and measure.summary == "geometric" else mean


def summarize_values(measure: Measure, values: Floats) -> float | None:
    """Compute a system's value from its queries' values, ignoring NaN; None if no query has a value.

    A total of documents is a whole number.
    """
    if measure.summary != "total":
        return from_mean_scale(measure, average(to_mean_scale(measure, values)))
    known = values[~np.isnan(values)]
    total = float(known.sum())
    return (int(total) if total.is_integer() else total) if len(known) else None


def average(values: Floats) -> float | None:
    """Average the values that are not NaN; None if all are NaN."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
