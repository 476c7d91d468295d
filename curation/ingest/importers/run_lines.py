"""Lines of a run file, with the project's ids of queries and documents, and with ranks and scores as numbers.

A line names a query by id or text. Runs that were made from an export of a release have the export's ids: ids
of BEIR and Hugging Face exports may have a prefix, and ids of TREC exports are percent-encoded if the
project's id has white space. In exports of other formats, ids are the project's ids. The caller decides what
to do about unknown names, and whether ranks or scores order a list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from curation.core.arrow import int_array
from curation.core.errors import InputError
from curation.core.statistics.arrays import Ints
from curation.ingest.importers.known_queries import PREFIXES, KnownQueries, QueryColumn
from curation.ingest.importers.unknown_names import UNKNOWN_DOCUMENT, UNKNOWN_QUERY, KnownDocuments
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.run_columns import MAX_RANK, NameColumn, RunColumns
from curation.ingest.readers.run_files import RunFile, RunRow
from curation.ingest.readers.values import parse_whole_number, to_text

Number = TypeVar("Number", int, float)
_EXPECTED = {"rank": "whole number from 0 or 1", "score": "finite number"}


class RunLines:
    """Lines of a run with the project's ids. The lines can be iterated once; an error with all problems of
    the file is raised after the last line.

    Lines of unknown queries are left out; lines of unknown documents are yielded.

    Parameters
    ----------
    note: function that is called with UNKNOWN_QUERY or UNKNOWN_DOCUMENT, the unknown name, and the line.

    Attributes
    ----------
    mapped: number of ids from an export that were mapped back to the project's ids, by removing a prefix or
    decoding.
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
            yield from _lines_of_columns(columns)
            self._problems.check()
            return
        rows: list[RunRow] = []
        with suppress(InputError):  # noted with the file's problems: raised below with what else is found
            rows.extend(self._file)
        self._documents.look_up(meant for row in rows for meant in self._names.meant(row.document))
        for row in rows:
            line = self._resolved_line(row)
            if line is not None:
                yield line
        self._problems.check()

    def columns(self) -> RunColumns | None:
        """Return all lines of the run as columns; None if the file has problems, or can only be read by
        iterating.
        """
        columns = self._file.columns()
        if columns is None:
            return None
        names = _RunNames(self._file, self._known, self._documents, Problems(self._problems.path))
        documents = list(columns.documents.values)
        self._documents.look_up(meant for name in documents for meant in names.meant(name))
        try:
            queries = [names.query(name, line) for _, name, line in columns.queries.firsts(columns.lines)]
            known = np.array([query is not None for query in queries])[columns.queries.codes]
            own_documents = _are_plain_ids(documents, self._documents)
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
            NameColumn(columns.queries.codes[known], [query or "" for query in queries]),
            NameColumn(columns.documents.codes[known], documents),
            None if columns.ranks is None else columns.ranks[known],
            None if columns.scores is None else columns.scores[known],
            {name: column.take(int_array(np.flatnonzero(known))) for name, column in columns.chunk.items()},
        )

    def lacks_a_number(self, line: RunRow) -> bool:
        """Return whether a line lacks its rank or score, and record the lack as a problem."""
        return (line.rank is None and self._ranked) or (line.score is None and self._scored)

    def _note_rows(self, what: str, names: NameColumn, lines: Ints, chosen: NDArray[np.bool_]) -> None:
        for code, line in zip(names.codes[chosen].tolist(), lines[chosen].tolist(), strict=True):
            self._note(what, names.values[code], line)

    def _resolved_line(self, row: RunRow) -> RunRow | None:
        if not row.query or not row.document:
            missing = [what for what in ("query", "document") if not getattr(row, what)]
            self._problems.add(row.line, f"no {' and no '.join(missing)}", "Complete these lines.")
            return None
        rank = self._noted_number(row, "rank", _rank_of(row.rank)) if self._ranked else None
        score = self._noted_number(row, "score", _score_of(row.score)) if self._scored else None
        query_id = self._names.query(row.query, row.line)
        if query_id is None:
            self._note(UNKNOWN_QUERY, row.query, row.line)
        if not query_id:
            return None
        document = self._names.document(row.document, row.line)
        if document not in self._documents:
            self._note(UNKNOWN_DOCUMENT, document, row.line)
        return row._replace(query=query_id, document=document, rank=rank, score=score)

    def _noted_number(self, row: RunRow, what: str, number: Number | None) -> Number | None:
        """Return the rank or score of a line; record a problem if the value is not a number."""
        if number is None:
            found = _quoted_value(getattr(row, what))
            self._problems.add(
                row.line,
                f"query {row.query!r}, document {row.document!r}: the {what} is {found}",
                f"Expected a {_EXPECTED[what]}.",
            )
        return number


