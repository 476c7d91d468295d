"""Checks of each record's cells: ids must be texts, and text fields must hold neither objects nor bytes."""

from __future__ import annotations

from collections import Counter

from curation.ingest.readers.json_paths import has_object, parse_object
from curation.ingest.readers.lines import BYTES, DIGITS
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.record_source import Record
from curation.ingest.readers.values import UnfitIdError, to_id, to_text

IDS_AS_TEXT = "Write ids as text. In a spreadsheet, format the id column as text and enter the ids again."
_EXACT_DIGITS = 15  # of a number in a spreadsheet
_NESTED_FORMATS = ("jsonl", "parquet")  # formats whose values may be objects
_QUERY_OPTIONS = ("--map text", "--map query", "--map query_text")
"""Options of columns with texts of queries, which are never parsed as JSON."""


class CellChecker:
    """A checker of the cells in a file's records, which adds a problem for each cell that a field cannot use.

    Attributes
    ----------
    options: option that chooses each column that a field uses.
    id_columns: columns with ids.
    text_options: option that chooses each column of texts, which must not have objects.
    """

    def __init__(self, format: str, problems: Problems, replaced: Counter[str]) -> None:
        self.options: dict[str, str] = {}
        self.id_columns: set[str] = set()
        self.text_options: dict[str, str] = {}
        self._format = format
        self._problems = problems
        self._replaced = replaced

    def check(self, record: Record) -> None:
        """Convert the ids of a record to texts, and add the problems in its cells."""
        self._refuse_objects(record)
        if self._format == "parquet":
            self._replace_bytes(record)
        self._convert_ids(record)

    def _refuse_objects(self, record: Record) -> None:
        for name, option in self.text_options.items():
            if self._format not in _NESTED_FORMATS and option not in _QUERY_OPTIONS:
                continue
            value = record.fields.get(name)
            is_unfit = isinstance(value, dict) and parse_object(value) is not None
            if option in _QUERY_OPTIONS:
                is_unfit = has_object(value)
            if is_unfit:
                is_object = str(value).startswith("{")
                kind = "an object" if is_object else "a list of objects"
                way_out = (
                    f"Name a value in the objects, such as {option}={name}.text, or write texts into "
                    "the cells."
                )
                if not is_object:
                    way_out = f"Write one text in each cell, or choose another column with {option}=COLUMN."
                self._problems.add(record.line, f"{name!r} is {kind}; expected a text", way_out)

    def _replace_bytes(self, record: Record) -> None:
        """Replace bytes that are not text with None, and reject such bytes in a column that a field uses."""
        for name in [name for name, value in record.fields.items() if isinstance(value, bytes)]:
            record.fields[name] = None
            if name in self.options:
                problem = f"{name!r} has bytes that are not UTF-8 text; expected a text"
                option = self.options[name]
                way_out = f"Write texts in the cells, or choose another column with {option}=COLUMN."
                self._problems.add(record.line, problem, way_out)
            else:
                self._replaced[BYTES] += 1

    def _convert_ids(self, record: Record) -> None:
        """Convert the record's ids to texts, and add a problem for each value that is unfit as an id."""
        for name in self.id_columns & record.fields.keys():
            value = record.fields[name]
            if isinstance(value, str | None | list | dict):
                continue
            try:
                record.fields[name] = text = to_id(value)
                self._replaced[DIGITS] += self._format == "xlsx" and len(text.lstrip("-")) > _EXACT_DIGITS
            except UnfitIdError as error:
                problem = f"{name!r} is {to_text(value)}, {error}; expected an id, as text or a whole number"
                self._problems.add(record.line, problem, IDS_AS_TEXT)
