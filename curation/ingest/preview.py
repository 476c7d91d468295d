"""A preview of a file: its first rows, and a proposed column for each field.

Usual names of columns that the import uses are tried first, in the order of the import, so that a preview
proposes the columns that the import would choose. Further names that files of this kind often have are tried
next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from curation.core.errors import InputError
from curation.ingest.importers.known_queries import find_name_kind
from curation.ingest.importers.reference_answers import find_context_column
from curation.ingest.readers.column_search import find_column, find_object, match_column
from curation.ingest.readers.fields import FileField, file_fields
from curation.ingest.readers.formats import find_beir_file, find_corpus_file, read_first_lines
from curation.ingest.readers.json_paths import find_value
from curation.ingest.readers.lines import clean_text, detect_encoding
from curation.ingest.readers.problems import excerpt
from curation.ingest.readers.records import Records
from curation.ingest.readers.run_files import TREC_COLUMNS, RunFile, RunRow
from curation.ingest.readers.values import to_text
from curation.ingest.requests import ImportRequest

PREVIEWED_ROWS = 10
SAMPLED_ROWS = 100
"""Number of rows of a corpus whose texts are searched for markup."""
_FIXED_COLUMN_FORMATS = ("trec", "ranx-json")
_DIVIDES_JUDGMENTS = {"judgments": True, "decisions": True, "queries": False}
_BEIR_NAMES = {"queries": "queries.jsonl"}


class FilePreview(NamedTuple):
    """A preview of a file before its import.

    Attributes
    ----------
    columns: names of the columns; empty for formats with fixed columns.
    rows: shortened cells, one for each heading in `heads`.
    fields: proposed column, or list of columns, for each field.
    cells: the same rows with unshortened cells, and more rows for a corpus.
    """

    format: str
    encoding: str
    columns: tuple[str, ...]
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    fields: dict[str, Any]
    cells: Sequence[Sequence[str]] = ()

    def texts_in(self, columns: Collection[str]) -> Iterator[str]:
        """Yield the unshortened texts in these columns of the preview."""
        for row in self.cells:
            yield from (text for name, text in zip(self.columns, row, strict=False) if name in columns)


def preview_file(request: ImportRequest) -> FilePreview:
    """Read the beginning of a file and return its preview; the request's fields and options are ignored.

    Raises
    ------
    InputError: the beginning of the file cannot be read.
    """
    if request.what == "corpus":
        path, layout = find_corpus_file(request.file, request.layout)
    else:
        path, layout = find_beir_file(request.file, _BEIR_NAMES.get(request.what, "")), request.layout
    layout = layout._replace(encoding=detect_encoding(path) or request.encoding)
    if request.what == "runs":
        run = RunFile(path, None, layout)
        if run.format in _FIXED_COLUMN_FORMATS:
            lines: list[tuple[str, ...]] = []
            with suppress(InputError):
                lines.extend(tuple(map(shorten_cell, row)) for row in islice(run, PREVIEWED_ROWS))
            return FilePreview(run.format, layout.encoding, (), tuple(RunRow._fields), lines, {})
        layout = layout._replace(format=run.format.removeprefix("ranx-"))
    judged, is_log = _DIVIDES_JUDGMENTS.get(request.what), request.what == "traffic"
    records = Records(path, layout, judged=judged, is_log=is_log)
    columns, cells = records.columns, list[list[str]]()
    with suppress(InputError):  # the dry run reports the problems of the lines
        for record in islice(records, SAMPLED_ROWS if request.what == "corpus" else PREVIEWED_ROWS):
            values = ((*find_value(record.fields, name), record.fields.get(name))[0] for name in columns)
            cells.append(list(map(to_text, values)))
    rows = [tuple(map(shorten_cell, row)) for row in cells[:PREVIEWED_ROWS]]
    fields = propose_columns(columns, file_fields(request.record))
    if request.what == "answers" and find_context_column(fields.get("reference"), columns):
        del fields["reference"]
    lacks_body = request.what == "corpus" and "body" not in fields
    if lacks_body and (longest := records.find_longest_text(fields.values())):
        fields["body"] = [longest]
    return FilePreview(records.format, layout.encoding, columns, columns, rows, fields, cells)


def propose_columns(columns: Sequence[str], fields: Sequence[FileField]) -> dict[str, Any]:
    """Propose a column (or a list of one column) for each field that has one of its usual columns among
    these."""
    columns_of: dict[str, Any] = {}
    used_columns: set[str] = set()
    inside = find_object(fields, columns)
    for field in fields:
        column = find_column(field, columns, inside) or match_column(field.proposed, columns)
        if field.name == "query_text" and find_name_kind(columns_of.get("query", "")) != "id":
            continue  # the texts are in the first field, as for the import
        if column is not None and column not in used_columns:
            columns_of[field.name] = [column] if field.several else column
            used_columns.add(column)
    return columns_of


def guess_kind(request: ImportRequest) -> str | None:
    """Return 'runs' for a TREC run, 'judgments' for TREC qrels, and None for other files."""
    lines: list[str] = []
    with suppress(InputError, OSError):
        lines = read_first_lines(request.file, detect_encoding(request.file) or request.encoding)
    cells = [line.split() for line in lines if not line.startswith("#")]
    if not cells or any(line.lstrip().startswith(("{", "[")) for line in lines):
        return None
    if all(len(row) >= len(TREC_COLUMNS) and row[1].upper() == "Q0" for row in cells):
        return "runs"
    return "judgments" if all(len(row) == 4 and row[1] in ("0", "Q0") for row in cells) else None


def shorten_cell(value: object) -> str:
    """Return a value as a short text on one line; bytes that cannot be decoded become U+FFFD."""
    return excerpt(clean_text(to_text(value), Counter()))
