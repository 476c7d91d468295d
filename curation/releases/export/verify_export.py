"""Verification of an exported folder: which file is no longer what was written, and where in it.

The manifest alone names the file. Where the project that it came from is at hand, the export is written once
more into a temporary folder and compared byte by byte, which names the line. That reveals no grade: the
expected bytes are never shown, so the seal stays closed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from curation.door import openings, sealed_parts
from curation.errors import CurationError, InputError
from curation.releases.export.export import write_files, written_with
from curation.releases.export.formats import FORMATS
from curation.releases.export.request import ExportOptions
from curation.releases.packing.manifest import MANIFEST, read_manifest
from curation.releases.stored import list_releases
from curation.releases.verify import SHOWN, Opened, opened
from curation.store import Store
from curation.text import file_digest

NO_PROJECT = "no project at hand"
UNTOLD = "its manifest does not tell how it was written"


@dataclass(frozen=True)
class VerifiedExport:
    """What became of an exported folder.

    Attributes
    ----------
    name, release_id, format: as the manifest says; None where it cannot be read.
    files: files that the manifest names.
    not_compared: why the files were compared with the manifest's sums alone; None where each byte was
        compared with what the project writes.
    altered: files that are not as they were written.
    problems: a sentence each (the first `SHOWN`).
    """

    out: Path
    name: str | None
    release_id: str | None
    format: str | None
    intact: bool
    files: int
    not_compared: str | None
    altered: int
    problems: tuple[str, ...]


def verify_export(out: Path, store: Store | None = None) -> VerifiedExport:
    """Compare an exported folder with its manifest and, where the project is at hand, with its release.

    Raises
    ------
    InputError: there is no such folder, or it has no manifest or cannot be read.
    """
    try:
        return _verify(out, store)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=out) from error


def _verify(out: Path, store: Store | None) -> VerifiedExport:
    path = out / MANIFEST
    if not path.is_file():
        raise InputError(f"there is no {MANIFEST}: expected a folder that `goldset export` wrote", path=out)
    manifest, problem = read_manifest(path.read_bytes())
    if manifest is None:
        return _verdict(out, {}, NO_PROJECT, {MANIFEST: problem})
    problems = _against_manifest(out, manifest["files"]) | ({MANIFEST: problem} if problem else {})
    not_compared = _why_not(manifest, store)
    if not_compared is None and store is not None:
        try:
            problems = _against_release(out, manifest, store)
        except CurationError as error:
            not_compared = str(error)
    return _verdict(out, manifest, not_compared, problems)


def _verdict(
    out: Path, manifest: Mapping[str, Any], not_compared: str | None, problems: Mapping[str, str]
) -> VerifiedExport:
    sentences = [f"{name} {problem}" for name, problem in sorted(problems.items())]
    return VerifiedExport(
        out=out,
        name=manifest.get("name"),
        release_id=manifest.get("release_id"),
        format=manifest.get("format"),
        intact=not problems,
        files=len(manifest.get("files", ())),
        not_compared=not_compared,
        altered=len(problems),
        problems=tuple(sentences[:SHOWN]),
    )


def _against_manifest(out: Path, files: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """File → what is wrong with it by the manifest's sums."""
    problems = {}
    for name, entry in files.items():
        path = out / name
        if not path.is_file():
            problems[name] = "is missing"
        elif (size := path.stat().st_size) != entry.get("bytes"):
            problems[name] = f"was altered: it has {size:,} bytes, expected {entry.get('bytes')}"
        elif file_digest(path) != entry.get("sha256"):
            problems[name] = "was altered: its SHA-256 is not that of the manifest"
    return problems | dict.fromkeys(_held(out) - set(files) - {MANIFEST}, "was added")


def _held(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir()}


def _why_not(manifest: Mapping[str, Any], store: Store | None) -> str | None:
    """Why the export cannot be written once more; None where it can."""
    if store is None:
        return NO_PROJECT
    now = written_with()
    if manifest.get("written_with") != now:
        versions = ", ".join(f"{name} {number}" for name, number in now.items())
        return f"it was written with other versions than {versions}"
    return None


def _against_release(out: Path, manifest: Mapping[str, Any], store: Store) -> dict[str, str]:
    """File → where it differs from what the project writes.

    Raises
    ------
    InputError: the project has no such release, or the manifest asks for what cannot be.
    RefusedError: the release in the project is not as it was frozen.
    """
    release = opened(store, _known_name(manifest, store))
    format, graded, options = _asked(manifest, release)
    _refuse_never_opened(store, release, graded)
    with TemporaryDirectory() as folder:
        again = Path(folder)
        write_files(store, release, format, again, graded, options, out=out, opening=None)
        expected = _held(again)
        found = dict.fromkeys(_held(out) - expected, "was added")
        for name in expected:
            if not (out / name).is_file():
                found[name] = "is missing"
            elif place := _difference(out / name, again / name):
                found[name] = f"was altered: {place}"
        return found


def _refuse_never_opened(store: Store, release: Opened, graded: Collection[str]) -> None:
    """Stop where the export has sealed grades that were never taken from the project: the places of wrong
    guesses would reveal the grades."""
    with store.reading() as cursor:
        taken = {part for opening in openings(cursor, release.row.release_id) for part in opening.parts}
    if never := sorted(set(sealed_parts(release.header)).intersection(graded) - taken):
        raise InputError(f"the sealed grades of {', '.join(never)} were never taken from this project")


def _asked(manifest: Mapping[str, Any], release: Opened) -> tuple[str, tuple[str, ...], ExportOptions]:
    """Format, parts with grades and options of the export."""
    try:
        format, graded = manifest["format"], tuple(manifest["counts"]["grades"])
        options = ExportOptions(**manifest["options"], licence=manifest["licence"])
    except (KeyError, TypeError):
        raise InputError(UNTOLD) from None
    if format not in FORMATS or not set(graded) <= set(release.header["queries"]):
        raise InputError(UNTOLD)
    return format, graded, options


def _known_name(manifest: Mapping[str, Any], store: Store) -> str:
    """A name under which the project holds the release of the manifest; its own if it still has it."""
    with store.reading() as cursor:
        names = [row.name for row in list_releases(cursor) if row.release_id == manifest.get("release_id")]
    if not names:
        raise InputError(f"the project has no release with the id {str(manifest.get('release_id'))[:12]}…")
    return str(manifest["name"]) if manifest.get("name") in names else names[0]


def _difference(found: Path, expected: Path) -> str:
    """Where a file begins to differ, '' where it does not; a text file's line is shown as it is now."""
    size, wanted_size = found.stat().st_size, expected.stat().st_size
    with found.open("rb") as one, expected.open("rb") as other:
        offset = 0
        for number, (line, wanted) in enumerate(zip_longest(one, other, fillvalue=b""), 1):
            if line == wanted:
                offset += len(line)
                continue
            pairs = enumerate(zip(line, wanted, strict=False))
            same = next((place for place, (a, b) in pairs if a != b), min(len(line), len(wanted)))
            if offset + same == size:
                return f"it ends after {size:,} bytes of {wanted_size:,}"
            if offset + same == wanted_size:
                return f"it goes on after its {wanted_size:,} bytes"
            if found.suffix == ".parquet":
                return f"byte {offset + same + 1:,} is the first that differs"
            shown = line.removesuffix(b"\n")[:200].decode("utf-8", "backslashreplace")
            return f"line {number:,} is the first that differs, at its byte {same + 1:,}: {shown}"
    return ""
