"""The files with documents in a folder or an archive, and the number of files left out, by reason.

A folder's links are followed only to files inside the folder. The contents of an archive are read from the
archive and never unpacked to a disk, within the limits of `curation.ingest.readers.bounds`.
"""

from __future__ import annotations

import gzip
import os
import posixpath
import tarfile
import unicodedata
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from curation.ingest.readers.bounds import (
    BOUNDED_PACKING,
    MAX_RECORD_LENGTH,
    BoundedGzip,
    OutOfBoundsError,
    max_unpacked_size,
    refuse_larger,
)
from curation.ingest.readers.problems import Problems

MARKDOWN = (".md", ".markdown", ".mkd", ".mdx", ".qmd")
HTML = (".html", ".htm", ".xhtml")
TEXT = (".txt", ".text", ".rst")
PACKED = (".pdf", ".docx")
"""Endings of file names for which an optional package is needed."""
ENDINGS = (*MARKDOWN, *HTML, *TEXT, *PACKED)
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
MAX_FILES = 200_000
"""Greatest number of files in a folder or archive."""
_PICTURES = """.png .jpg .jpeg .gif .svg .webp .avif .ico .bmp .tiff .mp4 .webm .mov .mp3 .wav .ogg .woff
    .woff2 .ttf .otf .eot""".split()
_CODE = """.js .mjs .ts .tsx .jsx .css .scss .sass .less .map .json .yml .yaml .toml .xml .lock .py .rb .go
    .sh .java .c .h .cpp .rs .php .ini .cfg .csv .tsv""".split()
_INNER_LINK = "links within the folder"
_OUTER_LINK = "links that lead out of the folder"


class DocumentFile(NamedTuple):
    """A file in a folder or archive that is imported as one document.

    Attributes
    ----------
    name: path from the folder or archive, with "/" between folders.
    read: function that returns the content of the file.
    """

    name: str
    read: Callable[[], bytes]


class Listing(NamedTuple):
    """Files with documents, ordered by name, and the number of other files for each reason.

    Attributes
    ----------
    alike: names that differ from another name only by case or by Unicode form.
    """

    files: list[DocumentFile]
    left_out: dict[str, int]
    alike: list[str]


class _ListedFile(NamedTuple):
    """A file; `link` is the reason to leave the file out because it is a link, or ''."""

    name: str
    size: int
    read: Callable[[], bytes]
    link: str = ""


def is_archive(path: Path) -> bool:
    """Return whether a file's name has an archive's extension."""
    return path.name.lower().endswith(ARCHIVES)


def holds_documents(path: Path) -> bool:
    """Return whether a path is a folder, an archive or a file with a document's extension.

    A text file is left to the readers of tables, because lists of queries and qrels end in .txt, too.
    """
    return path.is_dir() or is_archive(path) or path.suffix.lower() in (*MARKDOWN, *HTML, *PACKED, ".rst")


