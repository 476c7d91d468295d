"""Importing a run: the ranked lists of another system, checked, stored under a name, and read again.

A query's list is in the order of its ranks where the file has ranks, else of its scores. Equal scores are
ordered by document id, descending: so does trec_eval, and a run that is pooled should be the list that was
measured. Scores are kept as they are and mean what their system meant: zero and below are scores like others.

Ranks may have gaps: NIST publishes runs that were thinned out or cut, with the ranks that they had. Such a
list is in the order of its scores, as trec_eval has it, or of its ranks where there are no scores, and it is
counted, for lines may have been lost. A rank that is there twice is refused: it says that lists were mixed
up. Lines may be in any order. Ranks that contradict scores are counted, not refused: systems that fuse lists
write such runs, though trec_eval would order them by score.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.ingest.import_outcome import ImportOutcome, fields_used
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.run_lines import RunLines, with_topics
from curation.ingest.importers.unknown_names import (
    UNKNOWN_DOCUMENT,
    UNKNOWN_QUERY,
    KnownDocuments,
    UnknownNames,
)
from curation.ingest.readers.fields import RunFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.run_files import RunFile, RunRow
from curation.ingest.stored_runs import RunEntry, check_name, keep_run, run_of
from curation.store import COMMAND_LINE, Store
from curation.store.documents import current_versions, ids_alike

REPEATED = "a document again for the same query"
_SKIP_UNKNOWN = "Or leave such lines out with --skip-unknown."
_WAYS_OUT = {
    UNKNOWN_QUERY: "Import the queries first (`goldgrade import queries PATH`), or name the right column "
    "with --map query=COLUMN: query_id is looked up by id, query_text by text, query by either. "
    f"{_SKIP_UNKNOWN}",
    UNKNOWN_DOCUMENT: f"Import the corpus that was searched first. {_SKIP_UNKNOWN}",
}


@dataclass(frozen=True)
class RunImport:
    """What an import of a run did.

    Attributes
    ----------
    queries, entries: how many the run has now.
    is_new: False where the project held this very run under this name.
    unordered: queries whose lines were not in the order of their ranks, and were sorted.
    against_scores: queries whose ranks contradict their scores; the ranks count.
    gaps: queries in whose ranks some are missing, counted from 1 or 0. Scores order them, else ranks.
    mapped: ids that BEIR and Hugging Face exports prefix where queries and documents share ids: 'q-1' is '1';
        and those that TREC exports encode: 'a%20b' is 'a b'.
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
    gaps: int
    left_out: dict[str, int]
    unknown: dict[str, list[str]]
    mapped: int

    @property
    def outcome(self) -> ImportOutcome:
        """What the import did, in figures and sentences."""
        places = f"{pluralize(self.entries, 'place')} for {pluralize(self.queries, 'query', 'queries')}"
        sentence = f"Nothing changed: the project has this run {self.name!r} with {places}."
        if self.is_new:
            sentence = f"Imported the run {self.name!r}: {places}. A pool names it as run:{self.name}."
        figures = {"places": self.entries, "queries": self.queries}
        return ImportOutcome(self.is_new, sentence, "lines", figures, self.left_out, list(self._remarks()))

    def _remarks(self) -> Iterator[str]:
        yield f"Read as {self.format}. {fields_used(self.fields)}"
        if self.mapped:
            yield f"{self.mapped:,} ids are prefixed or encoded, as in exports, and were mapped back."
        if self.unordered:
            singular = "query was not in the order of its ranks and was"
            many = "queries were not in the order of their ranks and were"
            yield f"{pluralize(self.unordered, singular, many)} reordered."
        if self.gaps:
            order = "score, as in trec_eval" if self.fields.score else "rank"
            yield (
                f"Note: for {pluralize(self.gaps, 'query', 'queries')} ranks are missing. These lists are "
                f"ordered by {order}. Compare the number of places with the original if lines may have been "
                "lost."
            )
        if self.against_scores:
            yield (
                f"Note: for {pluralize(self.against_scores, 'query', 'queries')} the scores contradict the "
                "ranks. The ranks count here; trec_eval would go by the scores."
            )


def import_run(
    store: Store,
    path: Path | RunFile,
    name: str,
    fields: RunFields | None = None,
    layout: FileLayout | None = None,
    *,
    skip_unknown: bool = False,
    skip_repeated: bool = False,
    topics: Path | None = None,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
) -> RunImport:
    """Store a file's run under a name, in one transaction. The same run again changes nothing.

    Parameters
    ----------
    path: or the file as it was opened; `fields` and `layout` are its own then.
    layout: its format is out of `run_files.FORMATS`; None is found from the file's name or beginning.
    skip_unknown: leave out, and count, lines whose query or document the project does not have.
    skip_repeated: of a document that a query names several times, keep the best place and count the others.
    topics: a table of id and text, where the file has ids of its own.

    Raises
    ------
    InputError: the name or the file cannot be used; all problems of the file together.
    RefusedError: there is no corpus, or another run has the name.
    """
    check_name(name)
    file = path if isinstance(path, RunFile) else RunFile(path, fields, layout, progress)
    documents = KnownDocuments(partial(current_versions, store), partial(ids_alike, store))
    with store.reading() as cursor:
        known = KnownQueries.read(cursor)
    known = with_topics(known, topics, progress)
    reader = _RunReader(file, known, documents, skip_unknown, skip_repeated)
    entries = reader.read()
    run = run_of(name, file.source, entries)
    with store.transaction(appends=True) as cursor:
        is_new = keep_run(cursor, run, entries, dict(reader.left_out), author)
    return RunImport(
        name=name,
        run_id=run.run_id,
        queries=len({entry.query_id for entry in entries}),
        entries=len(entries),
        is_new=is_new,
        format=file.format,
        fields=file.fields,
        unordered=reader.unordered,
        against_scores=reader.against_scores,
        gaps=reader.gaps,
        left_out=dict(reader.left_out),
        unknown=reader.unknown.names,
        mapped=len(reader.lines.mapped),
    )


