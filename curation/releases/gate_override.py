"""The mark of a release that was frozen against the gate, for every page and report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.releases.release_rows import list_releases
from curation.store import Cursor
from curation.store.release_parts import read_part

MARK = "frozen against the gate"
"""The mark beside the name of a release whose labels miss the agreement that the project demands."""


def gate_override_of(header: Mapping[str, Any]) -> str | None:
    """Return the mark of a release that was frozen against the gate; None for other releases.

    Every text with the release's name shows the mark: `with_gate_override` next to the name, and
    `gate_override_sentences` above the release's figures.
    """
    if not header.get("override"):
        return None
    against = (shortfall(check["figure"], check["state"]) for check in header["override"]["against"])
    return f"{MARK}: {' and '.join(against)}"


def shortfall(figure: str, state: str) -> str:
    """Return a text that tells whether an agreement figure is too low or not known."""
    return f"{figure} is {'too low' if state == 'missed' else 'not known'}"


def with_gate_override(name: str, mark: str | None) -> str:
    """Return the name of a release, with a short form of its mark."""
    return f"{name} ({MARK})" if mark else name


def gate_override_sentences(name: str, mark: str | None) -> list[str]:
    """Return a warning about the figures of a release frozen against the gate; empty for other releases."""
    if not mark:
        return []
    return [f"{name} was {mark}. Its grades do not meet the project's agreement threshold."]


def gate_overrides(cursor: Cursor) -> dict[str, str]:
    """Read a map from release name to mark, for releases that were frozen against the gate."""
    overrides = {}
    for row in list_releases(cursor):
        try:
            mark = gate_override_of(next(iter(read_part(cursor, row.release_id, "release")), {}))
        except (ValueError, KeyError, TypeError):
            continue  # altered, as a verification says
        if mark:
            overrides[row.name] = mark
    return overrides
