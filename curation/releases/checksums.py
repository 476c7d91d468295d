"""Checksums of a release, which show whether its content or its row was altered.

The id is a hash of the content, so that the same labels have the same id on every machine:

    release_id = SHA-256 (all 64 hex digits) of the canonical JSON of [[part, sha256], …], ordered by part

A part is canonical JSON lines (`store.release_parts`). The last digits of floats differ between machines, so
parts have floats at six significant digits.

The manifest in the row has the SHA-256 of each part and a CRC-32 of each line, which shows the first altered
line. The manifest also has a checksum of its fields and of the row's other columns: the name, the time, and
the person who froze the release.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from curation.core.digests import canonical_json
from curation.core.text import pluralize
from curation.releases.release_rows import ReleaseRow
from curation.store.release_parts import PartSum, PartText

PARTS_WITHOUT_GRADES = set("agreement documents guides pools queries release rounds sampling".split())
"""Parts of a release that have no grades, so that a verification shows their altered lines.

For an altered line of another part, only the ids in the line are shown.
"""
ROW_ALTERED = (
    "the record of the release was altered: its name, the time and person of the freeze, the gate, or the "
    "versions"
)


def compute_release_id(sums: Mapping[str, str]) -> str:
    """Compute the id of a release from the SHA-256 of each of its parts."""
    return hashlib.sha256(canonical_json(sorted(sums.items())).encode("utf-8")).hexdigest()


def round_floats(value: Any) -> Any:
    """Round all floats of a value to six significant digits; further digits can differ between machines."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {str(key): round_floats(item) for key, item in value.items()}
    return [round_floats(item) for item in value] if isinstance(value, list | tuple) else value


def sign_row(
    name: str, release_id: str, manifest: Mapping[str, Any], frozen_at: datetime, frozen_by: str
) -> ReleaseRow:
    """Make a release's row; the field `sum` of its manifest is the SHA-256 of all other fields, as canonical
    JSON."""
    fields = {key: value for key, value in manifest.items() if key != "sum"}
    text = canonical_json([name, release_id, fields, frozen_at.isoformat(), frozen_by])
    signed = fields | {"sum": hashlib.sha256(text.encode("utf-8")).hexdigest()}
    return ReleaseRow(name, release_id, canonical_json(signed), frozen_at, frozen_by)


def find_altered_parts(row: ReleaseRow, texts: Mapping[str, PartText]) -> list[str]:
    """Return one sentence for each altered part of a release; [] if no part was altered."""
    present = {part: text.sums for part, text in texts.items()}
    has_id = compute_release_id({part: sums.sha256 for part, sums in present.items()}) == row.release_id
    try:
        manifest: Any = json.loads(row.manifest)
        expected = {part: PartSum(**sums) for part, sums in manifest["parts"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        expected = {}
    if expected == present:
        if not has_id:
            return [f"the release id {row.release_id} is not the id of the content and the manifest"]
        signed = sign_row(row.name, row.release_id, manifest, row.frozen_at, row.frozen_by)
        return [] if signed == row else [ROW_ALTERED]
    if has_id:
        return ["the manifest was altered; the content still has the release's id"]
    problems = [f"the part {part!r} is missing" for part in sorted(expected.keys() - present.keys())]
    problems += [f"the part {part!r} was added" for part in sorted(present.keys() - expected.keys())]
    for part in sorted(present.keys() & expected.keys()):
        if present[part] != expected[part]:
            difference = _describe_difference(part, texts[part], expected[part])
            problems.append(f"the part {part!r} was altered: {difference}")
    return problems


def _describe_difference(part: str, text: PartText, expected: PartSum) -> str:
    """Describe the first altered line in a part of a release.

    A line that may contain a grade is shown without the grade, because it may be sealed.
    """
    lines = list(text.lines())
    present, frozen = _split_sums(text.sums), _split_sums(expected)
    count = ""
    if len(lines) != len(frozen):
        count = f" (the part has {pluralize(len(lines), 'line')}, and was frozen with {len(frozen):,})"
    for number, (line, line_sum, frozen_sum) in enumerate(zip(lines, present, frozen, strict=False), 1):
        if line_sum != frozen_sum:
            return f"line {number:,} is the first line that differs{count}: {_describe_line(part, line)}"
    return f"its end differs{count}"


def _split_sums(sums: PartSum) -> list[str]:
    """Split a part's CRC-32 sums, stored as one text, into the eight hexadecimal digits of each line's
    sum."""
    return [sums.line_sums[start : start + 8] for start in range(0, len(sums.line_sums), 8)]


def _describe_line(part: str, line: str) -> str:
    if part in PARTS_WITHOUT_GRADES:
        return line if len(line) <= 200 else f"{line[:200]}…"
    try:
        row: Any = json.loads(line)
        pair = [f"{name} {row[name]!r}" for name in ("query_id", "document_id") if name in row]
    except (ValueError, TypeError):
        pair = []
    return ", ".join([*pair, "the rest is hidden, because it may contain sealed grades"])
