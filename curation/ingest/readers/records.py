"""A file's records: JSON lines, rows of tables, or lines of qrels.

The class `Records` reads one file. `Records` finds the file's columns before the first record, so that a
missing column is reported at once. Problems of the file are collected, the caller may add further problems,
and one error with all problems is raised after the last record. A problem of one record does not stop the
reading. A column can be a path to a value inside an object.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from curation.core.progress import Progress, silent
from curation.core.text import join_names, pluralize, suggest
from curation.ingest.readers.cell_checks import CellChecker
from curation.ingest.readers.column_search import find_column, find_object
from curation.ingest.readers.document_files.listing import ENDINGS
from curation.ingest.readers.document_files.rows import FolderRemarks
from curation.ingest.readers.fields import FileColumns, FileField, file_fields
from curation.ingest.readers.formats import FileLayout, find_layout
from curation.ingest.readers.json_paths import are_objects, find_value, list_paths
from curation.ingest.readers.lines import check_decoded
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.record_source import FIRST_RECORDS, Record, RecordSource
from curation.ingest.readers.values import parse_whole_number, to_text

if TYPE_CHECKING:
    from curation.ingest.readers.blocks import Block

Fields = TypeVar("Fields", bound=FileColumns)
"""A class of `fields`, with the columns of one kind of file."""
OFFSETS = "If columns contain chunk offsets, name the columns with --map start=COLUMN and --map end=COLUMN."
_MIN_TEXT_LENGTH = 60  # average length from which a column counts as the text of documents
_PROGRESS_STEP = 1_000
_FOLDER_WAY_OUT = f"Expected files whose names end in {join_names(ENDINGS, 20)}, or one file of records."


class Records:
    """An iterator over a file's records, which can be used once and raises all problems at the end.

    Attributes
    ----------
    columns: names of the columns, and paths to values inside objects; for JSON, those of the first hundred
    records.
    problems: problems of the file, to which the caller may add.
    replaced: number of characters that were replaced by U+FFFD, by kind.
    source: the file's name without its folder, but with the name of a BEIR folder.

    Parameters
    ----------
    judged: how to read records with several judgments (`ingest.readers.tool_records`): True yields each
    judgment as a record, False yields the query or pair once, and None does not divide records.
    is_log: whether the file is a query log, which a tool may have written (`ingest.readers.query_logs`).

    Raises
    ------
    InputError: the file cannot be read, is empty, has an unknown format, or has an unusable header.
    """

    def __init__(
        self,
        path: Path,
        layout: FileLayout | None = None,
        progress: Progress = silent,
        judged: bool | None = None,
        is_log: bool = False,
    ) -> None:
        self.problems = Problems(path)
        self._layout = find_layout(path, layout or FileLayout())
        self._path = path
        self._progress = progress
        self._judged = judged
        self._rows = RecordSource(path, self._layout, judged, is_log, self.problems)
        self.format = self._rows.format
        is_beir = path.name.removesuffix(".gz") in ("corpus.jsonl", "queries.jsonl")
        self.source = "/".join(path.parts[-2:]) if is_beir else path.name
        self._checker = CellChecker(self.format, self.problems, self._rows.replaced)
        self._needed: tuple[str, ...] | None = None
        records = self._rows.read()
        first_records = list(islice(records, FIRST_RECORDS))
        if not first_records:
            self.problems.check()
            if self.folder.left_out:
                reasons = (
                    f"{pluralize(count, 'file')}: {why}" for why, count in self.folder.left_out.items()
                )
                self.problems.stop(f"contains no documents ({'; '.join(reasons)})", _FOLDER_WAY_OUT)
            below = " below the header" if self.format in ("csv", "tsv") and self._layout.header else ""
            problem = f"has no records; expected at least one{below}"
            self.problems.stop(problem, "Export or download the file again.")
        self._names = dict.fromkeys(name for record in first_records for name in record.fields)
        self._names.update(dict.fromkeys(self._rows.parquet.damaged if self._rows.parquet else ()))
        check_decoded(self._names, path, self._layout.encoding, self.problems)
        self._objects = frozenset(
            name for name in self._names if are_objects(record.fields.get(name) for record in first_records)
        )
        inner = dict.fromkeys(path for record in first_records for path in list_paths(record.fields))
        self.columns = tuple(name for name in {**self._names, **inner} if name not in self._objects)
        self._grade_copies = {name for name in self._names if judged and _is_the_grade(first_records, name)}
        self._beginning = first_records
        self._records = chain(first_records, records)
        self._is_refused = False
        self._missing: dict[str, str] = {}
        self._nested: set[str] = set()
        self._object_path = ""

    @property
    def unit(self) -> str:
        """Return what a record's number counts in this file: 'line', 'row' or 'entry'."""
        return self.problems.unit

    @property
    def why_empty(self) -> str:
        """Return the reason for leaving out a record without a query."""
        return "no search" if self.format == "log" or self._rows.log_form else "empty query"

    @property
    def folder(self) -> FolderRemarks:
        """Return the remarks collected so far on a folder or an archive of documents."""
        return self._rows.folder

    @property
    def replaced(self) -> dict[str, int]:
        """Return how many characters were replaced so far, by kind."""
        return dict(+self._rows.replaced)

    def choose_column(self, option: str, chosen: str | None, usual: Sequence[str] = ()) -> str | None:
        """Return the column chosen by `option`, otherwise the first usual column in the file, or None; an
        empty name means that no column is wanted.
        """
        return self._find_column(option, chosen, FileField("", tuple(usual)))

    def require_column(
        self, option: str, chosen: str | None, usual: Sequence[str], noun: str, ids: bool = False
    ) -> str | None:
        """Return a field's column, as `choose_column` does, but reject a file without the column."""
        field = FileField("", tuple(usual), noun, ids=ids)
        self._object_path = self._object_path or find_object([field], self.columns, {"": chosen})
        return self._find_column(option, chosen, field)

    def resolve(self, fields: Fields, except_fields: Collection[str] = ()) -> Fields:
        """Return the file's columns for the fields of its kind, except the fields in `except_fields`."""
        found_columns: dict[str, Any] = dict.fromkeys(except_fields)
        self._object_path = find_object(
            file_fields(type(fields)), self.columns, fields.choose_first_columns(except_fields)
        )
        for field in file_fields(type(fields)):
            chosen = getattr(fields, field.name)
            if field.name in except_fields:
                continue
            if field.several:
                columns = [self._find_column(field.option, name, field) for name in chosen or (None,)]
                found_columns[field.name] = tuple(name for name in columns if name)
            else:
                found_columns[field.name] = column = self._find_column(field.option, chosen, field)
                if not field.objects:
                    self._refuse_objects(field.option, column)
        other_columns = tuple(name for name in self.columns if name not in self._grade_copies)
        has_only_names = self._checker.options.keys() <= self._names.keys()
        is_divided = self._judged is not None or self._rows.log_form is not None
        if fields.reads_nothing_else and not is_divided and has_only_names:
            self._needed = tuple(self._checker.options)
        if self._object_path and hasattr(fields, "inside"):
            found_columns["inside"] = self._object_path
        return replace(fields, columns=other_columns, **found_columns)

    def _find_column(self, option: str, chosen: str | None, field: FileField) -> str | None:
        if chosen == "":
            column = None
        elif chosen is None:
            columns = (*self._names, *self.columns) if field.objects else self.columns
            column = find_column(field, columns, self._object_path)
        else:
            column = chosen
            if chosen not in self._names and chosen not in self.columns:
                self._missing[chosen] = option
        if column is None and field.required_noun:
            problem = f"no column was recognized as {field.required_noun}: name it with {option}=COLUMN"
            self.refuse_columns(problem + field.advice)
        if column is not None and field.ids:
            self._checker.id_columns.add(column)
        if column is not None and "." in column and column not in self._names:
            self._nested.add(column)
        if self._rows.parquet is not None and column in self._rows.parquet.damaged:
            self._rows.parquet.refuse_damaged([column])
        if column is not None:
            self._checker.options[column] = option
        return column

    def _refuse_objects(self, option: str, name: str | None) -> None:
        """Reject a column that holds objects for a field of texts, at once or at the first object."""
        if name in self._objects:
            inner = next((column for column in self.columns if column.startswith(f"{name}.")), f"{name}.text")
            problem = f"{option} names {name!r}, which holds objects"
            self.refuse_columns(f"{problem}: name a value inside the objects, such as {inner}")
        elif name is not None:
            self._checker.text_options[name] = option

    def describe_unread(self, used: Collection[str]) -> str:
        """Return a sentence that lists unused columns; '' if there are none."""
        values = {name: [to_text(row.fields.get(name)) for row in self._beginning] for name in self.columns}
        unused = [name for name in values if name not in used]
        number_columns = [name for name in unused if None not in map(parse_whole_number, values[name])]
        offsets_hint = f" {OFFSETS}" if len(number_columns) > 1 else ""
        return f"columns that are not used: {join_names(unused, 10)}.{offsets_hint}" if unused else ""

    def find_longest_text(self, except_columns: Collection[str] = ()) -> str | None:
        """Return the column with the longest values in the first records, if they are as long as
        documents."""
        lengths = {
            name: sum(len(to_text(record.fields.get(name))) for record in self._beginning)
            for name in self._names
            if name not in except_columns and name not in self._objects
        }
        name = max(lengths, key=lengths.__getitem__, default="")
        return name if lengths.get(name, 0) >= _MIN_TEXT_LENGTH * len(self._beginning) else None

    def refuse_columns(self, problem: str) -> None:
        """Add a problem with the file's columns, to be raised when the iteration begins."""
        noun = "fields" if self.format == "jsonl" else "columns"
        columns_sentence = f"The file has the {noun} {join_names([*map(repr, self.columns)], 20)}."
        self.problems.add_general(problem, columns_sentence)
        self._is_refused = True

    def refuse_empty(self, what: str, left_out: Mapping[str, int]) -> NoReturn:
        """Reject a file if all its records were left out."""
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
        self.problems.stop(f"no {what} could be read from the file: {reasons}")

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Return the rows of the file in blocks of columns.

        Raises
        ------
        NeedsRowReader: the file is not a table, or only the iteration over records can report its problem.
        The error may be raised at any block.
        """
        # brings Arrow and numpy: slow to import
        from curation.ingest.readers.blocks import NeedsRowReader, read_blocks, read_parquet_blocks

        if self.format not in ("csv", "tsv", "parquet") or self._missing or self._is_refused or self._nested:
            raise NeedsRowReader
        if self._rows.parquet is not None:
            self._rows.parquet.note_zones(wanted)
            return read_parquet_blocks(self._path, wanted)
        assert self._rows.text_table is not None
        layout = self._layout._replace(format=self.format, columns=self.columns)
        return read_blocks(self._path, layout, self._rows.text_table.delimiter, wanted)

    def report_progress(self, count: int, total: int = 0) -> None:
        """Report how many records have been read, and the total number if known."""
        self._progress(f"reading {self._path.name}", count, total)

    def __iter__(self) -> Iterator[Record]:
        if self.format not in ("jsonl", "log"):
            self._refuse_unseen()
        if self._is_refused:
            self.problems.check()
        count = 0
        rows: Iterator[Record] = self._records
        if self._rows.parquet is not None:
            rows = self._rows.read_parquet(self._needed)
        for count, record in enumerate(rows, 1):
            for path in self._nested:
                record.fields.update((path, value) for value in find_value(record.fields, path))
            self._checker.check(record)
            if self._missing:
                self._missing = {name: o for name, o in self._missing.items() if name not in record.fields}
            if not count % _PROGRESS_STEP:
                self.report_progress(count)
            yield record
        self.report_progress(count, count)
        self._refuse_unseen()
        self.problems.check()

    def _refuse_unseen(self) -> None:
        for name, option in self._missing.items():
            hint = suggest(name, self.columns)
            self.refuse_columns(f"{option} names {name!r}, which the file does not have{hint}")


def _is_the_grade(records: Iterable[Record], name: str) -> bool:
    """Return whether a column repeats the column `grade`, which was made from a question in an annotation
    tool."""
    values = [record.fields for record in records if name in record.fields]
    return name != "grade" and all(row.get("grade") is row[name] for row in values)
