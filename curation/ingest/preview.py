"""What the beginning of a file shows: its first rows, and a column proposed for each field.

The import's own names come first, in its own order, so that nothing is proposed that it would not choose.
Then come names that differ in case or signs only, and names that files of this kind often have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from curation.core.errors import InputError
from curation.ingest.importers.known_queries import named_by
from curation.ingest.importers.reference_answers import contexts_of_a_system
from curation.ingest.readers.fields import FileField, column_for, file_fields, leading_object, like
from curation.ingest.readers.formats import FileLayout, beir_file
from curation.ingest.readers.json_paths import value_at
from curation.ingest.readers.lines import clean, encoding_of, text_lines
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.records import Records
from curation.ingest.readers.run_files import TREC_COLUMNS, RunFile, RunRow
from curation.ingest.readers.values import text_of
from curation.ingest.requests import ImportRequest

PREVIEWED_ROWS = 10
SAMPLED_ROWS = 100
"""Rows of a corpus whose texts are looked at."""
MAX_CELL_LENGTH = 60
_FIXED = ("trec", "ranx-json")
_JUDGED = {"judgments": True, "decisions": True, "queries": False}
_BEIR = {"corpus": "corpus.jsonl", "queries": "queries.jsonl"}


class FilePreview(NamedTuple):
    """What the beginning of a file shows.

    Attributes
    ----------
    columns: empty where the format fixes them; `rows` have a text for each of `heads`, shortened.
    fields: field → the column proposed for it, or a list of columns.
    cells: the same rows whole; of a corpus, more of them.
    """

    format: str
    encoding: str
    columns: tuple[str, ...]
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    fields: dict[str, Any]
    cells: Sequence[Sequence[str]] = ()

    def texts_in(self, columns: Collection[str]) -> Iterator[str]:
        """Return the whole texts of these columns."""
        return (
            text
            for row in self.cells
            for name, text in zip(self.columns, row, strict=False)
            if name in columns
        )


def preview_file(request: ImportRequest) -> FilePreview:
    """Look at the beginning of a file; the fields and options of the request do not matter.

    Raises
    ------
    InputError: the beginning cannot be read.
    """
    path = beir_file(request.file, _BEIR.get(request.what, ""))
    layout = request.layout._replace(encoding=encoding_of(path) or request.encoding)
    if request.what == "runs":
        run = RunFile(path, None, layout)
        if run.format in _FIXED:
            return _look_at_run(run, layout)
        layout = layout._replace(format=run.format.removeprefix("ranx-"))
    records = Records(path, layout, judged=_JUDGED.get(request.what))
    columns, cells = records.columns, list[list[str]]()
    with suppress(InputError):  # what is wrong with the lines is the dry run's to say
        for record in islice(records, SAMPLED_ROWS if request.what == "corpus" else PREVIEWED_ROWS):
            values = ((*value_at(record.fields, name), record.fields.get(name))[0] for name in columns)
            cells.append(list(map(text_of, values)))
    rows = [tuple(map(shortened, row)) for row in cells[:PREVIEWED_ROWS]]
    fields = recognised(columns, file_fields(request.record))
    if request.what == "answers" and contexts_of_a_system(fields.get("reference"), columns):
        del fields["reference"]
    if (
        request.what == "corpus"
        and "body" not in fields
        and (longest := records.longest_text(fields.values()))
    ):
        fields["body"] = [longest]
    return FilePreview(records.format, layout.encoding, columns, columns, rows, fields, cells)


def recognised(columns: Sequence[str], fields: Sequence[FileField]) -> dict[str, Any]:
    """Field → its column among these, or a list of one; fields that none is known for are absent."""
    columns_of: dict[str, Any] = {}
    taken: set[str] = set()
    inside = leading_object(fields, columns)
    for field in fields:
        column = column_for(field, columns, inside) or like(field.seen, columns)
        if field.name == "query_text" and named_by(columns_of.get("query", "")) != "id":
            continue  # the texts are in the first field, as for the import
        if column is not None and column not in taken:
            columns_of[field.name] = [column] if field.several else column
            taken.add(column)
    return columns_of


def seems_to_be(request: ImportRequest) -> str | None:
    """Return the kind that the lines of a file without columns belong to, or None: a TREC run or
    TREC qrels.
    """
    layout = FileLayout(encoding=encoding_of(request.file) or request.encoding)
    lines: list[str] = []
    with suppress(InputError, OSError):
        lines = list(islice(text_lines(request.file, layout.encoding, Problems(request.file), Counter()), 20))
    cells = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    if not cells or any(line.lstrip().startswith(("{", "[")) for line in lines):
        return None
    if all(len(row) >= len(TREC_COLUMNS) and row[1].upper() == "Q0" for row in cells):
        return "runs"
    return "judgments" if all(len(row) == 4 and row[1] in ("0", "Q0") for row in cells) else None


def shortened(value: object) -> str:
    """Return a value on one line, not longer than a cell of a table; bytes of another encoding as U+FFFD."""
    text = " ".join(clean(text_of(value), Counter()).split())
    return text if len(text) <= MAX_CELL_LENGTH else f"{text[: MAX_CELL_LENGTH - 1]}…"


def _look_at_run(run: RunFile, layout: FileLayout) -> FilePreview:
    rows: list[tuple[str, ...]] = []
    with suppress(InputError):
        for row in islice(run, PREVIEWED_ROWS):
            rows.append(tuple(map(shortened, row)))
    return FilePreview(run.format, layout.encoding, (), tuple(RunRow._fields), rows, {})
