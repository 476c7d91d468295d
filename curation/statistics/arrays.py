"""The kinds of arrays that figures are computed from and to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
"""Which of some rows, queries or pairs are meant."""
