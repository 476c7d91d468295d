"""Verification: every byte of a release against its sums, and every pinned document against its hash."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curation.progress import Progress, silent
from curation.releases.frozen import (
    PartSum,
    Pin,
    ReleaseRow,
    find_release,
    line_sum,
    part_lines,
    part_rows,
    part_sum,
    pinned_documents,
    read_parts,
    release_id_of,
)
from curation.sources.corpus import content_hash_of
from curation.store import Store

SHOWN = 20


@dataclass(frozen=True)
class Verified:
    """What was looked at, and what is not as it was frozen.

    Attributes
    ----------
    intact: nothing was altered.
    problems: a sentence for each altered part, naming its first altered line, and for each altered document
        (the first `SHOWN`; `altered` counts all).
    """

    name: str
    release_id: str
    intact: bool
    parts: int
    documents: int
    altered: int
    problems: tuple[str, ...]


def verify(store: Store, name: str, progress: Progress = silent) -> Verified:
    """Compare a release with its sums, its id and the documents of the corpus.

    Raises
    ------
    NotFoundError: there is no such release.
    """
    with store.reading() as cursor:
        row = find_release(cursor, name)
        texts = read_parts(cursor, row.release_id)
    problems = _part_problems(row, texts)
    pins = _pins(texts.get("documents", "")) if not problems else []
    problems += _document_problems(store, pins, progress)
    return Verified(
        name=name,
        release_id=row.release_id,
        intact=not problems,
        parts=len(texts),
        documents=len(pins),
        altered=len(problems),
        problems=tuple(problems[:SHOWN]),
    )


def _part_problems(row: ReleaseRow, texts: Mapping[str, str]) -> list[str]:
    found = {part: part_sum(text) for part, text in texts.items()}
    unchanged = release_id_of({part: sums.sha256 for part, sums in found.items()}) == row.release_id
    expected = _expected(row)
    if expected == found:
        return (
            []
            if unchanged
            else [f"the release id {row.release_id} is not that of the content and the manifest"]
        )
    if unchanged:
        return ["the manifest was altered; the content still has the release's id"]
    problems = [f"the part {part!r} is missing" for part in sorted(expected.keys() - found.keys())]
    problems += [f"the part {part!r} was added" for part in sorted(found.keys() - expected.keys())]
    for part in sorted(found.keys() & expected.keys()):
        if found[part] != expected[part]:
            problems.append(f"the part {part!r} was altered: {_difference(texts[part], expected[part])}")
    return problems


def _expected(row: ReleaseRow) -> dict[str, PartSum]:
    """What the manifest says; nothing where it is no longer a manifest."""
    manifest: Any = json.loads(row.manifest)
    try:
        return {part: PartSum(**sums) for part, sums in manifest["parts"].items()}
    except (KeyError, TypeError, AttributeError):
        return {}


def _difference(text: str, expected: PartSum) -> str:
    lines = part_lines(text)
    sums = [expected.line_sums[start : start + 8] for start in range(0, len(expected.line_sums), 8)]
    count = "" if len(lines) == len(sums) else f" (it has {len(lines):,} lines, frozen were {len(sums):,})"
    for number, (line, known) in enumerate(zip(lines, sums, strict=False), 1):
        if f"{line_sum(line):08x}" != known:
            return f"line {number:,} is the first that differs{count}: {_shortened(line)}"
    return f"its end differs{count}"


def _shortened(line: str) -> str:
    return line if len(line) <= 200 else f"{line[:200]}…"


def _pins(text: str) -> list[Pin]:
    return [Pin(row["document_id"], row["content_hash"]) for row in part_rows(text)]


def _document_problems(store: Store, pins: Sequence[Pin], progress: Progress) -> list[str]:
    problems = []
    for number, (pin, document) in enumerate(pinned_documents(store, pins), 1):
        if document is None:
            problems.append(f"the document {pin.document_id!r} is gone from the project")
        elif document.document_id != pin.document_id or content_hash_of(document) != pin.content_hash:
            problems.append(f"the document {pin.document_id!r} was altered")
        progress("verifying documents", number, len(pins))
    return problems
