"""Exports: a release written for other tools, with a README and a manifest of every file's sum.

An export is made from frozen content that was verified first. It is written into a folder next to its place
and moved there when it is whole, so that a half-written one is never found. Grades of sealed parts pass the
seal (`seal`) before the first file is opened.

The manifest names the release, and how the export was written. README.md is the data-set card (`readme`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from curation import __version__
from curation.core.digests import file_digest
from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.operation import out_of_bounds
from curation.core.progress import Progress, silent
from curation.core.reports.page import Table
from curation.core.text import left_out_sentences, pluralize
from curation.people.seal_access import Unsealing, sealed_parts
from curation.releases.export.export_format import Written
from curation.releases.export.export_source import ExportSource
from curation.releases.export.formats import FORMATS, GONE
from curation.releases.export.readme import write_readme
from curation.releases.gate_override import gate_override_sentences
from curation.releases.manifest import MANIFEST, manifest_text
from curation.releases.requests import ExportRequest
from curation.releases.seal import open_sealed, refuse_unknown_parts
from curation.releases.verify import verified_and_opened
from curation.store import COMMAND_LINE, Store, note_event
from curation.store.staging import replace_folder, staged, sync_all

LAYOUT = "3"
"""Changes with the bytes that formats write of the same release. 3: each has a README with configs."""


@dataclass(frozen=True)
class Exported:
    """An export as it was written.

    Attributes
    ----------
    counts: documents, queries by part, and the grades that were written, by part.
    without_grades: parts whose grades are not in it.
    opening: who had sealed grades and why, as it was logged; None if none is in it.
    ids: how ids were changed.
    rows: file → rows, for formats whose rows are made from several grades.
    left_out: reason → number.
    files: file → {sha256, bytes}, without the manifest itself.
    mark: that the release was frozen against the gate, where it was.
    """

    name: str
    release_id: str
    format: str
    out: Path
    counts: dict[str, Any]
    without_grades: tuple[str, ...]
    opening: Unsealing | None
    licence: str
    ids: dict[str, Any]
    rows: dict[str, int]
    left_out: dict[str, int]
    files: dict[str, dict[str, Any]]
    mark: str | None = None

    @property
    def sentences(self) -> list[str]:
        """What was written, with whose grades, and what was left out."""
        grades = pluralize(sum(self.counts["grades"].values()), "grade")
        files = pluralize(len(self.files) + 1, "file")
        remarks = [f"Exported {self.name} as {self.format}: {files}, {grades}."]
        remarks += gate_override_sentences(self.name, self.mark)
        if self.without_grades:
            remarks.append(f"Without the grades of {', '.join(self.without_grades)}.")
        if self.opening is not None:
            remarks.append(f"With the sealed grades of {', '.join(self.opening.parts)}, which is logged.")
        if self.ids.get("query_prefix"):
            remarks.append("Queries and documents share ids: all got a prefix (see manifest.json).")
        if self.ids.get("mapped"):
            remarks.append(f"{self.ids['mapped']:,} ids hold white space and were encoded: see ids.tsv.")
        remarks += [f"{file}: {pluralize(rows, 'row')}." for file, rows in self.rows.items()]
        return [*remarks, *left_out_sentences(self.left_out)]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The files."""
        rows = tuple((file, entry["bytes"], entry["sha256"]) for file, entry in self.files.items())
        return (Table(f"Exported {self.name} as {self.format}", ("file", "bytes", "sha256"), rows),)


def _check(request: ExportRequest) -> None:
    problems, format = out_of_bounds(ExportRequest, vars(request)), request.format
    if format in GONE:
        problems.append(GONE[format])
    elif format not in FORMATS:
        problems.append(f"the format {format!r}: expected one of {', '.join(FORMATS)}")
    elif request.unjudged and not FORMATS[format].takes_unjudged:
        others = ", ".join(other.name for other in FORMATS.values() if other.takes_unjudged)
        problems.append(f"the format {format} has no place for pairs without a grade; {others} has")
    if not request.licence.strip() or not request.licence.isprintable():
        problems.append(f"The licence {request.licence!r}: expected its name on one line")
    refuse_problems(problems)


def graded_parts(request: ExportRequest, header: Mapping[str, Any]) -> tuple[str, ...]:
    """The splits whose grades are written, ordered, of a release with this header.

    Raises
    ------
    InputError: the release has no such part, or the format never has grades of a sealed one that is named.
    """
    known, parts, format = header["queries"], request.parts, request.format
    refuse_unknown_parts(known, parts)
    refuse_unknown_parts(known, request.without_grades)
    sealed = sealed_parts(header)
    asked = sorted(set(parts).intersection(sealed))
    if FORMATS[format].never_sealed and asked:
        raise InputError(
            f"The format {format} has no grades of sealed parts, and {asked[0]} is one. Choose beir for it."
        )
    chosen = set(parts or known)
    if not parts and not FORMATS[format].sealed_by_default:
        chosen -= set(sealed)
    return tuple(sorted(chosen.difference(request.without_grades)))


