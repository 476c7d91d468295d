"""Importing a run: the ranked lists of another system, checked and stored under a name.

A query's list is in the order of its ranks where the file has ranks, else of its scores. Equal scores are
ordered by document id, descending: so does trec_eval, and a run that is pooled should be the list that was
measured. Scores are kept as they are and mean what their system meant: zero and below are scores like others.

Ranks must be whole (1, 2, 3 … or from 0, as some systems count): a rank that is missing or there twice says
that lines were lost or mixed up. Lines may be in any order. Ranks that contradict scores are counted, not
refused: systems that fuse lists write such runs, though trec_eval would order them by score.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from curation.errors import InputError, RefusedError
from curation.progress import Progress, silent
from curation.sources.queries import PREFIXES, KnownQueries, QueryColumn
from curation.sources.run_files import RunFields, RunFile, RunRow
from curation.sources.runs import Run, RunEntry, stored_runs
from curation.sources.tables.formats import FileLayout
from curation.sources.tables.numbers import whole_number
from curation.sources.tables.values import text_of
from curation.sources.unknown_names import UNKNOWN_DOCUMENT, UNKNOWN_QUERY, UnknownNames
from curation.store import Cursor, Store, append_rows, record_event, utc_now
from curation.store.documents import current_snapshot, snapshot_versions
from curation.text import canonical_json, digest

Number = TypeVar("Number", int, float)
REPEATED = "a document again for the same query"
_NAME = re.compile(r"[\w.+-]+")
_SKIP_UNKNOWN = "Or leave such lines out with --skip-unknown."
_TYPES = pa.schema(
    {
        "run_id": pa.string(),
        "query_id": pa.string(),
        "document_id": pa.string(),
        "rank": pa.int32(),
        "score": pa.float64(),
    }
)


@dataclass(frozen=True)
class RunImport:
    """What an import of a run did.

    Attributes
    ----------
    queries, entries: how many the run has now.
    is_new: False where the project held this very run under this name.
    unordered: queries whose lines were not in the order of their ranks, and were sorted.
    against_scores: queries whose ranks contradict their scores; the ranks count.
    mapped: ids that BEIR and Hugging Face exports prefix where queries and documents share ids: 'q-1' is '1'.
    left_out: reason → number of lines; unknown: the names of unknown queries and documents among them.
    """

    name: str
    run_id: str
    queries: int
    entries: int
    is_new: bool
    format: str
    fields: RunFields
    unordered: int
    against_scores: int
    left_out: dict[str, int]
    unknown: dict[str, list[str]]
    mapped: int


class _Line(NamedTuple):
    """A line whose numbers were read; `rank` is the file's."""

    line: int
    query_id: str
    document_id: str
    rank: int | None
    score: float | None


