"""Export of a release in the format of another tool, with a README and a manifest of file checksums.

An export is made from a release that was verified first. The files are written into a temporary folder next
to the target, and moved to the target when all files are complete, so that nobody finds an incomplete export.
An export opens the seal of sealed parts (`seal`) before the first file is written.

The manifest names the release and the options of the export. The file README.md is the data-set card
(`readme`).
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
from curation.core.progress import Progress, silent
from curation.core.reports.tables import Table
from curation.core.request import describe_out_of_bounds
from curation.core.text import describe_left_out, pluralize, suggest
from curation.people.seal_access import Unsealing, list_sealed_parts
from curation.releases.export.export_format import Written
from curation.releases.export.export_source import ExportSource
from curation.releases.export.formats import FORMATS
from curation.releases.export.readme import write_readme
from curation.releases.gate_override import warn_of_override
from curation.releases.manifest import MANIFEST, format_manifest
from curation.releases.requests import ExportRequest
from curation.releases.seal import open_sealed, refuse_unknown_parts
from curation.releases.verify import verify_and_load
from curation.store import COMMAND_LINE, Store, note_event
from curation.store.staging import flush_all, replace_folder, staging_folder

LAYOUT = "3"
"""The version of the exports, which changes with the files of formats. 3: each has a README with configs."""


@dataclass(frozen=True)
class Exported:
    """The report on an export of a release.

    Attributes
    ----------
    counts: numbers of documents, of queries by part, and of written grades by part.
    without_grades: parts whose grades are not in the export.
    opening: the log entry about the export's sealed grades; None if the export has no sealed grades.
    ids: changes of ids.
    rows: file → number of rows, for formats that make a row from several grades.
    left_out: reason → number.
    files: file → {sha256, bytes}, without the manifest.
    mark: the mark of a release that was frozen despite the gate.
    """

    name: str
    release_id: str
    format: str
    out: Path
    counts: dict[str, dict[str, int]]
    without_grades: tuple[str, ...]
    opening: Unsealing | None
    licence: str
    ids: dict[str, object]
    rows: dict[str, int]
    left_out: dict[str, int]
    files: dict[str, dict[str, object]]
    mark: str | None = None

    @property
    def sentences(self) -> list[str]:
        """Return sentences on the written files, the exported grades, and the rows left out."""
        grades = pluralize(sum(self.counts["grades"].values()), "grade")
        files = pluralize(len(self.files) + 1, "file")
        remarks = [f"Exported {self.name} as {self.format}: {files}, {grades}."]
        remarks += warn_of_override(self.name, self.mark)
        if self.without_grades:
            remarks.append(f"The export lacks the grades of {', '.join(self.without_grades)}.")
        if self.opening is not None:
            parts = ", ".join(self.opening.parts)
            remarks.append(
                f"The export contains the sealed grades of {parts}. The export is logged with your reason."
            )
        if self.ids.get("query_prefix"):
            remarks.append(
                "Some queries and documents share an id, so all ids have a prefix (see manifest.json)."
            )
        if self.ids.get("mapped"):
            remarks.append(f"{self.ids['mapped']:,} ids contained white space and were encoded: see ids.tsv.")
        remarks += [f"{file}: {pluralize(rows, 'row')}." for file, rows in self.rows.items()]
        return [*remarks, *describe_left_out(self.left_out)]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table of the exported files."""
        rows = tuple((file, entry["bytes"], entry["sha256"]) for file, entry in self.files.items())
        return (Table(f"Exported {self.name} as {self.format}", ("file", "bytes", "sha256"), rows),)