@contextmanager
def open_listing(path: Path, problems: Problems) -> Iterator[Listing]:
    """List the documents of a folder, an archive or a single file; an archive stays open for the duration of
    the context.

    Raises
    ------
    InputError: the archive is damaged, or has more or larger files than the limits allow.
    """
    try:
        if path.is_dir():
            yield _sort_entries(_walk_folder(path))
        elif not is_archive(path):
            yield _sort_entries([_ListedFile(path.name, path.stat().st_size, path.read_bytes)])
        elif path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                yield _sort_entries(_list_zip(archive, path))
        elif path.suffix.lower() == ".tar":
            with tarfile.open(path, "r:") as archive:
                yield _sort_entries(_list_tar(archive, path))
        else:
            with BoundedGzip(path) as unpacked, tarfile.open(fileobj=unpacked, mode="r:") as archive:
                yield _sort_entries(_list_tar(archive, path))
    except OutOfBoundsError as error:
        problems.stop(str(error), "Check that this is the right file, or divide it into several folders.")
    except (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        problems.stop(f"is a damaged archive: {error}", "Create or download the archive again.")


def _walk_folder(root: Path) -> Iterator[_ListedFile]:
    inside = root.resolve()
    for folder, subfolders, names in os.walk(root):
        for path in (Path(folder, name) for name in [*subfolders, *names]):
            relative = path.relative_to(root).as_posix()
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(inside):
                yield _ListedFile(relative, 0, bytes, _OUTER_LINK)
            elif path.is_file():
                yield _ListedFile(relative, path.stat().st_size, path.read_bytes)
            elif path.is_symlink():  # to a folder, which is listed at its own place, or to nothing
                yield _ListedFile(relative, 0, bytes, _INNER_LINK)


def _list_zip(archive: zipfile.ZipFile, path: Path) -> Iterator[_ListedFile]:
    members = [member for member in archive.infolist() if not member.is_dir()]
    refuse_larger(max_unpacked_size(path), sum(member.file_size for member in members))
    if others := [member.filename for member in members if member.compress_type not in BOUNDED_PACKING]:
        raise zipfile.BadZipFile(f"{others[0]} is not compressed with deflate")
    for member in members:

        def read(member: zipfile.ZipInfo = member) -> bytes:
            with archive.open(member) as file:
                return file.read(member.file_size)

        link = _OUTER_LINK if _leaves(member.filename) else ""
        yield _ListedFile(member.filename, member.file_size, read, link)


def _list_tar(archive: tarfile.TarFile, path: Path) -> Iterator[_ListedFile]:
    limit, unpacked = max_unpacked_size(path), 0
    for member in archive:
        unpacked += member.size
        refuse_larger(limit, unpacked)
        if member.isfile():

            def read(member: tarfile.TarInfo = member) -> bytes:
                file = archive.extractfile(member)
                return file.read(member.size) if file else b""

            link = _OUTER_LINK if _leaves(member.name) else ""
            yield _ListedFile(member.name.removeprefix("./"), member.size, read, link)
        elif member.issym() or member.islnk():
            folder = posixpath.dirname(member.name) if member.issym() else ""
            target = posixpath.normpath(posixpath.join(folder, member.linkname))
            yield _ListedFile(member.name, 0, bytes, _OUTER_LINK if _leaves(target) else _INNER_LINK)


def _leaves(name: str) -> bool:
    """Return whether a file's path in an archive points outside the archive, as `../x` does."""
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts


def _sort_entries(entries: Iterator[_ListedFile] | list[_ListedFile]) -> Listing:
    left_out: Counter[str] = Counter()
    files: list[DocumentFile] = []
    names_by_form: defaultdict[str, list[str]] = defaultdict(list)
    for count, entry in enumerate(entries, 1):
        if count > MAX_FILES:
            raise OutOfBoundsError(f"contains more than {MAX_FILES:,} files")
        reason = _reason_to_leave(entry)
        if reason:
            left_out[reason] += 1
            continue
        files.append(DocumentFile(entry.name, entry.read))
        names_by_form[unicodedata.normalize("NFC", entry.name).casefold()].append(entry.name)
    alike = sorted(name for names in names_by_form.values() if len(names) > 1 for name in names)
    return Listing(sorted(files, key=lambda file: file.name), dict(left_out), alike)


def _reason_to_leave(entry: _ListedFile) -> str:
    """Return the reason why a file is left out; '' if it holds a document."""
    path = PurePosixPath(entry.name)
    ending = path.suffix.lower()
    if entry.link:
        return entry.link
    if any(part.startswith(".") for part in path.parts) or "__MACOSX" in path.parts:
        return "hidden files"
    if ending in _PICTURES:
        return "pictures, videos and fonts"
    if ending in _CODE:
        return "scripts, styles and data files"
    if ending not in ENDINGS:
        return "files of other kinds"
    if not entry.size:
        return "empty files"
    return "files of more than 16 MB" if entry.size > MAX_RECORD_LENGTH else ""
