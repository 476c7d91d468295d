"""The lines of a run file with the ids and numbers that they mean.

A query is named by id or text. Runs over exports have the ids of the export: those for BEIR and Hugging Face
may have a prefix, those for TREC are percent-encoded where an id of the project has white space. In other
formats ids are the project's. Who reads the lines decides what is done about names that are not known, and
which of rank and score orders a list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.core.arrow import numbers
from curation.core.errors import InputError
from curation.core.statistics.arrays import Floats, Ints
from curation.ingest.importers.queries import PREFIXES, KnownQueries, QueryColumn
from curation.ingest.importers.unknown_names import UNKNOWN_DOCUMENT, UNKNOWN_QUERY, KnownDocuments
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.run_columns import MOST_RANK, Names
from curation.ingest.readers.run_files import RunFile, RunRow
from curation.ingest.readers.values import text_of, whole_number

Number = TypeVar("Number", int, float)
_EXPECTED = {"rank": "whole number from 0 or 1", "score": "finite number"}


class RunLine(NamedTuple):
    """A line whose names and numbers were read; `rank` is the file's, and `chunk` as in `RunRow`."""

    line: int
    query_id: str
    document_id: str
    rank: int | None
    score: float | None
    chunk: tuple[str, ...] = ()


class LineColumns(NamedTuple):
    """The N lines of a run whose queries are known, as columns; see `RunLine`.

    Attributes
    ----------
    line: shape (N,).
    query, document: which of `query_ids` and `document_ids` each line has, shape (N,).
    rank, score: shape (N,); None where the file has none.
    chunk: as in `RunColumns`.
    """

    line: Ints
    query: Ints
    query_ids: list[str]
    document: Ints
    document_ids: list[str]
    rank: Ints | None
    score: Floats | None
    chunk: Mapping[str, pa.Array]


class RunLines:
    """The lines of one run. Iterate once; the end raises an InputError if there were problems.

    Lines of unknown queries are passed over, those of unknown documents are not.

    Parameters
    ----------
    note: called with what is unknown (a query or a document), its name and the line.

    Attributes
    ----------
    mapped: names that are known without the prefix that exports put in front, or decoded.
    """

    def __init__(
        self,
        file: RunFile,
        queries: KnownQueries,
        documents: KnownDocuments,
        note: Callable[[str, str, int], None],
    ) -> None:
        self._file = file
        self._problems = file.problems
        self._known = queries
        self._documents = documents
        self._note = note
        self._ranked, self._scored = file.fields.rank is not None, file.fields.score is not None
        self._names = _RunNames(file, queries, documents, self._problems)

    @property
    def mapped(self) -> set[str]:
        return self._names.mapped

    def __iter__(self) -> Iterator[RunLine]:
        columns = self.columns()
        if columns is not None:
            yield from _lines(columns)
            self._problems.check()
            return
        rows: list[RunRow] = []
        with suppress(InputError):  # noted with the file's problems: raised below with what else is found
            rows.extend(self._file)
        self._documents.ask(meant for row in rows for meant in self._names.meant(row.document))
        for row in rows:
            line = self._line(row)
            if line is not None:
                yield line
        self._problems.check()

    def columns(self) -> LineColumns | None:
        """All lines at once; None where there are problems, or only iterating can read the file."""
        found = self._file.columns()
        if found is None:
            return None
        names = _RunNames(self._file, self._known, self._documents, Problems(self._problems.path))
        documents = list(found.documents.values)
        self._documents.ask(meant for name in documents for meant in names.meant(name))
        try:
            queries = [names.query(name, line) for _, name, line in found.queries.firsts(found.lines)]
            known = np.array([query is not None for query in queries])[found.queries.codes]
            own = _own(documents, self._documents)
            unsure = known & ~own[found.documents.codes]
            for code, name, line in found.documents.firsts(found.lines, unsure):
                documents[code] = names.document(name, line)
                own[code] = documents[code] in self._documents
            names.problems.check()
        except InputError:
            return None
        self._names = names
        self._note_rows(UNKNOWN_QUERY, found.queries, found.lines, ~known)
        self._note_rows(UNKNOWN_DOCUMENT, found.documents, found.lines, known & ~own[found.documents.codes])
        return LineColumns(
            found.lines[known],
            found.queries.codes[known],
            [query or "" for query in queries],
            found.documents.codes[known],
            documents,
            None if found.ranks is None else found.ranks[known],
            None if found.scores is None else found.scores[known],
            {name: column.take(numbers(np.flatnonzero(known))) for name, column in found.chunk.items()},
        )

    def lacks_a_number(self, line: RunLine) -> bool:
        """Whether a rank or score that the file should have could not be read, which was noted."""
        return (line.rank is None and self._ranked) or (line.score is None and self._scored)

    def _note_rows(self, what: str, names: Names, lines: Ints, chosen: NDArray[np.bool_]) -> None:
        for code, line in zip(names.codes[chosen].tolist(), lines[chosen].tolist(), strict=True):
            self._note(what, names.values[code], line)

    def _line(self, row: RunRow) -> RunLine | None:
        if not row.query or not row.document:
            missing = [what for what in ("query", "document") if not getattr(row, what)]
            self._problems.add(row.line, f"no {' and no '.join(missing)}", "Complete these lines.")
            return None
        rank = self._number(row, "rank", _rank(row.rank)) if self._ranked else None
        score = self._number(row, "score", _score(row.score)) if self._scored else None
        query_id = self._names.query(row.query, row.line)
        if query_id is None:
            self._note(UNKNOWN_QUERY, row.query, row.line)
        if not query_id:
            return None
        document = self._names.document(row.document, row.line)
        if document not in self._documents:
            self._note(UNKNOWN_DOCUMENT, document, row.line)
        return RunLine(row.line, query_id, document, rank, score, row.chunk)

    def _number(self, row: RunRow, what: str, number: Number | None) -> Number | None:
        """The row's rank or score; None is noted as a problem."""
        if number is None:
            self._problems.add(
                row.line,
                f"query {row.query!r}, document {row.document!r}: the {what} is {_shown(getattr(row, what))}",
                f"Expected a {_EXPECTED[what]}.",
            )
        return number


