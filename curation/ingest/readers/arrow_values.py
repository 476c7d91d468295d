"""Conversion of the values in Arrow columns to Python objects.

Arrow's `to_pylist` fails for a whole column at one value that Python cannot represent, and needs pandas for
nanoseconds. This module converts values that Python cannot represent to texts, and decodes bytes as UTF-8.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_MICROSECOND = 10**6
_DAY = 24 * 60 * 60
_EPOCH = datetime(1970, 1, 1)
_FIRST, _LAST = ((moment - _EPOCH) // timedelta(seconds=1) for moment in (datetime.min, datetime.max))
"""First and last second of Python's calendar, in seconds since 1970."""
_NO_TIME, _INFINITE = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_BYTES = (
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
    pa.types.is_fixed_size_binary,
)
_LISTS = (
    *(pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list),
    *(pa.types.is_list_view, pa.types.is_large_list_view),
)


def to_python_values(column: pa.Array) -> list[Any]:
    """Return the values of an Arrow column as Python objects; bytes that are not UTF-8 stay as bytes.

    A time outside Python's calendar becomes a text, such as 'infinity' and '10000-01-01T00:00:00'.
    """
    column = _unwrap_column(column)
    kind = column.type
    if pa.types.is_dictionary(kind):
        values = to_python_values(column.dictionary)
        return [None if index is None else values[index] for index in column.indices.to_pylist()]
    for is_kind, convert in _CONVERTERS:
        if is_kind(kind):
            return convert(column)
    values_read: list[Any] = column.to_pylist()
    return values_read


