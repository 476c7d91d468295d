"""Array types for statistics, a mean of known values, and division that does not fail if the divisor is 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]  # a selection of rows, queries or pairs


def ratio(dividend: Floats | Ints, divisor: Floats | Ints | int, default: float = np.nan) -> Floats:
    """Divide arrays element by element; the result is `default` if the divisor is not positive."""
    numerator, denominator = np.broadcast_arrays(dividend, divisor)
    quotient: Floats = np.divide(
        numerator, denominator, out=np.full(numerator.shape, default), where=denominator > 0
    )
    return quotient


def average(values: Floats) -> float | None:
    """Average the values that are not NaN; None if all are NaN."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
