"""Verification of an exported folder, by comparison of each file with the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.core.digests import file_digest
from curation.core.errors import InputError
from curation.core.text import pluralize
from curation.releases.manifest import MANIFEST, read_manifest
from curation.releases.verify import MAX_PROBLEMS, altered_sentences


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
        """Return a sentence that the exported folder is intact, or a list of its problems."""
        if not self.intact:
            return altered_sentences(str(self.out), self.problems, self.altered)
        files = pluralize(self.files, "file")
        return [
            f"{self.out} is intact: {files} of the release {self.name}.",
            f"release id: {self.release_id}",
        ]


def verify_export(out: Path) -> VerifiedExport:
    """Compare an exported folder with its manifest.

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
            problems |= _problems_of_files(out, manifest["files"])
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=out) from error
    known = manifest or {}
    sentences = [f"{name} {problem}" for name, problem in sorted(problems.items())]
    return VerifiedExport(
        out=out,
        name=known.get("name"),
        release_id=known.get("release_id"),
        format=known.get("format"),
        intact=not problems,
        files=len(known.get("files", ())),
        altered=len(problems),
        problems=tuple(sentences[:MAX_PROBLEMS]),
    )


def _problems_of_files(out: Path, files: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Map each altered file to its problem, by the checksums of the manifest."""
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
