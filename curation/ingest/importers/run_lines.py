"""The lines of a run file with the ids and numbers that they mean; and topics, which say what query an id of
a run file is.

A query is named by id or text. Runs over exports have the ids of the export: those for BEIR and Hugging Face
may have a prefix, those for TREC are percent-encoded where an id of the project has white space. In other
formats ids are the project's. Who reads the lines decides what is done about names that are not known, and
which of rank and score orders a list.

TREC runs name topics by ids such as 1, and a release has ids of its own. The text tells which of its queries
a topic is, after the same normalisation that imports make. Topics of other texts are passed over, like run
lines of unknown queries. A table of two columns needs no header; TREC's topic files are read, too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from curation.core.arrow import numbers
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Ints
from curation.ingest.importers.known_queries import PREFIXES, KnownQueries, QueryColumn
from curation.ingest.importers.unknown_names import UNKNOWN_DOCUMENT, UNKNOWN_QUERY, KnownDocuments
from curation.ingest.readers.fields import QueryFields, column_for, file_fields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.records import Records
from curation.ingest.readers.run_columns import MAX_RANK, Names, RunColumns
from curation.ingest.readers.run_files import RunFile, RunRow
from curation.ingest.readers.values import text_of, whole_number

Number = TypeVar("Number", int, float)
_EXPECTED = {"rank": "whole number from 0 or 1", "score": "finite number"}
_COLUMNS = ("id", "text")


class RunLines:
    """The lines of one run with the ids of the project. Iterate once; the end raises what was wrong.

    Lines of unknown queries are passed over, but lines of unknown documents are not.

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

    def __iter__(self) -> Iterator[RunRow]:
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

    def columns(self) -> RunColumns | None:
        """Return all lines at once; None if there are problems, or only iterating can read the file."""
        columns = self._file.columns()
        if columns is None:
            return None
        names = _RunNames(self._file, self._known, self._documents, Problems(self._problems.path))
        documents = list(columns.documents.values)
        self._documents.ask(meant for name in documents for meant in names.meant(name))
        try:
            queries = [names.query(name, line) for _, name, line in columns.queries.firsts(columns.lines)]
            known = np.array([query is not None for query in queries])[columns.queries.codes]
            own_documents = _own(documents, self._documents)
            unsure = known & ~own_documents[columns.documents.codes]
            for code, name, line in columns.documents.firsts(columns.lines, unsure):
                documents[code] = names.document(name, line)
                own_documents[code] = documents[code] in self._documents
            names.problems.check()
        except InputError:
            return None
        self._names = names
        self._note_rows(UNKNOWN_QUERY, columns.queries, columns.lines, ~known)
        self._note_rows(
            UNKNOWN_DOCUMENT,
            columns.documents,
            columns.lines,
            known & ~own_documents[columns.documents.codes],
        )
        return RunColumns(
            columns.lines[known],
            Names(columns.queries.codes[known], [query or "" for query in queries]),
            Names(columns.documents.codes[known], documents),
            None if columns.ranks is None else columns.ranks[known],
            None if columns.scores is None else columns.scores[known],
            {name: column.take(numbers(np.flatnonzero(known))) for name, column in columns.chunk.items()},
        )

    def lacks_a_number(self, line: RunRow) -> bool:
        """Return whether a rank or score that the file should have could not be read, which was noted."""
        return (line.rank is None and self._ranked) or (line.score is None and self._scored)

    def _note_rows(self, what: str, names: Names, lines: Ints, chosen: NDArray[np.bool_]) -> None:
        for code, line in zip(names.codes[chosen].tolist(), lines[chosen].tolist(), strict=True):
            self._note(what, names.values[code], line)

    def _line(self, row: RunRow) -> RunRow | None:
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
        return row._replace(query=query_id, document=document, rank=rank, score=score)

    def _number(self, row: RunRow, what: str, number: Number | None) -> Number | None:
        """Return the row's rank or score; None is noted as a problem."""
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
        """Return the ids of documents that a name can mean."""
        return name, name.removeprefix(PREFIXES[1]), self._decoded(name)

    def document(self, name: str, line: int) -> str:
        """Return the project's id of a document that an export may have given a prefix or encoded."""
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
        """Return the id of a query, None for an unknown one, '' for a text that several have."""
        if name not in self._ids:
            try:
                query = self._queries.find(name, line)
                if query is None and self._prefixed and name.startswith(PREFIXES[0]):
                    query = self._known.of_id(name.removeprefix(PREFIXES[0]))
                    self.mapped |= {name} if query else set()
                decoded = self._decoded(name)
                by_decoding = self._known.of_id(decoded) if decoded else None
                if query is not None and by_decoding is not None:
                    self._note_two_ids(line, "query", name, decoded)
                elif by_decoding is not None:
                    query = by_decoding
                    self.mapped.add(name)
                self._ids[name] = query and query.query_id
            except InputError as error:
                self.problems.add(line, str(error))
                self._ids[name] = ""
        return self._ids[name]

    def _decoded(self, name: str) -> str:
        """Return the id that a TREC export wrote so; '' where it is no such name."""
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


