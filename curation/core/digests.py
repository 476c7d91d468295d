"""Digests: values as JSON, one text for one value, its SHA-256, and the seeded order that rests on it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
APART: Mapping[str, Any] = {"apart": True}
"""The metadata of a dataclass's field that is no part of its JSON."""


def json_pointer(field: str) -> str:
    """The JSON pointer (RFC 6901) to a field of an object, with any characters in its name."""
    return "/" + field.replace("~", "~0").replace("/", "~1")


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces and real characters: one text for one value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(*parts: Any) -> str:
    """The first 32 hex digits of the SHA-256 of the parts' canonical JSON."""
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class ListDigest:
    """`digest` of a list whose items come one at a time."""

    def __init__(self) -> None:
        self._hash, self._before = hashlib.sha256(b"[["), ""

    def add(self, item: Any) -> None:
        """The next item of the list."""
        text = f"{self._before}{canonical_json(item)}"
        self._hash.update(text.encode("utf-8", "surrogatepass"))
        self._before = ","

    def value(self) -> str:
        """The digest of the items up to now."""
        final = self._hash.copy()
        final.update(b"]]")
        return final.hexdigest()[:32]


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seeded(items: Iterable[Item], seed: int, key: Callable[[Item], Any]) -> list[Item]:
    """The items in an order that depends on the seed and each item's key only.

    A random order for everyone who does not know the seed; the same on any machine and whatever the
    order of arrival, as long as keys differ.
    """
    return sorted(items, key=lambda item: digest(seed, key(item)))


def to_json_value(value: Any) -> Any:
    """The value as JSON knows it: dataclasses and NamedTuples become objects, dates ISO texts.

    A field whose metadata is `APART` is left out.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        written = [field.name for field in dataclasses.fields(value) if field.metadata != APART]
        return {name: to_json_value(getattr(value, name)) for name in written}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: to_json_value(item) for name, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [
            to_json_value(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)
        ]
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value
