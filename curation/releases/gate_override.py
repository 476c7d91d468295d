"""The warning mark of a release that was frozen against the agreement gate, for every page and report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.releases.release_rows import list_releases
from curation.store import Cursor
from curation.store.release_parts import read_part

MARK = "frozen despite the gate"
"""The mark beside the name of a release whose labels miss the agreement that the project demands."""


def describe_override(header: Mapping[str, Any]) -> str | None:
    """Return the warning mark of a release that was frozen despite the gate; None for other releases.

    Every text with the release's name shows the mark: `mark_name` next to the name, and
    `warn_of_override` above the release's figures.
    """
    if not header.get("override"):
        return None
    checks = header["override"]["against"]
    shortfalls = [describe_shortfall(check["figure"], check["state"]) for check in checks]
    return f"{MARK}: {' and '.join(shortfalls)}"


def describe_shortfall(figure: str, state: str) -> str:
    """Return the end of a sentence that says whether an agreement figure is too low or unknown."""
    return f"{figure} is {'too low' if state == 'missed' else 'unknown'}"


def mark_name(name: str, mark: str | None) -> str:
    """Return the name of a release, with a short form of its warning mark."""
    return f"{name} ({MARK})" if mark else name


def warn_of_override(name: str, mark: str | None) -> list[str]:
    """Return a warning about the figures of a release frozen despite the gate; empty for other releases."""
    if not mark:
        return []
    return [f"{name} was {mark}. Its grades do not meet the project's agreement threshold."]


def read_overrides(cursor: Cursor) -> dict[str, str]:
    """Map the names of releases that were frozen despite the gate to their warning marks."""
    overrides = {}
    for row in list_releases(cursor):
        try:
            mark = describe_override(next(iter(read_part(cursor, row.release_id, "release")), {}))
        except (ValueError, KeyError, TypeError):
            continue  # the release was altered, and `goldgrade verify` says so
        if mark:
            overrides[row.name] = mark
    return overrides
