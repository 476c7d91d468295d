"""Paths to values inside the objects of a record.

A path such as "inputs.question" leads through objects, and through cells of tables that are JSON objects.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

_MAX_OPENED_VALUES = 30
"""Greatest number of values in an object whose fields become columns; larger objects often map ids."""
_WRAPPERS = ("_source", "fields", "doc", "event")
"""Names of objects whose fields always become columns, because tools wrap records in these objects."""
_OF_A_HIT = ("sort", "highlight", "fields", "inner_hits", "matched_queries")
"""Names that Elasticsearch and OpenSearch write next to `_source`, besides names that begin with "_"."""


def parse_object(value: Any) -> dict[str, Any] | None:
    """Return an object, or the object in a JSON text; None for other values and for SQuAD's lists of
    texts."""
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    is_list = isinstance(value, dict) and isinstance(value.get("text"), list)
    return value if isinstance(value, dict) and value and not is_list else None


def _opened_object(name: str, value: Any) -> dict[str, Any] | None:
    return value if name in _WRAPPERS and isinstance(value, dict) else parse_object(value)


def has_object(value: Any) -> bool:
    """Return whether a value is an object or a list of objects, or JSON text for one of these."""
    if isinstance(value, str):
        return parse_object(value) is not None or (value.startswith("[{") and value.endswith("}]"))
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, dict) for item in items)


def are_objects(values: Iterable[Any]) -> bool:
    """Return whether all values are objects, ignoring empty values."""
    filled = [value for value in values if value not in (None, "", {})]
    return bool(filled) and all(parse_object(value) is not None for value in filled)


def list_paths(fields: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the paths of the values inside the objects of a record."""
    for name, value in fields.items():
        inner_object = _opened_object(name, value)
        if inner_object is not None and (len(inner_object) <= _MAX_OPENED_VALUES or name in _WRAPPERS):
            yield from list_paths(inner_object, f"{prefix}{name}.")
        elif prefix and inner_object is None:
            yield f"{prefix}{name}"


def find_value(fields: Mapping[str, Any], path: str) -> tuple[Any, ...]:
    """Return the value at a path as a tuple of one item; () if the record has no value there.

    Elasticsearch writes a list of one value for each field in `fields`; this function returns the item of the
    list.
    """
    if path in fields:
        return (fields[path],)
    for at in (index for index, sign in enumerate(path) if sign == "."):
        inside = _opened_object(path[:at], fields.get(path[:at]))
        values = find_value(inside, path[at + 1 :]) if inside is not None else ()
        if values:
            is_one = path[:at] == "fields" and isinstance(values[0], list) and len(values[0]) == 1
            return tuple(values[0]) if is_one else values
    return ()


def select_unused(fields: Mapping[str, Any], used: Collection[str | None], place: str) -> dict[str, Any]:
    """Return the values of a record, except the values of columns read for a field.

    For a record inside the object at `place`, return the values in the object and beside the object, except
    values whose names begin with "_", which belong to the search engine.
    """
    if not place:
        return {name: value for name, value in fields.items() if name not in used}
    root = place.split(".")[0]
    dropped = {*used, root, *(_OF_A_HIT if root == "_source" else ())}
    names = [name for name in fields if name not in dropped and not name.startswith(("_", f"{root}."))]
    outside = {name: fields[name] for name in names}
    [inside] = find_value(fields, place) or ({},)
    paths = {name: f"{place}.{name}" for name in _opened_object(place, inside) or {}}
    return outside | {name: find_value(fields, path)[0] for name, path in paths.items() if path not in used}