def _lines(columns: RunColumns) -> Iterator[RunRow]:
    """Return the lines of columns, one by one."""
    number = len(columns.lines)
    ranks = [None] * number if columns.ranks is None else columns.ranks.tolist()
    scores = [None] * number if columns.scores is None else columns.scores.tolist()
    queries = [columns.queries.values[code] for code in columns.queries.codes.tolist()]
    documents = [columns.documents.values[code] for code in columns.documents.codes.tolist()]
    return map(RunRow, columns.lines.tolist(), queries, documents, ranks, scores)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, float) else repr(text_of(value)) if text_of(value) else "missing"


def _rank(value: Any) -> int | None:
    if isinstance(value, str) and len(value) < 10 and value.isascii() and value.isdecimal():
        return int(value)
    number = whole_number(text_of(value))
    return number if number is not None and 0 <= number < MAX_RANK else None


def _score(value: Any) -> float | None:
    try:
        number = float(value if isinstance(value, str) else text_of(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def with_topics(known: KnownQueries, path: Path | None, progress: Progress = silent) -> KnownQueries:
    """Return the queries, known by the ids of a table of topics, too; without a table they stay as they are.

    Raises
    ------
    InputError: the file cannot be read, or has no query that is known; rows without an id or a text, with an
        id that is another query's, or that several queries could be.
    """
    if path is None:
        return known
    records = _records(path, progress)
    used = records.resolve(QueryFields(), but=("information_need", "reference", "filter"))
    if used.id is None:
        records.refuse_columns("no column is known to hold the topics' ids: call it id")
    names: dict[str, str] = {}
    unknown = 0
    with suppress(InputError):  # noted with the file's problems: raised below with what else is found
        for record in records:
            name, text = (text_of(record.fields.get(column or "")) for column in (used.id, used.text))
            try:
                query_id = _query_id(known, name, text, names)
            except InputError as error:
                records.problems.add(record.line, str(error), "Expected one row of id and text for a topic.")
                continue
            unknown += query_id is None
            names |= {name: query_id} if query_id else {}
    records.problems.check()
    if not names:
        records.refuse_nothing_taken("topic", {"with a text that no query has": unknown})
    other: dict[str, list[str]] = defaultdict(list)
    for name, query_id in names.items():
        other[query_id].append(name)
    return known.also_called(other)


def _records(path: Path, progress: Progress) -> Records:
    """Return the rows; the first line of a table of two columns is a row, too, unless it names the texts'
    column.
    """
    records = Records(path, None, progress)
    text = next(field for field in file_fields(QueryFields) if field.name == "text")
    plain = records.format in ("csv", "tsv") and len(records.columns) == len(_COLUMNS)
    if plain and column_for(text, records.columns) is None:
        return Records(path, FileLayout(columns=_COLUMNS, header=False), progress)
    return records


def _query_id(known: KnownQueries, name: str, text: str, names: dict[str, str]) -> str | None:
    """Return the query of a topic; None if its text is unknown."""
    if not name or not text:
        raise InputError(
            f"no {' and no '.join(what for what, has in (('id', name), ('text', text)) if not has)}"
        )
    query = known.find(text, "text")
    if query is None:
        return None
    other = known.of_id(name)
    if other is not None and other != query:
        raise InputError(f"{name!r} is the id of the query {other.text!r}, not of {text!r}")
    if names.get(name, query.query_id) != query.query_id:
        raise InputError(f"{name!r} was the id of another text before")
    return query.query_id
