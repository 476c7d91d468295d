"""Run files: ranked lists of documents for queries, in the formats written by retrieval tools.

'trec'          six columns: query, Q0, document, rank, score, tag; the tag may have spaces
'tsv', 'csv', 'jsonl', 'ranx-parquet', 'xlsx'
                columns: query, document, rank or score or both, places or texts of chunks
'ranx-json'     one JSON object {query: {document: score}}

`ingest.importers.run_import` decides which lines a project stores.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.ingest.readers.blocks import Block, NeedsRowReader, read_blocks
from curation.ingest.readers.fields import ChunkFields, RunFields
from curation.ingest.readers.formats import SUFFIXES, FileLayout, choose_format, find_suffix, read_first_lines
from curation.ingest.readers.json_records import UnreadJSONError, read_json
from curation.ingest.readers.lines import check_file, read_lines
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.records import Records
from curation.ingest.readers.run_columns import RunColumns, build_run_columns
from curation.ingest.readers.values import parse_whole_number, to_text

FORMATS = ("trec", "tsv", "csv", "jsonl", "ranx-json", "ranx-parquet", "xlsx")
TREC_COLUMNS = ("query", "Q0", "document", "rank", "score", "tag")
_SUFFIXES = SUFFIXES | {
    ".trec": "trec",
    ".json": "ranx-json",
    **dict.fromkeys((".parquet", ".pq"), "ranx-parquet"),
}
_ONE_OBJECT = "Expected one object {query: {document: score}}; for JSON lines use --format jsonl."
_HEADER = "For a file without a header use --no-header --columns query,document,rank,score."
_RECORD = re.compile(r'\s*(\[|\{\s*"[^"]*"\s*:\s*\[\s*(\{|$))')
"""Pattern of a first line of JSON that has a list of ranked documents, unlike ranx's object of scores."""
_PROGRESS_STEP = 10_000


class RunRow(NamedTuple):
    """A line of a run as written in the file; rank and score may not be numbers yet.

    Attributes
    ----------
    line: number of the line, row or entry (`RunFile.problems.unit`), from 1. query: id or text of the query.
    chunk: values of `RunFile.chunk_columns`, as texts.
    """

    line: int
    query: str
    document: str
    rank: Any
    score: Any
    chunk: tuple[str, ...] = ()


