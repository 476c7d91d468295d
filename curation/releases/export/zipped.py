"""An export as one zip file: the files that `export` writes, byte for byte, below a folder of its name.

The same export gives the same file: names are sorted, and times and modes are fixed. Of the format full it is
a packed release: its files are stored as they are, below no folder (`releases.packing.packed`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from curation.core.errors import CurationError, InputError
from curation.core.progress import Progress, silent
from curation.core.text import file_digest
from curation.releases.export.export import DEFAULT, Exported, export
from curation.releases.export.formats.full import FULL
from curation.releases.export.request import ExportOptions
from curation.releases.packing.packed import PackedRelease
from curation.releases.release_rows import SUFFIX
from curation.releases.verify import load_release
from curation.store import COMMAND_LINE, Store
from curation.store.staging import staged, sync_all

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip file can name."""
MODE = 0o100644 << 16


def zip_name(name: str, format: str) -> str:
    """What the file of a release in a format is called."""
    return f"{name}{SUFFIX}" if format == FULL.name else f"{name}-{format}.zip"


def export_zip(
    store: Store,
    name: str,
    format: str,
    folder: Path,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
    *,
    reason: str | None = None,
    parts: Collection[str] = (),
    options: ExportOptions = DEFAULT,
) -> Exported:
    """Export into a zip file in `folder` for this user alone to read; takes and raises what `export` does."""
    whole = folder / f"{name}-{format}"
    try:
        exported = export(
            store, name, format, whole, actor, progress, reason=reason, parts=parts, options=options
        )
        progress("packing", 0, 0)
        _pack(whole, folder / zip_name(name, format), format == FULL.name)
    finally:
        shutil.rmtree(whole, ignore_errors=True)
    return exported


class PackedFile(NamedTuple):
    """A packed release; `exported` is what is in it, and `sha256` that of the file."""

    file: Path
    bytes: int
    sha256: str
    exported: Exported


def pack_release(
    store: Store,
    name: str,
    file: Path | None = None,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
    *,
    with_sealed: bool = False,
    reason: str | None = None,
) -> PackedFile:
    """Pack a release into one file, whole or not at all; raises what `export` does, too.

    Parameters
    ----------
    file: by default it has the release's name and the beginning of its id. A packed file of the same release
        is replaced.
    with_sealed: also what people said of sealed pairs, for a reason, which is logged.

    Raises
    ------
    InputError: the file is another one, or cannot be written.
    """
    release = load_release(store, name)
    if release.file is not None:
        raise InputError("is packed already: copy it", path=release.file.path)
    row = release.row
    file = file or Path(f"{row.name}-{row.release_id[:12]}{SUFFIX}")
    _refuse_other_file(file, row.release_id)
    parts = tuple(release.header["queries"]) if with_sealed else ()
    try:
        with staged(file.resolve(), private=True) as folder:
            exported = export_zip(
                *(store, row.name, FULL.name, folder, actor, progress), reason=reason, parts=parts
            )
            new = folder / zip_name(row.name, FULL.name)
            found = file_digest(new)
            sync_all(folder)
            new.replace(file)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"could not be written, and nothing was left: {why}", path=file) from error
    return PackedFile(file, file.stat().st_size, found, exported)


def _refuse_other_file(file: Path, release_id: str) -> None:
    try:
        same = not file.exists() or PackedRelease(file).row.release_id == release_id
    except CurationError:
        same = False
    if not same:
        raise InputError(
            "is there already and is no packed file of this release: name another one", path=file
        )


def _pack(whole: Path, target: Path, stored: bool) -> None:
    with (
        os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file,
        ZipFile(file, "w") as archive,
    ):
        for path in sorted(path for path in whole.rglob("*") if path.is_file()):
            place = path.relative_to(whole if stored else whole.parent).as_posix()
            inside = ZipInfo(place, EPOCH)
            inside.compress_type = ZIP_STORED if stored else ZIP_DEFLATED
            inside.external_attr, inside.create_system = MODE, 3
            inside.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(inside, "w") as packed:
                shutil.copyfileobj(source, packed, 1 << 20)
