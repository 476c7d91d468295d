"""The kinds of arrays that figures are computed from and to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
"""Which of some rows, queries or pairs are meant."""


def ratio(over: Floats | Ints, under: Floats | Ints | int, without: float = np.nan) -> Floats:
    """Each number over another one; `without` where there is nothing to divide by."""
    numerator, denominator = np.broadcast_arrays(over, under)
    quotient: Floats = np.divide(
        numerator, denominator, out=np.full(numerator.shape, without), where=denominator > 0
    )
    return quotient