class _RunNames:
    """What the names of queries and documents in one run mean."""

    def __init__(
        self, file: RunFile, queries: KnownQueries, documents: KnownDocuments, problems: Problems
    ) -> None:
        of_ids = file.format in ("trec", "ranx-parquet")
        self.problems = problems
        self.mapped: set[str] = set()
        self._queries = QueryColumn(queries, file.fields.query, "id" if of_ids else None)
        self._known, self._documents = queries, documents
        self._prefixed = queries.share_an_id(documents.ask)
        self._encoded = file.format == "trec"
        self._ids: dict[str, str | None] = {}

    def meant(self, name: str) -> tuple[str, ...]:
        """The ids of documents that a name can mean."""
        return name, name.removeprefix(PREFIXES[1]), self._decoded(name)

    def document(self, name: str, line: int) -> str:
        """The project's id of a document that an export may have given a prefix or encoded."""
        if "%" not in name and name in self._documents:
            return name
        _, bare, decoded = self.meant(name)
        if name in self._documents:
            if decoded in self._documents:
                self._note_two_ids(line, "document", name, decoded)
            return name
        for original in (bare if self._prefixed else "", decoded):
            if original in self._documents:
                self.mapped.add(name)
                return original
        return name

    def query(self, name: str, line: int) -> str | None:
        """The id of a query, None for an unknown one, '' for a text that several have."""
        if name not in self._ids:
            try:
                found = self._queries.find(name, line)
                if found is None and self._prefixed and name.startswith(PREFIXES[0]):
                    found = self._known.of_id(name.removeprefix(PREFIXES[0]))
                    self.mapped |= {name} if found else set()
                decoded = self._decoded(name)
                by_decoding = self._known.of_id(decoded) if decoded else None
                if found is not None and by_decoding is not None:
                    self._note_two_ids(line, "query", name, decoded)
                elif by_decoding is not None:
                    found = by_decoding
                    self.mapped.add(name)
                self._ids[name] = found and found.query_id
            except InputError as error:
                self.problems.add(line, str(error))
                self._ids[name] = ""
        return self._ids[name]

    def _decoded(self, name: str) -> str:
        """The id that a TREC export wrote so; '' where it is no such name."""
        original = unquote(name) if self._encoded and "%" in name else name
        return original if original != name else ""

    def _note_two_ids(self, line: int, what: str, name: str, decoded: str) -> None:
        self.problems.add(
            line,
            f"the {what} {name!r} is that id, or {decoded!r} as TREC exports write it",
            "Write the run as JSON lines or CSV with the project's own ids.",
        )


def _own(names: Sequence[str], documents: KnownDocuments) -> NDArray[np.bool_]:
    """Which of the names are ids of documents and can be nothing else, shape (N,)."""
    return np.fromiter(("%" not in name and name in documents for name in names), bool, len(names))


def _lines(columns: LineColumns) -> Iterator[RunLine]:
    """The lines of columns, one by one."""
    number = len(columns.line)
    ranks = [None] * number if columns.rank is None else columns.rank.tolist()
    scores = [None] * number if columns.score is None else columns.score.tolist()
    queries = [columns.query_ids[code] for code in columns.query.tolist()]
    documents = [columns.document_ids[code] for code in columns.document.tolist()]
    return map(RunLine, columns.line.tolist(), queries, documents, ranks, scores)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, float) else repr(text_of(value)) if text_of(value) else "missing"


def _rank(value: Any) -> int | None:
    if isinstance(value, str) and len(value) < 10 and value.isascii() and value.isdecimal():
        return int(value)
    number = whole_number(text_of(value))
    return number if number is not None and 0 <= number < MOST_RANK else None


def _score(value: Any) -> float | None:
    try:
        number = float(value if isinstance(value, str) else text_of(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
