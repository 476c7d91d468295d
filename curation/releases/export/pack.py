"""Export of a release into one file: a packed release, or a zip file of another format."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from curation.core.digests import file_digest
from curation.core.errors import CurationError, InputError
from curation.core.progress import Progress, silent
from curation.releases.export.export import Exported, export
from curation.releases.export.full import FULL
from curation.releases.frozen_release import load_release
from curation.releases.gate_override import warn_of_override
from curation.releases.packed import SUFFIX, PackedRelease
from curation.releases.requests import ExportRequest
from curation.store import COMMAND_LINE, Store
from curation.store.staging import flush_all, staging_folder

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip file can store."""
MODE = 0o100644 << 16
"""Access rights of each file in a zip file: everybody reads, and the owner writes."""


class PackedFile(NamedTuple):
    """The report on a packed release and the export in its file. `sha256` is the checksum of the file."""

    file: Path
    bytes: int
    sha256: str
    exported: Exported

    @property
    def sentences(self) -> list[str]:
        """Return sentences on the written file, and on whether the file contains sealed grades."""
        exported = self.exported
        lines = [f"Packed {exported.name}: {self.file}, {self.bytes:,} bytes."]
        lines += warn_of_override(exported.name, exported.mark)
        if exported.without_grades:
            lines.append(f"The file lacks judgments of sealed parts: {', '.join(exported.without_grades)}.")
        if exported.opening is not None:
            parts = ", ".join(exported.opening.parts)
            lines.append(f"The file contains the sealed grades of {parts}. The export is logged.")
        return [*lines, f"sha256: {self.sha256}", f"release id: {exported.release_id}"]


def name_zip(name: str, format: str) -> str:
    """Return the name of the zip file for a release that is exported in a format."""
    return f"{name}{SUFFIX}" if format == FULL.name else f"{name}-{format}.zip"


def export_zip(
    store: Store, request: ExportRequest, progress: Progress = silent, actor: str = COMMAND_LINE
) -> Exported:
    """Export into a zip file in the request's folder, which only this user can read.

    Raises the errors of `export`.
    """
    folder = Path(request.folder)
    is_packed = request.format == FULL.name
    export_folder = folder / f"{request.name}-{request.format}"
    try:
        exported = export(store, request, export_folder, progress, actor)
        progress("packing", 0, 0)
        _write_zip(export_folder, folder / name_zip(request.name, request.format), is_packed)
    finally:
        shutil.rmtree(export_folder, ignore_errors=True)
    return exported


def pack_release(
    store: Store,
    name: str,
    file: Path | None = None,
    progress: Progress = silent,
    actor: str = COMMAND_LINE,
    *,
    reason: str | None = None,
) -> PackedFile:
    """Write a release into one file; after an error, no file is left. Also raises the errors that `export`
    raises.

    Parameters
    ----------
    file: the path of the file; by default the name of the release and the beginning of its id. A packed file
        of the same release is replaced.
    reason: the reason for packing the judgments of sealed parts, which is logged; None leaves them out.

    Raises
    ------
    InputError: the path has a different file, or cannot be written.
    """
    release = load_release(store, name)
    if release.file is not None:
        raise InputError("is already packed: copy the file", path=release.file.path)
    row = release.row
    file = file or Path(f"{row.name}-{row.release_id[:12]}{SUFFIX}")
    _refuse_other_file(file, row.release_id)
    parts = tuple(release.header["queries"]) if reason is not None else ()
    try:
        with staging_folder(file.resolve(), private=True) as folder:
            request = ExportRequest(row.name, FULL.name, str(folder), parts, reason=reason)
            exported = export_zip(store, request, progress, actor)
            packed = folder / name_zip(row.name, FULL.name)
            sha256 = file_digest(packed)
            flush_all(folder)
            packed.replace(file)
    except OSError as error:
        problem = error.strerror or str(error)
        raise InputError(f"could not be written, and no file was left: {problem}", path=file) from error
    return PackedFile(file, file.stat().st_size, sha256, exported)


def _refuse_other_file(file: Path, release_id: str) -> None:
    try:
        is_same = not file.exists() or PackedRelease(file).row.release_id == release_id
    except CurationError:
        is_same = False
    if not is_same:
        problem = "already exists and is not a packed file of this release: name a different file"
        raise InputError(problem, path=file)


def _write_zip(export_folder: Path, target: Path, stored: bool) -> None:
    with (
        os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file,
        ZipFile(file, "w") as archive,
    ):
        for path in sorted(path for path in export_folder.rglob("*") if path.is_file()):
            name = path.relative_to(export_folder if stored else export_folder.parent).as_posix()
            member = ZipInfo(name, EPOCH)
            member.compress_type = ZIP_STORED if stored else ZIP_DEFLATED
            member.external_attr, member.create_system = MODE, 3
            member.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(member, "w") as target_file:
                shutil.copyfileobj(source, target_file, 1 << 20)
