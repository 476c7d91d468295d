"""Arrow arrays made from and converted to Python lists and numpy arrays, without pandas.

`pa.array`, `to_numpy` and `pa.scalar` import pandas if it is installed. This import of pandas takes longer
than reading ten runs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Ints = NDArray[np.int64]
MISSING = -1
_LARGEST = 2**31  # 32-bit offsets reach this many bytes


class _NoPandas:
    """An import hook that makes `import pandas` fail as if pandas were not installed."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pyarrow is to work without pandas here")


def hide_pandas() -> None:
    """Hide pandas during pyarrow's first conversion, after which pyarrow never looks for pandas again.

    Processes that draw no page call this function.
    """
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.array([0]).to_numpy()
    finally:
        sys.meta_path.remove(_NoPandas)


def string_array(values: Sequence[str]) -> pa.StringArray:
    """Make an Arrow array from strings."""
    encoded = [value.encode() for value in values]
    ends = np.array([0, *accumulate(map(len, encoded))])
    if ends[-1] >= _LARGEST:
        return pa.array(values, pa.string())
    buffers = [pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
    return pa.StringArray.from_buffers(len(values), *buffers)


def int_array(values: Ints) -> pa.Int64Array:
    """Make an Arrow array from whole numbers, shape (N,)."""
    buffer = pa.py_buffer(np.ascontiguousarray(values, np.int64))
    return pa.Int64Array.from_buffers(pa.int64(), len(values), [None, buffer])


def to_ints(values: pa.Array) -> Ints:
    """Convert an Arrow array of whole numbers to numpy, shape (N,), with `MISSING` for each null."""
    present = np.from_dlpack(values.drop_null()).astype(np.int64)
    if not values.null_count:
        return present
    values_or_missing = np.full(len(values), MISSING)
    values_or_missing[np.from_dlpack(pc.cast(pc.is_valid(values), pa.int8())) == 1] = present
    return values_or_missing


def to_floats(values: pa.Array) -> NDArray[np.float64]:
    """Convert an Arrow array of numbers without nulls to numpy, shape (N,)."""
    return np.from_dlpack(values).astype(np.float64)
