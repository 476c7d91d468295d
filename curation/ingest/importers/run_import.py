"""Importing a run: the ranked lists of another system, checked and stored under a name.

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

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import canonical_json, digest
from curation.ingest.importers.queries import KnownQueries
from curation.ingest.importers.run_lines import RunLine, RunLines
from curation.ingest.importers.runs import Run, RunEntry, stored_runs
from curation.ingest.importers.topics_file import with_topics
from curation.ingest.importers.unknown_names import (
    UNKNOWN_DOCUMENT,
    UNKNOWN_QUERY,
    KnownDocuments,
    UnknownNames,
)
from curation.ingest.readers.fields import RunFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.run_files import RunFile
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now
from curation.store.documents import current_versions, ids_alike

REPEATED = "a document again for the same query"
_NAME = re.compile(r"[\w.+@-]+")
_SKIP_UNKNOWN = "Or leave such lines out with --skip-unknown."
_WAYS_OUT = {
    UNKNOWN_QUERY: "Import the queries first (`goldgrade import queries PATH`), or name the right column "
    "with "
    f"--query-field: query_id is looked up by id, query_text by text, query by either. {_SKIP_UNKNOWN}",
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
    run_id, rows = identified(name, entries)
    with store.transaction(appends=True) as cursor:
        is_new = keep_run(cursor, Run(run_id, name, file.source), rows, dict(reader.left_out), author)
    return RunImport(
        *(name, run_id, len({entry.query_id for entry in entries}), len(entries), is_new),
        *(file.format, file.fields, reader.unordered, reader.against_scores, reader.gaps),
        *(dict(reader.left_out), reader.unknown.names, len(reader.mapped)),
    )


def check_name(name: str) -> None:
    """Refuse what cannot name a run.

    Raises
    ------
    InputError: it has other signs than those that a list of systems can have.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a run: a pool calls it run:NAME in a list.",
            way_out="Use letters, digits, dots, dashes, underscores and @, such as --name bm25-tuned.",
        )


def keep_run(
    cursor: Cursor, run: Run, entries: Sequence[RunEntry], left_out: dict[str, int], author: str
) -> bool:
    """Write a run; False where it is there already.

    Raises
    ------
    RefusedError: another run has its name.
    """
    held = {known.name: known for known in stored_runs(cursor)}.get(run.name)
    if held is not None and held.run_id != run.run_id:
        raise RefusedError(
            f"The project has another run {run.name!r} (from {held.source}), on which pools may rest. "
            "Give this one a name of its own."
        )
    if held is None:
        cursor.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", [*run, canonical_json(left_out), utc_now()])
        append_rows(cursor, "run_entries", entries)
        record_event(
            cursor, "import run", {**run._asdict(), "entries": len(entries), "left out": left_out}, author
        )
    return held is None


def identified(name: str, entries: Sequence[RunEntry]) -> tuple[str, list[RunEntry]]:
    """The id of a run of that name, and its entries with it."""
    run_id = digest("run", name, [entry[1:] for entry in entries])
    return run_id, [entry._replace(run_id=run_id) for entry in entries]


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
        self._lines = RunLines(file, queries, documents, self.unknown.note)
        self._by_rank = file.fields.rank is not None
        self._by_score = file.fields.score is not None
        self.unordered = 0
        self.against_scores = 0
        self.gaps = 0
        self.left_out: Counter[str] = Counter()

    @property
    def mapped(self) -> set[str]:
        """Names that were known without the prefix of an export."""
        return self._lines.mapped

    def read(self) -> list[RunEntry]:
        """The entries, by query id and rank; raises what was wrong with the file."""
        lists: defaultdict[str, list[RunLine]] = defaultdict(list)
        with suppress(InputError):  # noted with the file's problems: raised below with what else is found
            for line in self._lines:
                lists[line.query_id].append(line)
        entries = [entry for query_id in sorted(lists) for entry in self._entries(lists[query_id])]
        self.unknown.settle(self.left_out)
        self._problems.check()
        if not entries:
            reasons = ", ".join(f"{count:,} × {reason}" for reason, count in self.left_out.items())
            self._problems.stop(f"no place of a ranking could be taken from it: {reasons or 'it is empty'}")
        return entries

    def _entries(self, lines: list[RunLine]) -> Iterator[RunEntry]:
        """One query's places in order."""
        if any(self._lines.lacks_a_number(line) for line in lines):
            return  # what is missing was noted
        ordered = self._ordered(lines)
        best: dict[str, RunLine] = {}
        for place, line in enumerate(ordered, 1):
            first = best.setdefault(line.document_id, line)
            if line.document_id not in self._documents:
                continue  # reported or counted as unknown
            if first is not line:
                self._repeated(line, first)
            else:
                yield RunEntry("", line.query_id, line.document_id, place, line.score)

    def _ordered(self, lines: list[RunLine]) -> list[RunLine]:
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

    def _refuse_equal_ranks(self, ordered: list[RunLine]) -> None:
        for upper, lower in pairwise(ordered):
            if upper.rank == lower.rank:
                self._problems.add(
                    lower.line,
                    f"rank {lower.rank} again for query {lower.query_id!r}, after {self._problems.unit} "
                    f"{upper.line}",
                    "A rank belongs to one document of a query: write the file again, or rank it by score "
                    "alone.",
                )

    def _repeated(self, line: RunLine, first: RunLine) -> None:
        if self._skip_repeated:
            self.left_out[REPEATED] += 1
        else:
            self._problems.add(
                line.line,
                f"document {line.document_id!r} again for query {line.query_id!r}, "
                f"after {self._problems.unit} {first.line}",
                "A document has one place in a list: keep the best ones with --skip-repeated.",
            )


def _by_score(lines: list[RunLine]) -> list[RunLine]:
    """The highest score first, equal ones by document id, descending."""
    by_id = sorted(lines, key=lambda line: line.document_id, reverse=True)
    return sorted(by_id, key=lambda line: -(line.score or 0.0))


def _has_gaps(ordered: list[RunLine]) -> bool:
    """Whether ranks are missing from a list that is ordered by them; equal ones are no gap."""
    steps = ((upper.rank or 0, lower.rank or 0) for upper, lower in pairwise(ordered))
    return ordered[0].rank not in (0, 1) or any(lower - upper > 1 for upper, lower in steps)