def _write(source: ExportSource, out: Path, opening: Unsealing | None) -> Exported:
    """Write the files next to their place and move them there when all are whole."""
    try:
        private = not set(source.parts).isdisjoint(sealed_parts(source.release.header))
        with staged(out, private=private) as new:
            format = FORMATS[source.request.format]
            written = format.write(new, source)
            write_readme(new, source, format, written)
            exported = _export_record(source, out, opening, written, new)
            _write_manifest(new, exported, source.request)
            if private:
                _keep_private(new)
            sync_all(new)
            replace_folder(new, out)
    except OSError as error:
        why = error.strerror or str(error)
        logged = " That the seal was opened for it stays in the log." if opening else ""
        raise InputError(
            f"the export could not be written, and nothing was left: {why}.{logged}", path=out
        ) from error
    return exported


def _keep_private(folder: Path) -> None:
    """Sealed grades are for the user who took them."""
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


def _export_record(
    source: ExportSource, out: Path, opening: Unsealing | None, written: Written, folder: Path
) -> Exported:
    header = source.release.header
    grades = Counter(source.part_of[row["query_id"]] for row in source.rows("qrels"))
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        sums = {"sha256": file_digest(path), "bytes": path.stat().st_size}
        files[path.relative_to(folder).as_posix()] = sums
    return Exported(
        name=source.release.row.name,
        release_id=source.release.row.release_id,
        format=source.request.format,
        out=out,
        counts={
            "documents": header["documents"],
            "queries": header["queries"],
            "grades": {part: grades[part] for part in source.parts},
        },
        without_grades=tuple(sorted(set(header["queries"]).difference(source.parts))),
        opening=opening,
        licence=source.request.licence,
        ids=dict(written.ids),
        rows=dict(written.rows),
        left_out=dict(written.left_out),
        files=files,
        mark=source.release.mark,
    )


def _write_manifest(folder: Path, exported: Exported, request: ExportRequest) -> None:
    """What is here and what of it is whole; who opened a seal is the project's to know, not the reader's."""
    names = (
        *("release_id", "name", "format", "licence", "counts", "without_grades", "ids", "rows"),
        *("left_out", "files"),
    )
    manifest = {name: getattr(exported, name) for name in names} | {
        "options": {"unjudged": request.unjudged, "negatives": request.negatives},
        "written_with": {"goldgrade": __version__, "exports": LAYOUT, "pyarrow": version("pyarrow")},
    }
    if exported.mark:
        manifest["mark"] = exported.mark
    (folder / MANIFEST).write_text(manifest_text(manifest), encoding="utf-8")


def _refuse_other_content(out: Path, release_id: str, format: str) -> None:
    """Only an empty place, or an export of this very release and format, may be written to."""
    if not out.exists():
        return
    if not out.is_dir():
        raise InputError("is a file; expected a folder for the export", path=out)
    existing = {path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir()}
    if not existing:
        return
    manifest: dict[str, Any] = {}
    if MANIFEST in existing:
        try:
            manifest = dict(json.loads((out / MANIFEST).read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            manifest = {}
    same = (manifest.get("release_id"), manifest.get("format")) == (release_id, format)
    files = manifest.get("files") if same else None
    others = sorted(existing - set(files) - {MANIFEST} if isinstance(files, dict) else existing)
    if others:
        shown = [*others[:3], *(["…"] if others[3:] else [])]
        raise InputError(
            f"holds {len(others):,} other files ({', '.join(shown)}); choose "
            "an empty or new folder. Only an export of the same release in the same format is replaced.",
            path=out,
        )


def export(
    store: Store, request: ExportRequest, out: Path, actor: str = COMMAND_LINE, progress: Progress = silent
) -> Exported:
    """Write a release in one of `FORMATS` into the folder `out`.

    An export of the same release in the same format is replaced; asked for the same, it has the same bytes.
    Anything else in the folder is left alone, and refused. Why grades of sealed splits are taken is logged
    before any of them is written.

    Raises
    ------
    InputError: no such format, split or option; the folder cannot be used or written.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: the release does not verify or a newer goldgrade froze it; sealed grades would be written
        and no reason is given, or the actor is no lead; not one row could be written.
    """
    _check(request)
    out = out.resolve()
    verified, release = verified_and_opened(store, request.name, progress)
    if not verified.intact:
        raise RefusedError(
            f"The release {request.name!r} is not as it was frozen and will not be exported: "
            f"{verified.problems[0]}.",
            command=f"`goldgrade verify {request.name}` names everything.",
        )
    graded = graded_parts(request, release.header)
    _refuse_other_content(out, verified.release_id, request.format)
    opening = open_sealed(store, release, f"export as {request.format}", request.reason, actor, graded)
    exported = _write(ExportSource(store, release, graded, request), out, opening)
    if release.file is None:
        detail = {
            "name": request.name,
            "release": verified.release_id,
            "format": request.format,
            "without grades": list(exported.without_grades),
        }
        note_event(store, "export", detail, actor)
    return exported
