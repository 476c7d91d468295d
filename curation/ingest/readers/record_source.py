"""Reading of a file's records in any format, before the import chooses the columns for its fields.

Formats: 'jsonl' (BEIR's too, and JSON as one text), 'csv', 'tsv', 'parquet', 'xlsx', 'qrels' (TREC's four
columns), 'trec' (documents or topics), and 'log' (lines of query logs). The file's name or beginning shows
the format. Text files may be gzipped. The format 'document-files' is a folder or an archive of documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from curation.ingest.readers.document_files.rows import FolderRemarks, read_document_rows
from curation.ingest.readers.formats import DOCUMENT_FILES, FileLayout, check_layout, find_format
from curation.ingest.readers.json_records import read_json_rows
from curation.ingest.readers.lines import check_file, clean_value, read_lines
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.query_logs import LogForm, find_log_form, read_log_lines
from curation.ingest.readers.sheets import read_sheet_rows
from curation.ingest.readers.text_tables import TextTable, read_qrels_rows
from curation.ingest.readers.tool_records import UnlikeFormatError, find_tool_format, flatten_tool_record
from curation.ingest.readers.trec import read_trec_rows

if TYPE_CHECKING:
    from curation.ingest.readers.parquet import ParquetTable

LINE_ROWS = {"trec": read_trec_rows, "log": read_log_lines}
"""Function for each format that yields (line, fields) for each record, and collects problems."""
FIRST_RECORDS = 100
"""Number of records that are read before the columns are chosen."""


class Record(NamedTuple):
    """A record in a file: its line or row number (from 1), and its values by column name.

    Values of CSV, TSV and qrels are texts; values of JSON and Parquet keep their types.
    """

    line: int
    fields: dict[str, Any]


class RecordSource:
    """The source of one file's records.

    Attributes
    ----------
    format: format of the file.
    folder: remarks on a folder or an archive of documents; empty for other formats.
    replaced: number of characters that were replaced by U+FFFD, by kind.
    text_table: rows of a CSV or TSV file; None for other formats.
    parquet: rows of a Parquet file; None for other formats.
    log_form: function that reads the records of a tool's query log; None for other records.

    Parameters
    ----------
    judged, is_log: see `records.Records`.

    Raises
    ------
    InputError: the file cannot be read or has an unknown format, or the layout does not suit the format.
    """

    def __init__(
        self, path: Path, layout: FileLayout, judged: bool | None, is_log: bool, problems: Problems
    ) -> None:
        self.folder = FolderRemarks()
        if layout.format == DOCUMENT_FILES:
            self.format, problems.names = DOCUMENT_FILES, self.folder.names
        else:
            check_file(path, problems)
            self.format = find_format(path, layout, problems)
        check_layout(self.format, layout, problems)
        if self.format in ("parquet", "xlsx"):
            problems.unit = "row"
        self.replaced: Counter[str] = Counter()
        self.text_table: TextTable | None = None
        self.parquet: ParquetTable | None = None
        self.log_form: LogForm | None = None
        self._path = path
        self._layout = layout
        self._judged = judged
        self._is_log = is_log
        self._problems = problems

    def read(self) -> Iterator[Record]:
        """Return the records of the file; for Parquet, return only the first records."""
        if self.format == "parquet":
            from curation.ingest.readers.parquet import ParquetTable

            self.parquet = ParquetTable(self._path, self._problems, self.replaced)
            return self._divide_records(starmap(Record, self.parquet.read_first_rows(FIRST_RECORDS)))
        clean = partial(clean_value, replaced=self.replaced)
        if self.format == DOCUMENT_FILES:
            rows = read_document_rows(self._path, self._problems, self.folder)
            return (Record(number, clean(fields)) for number, fields in rows)
        if self.format == "xlsx":
            rows = read_sheet_rows(self._path, self._problems)
            return (Record(number, clean(fields)) for number, fields in rows)
        newline = "" if self.format == "csv" else None  # a quoted cell keeps its line ends
        lines = read_lines(self._path, self._layout.encoding, self._problems, self.replaced, newline)
        if self.format == "jsonl":
            return self._divide_records(starmap(Record, read_json_rows(lines, self._problems, clean)))
        if self.format in LINE_ROWS:
            rows = LINE_ROWS[self.format](lines, self._problems)
            return (Record(number, clean(fields)) for number, fields in rows)
        if self.format == "qrels":
            return starmap(Record, read_qrels_rows(lines, self._problems))
        self.text_table = TextTable(lines, self.format == "csv", self._layout.columns, self._problems)
        return self._divide_log(starmap(Record, self.text_table))

    def read_parquet(self, columns: Sequence[str] | None) -> Iterator[Record]:
        """Return all records of a Parquet file with values of these columns; None stands for all columns."""
        assert self.parquet is not None
        return self._divide_records(starmap(Record, self.parquet.read_all_rows(columns)))

    def _divide_records(self, rows: Iterator[Record]) -> Iterator[Record]:
        """Yield the records, dividing each record with several judgments as requested by `judged`."""
        if self._judged is None:
            yield from self._divide_log(rows)
            return
        for line, fields in rows:
            source = fields.get("_source")
            if isinstance(source, dict) and find_tool_format(source) is not None:
                fields = source  # a hit of an index of judgments
            try:
                yield from (Record(line, inner) for inner in flatten_tool_record(fields, self._judged))
            except UnlikeFormatError as error:
                problem = f"has the keys of {error}, but a different structure"
                self._problems.add(line, problem, "Export it again.")

    def _divide_log(self, rows: Iterator[Record]) -> Iterator[Record]:
        """Yield the records of a query log, whose first record shows which tool wrote the log."""
        first = next(rows, None) if self._is_log else None
        self.log_form = find_log_form(first.fields) if first else None
        rows = chain([first] if first else [], rows)
        if self.log_form is None:
            yield from rows
            return
        for line, fields in rows:
            yield from (Record(line, inner) for inner in self.log_form(fields))
