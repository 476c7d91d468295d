"""What a measure's figure is of the values of queries: their mean, their geometric mean, or their total.

A geometric mean is the mean of logarithms. So that all that is said of means holds for it as well, gmap is
averaged on a scale from 0 to 1: 1 + ln(AP) / −ln(FLOOR), where AP below the floor is raised to it. What comes
out is taken back to average precision. The floor is trec_eval's (S. Robertson (2006), On GMAP: and other
transformations, CIKM).
"""

from __future__ import annotations

from math import log

import numpy as np

from curation.evaluation.metrics.measures import Measure
from curation.statistics.arrays import Floats

FLOOR = 0.00001


def averaged(measure: Measure, values: Floats) -> Floats:
    """What of each query is averaged; NaN for a total, which is no mean."""
    if measure.summary == "total":
        return np.full(values.shape, np.nan)
    if measure.summary == "geometric":
        return 1 - np.log(np.maximum(values, FLOOR)) / log(FLOOR)
    return values


def of_mean(measure: Measure, mean: float) -> float:
    """The figure that belongs to a mean of what is averaged."""
    return float(FLOOR ** (1 - mean)) if measure.summary == "geometric" else mean


def summary_of(measure: Measure, values: Floats) -> float | None:
    """The figure of the queries that have a value, None without any; a total of documents is whole."""
    if measure.summary != "total":
        mean = mean_of(averaged(measure, values))
        return None if mean is None else of_mean(measure, mean)
    defined = values[~np.isnan(values)]
    total = float(defined.sum())
    return (int(total) if total.is_integer() else total) if len(defined) else None


def mean_of(values: Floats) -> float | None:
    """The mean of those that are defined, None without any."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None