def to_plain_column(column: pa.Array) -> pa.Array:
    """Return the column without dictionary encoding, with all text types as Arrow strings.

    Raises
    ------
    pa.ArrowException: bytes are not UTF-8, or exceed 32-bit offsets.
    """
    column = _unwrap_column(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not is_text_type(column.type):
        return column
    return column.cast(pa.large_binary()).cast(pa.string())  # Arrow checks UTF-8 only in the cast from bytes


def is_text_type(kind: pa.DataType) -> bool:
    """Return whether values of this Arrow type are texts, or bytes that may be texts."""
    return _is_any((*_TEXTS, *_BYTES), kind)


def is_time_type(kind: pa.DataType) -> bool:
    """Return whether values of this Arrow type are dates or timestamps."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


@lru_cache
def is_known_zone(zone: str | None) -> bool:
    """Return whether this machine has data about a time zone; None stands for UTC."""
    try:
        return zone is None or pa.lib.string_to_tzinfo(zone) is not None
    except (pa.ArrowException, ValueError, KeyError, OSError):
        return False


def column_to_microseconds(column: pa.Array) -> tuple[Numbers, Mask, list[int]]:
    """Return microseconds since 1970 (UTC), a mask of times that Python can represent, and the row numbers of
    odd times. Odd times are outside Python's calendar; `format_odd_time` returns the text for an odd time.
    Nulls are in neither. Nanoseconds are truncated to microseconds.
    """
    numbers, is_valid, unit = _read_time_numbers(column)
    margin = 0 if getattr(column.type, "tz", None) is None else _DAY  # a zone may move a time out
    fits = _is_within(numbers, unit, _FIRST + margin, _LAST - margin) & is_valid & (abs(numbers) != _INFINITE)
    times = np.zeros(len(numbers), np.int64)
    times[fits] = _to_microseconds(numbers[fits], unit)
    return times, fits, np.flatnonzero(is_valid & ~fits).tolist()


def format_odd_time(column: pa.Array, index: int) -> str:
    """Return a time outside Python's calendar as a text."""
    number = int(column[index].cast(pa.int64() if _bit_width(column.type) == 64 else pa.int32()).as_py())
    if abs(number) in (2**31 - 1, 2**63 - 1):
        return "infinity" if number > 0 else "-infinity"
    unit: Any = "D" if pa.types.is_date32(column.type) else getattr(column.type, "unit", "ms")
    return str(np.datetime64(number, unit))


def _is_any(kinds: tuple[Callable[[pa.DataType], bool], ...], kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in kinds)


def _unwrap_column(column: pa.Array) -> pa.Array:
    """Return the stored values of an extension column, with UUIDs as text and 8-bit booleans as bool."""
    if isinstance(column, pa.ExtensionArray):
        name = column.type.extension_name
        if name == "arrow.uuid":
            return pa.array(map(_format_uuid, column.storage.to_pylist()), pa.string())
        column = column.storage
        return column.cast(pa.bool_()) if name == "arrow.bool8" else _unwrap_column(column)
    if pa.types.is_run_end_encoded(column.type):
        return pc.run_end_decode(column)
    return column


def _format_uuid(value: bytes | None) -> str | None:
    return None if value is None else str(uuid.UUID(bytes=value))


def _convert_texts(column: pa.Array) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
        return values
    except UnicodeDecodeError:
        return _convert_bytes(column.cast(pa.large_binary()))


def _convert_bytes(column: pa.Array) -> list[Any]:
    return [None if value is None else _decode_bytes(value) for value in column.to_pylist()]


def _decode_bytes(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _convert_times(column: pa.Array) -> list[Any]:
    zone = getattr(column.type, "tz", None)
    if getattr(column.type, "unit", "") != "ns" and is_known_zone(zone):  # nanoseconds need pandas
        with suppress(ValueError, OverflowError):
            values_read: list[Any] = column.to_pylist()
            return values_read
    times, is_valid, outside_calendar = column_to_microseconds(column)
    moments = pa.array(times, mask=~is_valid).cast(pa.timestamp("us", zone if is_known_zone(zone) else "UTC"))
    values = moments.cast(pa.date32()) if pa.types.is_date(column.type) else moments
    return _replace_odd_times(values, outside_calendar, lambda index: format_odd_time(column, index))


def _convert_clock_times(column: pa.Array) -> list[Any]:
    """Return times of day as Python objects; 24:00 and later times become texts."""
    numbers, is_valid, unit = _read_time_numbers(column)
    in_bounds = _is_within(numbers, unit, 0, _DAY - 1) & is_valid

    def clock_text(index: int) -> str:
        minutes, second = divmod(int(numbers[index]) // _PER_SECOND[unit], 60)
        return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}"

    values = _make_microsecond_column(numbers, in_bounds, unit, pa.time64("us"))
    return _replace_odd_times(values, np.flatnonzero(is_valid & ~in_bounds).tolist(), clock_text)


def _convert_durations(column: pa.Array) -> list[Any]:
    """Return durations as Python objects; a duration that Python cannot represent becomes a text."""
    numbers, is_valid, unit = _read_time_numbers(column)
    limit = _INFINITE // _MICROSECOND - 1
    inside = is_valid & (_is_within(numbers, unit, -limit, limit) | (_PER_SECOND[unit] >= _MICROSECOND))
    values = _make_microsecond_column(numbers, inside, unit, pa.duration("us"))
    out_of_bounds = np.flatnonzero(is_valid & ~inside).tolist()
    return _replace_odd_times(values, out_of_bounds, lambda index: f"{numbers[index]} {unit}")


def _make_microsecond_column(numbers: Numbers, in_bounds: Mask, unit: str, kind: pa.DataType) -> pa.Array:
    """Convert numbers of a time unit to an Arrow type in microseconds; null outside the bounds."""
    return pa.array(_to_microseconds(np.where(in_bounds, numbers, 0), unit), mask=~in_bounds).cast(kind)


def _replace_odd_times(values: pa.Array, indexes: Iterable[int], text_of: Callable[[int], str]) -> list[Any]:
    """Return the values as Python objects, with texts for odd times."""
    objects: list[Any] = values.to_pylist()
    for index in indexes:
        objects[index] = text_of(index)
    return objects


def _read_time_numbers(column: pa.Array) -> tuple[Numbers, Mask, str]:
    """Return the numbers that Arrow stores for times, a mask of non-null numbers, and their unit."""
    integers = column.cast(pa.int64() if _bit_width(column.type) == 64 else pa.int32()).cast(pa.int64())
    is_valid = np.asarray(pc.is_valid(column).to_numpy(zero_copy_only=False), bool)
    numbers = np.asarray(integers.fill_null(0).to_numpy(zero_copy_only=False), np.int64)
    if pa.types.is_date32(column.type):
        return numbers * _DAY, is_valid, "s"
    return numbers, is_valid & (numbers != _NO_TIME), getattr(column.type, "unit", "ms")


def _bit_width(kind: pa.DataType) -> int:
    return int(kind.bit_width)


def _is_within(numbers: Numbers, unit: str, first: int, last: int) -> Mask:
    """Return whether numbers in a time unit lie within bounds in seconds, including the last second."""
    seconds = numbers // _PER_SECOND[unit]
    return np.asarray((seconds >= first) & (seconds <= last))


def _to_microseconds(numbers: Numbers, unit: str) -> Numbers:
    per_second = _PER_SECOND[unit]
    if per_second > _MICROSECOND:
        return numbers // (per_second // _MICROSECOND)
    return numbers * (_MICROSECOND // per_second)


def _convert_structs(column: pa.Array) -> list[Any]:
    names = [field.name for field in column.type]
    inner = [to_python_values(child) for child in column.flatten()]
    rows = zip(*inner, strict=True) if inner else iter([()] * len(column))
    is_valid = pc.is_valid(column).to_pylist()
    objects = (dict(zip(names, row, strict=True)) for row in rows)
    return [value if is_known else None for value, is_known in zip(objects, is_valid, strict=True)]


def _convert_lists(column: pa.Array) -> list[Any]:
    inner = iter(to_python_values(column.flatten()))
    lengths = pc.list_value_length(column).to_pylist()
    return [None if length is None else [next(inner) for _ in range(length)] for length in lengths]


def _convert_maps(column: pa.Array) -> list[Any]:
    """Return maps as Python dicts; if keys are equal, the last one counts."""
    kind = column.type
    pair = pa.struct([pa.field("key", kind.key_type), pa.field("value", kind.item_type)])
    lists = _convert_lists(column.cast(pa.list_(pair)))
    return [None if pairs is None else {_to_key(pair): pair["value"] for pair in pairs} for pairs in lists]


_CONVERTERS: list[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], list[Any]]]] = [
    *((is_kind, _convert_texts) for is_kind in _TEXTS),
    *((is_kind, _convert_bytes) for is_kind in _BYTES),
    (is_time_type, _convert_times),
    (pa.types.is_time, _convert_clock_times),
    (pa.types.is_duration, _convert_durations),
    (pa.types.is_struct, _convert_structs),
    (pa.types.is_map, _convert_maps),
    *((is_kind, _convert_lists) for is_kind in _LISTS),
]


def _to_key(pair: dict[str, Any]) -> str:
    key = pair["key"]
    return key if isinstance(key, str) else str(key)
