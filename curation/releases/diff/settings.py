"""What the releases were made with: everything that differs, as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from curation.releases.diff.compared_release import ComparedRelease
from curation.text import canonical_json, digest

ELSEWHERE = ("format", "documents", "queries", "grades", "left_out", "snapshot_id")
"""What the header has and the comparison shows elsewhere, or not at all."""


class Setting(NamedTuple):
    """Something that the releases were made with, as text; None where there is none."""

    what: str
    before: str | None
    after: str | None


def setting_changes(before: ComparedRelease, after: ComparedRelease) -> tuple[Setting, ...]:
    """What differs of all that the releases were made with."""
    old, new = _made_with(before), _made_with(after)
    return tuple(
        Setting(what, old.get(what), new.get(what))
        for what in dict.fromkeys([*old, *new])
        if old.get(what) != new.get(what)
    )


def _made_with(side: ComparedRelease) -> dict[str, str]:
    release = side.release
    consensus = side.agreement.get("consensus", {})
    told: dict[str, Any] = {
        "consensus": consensus.get("settings") or {"rule": consensus.get("rule")},
        "guide": {row["title"]: row["guide_hash"] for row in release.rows("guides")},
        "sampling": _without((release.rows("sampling") or [{}])[0], "report"),
        "split": _without((release.rows("split") or [{}])[0], "certificate", "split_id"),
        "corpus": {"snapshot": digest(sorted(side.documents.items()))},
        "release": _without(side.header, *ELSEWHERE),
        "frozen with": json.loads(release.row.manifest).get("versions", {}),
        "form of the content": side.summary.format,
    }
    return dict(_flat("", told))


def _without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """('split: seed', '1') and so on, for all that an object holds."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flat(f"{path}: {name}" if path else str(name), item)
    elif value is not None:
        yield path, value if isinstance(value, str) else canonical_json(value)
