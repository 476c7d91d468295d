"""Reading of frozen releases, and verification of every byte of a release against its checksums.

All code reads the content of a release by `load_release`, which refuses an altered release, and a release of
a newer goldgrade. The argument of `load_release` is the name of a release, its id, the beginning of its id,
or its file.
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
"""Parts of a release without grades: a verification shows their altered lines.

For an altered line of another part, only the ids in the line are shown.
"""
ROW_ALTERED = (
    "the record of the release was altered: its name, the time and person of the freeze, the gate, or the "
    "versions"
)


def altered_sentences(name: str, problems: Sequence[str], altered: int) -> list[str]:
    """Return sentences that a release or export was altered, with the first problems."""
    more = altered - len(problems)
    further = [f"  … and {more:,} more"] if more > 0 else []
    return [f"{name} was ALTERED:", *(f"  {problem}" for problem in problems), *further]


@dataclass(frozen=True)
class Verified:
    """The result of the verification of a release.

    Attributes
    ----------
    intact: whether nothing was altered.
    altered: number of all problems.
    problems: the first `MAX_PROBLEMS` problems: a sentence for each altered part, with its first altered
        line, and for each altered document.
    lacking: parts without the rows of sealed queries in the file, so that their sums cannot be computed.
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
        """Return a sentence that the release is intact, or a list of its problems."""
        if not self.intact:
            return altered_sentences(self.name, self.problems, self.altered)
        counts = f"{pluralize(self.parts, 'part')} and {pluralize(self.documents, 'document')}"
        lacking = (
            f"The file lacks the rows of sealed queries in {', '.join(self.lacking)}. So the release id does "
            "not prove these parts, but their other rows agree with the checksums of the packed file."
        )
        return [
            f"{self.name} is intact: {counts} agree with the frozen release.",
            f"release id: {self.release_id}",
            *([lacking] if self.lacking else []),
        ]


