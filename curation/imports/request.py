"""What is asked of an import: which kind of file, where it is, how it is read, and which field is which."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from curation.files.formats import FileLayout
from curation.text import digest


class ImportRequest(NamedTuple):
    """An import that somebody asks for; its parts are as JSON knows them.

    Attributes
    ----------
    what: one of `kinds.FILE_KINDS`.
    name: the file as the person named it; `path` is where it is on this machine.
    fields: field of the kind → the file's column, or a list of columns; '' and [] are none, and a field that
        is absent is found by its usual names.
    options: what else the kind takes.
    columns: names of the columns of a table whose first line does not name them (`header` False).
    """

    what: str
    path: str
    name: str
    fields: Mapping[str, Any] = {}
    options: Mapping[str, Any] = {}
    format: str | None = None
    encoding: str = "utf-8"
    columns: list[str] | None = None
    header: bool = True

    @property
    def file(self) -> Path:
        return Path(self.path)

    @property
    def layout(self) -> FileLayout:
        """How the file is to be read."""
        columns = None if self.columns is None else tuple(self.columns)
        return FileLayout(self.format, self.encoding, columns, self.header)

    def field(self, name: str) -> str | None:
        """The column of a field; '' is none, None is the usual one."""
        column: str | None = self.fields.get(name)
        return column

    def several(self, name: str) -> tuple[str, ...]:
        """The columns of a field that may have several; ('',) is none, () is the usual one."""
        columns = self.fields.get(name)
        return () if columns is None else tuple(columns) or ("",)

    @property
    def key(self) -> str:
        """What a dry run is good for: exactly this request, of a file that has not changed since."""
        try:
            state = self.file.stat()
        except OSError:
            return digest("import request", self._asdict())
        return digest("import request", self._asdict(), state.st_size, state.st_mtime_ns)