def choose_parts(request: ExportRequest, header: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the parts of the split whose grades are written, in order, for a release with this header.

    Raises
    ------
    InputError: the release has no such part, or a sealed part is named and the format has no sealed grades.
    """
    split_parts, parts = header["queries"], request.parts
    format = FORMATS[request.format]
    refuse_unknown_parts(split_parts, (*parts, *request.without_grades))
    sealed = list_sealed_parts(header)
    requested_sealed = sorted(set(parts).intersection(sealed))
    if format.never_sealed and requested_sealed:
        part = requested_sealed[0]
        problem = f"The format {format.name} has no grades of sealed parts, and {part} is sealed."
        raise InputError(f"{problem} Choose the format beir for this part.")
    exported_parts = set(parts or split_parts)
    if not parts and not format.sealed_by_default:
        exported_parts -= set(sealed)
    return tuple(sorted(exported_parts.difference(request.without_grades)))


def export(
    store: Store, request: ExportRequest, out: Path, progress: Progress = silent, actor: str = COMMAND_LINE
) -> Exported:
    """Export a release in one of `FORMATS` into the folder `out`.

    An export of the same release in the same format is replaced. The same options give the same bytes. A
    folder with other files is refused. The reason for taking sealed grades is logged before any of these
    grades is written.

    Raises
    ------
    InputError: the format, a part or an option does not exist; the folder cannot be used or written.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: the release was altered, or a newer goldgrade froze it; sealed grades would be written
        without a reason, or by somebody who is not a lead; the export would have no row.
    """
    _check_request(request)
    out = out.resolve()
    verified, release = verify_and_load(store, request.name, progress)
    if not verified.intact:
        problem = f"The release {request.name!r} has changed since it was frozen, so it is not exported"
        command = f"`goldgrade verify {request.name}` lists all problems."
        raise RefusedError(f"{problem}: {verified.problems[0]}.", command=command)
    parts = choose_parts(request, release.header)
    _refuse_other_content(out, verified.release_id, request.format)
    opening = open_sealed(store, release, f"export as {request.format}", request.reason, actor, parts)
    exported = _write_export(ExportSource(store, release, parts, request), out, opening)
    if release.file is None:
        detail = {"name": request.name, "release": verified.release_id, "format": request.format}
        note_event(store, "export", detail | {"without grades": [*exported.without_grades]}, actor)
    return exported


def _check_request(request: ExportRequest) -> None:
    format = request.format
    problems = describe_out_of_bounds(ExportRequest, vars(request))
    if format not in FORMATS:
        problems.append(
            f"the format {format!r}: expected one of {', '.join(FORMATS)}{suggest(format, FORMATS)}"
        )
    elif request.unjudged and not FORMATS[format].takes_unjudged:
        others = ", ".join(other.name for other in FORMATS.values() if other.takes_unjudged)
        problems.append(f"the format {format} cannot contain pairs without a grade; choose {others}")
    if not request.licence.strip() or not request.licence.isprintable():
        problems.append(f"The licence {request.licence!r}: expected its name on one line")
    refuse_problems(problems)


def _write_export(source: ExportSource, out: Path, opening: Unsealing | None) -> Exported:
    """Write all files into a temporary folder, and move the files to the target once all are complete."""
    try:
        private = not set(source.parts).isdisjoint(list_sealed_parts(source.release.header))
        with staging_folder(out, private=private) as folder:
            format = FORMATS[source.request.format]
            written = format.write(folder, source)
            write_readme(folder, source, format, written)
            exported = _make_report(source, out, opening, written, folder)
            _write_manifest(folder, exported, source.request)
            for path in folder.rglob("*") if private else ():
                path.chmod(0o700 if path.is_dir() else 0o600)
            flush_all(folder)
            replace_folder(folder, out)
    except OSError as error:
        reason = error.strerror or str(error)
        logged = " The log keeps the entry about the opened seal." if opening else ""
        raise InputError(
            f"the export could not be written, and no file was left: {reason}.{logged}", path=out
        ) from error
    return exported


def _make_report(
    source: ExportSource, out: Path, opening: Unsealing | None, written: Written, folder: Path
) -> Exported:
    header = source.release.header
    counts = Counter(source.query_parts[row["query_id"]] for row in source.rows("qrels"))
    grades = {part: counts[part] for part in source.parts}
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        sums = {"sha256": file_digest(path), "bytes": path.stat().st_size}
        files[path.relative_to(folder).as_posix()] = sums
    return Exported(
        name=source.release.row.name,
        release_id=source.release.row.release_id,
        format=source.request.format,
        out=out,
        counts={"documents": header["documents"], "queries": header["queries"], "grades": grades},
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
    """Write the manifest. It does not say who opened the seal, because only the project knows its people."""
    names = "release_id name format licence counts without_grades ids rows left_out files".split()
    manifest = {name: getattr(exported, name) for name in names} | {
        "options": {"unjudged": request.unjudged, "negatives": request.negatives},
        "written_with": {"goldgrade": __version__, "exports": LAYOUT, "pyarrow": version("pyarrow")},
    }
    if exported.mark:
        manifest["mark"] = exported.mark
    (folder / MANIFEST).write_text(format_manifest(manifest), encoding="utf-8")


def _refuse_other_content(out: Path, release_id: str, format: str) -> None:
    """Reject a target folder with files other than an export of the same release in the same format."""
    if not out.exists():
        return
    if not out.is_dir():
        raise InputError("is a file; expected a folder for the export", path=out)
    other_files = {path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir()}
    if MANIFEST in other_files:
        try:
            manifest = dict(json.loads((out / MANIFEST).read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            manifest = {}
        is_same_export = (manifest.get("release_id"), manifest.get("format")) == (release_id, format)
        if is_same_export and isinstance(manifest.get("files"), dict):
            other_files -= {*manifest["files"], MANIFEST}
    if other_files:
        first = sorted(other_files)[:3]
        names = ", ".join(first if len(other_files) <= 3 else [*first, "…"])
        raise InputError(
            f"has {len(other_files):,} other files ({names}); choose an empty or new folder. A new export "
            "can replace only an export of the same release in the same format.",
            path=out,
        )
