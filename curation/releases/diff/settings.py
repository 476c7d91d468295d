"""What two releases were made with: rules, guides, sampling, split and corpus, as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from curation.core.text import canonical_json, digest
from curation.releases.coverage import released_coverage
from curation.releases.diff.compared_release import ComparedRelease
from curation.releases.verify import FrozenRelease

Value = TypeVar("Value")
ELSEWHERE = ("format", "documents", "queries", "grades", "left_out", "snapshot_id", "relabeled", "retired")
"""What the header has and the comparison shows elsewhere, or not at all."""
VERSIONS = "frozen with"


class BeforeAfter(NamedTuple, Generic[Value]):
    """Something of both releases: a number, or a text; None where there is none."""

    what: str
    before: Value
    after: Value


def setting_changes(before: ComparedRelease, after: ComparedRelease) -> tuple[BeforeAfter[str | None], ...]:
    """What differs of all that the releases were made with."""
    old, new = _made_with(before), _made_with(after)
    if before.release.file or after.release.file:  # a file says nothing of this
        old, new = ({k: v for k, v in one.items() if not k.startswith(VERSIONS)} for one in (old, new))
    return tuple(
        BeforeAfter(what, old.get(what), new.get(what))
        for what in dict.fromkeys([*old, *new])
        if old.get(what) != new.get(what)
    )


def _made_with(side: ComparedRelease) -> dict[str, str]:
    release = side.release
    consensus = side.agreement.get("consensus", {})
    values: dict[str, Any] = {
        "consensus": consensus.get("settings") or {"rule": consensus.get("rule")},
        "guide": {row["title"]: row["guide_hash"] for row in release.rows("guides")},
        "sampling": _without((release.rows("sampling") or [{}])[0], "report"),
        "split": _without((release.rows("split") or [{}])[0], "certificate", "split_id"),
        "reference answers": _answers(release),
        "evidence": _evidence(side),
        "coverage": _coverage(release),
        "corpus": {"snapshot": digest(sorted(side.documents.items()))},
        "release": _without(side.header, *ELSEWHERE),
        VERSIONS: json.loads(release.row.manifest).get("versions", {}),
        "form of the content": side.summary.format,
    }
    return dict(_flat("", values))


def _answers(release: FrozenRelease) -> dict[str, object]:
    """How many queries have reference answers, and a hash of these; nothing where none has."""
    rows = release.rows("answers")
    return {"queries": len(rows), "content": digest(rows)} if rows else {}


def _evidence(side: ComparedRelease) -> dict[str, object]:
    """How many pairs have evidence, and a hash of it; nothing where none has."""
    named = (((row["query_id"], row["document_id"]), row) for row in side.release.walk("evidence"))
    rows = [(pair, row) for pair, row in named if pair in side.qrels]
    pairs = {pair for pair, _ in rows}
    return {"pairs": len(pairs), "ranges": len(rows), "content": digest(rows)} if rows else {}


def _coverage(release: FrozenRelease) -> dict[str, object]:
    """The map, how many of its regions have a query, and the boundaries; nothing where there is no map."""
    found = released_coverage(release)
    if found is None:
        return {}
    cuts = {
        name: cut and cut._asdict()
        for name, cut in (("dispersion", found.dispersion), ("alignment", found.alignment))
    }
    asked = f"{found.regions_asked} of {found.regions}"
    return {"map": found.map_id, "resolution": found.resolution, "regions with a query": asked, **cuts}


def _without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """('split: seed', '1') and so on, for all that an object holds."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flat(f"{path}: {name}" if path else str(name), item)
    elif value is not None:
        yield path, value if isinstance(value, str) else canonical_json(value)
