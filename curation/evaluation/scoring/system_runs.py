"""The run of a system, read from its file for a release.

Scores order a list, as in trec_eval; ranks order a list only where the file has no scores. Where ranks
contradict scores, the scores count, and goldgrade reports the number of queries. Documents that the release's
corpus lacks keep their places, because the system returned these documents, and are counted. Lines of queries
that are not evaluated are skipped, and the report counts skipped lines.

A list may consist of chunks, which are parts of documents (`run_chunks`). A document then has the score of
its best chunk (MaxP: Z. Dai and J. Callan (2019), Deeper text understanding for IR with contextual neural
language modeling, SIGIR), and the run keeps its chunks for the measures of chunks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from curation.core.arrow import ints_of, numbers, texts
from curation.core.characters import alike
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Floats, Ints
from curation.evaluation.scoring.chunk_map import read_chunk_map
from curation.evaluation.scoring.chunk_measures import RunChunks
from curation.evaluation.scoring.evidence import OPEN
from curation.evaluation.scoring.measure_names import Measure
from curation.evaluation.scoring.rankings import RunRows, ordered
from curation.evaluation.scoring.release import EvaluatedRelease
from curation.evaluation.scoring.run_chunks import ChunkCounts, ChunkLocation, LocatedChunks, locate_chunks
from curation.evaluation.scoring.sources import RunSource
from curation.ingest.importers.run_lines import RunLines
from curation.ingest.importers.topics import with_topics
from curation.ingest.importers.unknown_names import (
    UNKNOWN_DOCUMENT,
    UNKNOWN_QUERY,
    KnownDocuments,
    refuse_alike,
)
from curation.ingest.readers.fields import ChunkFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import OFFSETS
from curation.ingest.readers.run_columns import NameColumn, RunColumns
from curation.ingest.readers.run_files import RunFile, RunRow
from curation.people.seal_access import sealed_parts

OTHER_PART = "query of another part"
REPEATED = "a document again for the same query"
ONCE = "A document has one place in a list: correct the file, or keep the best place (--skip-repeated)."
ADD_TOPICS = "add a table of id and text that says which query each id is"


class ReadingOptions(NamedTuple):
    """Options for reading run files; see `ingest.readers.run_files`.

    Attributes
    ----------
    skip_repeated: whether a document that a list repeats keeps its best place; the other places are counted.
    parsed: path → the parsed file, so that several steps parse a file once; None parses each time.
    topics: a table of id and text, for runs whose query ids are not the release's.
    chunks: a map of chunks, for runs whose document ids are an index's ids of chunks.
    """

    fields: ChunkFields = ChunkFields()
    layout: FileLayout = FileLayout()
    skip_repeated: bool = False
    parsed: dict[Path, RunFile] | None = None
    topics: Path | None = None
    chunks: Path | None = None


@dataclass(frozen=True)
class SystemRun:
    """A run that was read for a release.

    Attributes
    ----------
    source: the name of the file.
    places: the number of documents that the run has for the evaluated queries.
    unknown_documents: the number of places whose documents the release's corpus lacks.
    against_scores: the number of queries whose ranks contradict their scores; the scores count.
    left_out: reason → number of lines.
    chunks: the counts of a run of chunks; None for a run of documents.
    unread: a sentence on columns that were not read.
    """

    name: str
    source: str
    rows: RunRows
    places: int
    unknown_documents: int
    against_scores: int
    left_out: dict[str, int]
    chunks: ChunkCounts | None = None
    unread: str = ""


def read_run(
    source: RunSource,
    release: EvaluatedRelease,
    options: ReadingOptions = ReadingOptions(),
    progress: Progress = silent,
) -> SystemRun:
    """Read a run.

    Raises
    ------
    InputError: the file cannot be read or understood, or lacks evaluated queries; the error lists all
    problems.
    """
    file = run_file(source.path, options, progress)
    known = with_topics(release.known, options.topics, progress)
    mapped = read_chunk_map(options.chunks)
    return _RunReading(file, replace(release, known=known), options.skip_repeated, mapped).read(source.name)


def with_whole_documents(rows: RunRows, release: EvaluatedRelease, measures: Sequence[Measure]) -> RunRows:
    """Add whole documents as chunks, where a run of documents is scored by a measure of chunks."""
    if rows.chunks or release.bodies is None or not any(measure.of_chunks for measure in measures):
        return rows
    documents = rows.documents
    ids, codes = documents.dictionary.to_pylist(), ints_of(documents.indices)
    start, end = np.zeros(len(codes), np.int64), release.bodies.lengths(ids)[codes]
    words, first = release.bodies.words(ids, codes, start, end)
    columns = (start, end, words, first, release.bodies.bounds)
    return rows._replace(chunks=_ordered_chunks(rows.query, rows.scores, documents, columns))


def _ordered_chunks(
    query: Ints, scores: Floats, documents: pa.DictionaryArray, columns: tuple[Ints, Ints, Ints, Ints, Ints]
) -> RunChunks:
    """Order chunks by query and score.

    Chunks with equal scores are in the order of documents, and chunks of one document in the order of the
    file.

    Parameters
    ----------
    columns: start, end, words, first_word and bounds.
    """
    order, _ = ordered(query, scores, ints_of(documents.indices), documents.dictionary)
    query = query[order]
    rank = np.arange(1, len(order) + 1) - np.searchsorted(query, query)
    start, end, words, first, bounds = columns
    places = start[order], end[order], words[order], first[order]
    return RunChunks(query, rank, documents.take(numbers(order)), *places, bounds)


def run_file(path: Path, options: ReadingOptions, progress: Progress = silent) -> RunFile:
    """Open a run file, or return the file that an earlier step parsed.

    Raises
    ------
    InputError: the file cannot be read or understood.
    """
    if options.parsed is None or path not in options.parsed:
        file = RunFile(path, options.fields, options.layout, progress)
        if options.parsed is None or not file.keep_columns():
            return file
        options.parsed[path] = file
    return options.parsed[path]


class _Places(NamedTuple):
    """The N lines of evaluated queries.

    Attributes
    ----------
    line, query: the number of each line, and the position of its query, shape (N,).
    documents: N ids, each once in the dictionary.
    scores: shape (N,); for a file without scores, the negative ranks.
    ranks: shape (N,); None unless the file has ranks and scores.
    chunk: field of a chunk → N texts.
    """

    line: Ints
    query: Ints
    documents: pa.DictionaryArray
    scores: Floats
    ranks: Ints | None
    chunk: Mapping[str, pa.Array]


class _RunReading:
    """The reading of one run file, which collects problems and counts."""

    def __init__(
        self,
        file: RunFile,
        release: EvaluatedRelease,
        skip_repeated: bool,
        mapped: Mapping[str, ChunkLocation],
    ) -> None:
        self._file, self._mapped = file, mapped
        self._release = release
        self._skip_repeated = skip_repeated
        self._left_out: Counter[str] = Counter()
        self._unknown_queries: dict[str, int] = {}
        self._documents_alike = partial(alike, known=release.documents)
        documents = KnownDocuments(release.documents.intersection, self._documents_alike)
        self._lines = RunLines(file, release.known, documents, self._note_unknown_query)
        self._place = {query: number for number, query in enumerate(release.qrels.query_ids)}

    def read(self, name: str) -> SystemRun:
        problems, bodies = self._file.problems, self._release.bodies
        places = self._places_of_evaluated(self._lines.columns() or self._columns_of_lines())
        refuse_alike(UNKNOWN_QUERY, self._unknown_queries, self._release.known.alike, problems)
        problems.check()
        if not len(places.query):
            problems.stop(*self._why_nothing_was_read())
        located = (
            None
            if bodies is None
            else locate_chunks(
                *(places.line, places.documents, places.chunk, bodies, self._mapped, problems),
                scored_lists=(places.query, places.scores),
            )
        )
        chunks = None
        if located is not None:
            places = places._replace(documents=located.documents)
            chunks = self._distinct_chunks(places, located)
        kept = self._best_places(places, of_chunks=chunks is not None)
        problems.check()
        documents = places.documents.take(numbers(kept))
        names = documents.dictionary.to_pylist()
        known = np.fromiter(map(self._release.documents.__contains__, names), bool, len(names))
        unknown = np.flatnonzero(~known[ints_of(documents.indices)])
        first = {documents[row].as_py(): int(places.line[kept[row]]) for row in unknown[::-1].tolist()}
        refuse_alike(UNKNOWN_DOCUMENT, first, self._documents_alike, problems)
        problems.check()
        if len(unknown) == len(kept):
            problems.stop(
                f"no document of the run, such as {documents[0].as_py()!r}, is in the release's corpus, "
                "which has "
                f"{min(self._release.documents, default='none')!r}",
                "Name the field with the documents' ids with --map document=COLUMN, or evaluate a run over "
                "this corpus.",
            )
        return SystemRun(
            name=name,
            source=self._file.source,
            rows=RunRows(places.query[kept], documents, places.scores[kept], chunks),
            places=len(kept),
            unknown_documents=len(unknown),
            against_scores=_queries_against_scores(places),
            left_out=dict(self._left_out),
            chunks=located and located.counts,
            unread=self._file.unread,
        )

    def _distinct_chunks(self, places: _Places, located: LocatedChunks) -> RunChunks:
        """Keep each chunk once in a query's list, at its best place; note repeated chunks."""
        again = _repeated_chunks(places, located)
        for row in [] if self._skip_repeated else again.tolist():
            self._file.problems.add(
                int(places.line[row]),
                f"the chunk {located.start[row]}-{located.end[row]} of document "
                f"{places.documents[row].as_py()!r} again for query "
                f"{self._release.qrels.query_ids[places.query[row]]!r}",
                "A chunk has one place in a list: correct the file, or keep the best place "
                "(--skip-repeated).",
            )
        if len(again):
            self._left_out[REPEATED] += len(again)
        kept = np.delete(np.arange(len(places.line)), again)
        documents = places.documents.take(numbers(kept))
        assert self._release.bodies is not None
        places_of = located.start[kept], located.end[kept], located.words[kept], located.first_word[kept]
        columns = (*places_of, self._release.bodies.bounds)
        return _ordered_chunks(places.query[kept], places.scores[kept], documents, columns)

    def _places_of_evaluated(self, columns: RunColumns) -> _Places:
        """Keep the lines of evaluated queries."""
        of_name = np.array([self._place.get(query, -1) for query in columns.queries.values], np.int64)
        query = of_name[columns.queries.codes]
        chosen = query >= 0
        if not chosen.all():
            self._left_out[OTHER_PART] += int((~chosen).sum())
        document = columns.documents.codes[chosen]
        ids = texts(columns.documents.values).dictionary_encode()  # two names may mean one document
        documents = pa.DictionaryArray.from_arrays(numbers(ints_of(ids.indices)[document]), ids.dictionary)
        ranks = None if columns.ranks is None else columns.ranks[chosen]
        if columns.scores is None:
            scores, ranks = -np.asarray(ranks, np.float64), None
        else:
            scores = columns.scores[chosen]
        rows = numbers(np.flatnonzero(chosen))
        chunk = {name: column.take(rows) for name, column in columns.chunk.items()}
        return _Places(columns.lines[chosen], query[chosen], documents, scores, ranks, chunk)

    def _columns_of_lines(self) -> RunColumns:
        """Read the file line by line into columns, and note the problems of lines."""
        lines: list[RunRow] = []
        with suppress(InputError):  # noted with the file's problems: raised with what else is found
            lines += (line for line in self._lines if not self._lines.lacks_a_number(line))
        fields, each = self._file.fields, np.arange(len(lines))
        return RunColumns(
            lines=np.array([line.line for line in lines], np.int64),
            queries=NameColumn(each, [line.query for line in lines]),
            documents=NameColumn(each, [line.document for line in lines]),
            ranks=np.array([line.rank or 0 for line in lines], np.int64) if fields.rank else None,
            scores=np.array([line.score or 0.0 for line in lines]) if fields.score else None,
            chunk={
                name: texts([line.chunk[index] for line in lines])
                for index, name in enumerate(self._file.chunk_columns)
            },
        )

    def _best_places(self, places: _Places, of_chunks: bool) -> Ints:
        """Keep the line with the best place of each document; other lines are chunks, problems, or
        counted."""
        codes = ints_of(places.documents.indices)
        pairs = places.query * (int(codes.max(initial=0)) + 1) + codes
        if np.diff(np.sort(pairs)).all():
            return np.arange(len(pairs))
        by_score = np.argsort(-places.scores, kind="stable")
        _, first, index = np.unique(pairs[by_score], return_index=True, return_inverse=True)
        best = by_score[first]
        if self._skip_repeated and not of_chunks:
            self._left_out[REPEATED] += len(pairs) - len(best)
        elif not of_chunks:
            for row, at in sorted(zip(by_score.tolist(), best[index.ravel()].tolist(), strict=True)):
                if row != at:
                    self._refuse_repeated(places, row, at)
        return np.sort(best)

    def _refuse_repeated(self, places: _Places, row: int, at: int) -> None:
        query = self._release.qrels.query_ids[places.query[row]]
        other = f"{self._file.problems.unit} {places.line[at]}"
        self._file.problems.add(
            int(places.line[row]),
            f"document {places.documents[row].as_py()!r} again for query {query!r}, also in {other}",
            f"The file has {self._file.unread}" if OFFSETS in self._file.unread else ONCE,
        )

    def _note_unknown_query(self, what: str, name: str, line: int) -> None:
        if what == UNKNOWN_QUERY:
            self._left_out[UNKNOWN_QUERY] += 1
            self._unknown_queries.setdefault(name, line)

    def _why_nothing_was_read(self) -> tuple[str, str]:
        """Explain why no line could be used, and what to do."""
        if not self._left_out:
            return (
                "holds no ranked document: the file is empty, or has only a header or comments",
                "Expected one line for each document of each query.",
            )
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in self._left_out.items())
        parts = ", ".join(self._release.parts)
        shown = ", ".join(map(repr, sorted(self._unknown_queries)[:3]))
        example = (
            f" such as {shown}, where the release has {self._release.qrels.query_ids[0]!r}" if shown else ""
        )
        return (
            f"the file has no query of {parts} of the release {self._release.name!r}: {reasons}{example}",
            "Choose another part (--part), name the field with the queries (--map query=COLUMN), or "
            f"{ADD_TOPICS} (--topics FILE; `{self._topics_command()}` writes the release's own topics).",
        )

    def _topics_command(self) -> str:
        """Name the command that writes the topics of the release with the release's own ids."""
        sealed = sealed_parts(self._release.frozen.header) if self._release.frozen else ()
        without = "".join(f" --without-grades {part}" for part in sealed)
        return f"goldgrade export {self._release.name} --format trec{without} --out topics"


def _repeated_chunks(places: _Places, located: LocatedChunks) -> Ints:
    """Find the lines with a chunk that a better place of the query's list also has."""
    codes = ints_of(places.documents.indices)
    key = (places.query * (int(codes.max(initial=0)) + 1) + codes) * OPEN + located.start
    if np.diff(np.sort(key)).all():  # a key may wrap around: then different chunks look alike
        return np.zeros(0, np.int64)
    by_score = np.argsort(-places.scores, kind="stable")
    keys = [column[by_score] for column in (located.end, located.start, codes, places.query)]
    order = np.lexsort(keys)
    same = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys])
    return np.sort(by_score[order[1:][same]])


def _queries_against_scores(places: _Places) -> int:
    """Count the queries with a score that rises with the rank."""
    if places.ranks is None:
        return 0
    order = np.lexsort((places.ranks, places.query))
    query = places.query[order]
    rises = (np.diff(places.scores[order]) > 0) & (np.diff(query) == 0)
    return len(np.unique(query[1:][rises]))
