"""Exports: a release written for other tools, with a manifest that names the release and every file's sum.

An export is made from frozen content that was verified first. It is written into a folder next to its place
and moved there when it is whole, so that a half-written one is never found. Grades of sealed parts pass the
gate (`seal`) before the first file is opened.

The manifest also names how the export was written.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from curation import __version__
from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.operation import out_of_bounds
from curation.core.progress import Progress, silent
from curation.core.text import file_digest
from curation.people.seal_access import Unsealing, sealed_parts
from curation.releases.export.export_source import ExportSource, gold_of
from curation.releases.export.formats import FORMATS, GONE
from curation.releases.export.formats.export_format import Written
from curation.releases.export.readme import write_readme
from curation.releases.export.request import ExportOptions
from curation.releases.packing.manifest import MANIFEST, manifest_text
from curation.releases.seal import open_sealed, refuse_unknown_parts
from curation.releases.verify import verified_and_opened
from curation.store import COMMAND_LINE, Store, note_event
from curation.store.staging import replace_folder, staged, sync_all

LAYOUT = "3"
"""Changes with the bytes that formats write of the same release. 3: each has a README with configs."""
DEFAULT = ExportOptions()


@dataclass(frozen=True)
class Exported:
    """An export as it was written.

    Attributes
    ----------
    counts: documents, queries by part, and the grades that were written, by part.
    without_grades: parts whose grades are not in it.
    opening: who had sealed grades and why, as it was logged; None where none is in it.
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


def export(
    store: Store,
    name: str,
    format: str,
    out: Path,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
    *,
    reason: str | None = None,
    parts: Collection[str] = (),
    without_grades: Collection[str] = (),
    options: ExportOptions = DEFAULT,
) -> Exported:
    """Write a release in one of `FORMATS` into the folder `out`.

    An export of the same release in the same format is replaced; asked for the same, it has the same bytes.
    Anything else in the folder is left alone, and refused.

    Parameters
    ----------
    reason: why grades of sealed parts are taken; it is logged before any of them is written.
    parts: whose grades are written; by default those of all parts, in formats without `sealed_by_default` of
        all that are not sealed.
    without_grades: parts whose grades are not.

    Raises
    ------
    InputError: no such format, part or option; the folder cannot be used or written.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: the release does not verify or a newer goldgrade froze it; sealed grades would be written
        and
        no reason is given, or the actor is no lead; not one row could be written.
    """
    _check(format, options)
    out = out.resolve()
    verified, release = verified_and_opened(store, name, progress)
    if not verified.intact:
        raise RefusedError(
            f"The release {name!r} is not as it was frozen and will not be exported: {verified.problems[0]}.",
            command=f"`goldgrade verify {name}` names everything.",
        )
    graded = graded_parts(format, release.header, parts, without_grades)
    _refuse_other_content(out, verified.release_id, format)
    opening = open_sealed(store, release, f"export as {format}", reason, actor, graded)
    exported = _written(gold_of(store, release, graded, options), format, out, opening)
    if release.file is None:
        detail = {
            "name": name,
            "release": verified.release_id,
            "format": format,
            "without grades": list(exported.without_grades),
        }
        note_event(store, "export", detail, actor)
    return exported


def _check(format: str, options: ExportOptions) -> None:
    problems = out_of_bounds(ExportOptions, vars(options))
    if format in GONE:
        problems.append(GONE[format])
    elif format not in FORMATS:
        problems.append(f"the format {format!r}: expected one of {', '.join(FORMATS)}")
    elif options.unjudged and not FORMATS[format].takes_unjudged:
        others = ", ".join(other.name for other in FORMATS.values() if other.takes_unjudged)
        problems.append(f"the format {format} has no place for pairs without a grade; {others} has")
    if not options.licence.strip() or not options.licence.isprintable():
        problems.append(f"The licence {options.licence!r}: expected its name on one line")
    refuse_problems(problems)


def graded_parts(
    format: str, header: Mapping[str, Any], parts: Collection[str] = (), without: Collection[str] = ()
) -> tuple[str, ...]:
    """The parts whose grades are written, ordered; takes what `export` takes, and a release's header.

    Raises
    ------
    InputError: the release has no such part, or the format never has grades of a sealed one that is named.
    """
    known = header["queries"]
    refuse_unknown_parts(known, parts)
    refuse_unknown_parts(known, without)
    sealed = sealed_parts(header)
    asked = sorted(set(parts).intersection(sealed))
    if FORMATS[format].never_sealed and asked:
        raise InputError(
            f"The format {format} has no grades of sealed parts, and {asked[0]} is one. Choose beir for it."
        )
    chosen = set(parts or known)
    if not parts and not FORMATS[format].sealed_by_default:
        chosen -= set(sealed)
    return tuple(sorted(chosen.difference(without)))


def _written(gold: ExportSource, format: str, out: Path, opening: Unsealing | None) -> Exported:
    """Write the files next to their place and move them there when all are whole."""
    try:
        private = not set(gold.parts).isdisjoint(sealed_parts(gold.release.header))
        with staged(out, private=private) as new:
            written = FORMATS[format].write(new, gold)
            write_readme(new, gold, FORMATS[format], written)
            exported = _described(gold, format, out, opening, written, new)
            _write_manifest(new, exported, gold.options)
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


def _described(
    gold: ExportSource, format: str, out: Path, opening: Unsealing | None, written: Written, folder: Path
) -> Exported:
    header = gold.release.header
    grades = Counter(gold.part_of[row["query_id"]] for row in gold.qrels)
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        sums = {"sha256": file_digest(path), "bytes": path.stat().st_size}
        files[path.relative_to(folder).as_posix()] = sums
    return Exported(
        name=gold.name,
        release_id=gold.release_id,
        format=format,
        out=out,
        counts={
            "documents": header["documents"],
            "queries": header["queries"],
            "grades": {part: grades[part] for part in gold.parts},
        },
        without_grades=tuple(sorted(set(header["queries"]).difference(gold.parts))),
        opening=opening,
        licence=gold.options.licence,
        ids=dict(written.ids),
        rows=dict(written.rows),
        left_out=dict(written.left_out),
        files=files,
        mark=gold.release.mark,
    )


def _write_manifest(folder: Path, exported: Exported, options: ExportOptions) -> None:
    """What is here and what of it is whole; who opened a seal is the project's to know, not the reader's."""
    names = (
        *("release_id", "name", "format", "licence", "counts", "without_grades", "ids", "rows"),
        *("left_out", "files"),
    )
    manifest = {name: getattr(exported, name) for name in names} | {
        "options": {"unjudged": options.unjudged, "negatives": options.negatives},
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
