"""What is within the values of a record: paths such as `inputs.question`.

They lead through objects, and through texts of tables that are JSON objects themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

_WIDEST = 30
"""Values of an object that is opened: one with more has names of its own, such as documents."""


def object_of(value: Any) -> dict[str, Any] | None:
    """The object that a value is, or that a text of a table says; SQuAD's list of texts is none."""
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    is_list = isinstance(value, dict) and isinstance(value.get("text"), list)
    return value if isinstance(value, dict) and value and not is_list else None


def has_objects(value: Any) -> bool:
    """Whether a value is an object or a list of such, or a text that says so: no query is one."""
    if isinstance(value, str):
        return object_of(value) is not None or (value.startswith("[{") and value.endswith("}]"))
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, dict) for item in items)


def inner_columns(fields: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """The paths of what is within the objects of a record."""
    for name, value in fields.items():
        inside = object_of(value)
        if inside is not None and len(inside) <= _WIDEST:
            yield from inner_columns(inside, f"{before}{name}.")
        elif before and inside is None:
            yield f"{before}{name}"


def value_at(fields: Mapping[str, Any], path: str) -> tuple[Any, ...]:
    """What is at a path, as one value; () where there is nothing."""
    inside: Mapping[str, Any] | None = fields
    value: Any = None
    for part in path.split("."):
        if inside is None or part not in inside:
            return ()
        value = inside[part]
        inside = object_of(value)
    return (value,)
