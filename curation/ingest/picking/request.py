"""What is asked of an import: which kind of file, where it is, how it is read, and which field is which."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from curation.core.text import digest
from curation.ingest.readers.columns import file_fields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.storage import is_address

Fields = TypeVar("Fields")


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

    @classmethod
    def of(
        cls,
        what: str,
        path: str | Path,
        fields: Mapping[str, Any],
        options: Mapping[str, Any],
        layout: FileLayout,
    ) -> ImportRequest:
        """An import of a file that keeps its own name, or of what is at an address."""
        names = None if layout.columns is None else list(layout.columns)
        reading = (layout.format, layout.encoding, names, layout.header)
        name = str(path) if is_address(path) else Path(path).name
        return cls(what, str(path), name, fields, options, *reading)

    @property
    def file(self) -> Path:
        return Path(self.path)

    @property
    def layout(self) -> FileLayout:
        """How the file is to be read."""
        columns = None if self.columns is None else tuple(self.columns)
        return FileLayout(self.format, self.encoding, columns, self.header)

    def columns_of(self, record: Callable[..., Fields], **others: Any) -> Fields:
        """The kind's record of fields, with what else is asked of them."""
        columns: dict[str, Any] = {}
        for field in file_fields(record):
            columns[field.name] = given = self.fields.get(field.name)
            if field.several:
                columns[field.name] = () if given is None else tuple(given) or ("",)
        return record(**columns, **others)

    @property
    def key(self) -> str:
        """What a dry run is good for: exactly this request, of a file that has not changed since."""
        try:
            state = self.file.stat()
        except OSError:
            return digest("import request", self._asdict())
        return digest("import request", self._asdict(), state.st_size, state.st_mtime_ns)
