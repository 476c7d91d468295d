"""The settings of a release, such as the seed of its split, as texts for the comparison of two releases."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from curation.core.digests import canonical_json, digest
from curation.releases.coverage import ReleasedCoverage, read_coverage
from curation.releases.frozen_release import FrozenRelease
from curation.releases.part_rows import get_pair

Setting = tuple[str | None, str | None]
"""The values of a setting in the older and in the newer release."""
NOT_SETTINGS = ("format", "documents", "queries", "grades", "left_out", "snapshot_id", "relabeled", "retired")
"""Fields of the release's header that are not compared as settings."""
VERSIONS = "frozen with"
"""Name of the setting with the versions of the packages that froze a release."""


def compare_settings(old: FrozenRelease, new: FrozenRelease, closed: Collection[str]) -> dict[str, Setting]:
    """Return the settings that differ between the releases, with both values.

    Parameters
    ----------
    closed: ids of the queries whose grades are missing in one of the releases.
    """
    in_project = old.file is None and new.file is None  # a file does not name the versions that froze it
    before, after = (_read_settings(release, closed, with_versions=in_project) for release in (old, new))
    names = [name for name in before | after if before.get(name) != after.get(name)]
    return {name: (before.get(name), after.get(name)) for name in names}


def _read_settings(release: FrozenRelease, closed: Collection[str], with_versions: bool) -> dict[str, str]:
    """Return all settings of a release as texts, by names such as 'split: seed'."""
    agreement, sampling, split = (next(release.walk(part), {}) for part in ("agreement", "sampling", "split"))
    consensus = agreement.get("consensus", {})
    coverage = read_coverage(release)
    answers = release.rows("answers")
    values: dict[str, Any] = {
        "consensus": consensus.get("settings") or {"rule": consensus.get("rule")},
        "guide": {row["title"]: row["guide_hash"] for row in release.rows("guides")},
        "sampling": _drop_fields(sampling, "report"),
        "split": _drop_fields(split, "certificate", "split_id"),
        "reference answers": {"queries": len(answers), "content": digest(answers)} if answers else None,
        "evidence": _describe_evidence(release, closed),
        "coverage": coverage and _describe_coverage(coverage),
        "corpus": {"snapshot": digest(sorted(release.versions.items()))},
        "release": _drop_fields(release.header, *NOT_SETTINGS),
        VERSIONS: json.loads(release.row.manifest).get("versions") if with_versions else None,
        "form of the content": release.header["format"],
    }
    return dict(_flatten("", values))


def _describe_evidence(release: FrozenRelease, closed: Collection[str]) -> dict[str, object] | None:
    """Summarize a release's evidence: how many pairs and ranges it has, and a hash; None without evidence."""
    rows = [(get_pair(row), row) for row in release.walk("evidence") if row["query_id"] not in closed]
    pairs = {pair for pair, _ in rows}
    return {"pairs": len(pairs), "ranges": len(rows), "content": digest(rows)} if rows else None


def _describe_coverage(coverage: ReleasedCoverage) -> dict[str, object]:
    return {
        "map": coverage.map_id,
        "resolution": coverage.resolution,
        "regions with a query": f"{coverage.regions_asked} of {coverage.regions}",
        "dispersion": coverage.dispersion and coverage.dispersion._asdict(),
        "alignment": coverage.alignment and coverage.alignment._asdict(),
    }


def _drop_fields(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _flatten(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the values of nested objects with the names of their fields, such as ('split: seed', '1')."""
    if isinstance(value, Mapping):
        for name, field_value in value.items():
            yield from _flatten(f"{path}: {name}" if path else str(name), field_value)
    elif value is not None:
        yield path, value if isinstance(value, str) else canonical_json(value)