def import_run(
    store: Store,
    path: Path,
    name: str,
    fields: RunFields | None = None,
    layout: FileLayout | None = None,
    *,
    skip_unknown: bool = False,
    skip_repeated: bool = False,
    progress: Progress = silent,
) -> RunImport:
    """Store a file's run under a name, in one transaction. The same run again changes nothing.

    Parameters
    ----------
    layout: its format is out of `run_files.FORMATS`; None is found from the file's name or beginning.
    skip_unknown: leave out, and count, lines whose query or document the project does not have.
    skip_repeated: of a document that a query names several times, keep the best place and count the others.

    Raises
    ------
    InputError: the name or the file cannot be used; all problems of the file together.
    RefusedError: there is no corpus, or another run has the name.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a run: a pool calls it run:NAME in a list.",
            way_out="Use letters, digits, dots, dashes and underscores, such as --name bm25-tuned.",
        )
    file = RunFile(path, fields, layout, progress)
    with store.reading() as cursor:
        documents = frozenset(snapshot_versions(cursor, current_snapshot(cursor)))
        reader = _RunReader(file, KnownQueries(cursor), documents, skip_unknown, skip_repeated)
    entries = reader.read()
    run_id = digest("run", name, [entry[1:] for entry in entries])
    rows = [entry._replace(run_id=run_id) for entry in entries]
    with store.transaction(appends=True) as cursor:
        is_new = _keep(cursor, Run(run_id, name, file.source), rows, dict(reader.left_out))
    return RunImport(
        *(name, run_id, len({entry.query_id for entry in entries}), len(entries), is_new),
        *(file.format, file.fields, reader.unordered, reader.against_scores, dict(reader.left_out)),
        *(reader.unknown.names, len(reader.mapped)),
    )


def _keep(cursor: Cursor, run: Run, entries: Sequence[RunEntry], left_out: dict[str, int]) -> bool:
    """Write a run; False where it is there already."""
    held = {known.name: known for known in stored_runs(cursor)}.get(run.name)
    if held is not None and held.run_id != run.run_id:
        raise RefusedError(
            f"The project has another run {run.name!r} (from {held.source}), on which pools may rest. "
            "Give this one a name of its own."
        )
    if held is None:
        cursor.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", [*run, canonical_json(left_out), utc_now()])
        append_rows(cursor, "run_entries", entries, _TYPES)
        record_event(cursor, "import run", {**run._asdict(), "entries": len(entries), "left out": left_out})
    return held is None


class _RunReader:
    """One reading of one run: entries out, problems to its file, the rest counted."""

    def __init__(
        self,
        file: RunFile,
        queries: KnownQueries,
        documents: frozenset[str],
        skip_unknown: bool,
        skip_repeated: bool,
    ) -> None:
        self._file = file
        self._problems = file.problems
        of_ids = file.format in ("trec", "ranx-parquet")
        self._queries = QueryColumn(queries, file.fields.query, "id" if of_ids else None)
        self._known = queries
        self._documents = documents
        self._prefixed = queries.share_an_id(documents)
        self.mapped: set[str] = set()
        self._skip_repeated = skip_repeated
        self._ids: dict[str, str | None] = {}
        self.unknown = UnknownNames(file.problems, _WAYS_OUT, skip_unknown)
        self.unordered = 0
        self.against_scores = 0
        self.left_out: Counter[str] = Counter()

    def read(self) -> list[RunEntry]:
        """The entries, by query id and rank; raises what was wrong with the file."""
        lists: defaultdict[str, list[_Line]] = defaultdict(list)
        with suppress(InputError):  # noted with the file's problems: raised below with what else is found
            for row in self._file:
                line = self._line(row)
                if line is not None:
                    lists[line.query_id].append(line)
        entries = [entry for query_id in sorted(lists) for entry in self._entries(lists[query_id])]
        self.unknown.settle(self.left_out)
        self._problems.check()
        if not entries:
            reasons = ", ".join(f"{count:,} × {reason}" for reason, count in self.left_out.items())
            self._problems.stop(f"no place of a ranking could be taken from it: {reasons or 'it is empty'}")
        return entries

    def _line(self, row: RunRow) -> _Line | None:
        missing = [what for what in ("query", "document") if not getattr(row, what)]
        if missing:
            self._problems.add(row.line, f"no {' and no '.join(missing)}", "Complete these lines.")
            return None
        rank = self._number(row, "rank", _rank)
        score = self._number(row, "score", _score)
        query_id = self._query(row)
        if query_id is None:
            self.unknown.note(UNKNOWN_QUERY, row.query, row.line)
        if not query_id:
            return None
        document = self._document(row.document)
        if document not in self._documents:
            self.unknown.note(UNKNOWN_DOCUMENT, document, row.line)
        return _Line(row.line, query_id, document, rank, score)

    def _document(self, name: str) -> str:
        """The project's id of a document that an export may have given a prefix."""
        original = name.removeprefix(PREFIXES[1])
        if self._prefixed and name not in self._documents and original in self._documents:
            self.mapped.add(name)
            return original
        return name

    def _number(self, row: RunRow, what: str, read: Callable[[Any], Number | None]) -> Number | None:
        """The row's rank or score; None where the file has none, or where it was noted as a problem."""
        if getattr(self._file.fields, what) is None:
            return None
        number = read(getattr(row, what))
        if number is None:
            self._problems.add(
                row.line,
                f"query {row.query!r}, document {row.document!r}: the {what} is {_shown(getattr(row, what))}",
                f"Expected a {_EXPECTED[what]}.",
            )
        return number

    def _query(self, row: RunRow) -> str | None:
        """The id of the row's query, None for an unknown one, '' for a text that several have."""
        if row.query not in self._ids:
            try:
                found = self._queries.find(row.query, row.line)
                if found is None and self._prefixed and row.query.startswith(PREFIXES[0]):
                    found = self._known.of_id(row.query.removeprefix(PREFIXES[0]))
                    self.mapped |= {row.query} if found else set()
                self._ids[row.query] = found and found.query_id
            except InputError as error:
                self._problems.add(row.line, str(error))
                self._ids[row.query] = ""
        return self._ids[row.query]

    def _entries(self, lines: list[_Line]) -> Iterator[RunEntry]:
        """One query's places in order."""
        if any(number is None for line in lines for number in self._numbers(line)):
            return  # what is missing was noted
        ordered = self._ordered(lines)
        best: dict[str, _Line] = {}
        for place, line in enumerate(ordered, 1):
            first = best.setdefault(line.document_id, line)
            if line.document_id not in self._documents:
                continue  # reported or counted as unknown
            if first is not line:
                self._repeated(line, first)
            else:
                yield RunEntry("", line.query_id, line.document_id, place, line.score)

    def _numbers(self, line: _Line) -> list[float | None]:
        fields = self._file.fields
        numbers = [(fields.rank, line.rank), (fields.score, line.score)]
        return [number for field, number in numbers if field is not None]

    def _ordered(self, lines: list[_Line]) -> list[_Line]:
        if self._file.fields.rank is None:
            by_id = sorted(lines, key=lambda line: line.document_id, reverse=True)
            return sorted(by_id, key=lambda line: -(line.score or 0.0))
        ordered = sorted(lines, key=lambda line: (line.rank or 0, line.line))
        self._check_ranks(ordered)
        if ordered != lines:
            self.unordered += 1
        scores = [line.score for line in ordered if line.score is not None]
        if any(upper < lower for upper, lower in pairwise(scores)):
            self.against_scores += 1
        return ordered

    def _check_ranks(self, ordered: list[_Line]) -> None:
        first = ordered[0]
        way_out = "Each query's ranks must be 1, 2, 3 …: write the file again, or rank it by score alone."
        if first.rank not in (0, 1):
            self._problems.add(first.line, f"query {first.query_id!r} begins at rank {first.rank}", way_out)
        for upper, lower in pairwise(ordered):
            if upper.rank == lower.rank:
                found = f"rank {lower.rank} again for query {lower.query_id!r}, after"
            elif (upper.rank or 0) + 1 != lower.rank:
                found = f"rank {lower.rank} of query {lower.query_id!r} follows rank {upper.rank} on"
            else:
                continue
            self._problems.add(lower.line, f"{found} {self._problems.unit} {upper.line}", way_out)

    def _repeated(self, line: _Line, first: _Line) -> None:
        if self._skip_repeated:
            self.left_out[REPEATED] += 1
        else:
            self._problems.add(
                line.line,
                f"document {line.document_id!r} again for query {line.query_id!r}, "
                f"after {self._problems.unit} {first.line}",
                "A document has one place in a list: keep the best ones with --skip-repeated.",
            )


_EXPECTED = {"rank": "whole number from 0 or 1", "score": "finite number"}
_WAYS_OUT = {
    UNKNOWN_QUERY: "Import the queries first (`goldset import queries PATH`), or name the right column with "
    f"--query-field: query_id is looked up by id, query_text by text, query by either. {_SKIP_UNKNOWN}",
    UNKNOWN_DOCUMENT: f"Import the corpus that was searched first. {_SKIP_UNKNOWN}",
}


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, float) else repr(text_of(value)) if text_of(value) else "missing"


def _rank(value: Any) -> int | None:
    number = whole_number(text_of(value))
    return number if number is not None and 0 <= number < 2**31 else None


def _score(value: Any) -> float | None:
    try:
        number = float(text_of(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
