"""Paths of values in a JSON answer: names and positions with dots between, such as `hits.0.id`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curation.core.errors import InputError
from curation.ingest.readers.values import to_text

MISSING = object()
"""Result of reading a path that the JSON value does not have."""
_MAX_PATHS = 12


def get_value(value: Any, path: str) -> Any:
    """Read the value at a path, or return `MISSING` if the path does not exist."""
    for name in path.split(".") if path else ():
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value


def require_value(value: Any, path: str, subject: str) -> Any:
    """Read the value at a path of a JSON answer, and reject an answer without this path.

    Raises
    ------
    InputError: the path does not exist. The error begins with the subject, and lists the existing paths.
    """
    value_at_path = get_value(value, path)
    if value_at_path is MISSING:
        paths = ", ".join(list_paths(value)) or "nothing"
        raise InputError(f"{subject} has no {path!r}. Found: {paths}.")
    return value_at_path


def list_paths(value: Any) -> Sequence[str]:
    """List the first paths in an object, two levels deep."""
    paths: list[str] = []
    for name, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, dict) and inner:
            paths += _shorten_paths([f"{name}.{inner_name}" for inner_name in inner])
        else:
            paths.append(name)
    return _shorten_paths(paths)


def _shorten_paths(paths: list[str]) -> list[str]:
    return paths if len(paths) <= _MAX_PATHS else [*paths[:_MAX_PATHS], "…"]


def describe_difference(answer: Any, expected: Mapping[str, Any]) -> str:
    """Describe the first value that differs from its expected value as `path is value`.

    Return '' if no value differs. A path that the answer lacks does not count.

    Parameters
    ----------
    expected: path → expected value.
    """
    for path, value in expected.items():
        answer_value = get_value(answer, path)
        if answer_value is not MISSING and answer_value != value:
            return f"{path} is {to_text(answer_value)[:60]}"
    return ""
