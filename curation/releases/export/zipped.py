"""An export as one zip file: the files that `export` writes, byte for byte, below a folder of its name.

The same export gives the same file: names are sorted, and times and modes are fixed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from curation.progress import Progress, silent
from curation.releases.export.export import DEFAULT, Exported, export
from curation.releases.export.request import ExportOptions
from curation.store import COMMAND_LINE, Store

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip file can name."""
MODE = 0o100644 << 16


def zip_name(name: str, format: str) -> str:
    """What the file of a release in a format is called."""
    return f"{name}-{format}.zip"


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
        _pack(whole, folder / zip_name(name, format))
    finally:
        shutil.rmtree(whole, ignore_errors=True)
    return exported


def _pack(whole: Path, target: Path) -> None:
    with (
        os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file,
        ZipFile(file, "w", ZIP_DEFLATED) as archive,
    ):
        for path in sorted(path for path in whole.rglob("*") if path.is_file()):
            inside = ZipInfo(f"{whole.name}/{path.relative_to(whole).as_posix()}", EPOCH)
            inside.compress_type, inside.external_attr, inside.create_system = ZIP_DEFLATED, MODE, 3
            inside.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(inside, "w") as packed:
                shutil.copyfileobj(source, packed, 1 << 20)
