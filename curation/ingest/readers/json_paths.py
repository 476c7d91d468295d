"""Paths to what is within the values of a record.

A path such as "inputs.question" leads through objects, and through texts of tables that are JSON objects
themselves.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

_MAX_OPENED_VALUES = 30
"""Values of an object that is opened: one with more has names of its own, such as documents."""
_WRAPPERS = ("_source", "fields", "doc", "event")
"""Objects that are opened whatever they have: each is a record as another tool wraps it."""
_OF_A_HIT = ("sort", "highlight", "fields", "inner_hits", "matched_queries")
"""What Elasticsearch and OpenSearch write next to `_source`, apart from names that begin with "_"."""


def object_of(value: Any) -> dict[str, Any] | None:
    """The object that a value is, or that a text of a table says; SQuAD's list of texts is no object."""
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    is_list = isinstance(value, dict) and isinstance(value.get("text"), list)
    return value if isinstance(value, dict) and value and not is_list else None


def _opened(name: str, value: Any) -> dict[str, Any] | None:
    return value if name in _WRAPPERS and isinstance(value, dict) else object_of(value)


def has_objects(value: Any) -> bool:
    """Whether a value is an object or a list of such, or a text that says so: no query is one."""
    if isinstance(value, str):
        return object_of(value) is not None or (value.startswith("[{") and value.endswith("}]"))
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, dict) for item in items)


def hold_objects(values: Iterable[Any]) -> bool:
    """Whether values are objects alone, where they are something."""
    filled = [value for value in values if value not in (None, "", {})]
    return bool(filled) and all(object_of(value) is not None for value in filled)


def inner_columns(fields: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """The paths of what is within the objects of a record."""
    for name, value in fields.items():
        inside = _opened(name, value)
        if inside is not None and (len(inside) <= _MAX_OPENED_VALUES or name in _WRAPPERS):
            yield from inner_columns(inside, f"{before}{name}.")
        elif before and inside is None:
            yield f"{before}{name}"


def value_at(fields: Mapping[str, Any], path: str) -> tuple[Any, ...]:
    """What is at a path, as one value; () where there is nothing. A name may have dots itself.

    Elasticsearch writes a list of one value for each of its `fields`: that is the value.
    """
    if path in fields:
        return (fields[path],)
    for at in (index for index, sign in enumerate(path) if sign == "."):
        inside = _opened(path[:at], fields.get(path[:at]))
        values = value_at(inside, path[at + 1 :]) if inside is not None else ()
        if values:
            is_one = path[:at] == "fields" and isinstance(values[0], list) and len(values[0]) == 1
            return tuple(values[0]) if is_one else values
    return ()


def rest_of(fields: Mapping[str, Any], used: Collection[str | None], place: str) -> dict[str, Any]:
    """What a record has besides the columns that are used.

    Where the record is wrapped in the object at `place`, that is what the object has, and what is next to it;
    names next to it that begin with "_" are an engine's own.
    """
    if not place:
        return {name: value for name, value in fields.items() if name not in used}
    root = place.split(".")[0]
    dropped = {*used, root, *(_OF_A_HIT if root == "_source" else ())}
    outside = {
        name: value
        for name, value in fields.items()
        if name not in dropped and not name.startswith(("_", f"{root}."))
    }
    [inside] = value_at(fields, place) or ({},)
    paths = {name: f"{place}.{name}" for name in _opened(place, inside) or {}}
    return outside | {name: value_at(fields, path)[0] for name, path in paths.items() if path not in used}
