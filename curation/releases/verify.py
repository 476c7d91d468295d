"""Frozen releases as everybody reads them, and the verification of every byte against its sums.

All content of a release is read through `load_release`, so that no altered release is used, and none that a
newer goldgrade froze. It takes a release by its name, its id, the beginning of that, or its file.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.ingest.importers.corpus import content_hash_of
from curation.releases.gate_override import gate_override_of
from curation.releases.packed import PackedRelease
from curation.releases.release_id import release_id_of
from curation.releases.release_rows import (
    FORMAT,
    ReleaseRow,
    Table,
    find_release,
    is_file,
    pinned_documents,
    signed_row,
)
from curation.store import Document, Store
from curation.store.release_parts import PartSum, PartText, read_parts

MAX_PROBLEMS = 20
OPENLY = {"agreement", "documents", "guides", "pools", "queries", "release", "rounds", "sampling"}
"""Parts that hold no grade of a pair: their altered lines are shown. Other parts show only the ids."""
ROW_ALTERED = (
    "what is stored next to the content was altered: the name, when and by whom it was frozen, the gate or "
    "the versions"
)


def altered_sentences(what: str, problems: Sequence[str], altered: int) -> list[str]:
    """That something was altered, and the first problems."""
    more = altered - len(problems)
    further = [f"  … and {more:,} more"] if more > 0 else []
    return [f"{what} was ALTERED:", *(f"  {problem}" for problem in problems), *further]


@dataclass(frozen=True)
class Verified:
    """What was looked at, and what is not as it was frozen.

    Attributes
    ----------
    intact: nothing was altered.
    problems: a sentence for each altered part, naming its first altered line, and for each altered document
        (the first `MAX_PROBLEMS`; `altered` counts all).
    lacking: parts whose rows about sealed queries are not in the file, so that the id cannot be computed.
    """

    name: str
    release_id: str
    intact: bool
    parts: int
    documents: int
    altered: int
    problems: tuple[str, ...]
    lacking: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """Whether it is intact; else what was altered."""
        if not self.intact:
            return altered_sentences(self.name, self.problems, self.altered)
        counts = f"{pluralize(self.parts, 'part')} and {pluralize(self.documents, 'document')}"
        lacking = (
            f"Without the rows of sealed queries in {', '.join(self.lacking)}: of these parts the id cannot "
            "be computed again, and their other rows have the sums of who packed them. All else makes the id."
        )
        return [
            f"{self.name} is intact: {counts} are as frozen.",
            f"release id: {self.release_id}",
            *([lacking] if self.lacking else []),
        ]


@dataclass(frozen=True)
class FrozenRelease:
    """A release whose content is as it was frozen; `texts` is part → text.

    file: where it is no project's; it may lack the grades of some parts.
    """

    row: ReleaseRow
    texts: Mapping[str, PartText]
    file: PackedRelease | None = None

    @property
    def closed_queries(self) -> set[str]:
        """The queries of parts whose grades the file does not have."""
        if self.file is None:
            return set()
        return {row["query_id"] for row in self.walk("queries") if row["part"] not in self.file.with_grades}

    @cached_property
    def versions(self) -> dict[str, str]:
        """Document id → content hash of the version that is pinned, by id."""
        return {row["document_id"]: row["content_hash"] for row in self.walk("documents")}

    def documents(
        self, store: Store, ids: Collection[str] | None = None
    ) -> Iterator[tuple[str, Document | None]]:
        """Each document as it is pinned, or some of them by id, from the project or the file; None if the
        project no longer has it."""
        chosen = self.versions
        if ids is not None:
            chosen = {name: chosen[name] for name in sorted(ids) if name in chosen}
        return pinned_documents(store, chosen) if self.file is None else self.file.documents(chosen)

    def rows(self, part: str) -> Table:
        """The rows of a part; none where it has no such part.

        Raises
        ------
        RefusedError: the part is not JSON, though it agrees with its sum.
        """
        return list(self.walk(part))

    def walk(self, part: str) -> Iterator[dict[str, Any]]:
        """The rows of a part one by one, for parts with a row for each judgment, grade or candidate.

        Raises
        ------
        RefusedError: as `rows`, once the row is reached.
        """
        try:
            yield from self.texts.get(part, PartText())
        except ValueError:
            raise RefusedError(
                f"The part {part!r} of the release {self.row.name!r} agrees with its sum, yet it is not "
                "JSON: it was not written by goldgrade. Freeze again under another name."
            ) from None

    @cached_property
    def header(self) -> dict[str, Any]:
        """What the release says about itself."""
        return self.rows("release")[0]

    @property
    def mark(self) -> str | None:
        """That it was frozen against the gate, where it was."""
        return gate_override_of(self.header)


def load_release(store: Store, name: str | FrozenRelease) -> FrozenRelease:
    """Read a release to use its content; the documents that it pins are not looked at.

    Parameters
    ----------
    name: or its id, the beginning of that, its file, or the release itself, where it was read before.
        For a file no project is needed, and none is opened.

    Raises
    ------
    InputError: the file cannot be read, or an address is given.
    NotFoundError: there is no such release.
    RefusedError: it is not as it was frozen, or a newer goldgrade froze it.
    """
    if isinstance(name, FrozenRelease):
        return name
    release = _resolved(store, name)
    if release.file is None and (problems := _part_problems(release.row, release.texts)):
        raise RefusedError(
            f"The release {name!r} is not as it was frozen: {problems[0]}.",
            command=f"`goldgrade verify {name}` names everything.",
        )
    refuse_other_form(release)
    return release


def _resolved(store: Store, reference: str) -> FrozenRelease:
    """The release that is meant, as it is: of a file or of the project."""
    if is_file(reference):
        return _of_file(reference)
    with store.reading() as cursor:
        row = find_release(cursor, reference)
        return FrozenRelease(row, read_parts(cursor, row.release_id))


def _of_file(reference: str) -> FrozenRelease:
    if "://" in reference:
        raise InputError(
            f"{reference.partition('?')[0]} is an address: releases are not fetched any more. Download the "
            "file, compare its SHA-256 with the one that packing the release printed, and name the file."
        )
    file = PackedRelease(Path(reference))
    return FrozenRelease(file.row, file.texts, file)


def refuse_other_form(release: FrozenRelease) -> None:
    """Stop where another goldgrade froze the release: what its content means is not known here.

    Raises
    ------
    RefusedError: it did, or the release does not say what it is.
    """
    name, header = release.row.name, release.rows("release")
    format = header[0].get("format") if header and isinstance(header[0], dict) else None
    if not isinstance(format, int):
        raise RefusedError(
            f"The release {name!r} does not say in which form its content is; nothing was done."
        )
    if format != FORMAT:
        which = "a newer" if format > FORMAT else "an older"
        raise RefusedError(
            f"The release {name!r} was frozen by {which} goldgrade (form {format} of the content; this one "
            f"reads {FORMAT}). Use that goldgrade."
        )


def verify(store: Store, name: str, progress: Progress = silent) -> Verified:
    """Compare a release with its sums, its id and the documents of the corpus.

    Raises
    ------
    NotFoundError: there is no such release.
    RefusedError: a newer goldgrade froze it.
    """
    return verified_and_opened(store, name, progress)[0]


def verified_and_opened(
    store: Store, name: str, progress: Progress = silent
) -> tuple[Verified, FrozenRelease]:
    """As `verify`, with the release for use where it is intact: its parts are read once for both."""
    release = _resolved(store, name)
    file = release.file
    problems = _part_problems(release.row, release.texts) if file is None else file.problems()
    if not problems:
        refuse_other_form(release)
    documents = 0 if problems else len(release.versions)
    problems += _document_problems(release, store, progress) if documents else []
    verified = Verified(
        name=name if file is None else release.row.name,
        release_id=release.row.release_id,
        intact=not problems,
        parts=len(release.texts),
        documents=documents,
        altered=len(problems),
        problems=tuple(problems[:MAX_PROBLEMS]),
        lacking=() if file is None else tuple(file.here),
    )
    return verified, release


def _part_problems(row: ReleaseRow, texts: Mapping[str, PartText]) -> list[str]:
    sums_now = {part: text.sums for part, text in texts.items()}
    unchanged = release_id_of({part: sums.sha256 for part, sums in sums_now.items()}) == row.release_id
    expected = _expected(row)
    if expected == sums_now:
        if not unchanged:
            return [f"the release id {row.release_id} is not the id of the content and the manifest"]
        return [] if _row_as_frozen(row) else [ROW_ALTERED]
    if unchanged:
        return ["the manifest was altered; the content still has the release's id"]
    problems = [f"the part {part!r} is missing" for part in sorted(expected.keys() - sums_now.keys())]
    problems += [f"the part {part!r} was added" for part in sorted(sums_now.keys() - expected.keys())]
    for part in sorted(sums_now.keys() & expected.keys()):
        if sums_now[part] != expected[part]:
            problems.append(
                f"the part {part!r} was altered: {_difference(part, texts[part], expected[part])}"
            )
    return problems


def _expected(row: ReleaseRow) -> dict[str, PartSum]:
    """What the manifest says; nothing where it is no longer a manifest."""
    try:
        manifest: Any = json.loads(row.manifest)
        return {part: PartSum(**sums) for part, sums in manifest["parts"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _row_as_frozen(row: ReleaseRow) -> bool:
    """Whether name, time, person, gate and versions are what was written."""
    manifest: dict[str, Any] = json.loads(row.manifest)
    return signed_row(row.name, row.release_id, manifest, row.frozen_at, row.frozen_by) == row


def _difference(part: str, text: PartText, expected: PartSum) -> str:
    """Where the part begins to differ.

    A line that may have a grade is shown by its ids only, because sealed grades are read with a reason only.
    """
    lines, sums_now = list(text.lines()), _line_sums(text.sums)
    sums = _line_sums(expected)
    count = (
        ""
        if len(lines) == len(sums)
        else f" (it has {pluralize(len(lines), 'line')}, frozen were {len(sums):,})"
    )
    for number, (line, sum_now, known) in enumerate(zip(lines, sums_now, sums, strict=False), 1):
        if sum_now != known:
            return f"line {number:,} is the first that differs{count}: {_describe_line(part, line)}"
    return f"its end differs{count}"


def _line_sums(sums: PartSum) -> list[str]:
    return [sums.line_sums[start : start + 8] for start in range(0, len(sums.line_sums), 8)]


def _describe_line(part: str, line: str) -> str:
    if part in OPENLY:
        return line if len(line) <= 200 else f"{line[:200]}…"
    try:
        row: Any = json.loads(line)
        pair = [f"{name} {row[name]!r}" for name in ("query_id", "document_id") if name in row]
    except (ValueError, TypeError):
        pair = []
    return ", ".join([*pair, "the rest is not shown, as it may hold sealed grades"])


def _document_problems(release: FrozenRelease, store: Store, progress: Progress) -> list[str]:
    problems, versions = [], release.versions
    for number, (document_id, document) in enumerate(release.documents(store), 1):
        if document is None:
            problems.append(f"the document {document_id!r} is gone from the project")
        elif (document.document_id, content_hash_of(document)) != (document_id, versions[document_id]):
            problems.append(f"the document {document_id!r} was altered")
        progress("verifying documents", number, len(versions))
    return problems
