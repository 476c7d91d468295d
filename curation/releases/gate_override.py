"""The mark of a release that was frozen against the gate: what every page and report says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.releases.release_rows import list_releases
from curation.store import Cursor
from curation.store.release_parts import read_part

MARK = "frozen against the gate"
"""What is written beside a release whose labels do not have the agreement that its project demands."""


def gate_override_of(header: Mapping[str, Any]) -> str | None:
    """The mark of a release that was frozen against the gate, with what spoke against it; None for others.

    Whatever names the release carries it: `with_gate_override` next to its name, `gate_override_sentences`
        above its figures.
    """
    if not header.get("override"):
        return None
    against = (shortfall(check["figure"], check["state"]) for check in header["override"]["against"])
    return f"{MARK}: {' and '.join(against)}"


def shortfall(figure: str, state: str) -> str:
    """What speaks against labels: a figure of the gate that is missed or undefined."""
    return f"{figure} is {'too low' if state == 'missed' else 'not known'}"


def with_gate_override(name: str, mark: str | None) -> str:
    """The name of a release, with its mark in short."""
    return f"{name} ({MARK})" if mark else name


def gate_override_sentences(name: str, mark: str | None) -> list[str]:
    """What must be known of a marked release before its figures are read; none of others."""
    if not mark:
        return []
    return [f"{name} was {mark}. Its grades do not meet the project's agreement threshold."]


def gate_overrides(cursor: Cursor) -> dict[str, str]:
    """Name → mark, of the releases that have one."""
    overrides = {}
    for row in list_releases(cursor):
        try:
            mark = gate_override_of(next(iter(read_part(cursor, row.release_id, "release")), {}))
        except (ValueError, KeyError, TypeError):
            continue  # altered: verifying says so
        if mark:
            overrides[row.name] = mark
    return overrides