class _RunNames:
    """Mapping from the names of queries and documents in a run to the project's ids."""

    def __init__(
        self, file: RunFile, queries: KnownQueries, documents: KnownDocuments, problems: Problems
    ) -> None:
        of_ids = file.format in ("trec", "ranx-parquet")
        self.problems = problems
        self.mapped: set[str] = set()
        self._queries = QueryColumn(queries, file.fields.query, "id" if of_ids else None)
        self._known, self._documents = queries, documents
        self._prefixed = queries.share_id_with(documents.look_up)
        self._encoded = file.format == "trec"
        self._ids: dict[str, str | None] = {}

    def meant(self, name: str) -> tuple[str, ...]:
        """Return the document ids to which a name in a run may refer."""
        return name, name.removeprefix(PREFIXES[1]), self._decoded_id(name)

    def document(self, name: str, line: int) -> str:
        """Return the project's id of a document whose name an export may have prefixed or encoded."""
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
        """Return the project's id of a query; None for an unknown query, '' for an ambiguous text."""
        if name not in self._ids:
            try:
                query = self._queries.find(name, line)
                if query is None and self._prefixed and name.startswith(PREFIXES[0]):
                    query = self._known.find_by_id(name.removeprefix(PREFIXES[0]))
                    self.mapped |= {name} if query else set()
                decoded = self._decoded_id(name)
                by_decoding = self._known.find_by_id(decoded) if decoded else None
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

    def _decoded_id(self, name: str) -> str:
        """Return the id that a TREC export percent-encoded; '' for other names."""
        original = unquote(name) if self._encoded and "%" in name else name
        return original if original != name else ""

    def _note_two_ids(self, line: int, what: str, name: str, decoded: str) -> None:
        self.problems.add(
            line,
            f"the {what} {name!r} can be the id {name!r}, or the id {decoded!r} as TREC exports encode ids",
            "Write the run as JSON lines or CSV with the project's own ids.",
        )


def _are_plain_ids(names: Sequence[str], documents: KnownDocuments) -> NDArray[np.bool_]:
    """Return which names are unambiguous document ids, as booleans of shape (N,)."""
    return np.fromiter(("%" not in name and name in documents for name in names), bool, len(names))


def _lines_of_columns(columns: RunColumns) -> Iterator[RunRow]:
    """Yield the lines of a run from its columns."""
    number = len(columns.lines)
    ranks = [None] * number if columns.ranks is None else columns.ranks.tolist()
    scores = [None] * number if columns.scores is None else columns.scores.tolist()
    queries = [columns.queries.values[code] for code in columns.queries.codes.tolist()]
    documents = [columns.documents.values[code] for code in columns.documents.codes.tolist()]
    return map(RunRow, columns.lines.tolist(), queries, documents, ranks, scores)


def _quoted_value(value: Any) -> str:
    return repr(value) if isinstance(value, float) else repr(to_text(value)) if to_text(value) else "missing"


def _rank_of(value: Any) -> int | None:
    if isinstance(value, str) and len(value) < 10 and value.isascii() and value.isdecimal():
        return int(value)
    number = parse_whole_number(to_text(value))
    return number if number is not None and 0 <= number < MAX_RANK else None


def _score_of(value: Any) -> float | None:
    try:
        number = float(value if isinstance(value, str) else to_text(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
