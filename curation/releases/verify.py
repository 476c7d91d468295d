"""Verification, which checks every byte of a release or of its export against the checksums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.core.digests import file_digest
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.ingest.importers.corpus_documents import compute_content_hash
from curation.releases.checksums import find_altered_parts
from curation.releases.frozen_release import FrozenRelease, read_unchecked, refuse_other_format
from curation.releases.manifest import MANIFEST, read_manifest
from curation.store import Store

MAX_PROBLEMS = 20


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
        """Return a sentence which says that the release is intact, or sentences about its problems."""
        if not self.intact:
            return describe_alterations(self.name, self.problems, self.altered)
        counts = f"{pluralize(self.parts, 'part')} and {pluralize(self.documents, 'document')}"
        lacking = (
            f"The file lacks the rows of sealed queries in {', '.join(self.lacking)}. The release id "
            "therefore does not verify these parts, but their other rows match the checksums of the "
            "packed file."
        )
        return [
            f"{self.name} is intact: {counts} match the frozen release.",
            f"release id: {self.release_id}",
            *([lacking] if self.lacking else []),
        ]


@dataclass(frozen=True)
class VerifiedExport:
    """The result of the verification of an exported folder.

    Attributes
    ----------
    name, release_id, format: fields of the manifest; None if the manifest cannot be read.
    files: number of files that the manifest names.
    altered: number of files that were altered, added or are missing.
    problems: the first `MAX_PROBLEMS` problems, a sentence each.
    """

    out: Path
    name: str | None
    release_id: str | None
    format: str | None
    intact: bool
    files: int
    altered: int
    problems: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """Return a sentence which says that the export is intact, or sentences about its problems."""
        if not self.intact:
            return describe_alterations(str(self.out), self.problems, self.altered)
        files = f"{pluralize(self.files, 'file')} of the release {self.name}"
        return [f"{self.out} is intact: {files}.", f"release id: {self.release_id}"]


def verify(store: Store, name: str, progress: Progress = silent) -> Verified:
    """Check a release against its checksums, its id and the corpus's documents.

    Raises
    ------
    NotFoundError: there is no such release.
    RefusedError: a newer goldgrade froze the release.
    """
    return verify_and_load(store, name, progress)[0]


def verify_and_load(store: Store, name: str, progress: Progress = silent) -> tuple[Verified, FrozenRelease]:
    """Verify a release as `verify` does, and return the release as well, so that parts are read only once."""
    release = read_unchecked(store, name)
    file = release.file
    problems = find_altered_parts(release.row, release.texts) if file is None else file.find_problems()
    if not problems:
        refuse_other_format(release)
    documents = 0 if problems else len(release.versions)
    problems += _find_altered_documents(release, store, progress) if documents else []
    result = Verified(
        name=name if file is None else release.row.name,
        release_id=release.row.release_id,
        intact=not problems,
        parts=len(release.texts),
        documents=documents,
        altered=len(problems),
        problems=tuple(problems[:MAX_PROBLEMS]),
        lacking=() if file is None else tuple(file.row_sums),
    )
    return result, release


def verify_export(out: Path) -> VerifiedExport:
    """Check an exported folder against its manifest.

    Raises
    ------
    InputError: there is no such folder, the folder has no manifest, or a file cannot be read.
    """
    path = out / MANIFEST
    if not path.is_file():
        raise InputError(f"there is no {MANIFEST}: expected the folder of an export", path=out)
    try:
        manifest, problem = read_manifest(path.read_bytes())
        problems = {MANIFEST: problem} if problem else {}
        if manifest is not None:
            problems |= _find_altered_files(out, manifest["files"])
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=out) from error
    fields = manifest or {}
    sentences = [f"{name} {problem}" for name, problem in sorted(problems.items())]
    return VerifiedExport(
        out=out,
        **{name: fields.get(name) for name in ("name", "release_id", "format")},
        intact=not problems,
        files=len(fields.get("files", ())),
        altered=len(problems),
        problems=tuple(sentences[:MAX_PROBLEMS]),
    )


def describe_alterations(name: str, problems: Sequence[str], altered: int) -> list[str]:
    """Return sentences which say that a release or an export was altered, with the first problems."""
    hidden = altered - len(problems)
    ending = [f"  … and {hidden:,} more"] if hidden > 0 else []
    return [f"{name} was ALTERED:", *(f"  {problem}" for problem in problems), *ending]


def _find_altered_documents(release: FrozenRelease, store: Store, progress: Progress) -> list[str]:
    problems = []
    versions = release.versions
    for number, (document_id, document) in enumerate(release.documents(store), 1):
        if document is None:
            problems.append(f"the project no longer has the document {document_id!r}")
        elif (document.document_id, compute_content_hash(document)) != (document_id, versions[document_id]):
            problems.append(f"the document {document_id!r} was altered")
        progress("verifying documents", number, len(versions))
    return problems


def _find_altered_files(out: Path, files: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Map each file whose checksum differs from the manifest to its problem."""
    problems = {}
    for name, entry in files.items():
        path = out / name
        if not path.is_file():
            problems[name] = "is missing"
        elif (size := path.stat().st_size) != entry.get("bytes"):
            problems[name] = f"was altered: it has {size:,} bytes, expected {entry.get('bytes')}"
        elif file_digest(path) != entry.get("sha256"):
            problems[name] = "was altered: its SHA-256 differs from the manifest"
    present = {path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir()}
    return problems | dict.fromkeys(present - set(files) - {MANIFEST}, "was added")
