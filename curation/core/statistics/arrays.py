"""Array types of statistics, and the ratio of two arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]  # a selection of rows, queries or pairs


def ratio(over: Floats | Ints, under: Floats | Ints | int, without: float = np.nan) -> Floats:
    """Divide element by element; the result is `without` if the divisor is not positive."""
    numerator, denominator = np.broadcast_arrays(over, under)
    quotient: Floats = np.divide(
        numerator, denominator, out=np.full(numerator.shape, without), where=denominator > 0
    )
    return quotient
