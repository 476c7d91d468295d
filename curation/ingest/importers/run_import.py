"""Import of a run: each query's ranked list from a system is checked, and the run is stored under a name.

The ranked list of a query is ordered by ranks, or by scores if the run has no ranks. Equal scores are ordered
by document id, descending, as in trec_eval, so that the pooled list is the measured list. Scores are stored
unchanged; zero and negative scores are valid.

Ranks may have gaps, because NIST publishes runs that were cut. A list with gaps is ordered by scores, as in
trec_eval, or by ranks if the run has no scores. The import counts lists with gaps, because lines of the run
may have been lost. A repeated rank is refused, because two ranked lists may be mixed. The lines of a run may
be in any order. Ranks that contradict scores are counted, because systems that fuse lists write such runs;
trec_eval would order these lists by score.
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
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.run_lines import RunLines
from curation.ingest.importers.topics import add_topic_ids
from curation.ingest.importers.unknown_names import UNKNOWN_DOCUMENT, UNKNOWN_QUERY, KnownIds, UnknownNames
from curation.ingest.outcome import ImportOutcome, describe_fields
from curation.ingest.readers.fields import RunFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.run_files import RunFile, RunRow
from curation.ingest.stored_runs import RunEntry, check_run_name, store_run
from curation.store import COMMAND_LINE, Store
from curation.store.documents import current_versions, ids_alike

REPEATED = "repeated document of a query"
_SKIP_UNKNOWN = "Or leave out lines with unknown names with --skip-unknown."
_WAYS_OUT = {
    UNKNOWN_QUERY: "Import the queries first (`goldgrade import queries PATH`), or name the right column "
    "with --map query=COLUMN: query_id holds ids, query_text texts, and query ids or texts. "
    f"{_SKIP_UNKNOWN}",
    UNKNOWN_DOCUMENT: f"Import the corpus that the system searched first. {_SKIP_UNKNOWN}",
}


@dataclass(frozen=True)
class RunImport:
    """The result of importing a run.

    Attributes
    ----------
    queries, entries: number of queries, and number of ranked documents, in the stored run.
    is_new: False if the project already had the same run under this name.
    unordered: number of queries whose lines had to be sorted by rank.
    against_scores: number of queries whose ranks contradict their scores; their lists are ordered by rank.
    gaps: number of queries with missing ranks.
    mapped: number of ids from exports that were mapped back to the project's ids: BEIR and Hugging Face
    exports write 'q-1' for '1', and TREC exports 'a%20b' for 'a b'.
    left_out: number of lines that were left out for each reason. unknown: names of unknown queries and
    documents.
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
        """Return the outcome of the run's import as counts and sentences."""
        places = f"{pluralize(self.entries, 'place')} for {pluralize(self.queries, 'query', 'queries')}"
        sentence = f"Nothing changed: the project already has this run {self.name!r} with {places}."
        if self.is_new:
            reference = f"A pool refers to the run as run:{self.name}."
            sentence = f"Imported the run {self.name!r}: {places}. {reference}"
        figures = {"places": self.entries, "queries": self.queries}
        return ImportOutcome(self.is_new, sentence, "lines", figures, self.left_out, list(self._remarks()))

    def _remarks(self) -> Iterator[str]:
        yield f"Read as {self.format}. {describe_fields(self.fields)}"
        if self.mapped:
            yield (
                f"{self.mapped:,} ids were prefixed or encoded, as in exports. goldgrade mapped these "
                "ids back."
            )
        if self.unordered:
            singular = "query was not in the order of its ranks and was"
            many = "queries were not in the order of their ranks and were"
            yield f"{pluralize(self.unordered, singular, many)} reordered."
        if self.gaps:
            order = "score, as in trec_eval" if self.fields.score else "rank"
            yield (
                f"Note: the lists of {pluralize(self.gaps, 'query', 'queries')} have missing ranks. These "
                f"lists were ordered by {order}. Compare the number of results with the original if lines "
                "may have been lost."
            )
        if self.against_scores:
            yield (
                f"Note: for {pluralize(self.against_scores, 'query', 'queries')} the scores contradict the "
                "ranks. The lists were ordered by rank; trec_eval would order them by score."
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
    """Store a file's run under a name, in one transaction. A second import of the same run changes nothing.

    Parameters
    ----------
    path: path of the file, or an open `RunFile`, which has its own fields and layout. layout: layout of the
    file, with a format of `run_files.FORMATS`; without a format, the file's name or beginning shows the
    format.
    skip_unknown: whether to leave out lines with an unknown query or document.
    skip_repeated: whether to keep the best rank of a repeated document, and count the other ranks as left
    out.
    topics: path of a table of topic ids and texts, for a run whose query ids the project does not have.

    Raises
    ------
    InputError: the name or the file cannot be used; the error lists all problems of the file.
    RefusedError: there is no corpus, or a different run has the name.
    """
    check_run_name(name)
    file = path if isinstance(path, RunFile) else RunFile(path, fields, layout, progress)
    documents = KnownIds(partial(current_versions, store), partial(ids_alike, store))
    with store.reading() as cursor:
        known = KnownQueries.read(cursor)
    known = add_topic_ids(known, topics, progress)
    reader = _RunReader(file, known, documents, skip_unknown, skip_repeated)
    entries = reader.read()
    with store.transaction(appends=True) as cursor:
        run, is_new = store_run(cursor, name, file.source, entries, dict(reader.left_out), author)
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
    """A reader of one run, which returns the entries and collects problems and lines left out."""

    def __init__(
        self,
        file: RunFile,
        queries: KnownQueries,
        documents: KnownIds,
        skip_unknown: bool,
        skip_repeated: bool,
    ) -> None:
        self._problems = file.problems
        self._documents = documents
        self._skip_repeated = skip_repeated
        known_names = {UNKNOWN_QUERY: queries.alike, UNKNOWN_DOCUMENT: documents.alike}
        self.unknown = UnknownNames(file.problems, _WAYS_OUT, known_names, skip_unknown)
        self.lines = RunLines(file, queries, documents, self.unknown.note)
        self._fields = file.fields
        self.unordered = 0
        self.against_scores = 0
        self.gaps = 0
        self.left_out: Counter[str] = Counter()

    def read(self) -> list[RunEntry]:
        """Return the entries of the run by query id and rank; raise an error with all problems."""
        lists: defaultdict[str, list[RunRow]] = defaultdict(list)
        with suppress(InputError):  # recorded in the file's problems and raised with the other problems
            for line in self.lines:
                lists[line.query].append(line)
        entries = [entry for query_id in sorted(lists) for entry in self._make_entries(lists[query_id])]
        self.unknown.report(self.left_out)
        self._problems.check()
        if not entries:
            reasons = ", ".join(f"{count:,} × {reason}" for reason, count in self.left_out.items())
            self._problems.stop(f"no ranked document was found in the file: {reasons or 'the file is empty'}")
        return entries

    def _make_entries(self, lines: list[RunRow]) -> Iterator[RunEntry]:
        """Yield the entries of a query's ranked list, in order."""
        if any(self.lines.lacks_number(line) for line in lines):
            return  # missing numbers were recorded as problems
        ordered = self._order_lines(lines)
        first_lines: dict[str, RunRow] = {}
        for rank, line in enumerate(ordered, 1):
            first_line = first_lines.setdefault(line.document, line)
            if line.document not in self._documents:
                continue  # reported or counted as unknown
            if first_line is not line:
                self._note_repeated(line, first_line)
            else:
                yield RunEntry(line.query, line.document, rank, line.score)

    def _order_lines(self, lines: list[RunRow]) -> list[RunRow]:
        if self._fields.rank is None:
            return _sort_by_score(lines)
        by_rank = sorted(lines, key=lambda line: (line.rank or 0, line.line))
        self._refuse_equal_ranks(by_rank)
        if _has_gaps(by_rank):
            self.gaps += 1
            return _sort_by_score(lines) if self._fields.score else by_rank
        if by_rank != lines:
            self.unordered += 1
        scores = [line.score for line in by_rank if line.score is not None]
        if any(upper < lower for upper, lower in pairwise(scores)):
            self.against_scores += 1
        return by_rank

    def _refuse_equal_ranks(self, ordered: list[RunRow]) -> None:
        for upper, lower in pairwise(ordered):
            if upper.rank == lower.rank:
                self._problems.add(
                    lower.line,
                    f"rank {lower.rank} is repeated for query {lower.query!r}, after {self._problems.unit} "
                    f"{upper.line}",
                    "Two documents of a query cannot have the same rank: correct the file, or "
                    "import scores without ranks.",
                )

    def _note_repeated(self, line: RunRow, first: RunRow) -> None:
        if self._skip_repeated:
            self.left_out[REPEATED] += 1
        else:
            self._problems.add(
                line.line,
                f"document {line.document!r} is repeated for query {line.query!r}, "
                f"after {self._problems.unit} {first.line}",
                "A list may contain a document only once. To keep the best rank, add --skip-repeated.",
            )


def _sort_by_score(lines: list[RunRow]) -> list[RunRow]:
    """Sort lines by score, descending, and lines with equal scores by document id, descending."""
    by_id = sorted(lines, key=lambda line: line.document, reverse=True)
    return sorted(by_id, key=lambda line: -(line.score or 0.0))


def _has_gaps(ordered: list[RunRow]) -> bool:
    """Return whether ranks are missing from a list ordered by rank; equal ranks do not count as a gap."""
    neighbours = ((upper.rank or 0, lower.rank or 0) for upper, lower in pairwise(ordered))
    return ordered[0].rank not in (0, 1) or any(lower - upper > 1 for upper, lower in neighbours)