@dataclass(frozen=True)
class FrozenRelease:
    """An unaltered release. `texts` maps each part to its text.

    file: the packed release, which may lack the grades of some parts; None for a release of the project.
    """

    row: ReleaseRow
    texts: Mapping[str, PartText]
    file: PackedRelease | None = None

    @property
    def closed_queries(self) -> set[str]:
        """The queries of parts whose grades are missing in the file."""
        if self.file is None:
            return set()
        return {row["query_id"] for row in self.walk("queries") if row["part"] not in self.file.with_grades}

    @cached_property
    def versions(self) -> dict[str, str]:
        """The content hash of each document's pinned version, by document id."""
        return {row["document_id"]: row["content_hash"] for row in self.walk("documents")}

    def documents(
        self, store: Store, ids: Collection[str] | None = None
    ) -> Iterator[tuple[str, Document | None]]:
        """Yield the documents of the release, all or some by id; None for a document that was lost."""
        chosen = self.versions
        if ids is not None:
            chosen = {name: chosen[name] for name in sorted(ids) if name in chosen}
        return pinned_documents(store, chosen) if self.file is None else self.file.documents(chosen)

    def rows(self, part: str) -> Table:
        """Read the rows of a part of the release; empty if the release has no such part.

        Raises
        ------
        RefusedError: the part is not JSON, though it agrees with its sum.
        """
        return list(self.walk(part))

    def walk(self, part: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a part one by one, for parts with a row for each judgment, grade or candidate.

        Raises
        ------
        RefusedError: as for `rows`, but only when the invalid row is reached.
        """
        try:
            yield from self.texts.get(part, PartText())
        except ValueError:
            raise RefusedError(
                f"The part {part!r} of the release {self.row.name!r} agrees with its sum, but is not JSON: "
                "goldgrade did not write it. Freeze the labels again under another name."
            ) from None

    @cached_property
    def header(self) -> dict[str, Any]:
        """The header of the release: the row that describes its content."""
        return self.rows("release")[0]

    @property
    def mark(self) -> str | None:
        """The mark of a release that was frozen against the gate; None for other releases."""
        return gate_override_of(self.header)


def load_release(store: Store, name: str | FrozenRelease) -> FrozenRelease:
    """Read a release to use its content, without a check of its documents.

    Parameters
    ----------
    name: the name of the release, its id, the beginning of its id, its file, or a release that was read
        before. A file needs no project, and no project is opened.

    Raises
    ------
    InputError: the file cannot be read, or the name is an address.
    NotFoundError: there is no such release.
    RefusedError: the release was altered, or a newer goldgrade froze it.
    """
    if isinstance(name, FrozenRelease):
        return name
    release = _read_unchecked(store, name)
    if release.file is None and (problems := _part_problems(release.row, release.texts)):
        raise RefusedError(
            f"The release {name!r} is not as it was frozen: {problems[0]}.",
            command=f"`goldgrade verify {name}` lists all problems.",
        )
    refuse_other_form(release)
    return release


def _read_unchecked(store: Store, reference: str) -> FrozenRelease:
    """Read a release from a file or from the project, without a check of its checksums."""
    if "://" in reference:
        raise InputError(
            f"{reference.partition('?')[0]} is an address, and goldgrade does not download releases. "
            "Download the file, compare its SHA-256 with the SHA-256 that was printed when the release was "
            "packed, and give the path of the file."
        )
    if is_file(reference):
        file = PackedRelease(Path(reference))
        return FrozenRelease(file.row, file.texts, file)
    with store.reading() as cursor:
        row = find_release(cursor, reference)
        return FrozenRelease(row, read_parts(cursor, row.release_id))


def refuse_other_form(release: FrozenRelease) -> None:
    """Refuse a release from another version of goldgrade, because this version does not know its format.

    Raises
    ------
    RefusedError: a different goldgrade froze the release, or the release does not name its form.
    """
    name = release.row.name
    header = release.rows("release")
    format = header[0].get("format") if header and isinstance(header[0], dict) else None
    if not isinstance(format, int):
        raise RefusedError(f"The release {name!r} does not name the version of its format; nothing was done.")
    if format != FORMAT:
        which = "a newer" if format > FORMAT else "an older"
        raise RefusedError(
            f"The release {name!r} was frozen by {which} goldgrade (format {format} of the content; this "
            f"goldgrade reads format {FORMAT}). Use {which} goldgrade."
        )


def verify(store: Store, name: str, progress: Progress = silent) -> Verified:
    """Compare a release with its checksums, its id and the documents of the corpus.

    Raises
    ------
    NotFoundError: there is no such release.
    RefusedError: a newer goldgrade froze the release.
    """
    return verified_and_opened(store, name, progress)[0]


def verified_and_opened(
    store: Store, name: str, progress: Progress = silent
) -> tuple[Verified, FrozenRelease]:
    """Verify a release as `verify` does, and return the release as well, so that parts are read only once."""
    release = _read_unchecked(store, name)
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
    try:
        manifest: Any = json.loads(row.manifest)
        expected = {part: PartSum(**sums) for part, sums in manifest["parts"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        expected = {}
    if expected == sums_now:
        if not unchanged:
            return [f"the release id {row.release_id} is not the id of the content and the manifest"]
        signed = signed_row(row.name, row.release_id, manifest, row.frozen_at, row.frozen_by)
        return [] if signed == row else [ROW_ALTERED]
    if unchanged:
        return ["the manifest was altered; the content still has the release's id"]
    problems = [f"the part {part!r} is missing" for part in sorted(expected.keys() - sums_now.keys())]
    problems += [f"the part {part!r} was added" for part in sorted(sums_now.keys() - expected.keys())]
    for part in sorted(sums_now.keys() & expected.keys()):
        if sums_now[part] != expected[part]:
            difference = _first_difference(part, texts[part], expected[part])
            problems.append(f"the part {part!r} was altered: {difference}")
    return problems


def _first_difference(part: str, text: PartText, expected: PartSum) -> str:
    """Describe the first line of a part that differs from the frozen part.

    A line that may contain a grade is shown without the grade, because it may be sealed.
    """
    lines = list(text.lines())
    sums_now, sums = _line_sums(text.sums), _line_sums(expected)
    count = ""
    if len(lines) != len(sums):
        count = f" (the part has {pluralize(len(lines), 'line')}, and was frozen with {len(sums):,})"
    for number, (line, sum_now, known) in enumerate(zip(lines, sums_now, sums, strict=False), 1):
        if sum_now != known:
            return f"line {number:,} is the first line that differs{count}: {_describe_line(part, line)}"
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
    return ", ".join([*pair, "the rest is not shown because it may have sealed grades"])


def _document_problems(release: FrozenRelease, store: Store, progress: Progress) -> list[str]:
    problems = []
    versions = release.versions
    for number, (document_id, document) in enumerate(release.documents(store), 1):
        if document is None:
            problems.append(f"the project no longer has the document {document_id!r}")
        elif (document.document_id, content_hash_of(document)) != (document_id, versions[document_id]):
            problems.append(f"the document {document_id!r} was altered")
        progress("verifying documents", number, len(versions))
    return problems
