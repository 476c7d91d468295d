"""Digests of values: the SHA-256 of their canonical JSON."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
# Metadata of a dataclass field that `to_json_value` leaves out
NOT_IN_JSON: Mapping[str, Any] = {"apart": True}


def json_pointer(field: str) -> str:
    """Write the JSON pointer (RFC 6901) to a field of an object; the field's name may have any characters."""
    return "/" + field.replace("~", "~0").replace("/", "~1")


def canonical_json(value: Any) -> str:
    """Write JSON with sorted keys, without spaces and without escapes, so that equal values have equal
    texts.
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(*parts: Any) -> str:
    """Compute the first 32 hexadecimal digits of the SHA-256 of the parts' canonical JSON."""
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class ListDigest:
    """A running `digest` of a list whose items are added one at a time."""

    def __init__(self) -> None:
        self._hash, self._before = hashlib.sha256(b"[["), ""

    def add(self, item: Any) -> None:
        """Add the next item of the list to the digest."""
        text = f"{self._before}{canonical_json(item)}"
        self._hash.update(text.encode("utf-8", "surrogatepass"))
        self._before = ","

    def value(self) -> str:
        """Return the digest of all items added so far."""
        final = self._hash.copy()
        final.update(b"]]")
        return final.hexdigest()[:32]


def file_digest(path: Path) -> str:
    """Compute the SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sort_by_seed(items: Iterable[Item], seed: int, key: Callable[[Item], Any]) -> list[Item]:
    """Sort items by a digest of the seed and each item's key.

    To anybody without the seed, the order looks random. The order is the same on every machine and for every
    order of input, if all keys differ.
    """
    return sorted(items, key=lambda item: digest(seed, key(item)))


def to_json_value(value: Any) -> Any:
    """Convert a value for JSON: dataclasses and NamedTuples become objects, dates become ISO texts.

    A field whose metadata is `NOT_IN_JSON` is left out.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        written = [field.name for field in dataclasses.fields(value) if field.metadata != NOT_IN_JSON]
        return {name: to_json_value(getattr(value, name)) for name in written}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: to_json_value(item) for name, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else value
        return [to_json_value(item) for item in items]
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value
