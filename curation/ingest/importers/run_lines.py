"""Lines of a run file, with the project's query and document ids, and with ranks and scores as numbers.

A line names a query by id or text (`ingest.importers.run_names`). The caller decides what to do about unknown
names, and whether ranks or scores order a list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from curation.core.arrow import int_array
from curation.core.errors import InputError
from curation.core.statistics.arrays import Ints
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.run_names import RunNameResolver
from curation.ingest.importers.unknown_names import UNKNOWN_DOCUMENT, UNKNOWN_QUERY, KnownIds
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.run_columns import MAX_RANK, NameColumn, RunColumns
from curation.ingest.readers.run_files import RunFile, RunRow
from curation.ingest.readers.values import parse_whole_number, to_text

Number = TypeVar("Number", int, float)
_EXPECTED = {"rank": "whole number, counted from 0 or 1", "score": "finite number"}


class RunLines:
    """An iterator over the lines of a run, with the project's ids; it can be used once, and raises all
    problems at the end.

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
        self, file: RunFile, queries: KnownQueries, documents: KnownIds, note: Callable[[str, str, int], None]
    ) -> None:
        self._file = file
        self._problems = file.problems
        self._known = queries
        self._documents = documents
        self._note = note
        self._has_ranks, self._has_scores = file.fields.rank is not None, file.fields.score is not None
        self._names = RunNameResolver(file, queries, documents, self._problems)

    @property
    def mapped(self) -> set[str]:
        return self._names.mapped

    def __iter__(self) -> Iterator[RunRow]:
        columns = self.columns()
        if columns is not None:
            yield from _iterate_columns(columns)
            self._problems.check()
            return
        rows: list[RunRow] = []
        with suppress(InputError):  # recorded in the file's problems and raised with the other problems
            rows.extend(self._file)
        self._documents.look_up(name for row in rows for name in self._names.list_candidates(row.document))
        for row in rows:
            line = self._resolve_line(row)
            if line is not None:
                yield line
        self._problems.check()

    def columns(self) -> RunColumns | None:
        """Return all lines of the run as columns; None if the lines must be read one by one."""
        columns = self._file.columns()
        if columns is None:
            return None
        names = RunNameResolver(self._file, self._known, self._documents, Problems(self._problems.path))
        documents = list(columns.documents.values)
        self._documents.look_up(candidate for name in documents for candidate in names.list_candidates(name))
        try:
            find_first_lines = columns.queries.find_first_lines(columns.lines)
            queries = [names.resolve_query(name, line) for _, name, line in find_first_lines]
            is_known_query = np.array([query is not None for query in queries])[columns.queries.codes]
            is_known_document = _are_plain_ids(documents, self._documents)
            is_unsure = is_known_query & ~is_known_document[columns.documents.codes]
            for code, name, line in columns.documents.find_first_lines(columns.lines, is_unsure):
                documents[code] = names.resolve_document(name, line)
                is_known_document[code] = documents[code] in self._documents
            names.problems.check()
        except InputError:
            return None
        self._names = names
        self._note_rows(UNKNOWN_QUERY, columns.queries, columns.lines, ~is_known_query)
        is_unknown = is_known_query & ~is_known_document[columns.documents.codes]
        self._note_rows(UNKNOWN_DOCUMENT, columns.documents, columns.lines, is_unknown)
        indexes = int_array(np.flatnonzero(is_known_query))
        return RunColumns(
            columns.lines[is_known_query],
            NameColumn(columns.queries.codes[is_known_query], [query or "" for query in queries]),
            NameColumn(columns.documents.codes[is_known_query], documents),
            None if columns.ranks is None else columns.ranks[is_known_query],
            None if columns.scores is None else columns.scores[is_known_query],
            {name: column.take(indexes) for name, column in columns.chunk.items()},
        )

    def lacks_number(self, line: RunRow) -> bool:
        """Return whether a line lacks its rank or score, which the iteration recorded as a problem."""
        return (line.rank is None and self._has_ranks) or (line.score is None and self._has_scores)

    def _note_rows(self, what: str, names: NameColumn, lines: Ints, selected: NDArray[np.bool_]) -> None:
        for code, line in zip(names.codes[selected].tolist(), lines[selected].tolist(), strict=True):
            self._note(what, names.values[code], line)

    def _resolve_line(self, row: RunRow) -> RunRow | None:
        if not row.query or not row.document:
            missing = [what for what in ("query", "document") if not getattr(row, what)]
            self._problems.add(row.line, f"no {' and no '.join(missing)}", "Complete these lines.")
            return None
        rank = self._check_number(row, "rank", _parse_rank(row.rank)) if self._has_ranks else None
        score = self._check_number(row, "score", _parse_score(row.score)) if self._has_scores else None
        query_id = self._names.resolve_query(row.query, row.line)
        if query_id is None:
            self._note(UNKNOWN_QUERY, row.query, row.line)
        if not query_id:
            return None
        document = self._names.resolve_document(row.document, row.line)
        if document not in self._documents:
            self._note(UNKNOWN_DOCUMENT, document, row.line)
        return row._replace(query=query_id, document=document, rank=rank, score=score)

    def _check_number(self, row: RunRow, what: str, number: Number | None) -> Number | None:
        """Return the rank or score of a line; record a problem if the value is not a number."""
        if number is None:
            found = _quote_value(getattr(row, what))
            problem = f"query {row.query!r}, document {row.document!r}: the {what} is {found}"
            self._problems.add(row.line, problem, f"Expected a {_EXPECTED[what]}.")
        return number


def _are_plain_ids(names: Sequence[str], documents: KnownIds) -> NDArray[np.bool_]:
    """Return which names are unambiguously document ids, as booleans of shape (N,)."""
    return np.fromiter(("%" not in name and name in documents for name in names), bool, len(names))


def _iterate_columns(columns: RunColumns) -> Iterator[RunRow]:
    """Yield the lines of a run from its columns."""
    count = len(columns.lines)
    ranks = [None] * count if columns.ranks is None else columns.ranks.tolist()
    scores = [None] * count if columns.scores is None else columns.scores.tolist()
    queries = [columns.queries.values[code] for code in columns.queries.codes.tolist()]
    documents = [columns.documents.values[code] for code in columns.documents.codes.tolist()]
    return map(RunRow, columns.lines.tolist(), queries, documents, ranks, scores)


def _quote_value(value: Any) -> str:
    return repr(value) if isinstance(value, float) else repr(to_text(value)) if to_text(value) else "missing"


def _parse_rank(value: Any) -> int | None:
    if isinstance(value, str) and len(value) < 10 and value.isascii() and value.isdecimal():
        return int(value)
    number = parse_whole_number(to_text(value))
    return number if number is not None and 0 <= number < MAX_RANK else None


def _parse_score(value: Any) -> float | None:
    try:
        number = float(value if isinstance(value, str) else to_text(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
