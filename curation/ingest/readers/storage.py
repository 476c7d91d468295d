"""Files in a folder of this machine, or in an S3-compatible storage: they are listed, known again, and read.

Keys and address of a storage are the environment's, as other tools have them: AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_REGION, and AWS_ENDPOINT_URL for a storage that is not Amazon's. They are never
stored or shown.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.digests import file_digest
from curation.core.errors import InputError

_HIDDEN = re.compile(r"(^|/)[_.]")  # what Spark and others write beside the data
_READ = 1 << 20
_TRY = "See that AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong to it."


class StoredFile(NamedTuple):
    """A file: its name within the storage, with "/" between folders, its bytes, and when it changed (UTC)."""

    name: str
    size: int
    changed_at: datetime


class Storage(NamedTuple):
    """A place with files.

    Attributes
    ----------
    location: as it is shown and stored: an absolute path, or an address such as s3://bucket/logs.
    system: pyarrow's file system, and `root` the place in it.
    """

    location: str
    system: Any
    root: str

    def files(self) -> list[StoredFile]:
        """All files of the folder and those within it, by name; the file itself where the place is one.

        Raises
        ------
        InputError: there is no such place, it cannot be read, or it holds no file.
        """
        from pyarrow import fs

        with _reachable(self.location):
            file_info = self.system.get_file_info(self.root)
            if file_info.is_file:
                return [_stored("", file_info)]
            inside = self.system.get_file_info(fs.FileSelector(self.root, recursive=True))
        named = ((entry.path[len(self.root) :].lstrip("/"), entry) for entry in inside if entry.is_file)
        files = sorted(_stored(name, entry) for name, entry in named if not _HIDDEN.search(name))
        if not files:
            raise InputError(["holds no file"], path=self.location, way_out="Expected files of records.")
        return files

    def address(self, name: str) -> str:
        """Where a file is, as it is shown."""
        return f"{self.location}/{name}".rstrip("/")

    def version(self, name: str) -> str:
        """What changes with the content of a file: its SHA-256, or the storage's ETag.

        Raises
        ------
        InputError: it cannot be reached.
        """
        with _reachable(self.address(name)):
            if self.is_local:
                return file_digest(Path(self._path(name)))
            with self.system.open_input_file(self._path(name)) as opened:
                return str(opened.metadata()["ETag"].decode().strip('"'))

    @contextmanager
    def on_disk(self, name: str) -> Iterator[Path]:
        """A path with the bytes of a file, while the block lasts; problems of the file name its address."""
        stored, address = self._path(name), self.address(name)
        if self.is_local:
            yield Path(stored)
            return
        with tempfile.TemporaryDirectory(prefix="goldgrade-") as folder:
            path = Path(folder) / stored.rsplit("/", 1)[-1]
            with (
                _reachable(address),
                self.system.open_input_stream(stored, compression=None) as source,
                path.open("wb") as target,
            ):
                shutil.copyfileobj(source, target, _READ)
            try:
                yield path
            except InputError as error:
                raise InputError(error.problems, path=address, way_out=error.way_out) from error

    @property
    def is_local(self) -> bool:
        return self.location == self.root

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}".rstrip("/")


def _stored(name: str, entry: Any) -> StoredFile:
    return StoredFile(name, entry.size, entry.mtime.astimezone(UTC).replace(tzinfo=None))


@contextmanager
def _reachable(address: str) -> Iterator[None]:
    """Errors of the file system within the block are raised as sentences."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileNotFoundError) or "NO_SUCH_BUCKET" in str(error):
            raise InputError(["there is no such place; expected a folder or a file"], path=address) from error
        problem = f"cannot be read: {error.strerror or str(error).splitlines()[0]}"
        raise InputError([problem], path=address, way_out=_TRY if is_address(address) else "") from error


def is_address(location: str | Path) -> bool:
    """Whether this is the address of a storage, and no path of this machine."""
    return "://" in str(location)


def storage_at(location: str | Path) -> Storage:
    """The place at a path, or at the address of a storage.

    Raises
    ------
    InputError: it is an address of another kind, or has a key in it.
    """
    from pyarrow import fs

    if not is_address(location):
        path = str(Path(location).absolute())
        return Storage(path, fs.LocalFileSystem(), path)
    scheme, _, root = str(location).partition("://")
    root = root.strip("/")
    bucket = root.split("/", 1)[0]
    if scheme != "s3" or not bucket:
        raise InputError(f"The address begins {scheme}://; expected a path, or s3://BUCKET/FOLDER.")
    if "@" in bucket:
        raise InputError("The address has a key in it, which would be stored. Keys are the environment's.")
    with _reachable(f"s3://{root}"):
        return Storage(f"s3://{root}", _s3(bucket), root)


def _s3(bucket: str) -> Any:
    from pyarrow import fs

    address = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    scheme, _, host = address.rpartition("://")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region is None:
        region = "us-east-1" if host else fs.resolve_s3_region(bucket)
    return fs.S3FileSystem(
        endpoint_override=host.rstrip("/") or None,
        scheme=scheme or "https",
        region=region,
        connect_timeout=10,
        request_timeout=60,
    )
