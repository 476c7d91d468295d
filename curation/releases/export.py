"""Exports: a release written for other tools, with a manifest that names the release and every file's sum.

An export is made from frozen content that was verified first. It is written into a folder beside its place
and moved there when it is whole, so that a half-written one is never found.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.errors import InputError, RefusedError
from curation.progress import Progress, silent
from curation.releases.formats import FORMATS, Gold
from curation.releases.frozen import Pin, part_rows, pinned_documents, read_parts
from curation.releases.verify import verify
from curation.store import Store, record_event
from curation.store.settings import COMMAND_LINE

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Exported:
    """An export as it was written; `files` is file → {sha256, bytes}, without the manifest itself."""

    name: str
    release_id: str
    format: str
    out: Path
    counts: dict[str, Any]
    ids: dict[str, Any]
    files: dict[str, dict[str, Any]]


def export(
    store: Store,
    name: str,
    format: str,
    out: Path,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> Exported:
    """Write a release as beir, trec, csv or parquet into the folder `out`.

    An export of the same release in the same format is replaced; it has the same bytes. Anything else in the
    folder is left alone, and refused.

    Raises
    ------
    InputError: no such format; the folder cannot be used or written.
    NotFoundError: there is no such release.
    RefusedError: the release does not verify.
    """
    if format not in FORMATS:
        raise InputError(f"the format {format!r}: expected one of {', '.join(FORMATS)}")
    out = out.resolve()
    verified = verify(store, name, progress)
    if not verified.intact:
        raise RefusedError(
            f"The release {name!r} is not as it was frozen and will not be exported: {verified.problems[0]}. "
            f"`goldset verify {name}` names everything."
        )
    _refuse_other_content(out, verified.release_id, format)
    with store.reading() as cursor:
        texts = read_parts(cursor, verified.release_id)
    new = out.parent / f".{out.name}.new-{os.getpid()}"
    try:
        new.mkdir(parents=True)
        ids = FORMATS[format](new, _gold(store, verified.release_id, texts))
        exported = _described(name, verified.release_id, format, out, texts, ids, new)
        _write_manifest(new, exported)
        _move(new, out)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"the export could not be written, and nothing was left: {why}", path=out) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    with store.transaction() as cursor:
        record_event(
            cursor, "export", {"name": name, "release": verified.release_id, "format": format}, actor
        )
    return exported


def _gold(store: Store, release_id: str, texts: Mapping[str, str]) -> Gold:
    pins = [Pin(row["document_id"], row["content_hash"]) for row in part_rows(texts["documents"])]
    documents = (document for _, document in pinned_documents(store, pins) if document is not None)
    return Gold(
        release_id=release_id,
        parts=sorted(part_rows(texts["release"])[0]["queries"]),
        queries=part_rows(texts["queries"]),
        qrels=part_rows(texts["qrels"]),
        document_ids=[pin.document_id for pin in pins],
        documents=documents,
    )


def _described(
    name: str,
    release_id: str,
    format: str,
    out: Path,
    texts: Mapping[str, str],
    ids: dict[str, Any],
    folder: Path,
) -> Exported:
    header = part_rows(texts["release"])[0]
    counts = {key: header[key] for key in ("documents", "queries", "grades")}
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        files[path.relative_to(folder).as_posix()] = {"sha256": sha256, "bytes": path.stat().st_size}
    return Exported(name, release_id, format, out, counts, ids, files)


def _write_manifest(folder: Path, exported: Exported) -> None:
    manifest = {
        "release_id": exported.release_id,
        "name": exported.name,
        "format": exported.format,
        "counts": exported.counts,
        "ids": exported.ids,
        "files": exported.files,
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=2, sort_keys=True)
    (folder / MANIFEST).write_text(f"{text}\n", encoding="utf-8")


def _refuse_other_content(out: Path, release_id: str, format: str) -> None:
    """Only an empty place, or an export of this very release and format, may be written to."""
    if not out.exists():
        return
    if not out.is_dir():
        raise InputError("is a file; expected a folder for the export", path=out)
    held = {path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir()}
    if not held:
        return
    manifest: dict[str, Any] = {}
    if MANIFEST in held:
        try:
            manifest = dict(json.loads((out / MANIFEST).read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            manifest = {}
    same = (manifest.get("release_id"), manifest.get("format")) == (release_id, format)
    others = sorted(held - set(manifest.get("files", ())) - {MANIFEST} if same else held)
    if others:
        raise InputError(
            f"holds {len(others):,} other files ({', '.join(others[:3])}{', …' * (len(others) > 3)}); choose "
            "an empty or new folder. Only an export of the same release in the same format is replaced.",
            path=out,
        )


def _move(new: Path, out: Path) -> None:
    old = out.parent / f".{out.name}.old-{os.getpid()}"
    if out.exists():
        out.rename(old)
    try:
        new.rename(out)
    except OSError:
        if old.exists():
            old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)