class _RunReader:
    """One reading of one run: entries out, problems to its file, the rest counted."""

    def __init__(
        self,
        file: RunFile,
        queries: KnownQueries,
        documents: KnownDocuments,
        skip_unknown: bool,
        skip_repeated: bool,
    ) -> None:
        self._problems = file.problems
        self._documents = documents
        self._skip_repeated = skip_repeated
        known_names = {UNKNOWN_QUERY: queries.alike, UNKNOWN_DOCUMENT: documents.alike}
        self.unknown = UnknownNames(file.problems, _WAYS_OUT, known_names, skip_unknown)
        self.lines = RunLines(file, queries, documents, self.unknown.note)
        self._by_rank = file.fields.rank is not None
        self._by_score = file.fields.score is not None
        self.unordered = 0
        self.against_scores = 0
        self.gaps = 0
        self.left_out: Counter[str] = Counter()

    def read(self) -> list[RunEntry]:
        """The entries, by query id and rank; raises what was wrong with the file."""
        lists: defaultdict[str, list[RunRow]] = defaultdict(list)
        with suppress(InputError):  # noted with the file's problems: raised below with what else is found
            for line in self.lines:
                lists[line.query].append(line)
        entries = [entry for query_id in sorted(lists) for entry in self._entries(lists[query_id])]
        self.unknown.settle(self.left_out)
        self._problems.check()
        if not entries:
            reasons = ", ".join(f"{count:,} × {reason}" for reason, count in self.left_out.items())
            self._problems.stop(f"no place of a ranking could be taken from it: {reasons or 'it is empty'}")
        return entries

    def _entries(self, lines: list[RunRow]) -> Iterator[RunEntry]:
        """One query's places in order."""
        if any(self.lines.lacks_a_number(line) for line in lines):
            return  # what is missing was noted
        ordered = self._ordered(lines)
        best: dict[str, RunRow] = {}
        for rank, line in enumerate(ordered, 1):
            first = best.setdefault(line.document, line)
            if line.document not in self._documents:
                continue  # reported or counted as unknown
            if first is not line:
                self._repeated(line, first)
            else:
                yield RunEntry(line.query, line.document, rank, line.score)

    def _ordered(self, lines: list[RunRow]) -> list[RunRow]:
        if not self._by_rank:
            return _by_score(lines)
        ordered = sorted(lines, key=lambda line: (line.rank or 0, line.line))
        self._refuse_equal_ranks(ordered)
        if _has_gaps(ordered):
            self.gaps += 1
            return _by_score(lines) if self._by_score else ordered
        if ordered != lines:
            self.unordered += 1
        scores = [line.score for line in ordered if line.score is not None]
        if any(upper < lower for upper, lower in pairwise(scores)):
            self.against_scores += 1
        return ordered

    def _refuse_equal_ranks(self, ordered: list[RunRow]) -> None:
        for upper, lower in pairwise(ordered):
            if upper.rank == lower.rank:
                self._problems.add(
                    lower.line,
                    f"rank {lower.rank} again for query {lower.query!r}, after {self._problems.unit} "
                    f"{upper.line}",
                    "A rank belongs to one document of a query: write the file again, or rank it by score "
                    "alone.",
                )

    def _repeated(self, line: RunRow, first: RunRow) -> None:
        if self._skip_repeated:
            self.left_out[REPEATED] += 1
        else:
            self._problems.add(
                line.line,
                f"document {line.document!r} again for query {line.query!r}, "
                f"after {self._problems.unit} {first.line}",
                "A document has one place in a list: keep the best ones with --skip-repeated.",
            )


def _by_score(lines: list[RunRow]) -> list[RunRow]:
    """The highest score first, equal ones by document id, descending."""
    by_id = sorted(lines, key=lambda line: line.document, reverse=True)
    return sorted(by_id, key=lambda line: -(line.score or 0.0))


def _has_gaps(ordered: list[RunRow]) -> bool:
    """Whether ranks are missing from a list that is ordered by them; equal ones are no gap."""
    steps = ((upper.rank or 0, lower.rank or 0) for upper, lower in pairwise(ordered))
    return ordered[0].rank not in (0, 1) or any(lower - upper > 1 for upper, lower in steps)