class RunFile:
    """An iterator over the lines of a run file, which can be used once and raises all problems at the end.

    Attributes
    ----------
    fields: columns that are read. A table has ranks, scores, or ranks and scores; TREC's lines have ranks and
    scores; ranx JSON has scores.
    unread: sentence that lists unused columns.
    problems: problems of the file, to which the caller may add.

    Raises
    ------
    InputError: the file cannot be read, its format is unknown, or a needed column is missing.
    """

    def __init__(
        self,
        path: Path,
        fields: RunFields | None = None,
        layout: FileLayout | None = None,
        progress: Progress = silent,
    ) -> None:
        self.source = path.name
        self.problems = Problems(path)
        self._path = path
        self._progress = progress
        self._layout = layout or FileLayout()
        self._records: Records | None = None
        self._columns: RunColumns | None = None
        self.unread = ""
        check_file(path, self.problems)
        self.format = self._find_format()
        if self.format in ("trec", "ranx-json"):
            self._refuse_names(fields or RunFields())
            self.fields = RunFields("query", "document", "rank" if self.format == "trec" else None, "score")
            self._rows = self._trec_rows() if self.format == "trec" else self._json_rows()
        else:
            self.fields, self._rows = self._open_table(fields or RunFields())

    @property
    def chunk_columns(self) -> dict[str, str]:
        """Return the column for each field that describes a chunk."""
        return self.fields.of_chunks if isinstance(self.fields, ChunkFields) else {}

    def __iter__(self) -> Iterator[RunRow]:
        done = 0
        for done, row in enumerate(self._rows, 1):
            if not done % _PROGRESS_STEP:
                self._progress(f"reading {self.source}", done, 0)
            yield row
        self._progress(f"reading {self.source}", done, done)
        self.problems.check()

    def columns(self) -> RunColumns | None:
        """Return all rows of the run as columns; None if the file can only be read by iterating. This method
        reports no problems, and the lines can still be iterated.
        """
        return self._columns or self._parse_columns()

    def keep_columns(self) -> bool:
        """Read all rows as columns and keep them; return whether the file can be read as columns."""
        self._columns = self._parse_columns()
        return self._columns is not None

    def _parse_columns(self) -> RunColumns | None:
        fields = self.fields
        query, document, rank, score = fields.query, fields.document, fields.rank, fields.score
        if not query or not document:
            return None
        try:
            chunks = self.chunk_columns
            wanted = [name for name in (query, document, rank, score, *chunks.values()) if name]
            columns = build_run_columns(self._read_blocks(wanted), query, document, rank, score, chunks)
        except NeedsRowReader:
            return None
        self._progress(f"reading {self.source}", len(columns.lines), len(columns.lines))
        return columns

    def _read_blocks(self, wanted: list[str]) -> Iterable[Block]:
        if self.format == "trec":
            layout = FileLayout("trec", self._layout.encoding, TREC_COLUMNS, header=False)
            return read_blocks(self._path, layout, " ", wanted)
        return () if self._records is None else self._records.blocks(wanted)

    def _find_format(self) -> str:
        format = choose_format(self._layout.format, FORMATS, self._detect_format, self.problems)
        is_list = format == "ranx-json" and not self._layout.format and _RECORD.match(next(self._lines(), ""))
        return "jsonl" if is_list else format

    def _detect_format(self) -> str | None:
        if by_name := _SUFFIXES.get(find_suffix(self._path)):
            return by_name
        lines = read_first_lines(self._path, self._layout.encoding)
        cells = [line.split() for line in lines if not _is_blank(line)]
        is_trec = cells and all(len(row) >= 6 and parse_whole_number(row[3]) is not None for row in cells)
        return "trec" if is_trec else None

    def _refuse_names(self, fields: RunFields) -> None:
        if any(astuple(fields)) or self._layout.columns is not None or not self._layout.header:
            self.problems.stop(f"is {self.format}, which has no columns to name", "Leave the names out.")

    def _open_table(self, requested: RunFields) -> tuple[RunFields, Iterator[RunRow]]:
        format = "parquet" if self.format == "ranx-parquet" else self.format
        records = Records(self._path, self._layout._replace(format=format), self._progress)
        self.problems, self._records = records.problems, records
        used = records.resolve(requested)
        self.unread = records.describe_unread(used.used.values())
        if used.rank is None and used.score is None:
            options = "--map rank=COLUMN or --map score=COLUMN"
            records.refuse_columns(f"no column was recognized as ranks or scores: name one with {options}")
        lacks = None in (used.query, used.document) or used.rank is used.score is None
        if lacks and format in ("tsv", "csv") and self._layout.header:
            self.problems.add_general("the first line was read as a header with column names", _HEADER)
        return used, self._table_rows(records, used)

    def _table_rows(self, records: Records, used: RunFields) -> Iterator[RunRow]:
        names, number_columns = (used.query, used.document), (used.rank, used.score)
        chunk_columns = self.chunk_columns.values()
        for line, values in records:
            query, document = (to_text(values.get(name or "")).strip() for name in names)
            rank, score = (values.get(name) if name else None for name in number_columns)
            chunk = tuple(to_text(values.get(name)) for name in chunk_columns)
            yield RunRow(line, query, document, rank, score, chunk)

    def _trec_rows(self) -> Iterator[RunRow]:
        for number, line in enumerate(self._lines(), 1):
            cells = line.split(maxsplit=5)
            if _is_blank(line):
                continue
            if len(cells) < 6:
                problem = f"{pluralize(len(cells), 'column')}, expected 6 ({', '.join(TREC_COLUMNS)})"
                self.problems.add(number, problem)
            else:
                yield RunRow(number, cells[0], cells[2], cells[3], cells[4])

    def _json_rows(self) -> Iterator[RunRow]:
        self.problems.unit = "entry"
        number = 0
        for query, documents in self._check_pairs(self._read_object(), "the file"):
            for document, score in self._check_pairs(documents, f"query {query!r}"):
                number += 1
                yield RunRow(number, query, document, None, score)

    def _read_object(self) -> Any:
        try:
            return read_json("".join(self._lines()), _pairs_decoder.decode)
        except UnreadJSONError as error:
            return self.problems.stop(str(error), _ONE_OBJECT)

    def _check_pairs(self, value: Any, owner: str) -> Iterable[tuple[str, Any]]:
        if isinstance(value, _JsonPairs):
            return value
        self.problems.add_general(f"{owner} holds {json.dumps(value)[:40]}", _ONE_OBJECT)
        return ()

    def _lines(self) -> Iterator[str]:
        return read_lines(self._path, self._layout.encoding, self.problems, Counter())


class _JsonPairs(list[tuple[str, Any]]):
    """A JSON object as a list of pairs, because a dict would hide repeated names."""


_pairs_decoder = json.JSONDecoder(object_pairs_hook=_JsonPairs)


def _is_blank(line: str) -> bool:
    return not line.strip() or line.startswith("#")
