"""A system's run, read from its file for a release.

Scores order a list, as in trec_eval; ranks order a list only where the file has no scores. Where ranks
contradict scores, the scores count, and goldgrade reports the number of queries. Documents that the release's
corpus lacks keep their ranks, because the system returned these documents, and are counted. Lines of queries
that are not evaluated are skipped, and the report counts skipped lines.

A list may consist of chunks, which are parts of documents (`run_chunks`). A document then has the score of
its best chunk (MaxP: Z. Dai and J. Callan (2019), Deeper text understanding for IR with contextual neural
language modeling, SIGIR), and the run keeps its chunks for the measures of chunks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from curation.core.arrow import int_array, string_array, to_ints
from curation.core.characters import find_lookalikes
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Floats, Ints
from curation.evaluation.scoring.chunk_map import read_chunk_map
from curation.evaluation.scoring.chunk_measures import RunChunks
from curation.evaluation.scoring.evidence import OPEN
from curation.evaluation.scoring.rankings import RunRows, order_chunks
from curation.evaluation.scoring.release import EvaluatedRelease
from curation.evaluation.scoring.run_chunks import ChunkCounts, LocatedChunks, locate_chunks
from curation.evaluation.scoring.system_files import SystemFile
from curation.ingest.importers import unknown_names
from curation.ingest.importers.run_lines import RunLines
from curation.ingest.importers.topics import add_topic_ids
from curation.ingest.importers.unknown_names import UNKNOWN_DOCUMENT, UNKNOWN_QUERY, KnownIds
from curation.ingest.readers.fields import ChunkFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import OFFSETS
from curation.ingest.readers.run_columns import NameColumn, RunColumns
from curation.ingest.readers.run_files import RunFile, RunRow
from curation.people.seal_access import list_sealed_parts

OTHER_PART = "query of another part"
REPEATED = "repeated document of a query"
ONCE = "A list may contain a document only once: correct the file, or keep the best rank (--skip-repeated)."
CHUNK_ONCE = (
    "A list may contain a chunk only once: correct the file, or keep the best rank (--skip-repeated)."
)
ADD_TOPICS = "add a table with the id and text of each query"


class ReadingOptions(NamedTuple):
    """Options for reading run files; see `ingest.readers.run_files`.

    Attributes
    ----------
    skip_repeated: whether a document that a list repeats keeps its best rank; the other lines are counted.
    parsed_files: path → the parsed file, so that several steps parse a file once; None parses each time.
    topics: a table of id and text, for runs whose query ids are not the release's.
    chunk_map: a map of chunks, for runs whose document ids are an index's ids of chunks.
    """

    fields: ChunkFields = ChunkFields()
    layout: FileLayout = FileLayout()
    skip_repeated: bool = False
    parsed_files: dict[Path, RunFile] | None = None
    topics: Path | None = None
    chunk_map: Path | None = None


@dataclass(frozen=True)
class SystemRun:
    """A run as read from its file, limited to the evaluated queries of a release.

    Attributes
    ----------
    source: the name of the file.
    places: the number of documents in the lists of the evaluated queries.
    unknown_documents: the number of these documents that the release's corpus lacks.
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
    source: SystemFile,
    release: EvaluatedRelease,
    options: ReadingOptions = ReadingOptions(),
    progress: Progress = silent,
) -> SystemRun:
    """Read a system's run from its file.

    Raises
    ------
    InputError: the file cannot be read or understood, or lacks evaluated queries; the error lists all
        problems.
    """
    file = open_run_file(source, options, progress)
    known = add_topic_ids(release.known, options.topics, progress)
    return _SystemRunReader(file, replace(release, known=known), options).read(source.name)


def open_run_file(source: SystemFile, options: ReadingOptions, progress: Progress = silent) -> RunFile:
    """Open a run file, or return it as parsed by an earlier operation.

    Raises
    ------
    InputError: the file cannot be read or understood.
    """
    path = source.path
    if options.parsed_files is None or path not in options.parsed_files:
        file = RunFile(path, source.fields or options.fields, options.layout, progress)
        if options.parsed_files is None or not file.keep_columns():
            return file
        options.parsed_files[path] = file
    return options.parsed_files[path]


class _RunLines(NamedTuple):
    """The N lines of a run file that are about evaluated queries.

    Attributes
    ----------
    line, query: the number of each line, and the index of its query, shape (N,).
    documents: N ids, each once in the dictionary.
    scores: shape (N,); for a file without scores, the negative ranks.
    ranks: shape (N,); None unless the file has ranks and scores.
    cells: field of a chunk → N texts.
    """

    line: Ints
    query: Ints
    documents: pa.DictionaryArray
    scores: Floats
    ranks: Ints | None
    cells: Mapping[str, pa.Array]

    @property
    def pair_codes(self) -> Ints:
        """Compute one number for each line's (query, document) pair, shape (N,)."""
        codes = to_ints(self.documents.indices)
        return self.query * (int(codes.max(initial=0)) + 1) + codes


class _SystemRunReader:
    """A reader of one run file that also collects problems and counts."""

    def __init__(self, file: RunFile, release: EvaluatedRelease, options: ReadingOptions) -> None:
        self._file, self._problems, self._release = file, file.problems, release
        self._chunk_map = read_chunk_map(options.chunk_map)
        self._skip_repeated = options.skip_repeated
        self._left_out: Counter[str] = Counter()
        self._unknown_queries: dict[str, int] = {}
        self._has_corpus = release.documents is not None
        self._known_documents = release.documents or frozenset(release.qrels.documents.to_pylist())
        self._find_similar_documents = partial(find_lookalikes, known=self._known_documents)
        documents = KnownIds(self._known_documents.intersection, self._find_similar_documents)
        self._lines = RunLines(file, release.known, documents, self._note_unknown_query)
        self._query_indexes = {query: index for index, query in enumerate(release.qrels.query_ids)}

    def read(self, name: str) -> SystemRun:
        """Read the run from its file, and give the system this name."""
        lines = self._select_evaluated_lines(self._lines.columns() or self._read_lines())
        unknown_names.refuse_similar_names(
            UNKNOWN_QUERY, self._unknown_queries, self._release.known.alike, self._problems
        )
        self._problems.check()
        if not len(lines.query):
            self._problems.stop(*self._explain_empty_run())
        located = self._locate(lines)
        chunks = None
        if located is not None:
            lines = lines._replace(documents=located.documents)
            chunks = self._remove_repeated_chunks(lines, located)
        rows = self._choose_best_lines(lines, has_chunks=chunks is not None)
        self._problems.check()
        documents = lines.documents.take(int_array(rows))
        unknown_count = self._count_unknown_documents(documents, lines.line[rows])
        return SystemRun(
            name=name,
            source=self._file.source,
            rows=RunRows(lines.query[rows], documents, lines.scores[rows], chunks),
            places=len(rows),
            unknown_documents=unknown_count,
            against_scores=_count_queries_against_scores(lines),
            left_out=dict(self._left_out),
            chunks=located and located.counts,
            unread=self._file.unread,
        )

    def _select_evaluated_lines(self, columns: RunColumns) -> _RunLines:
        """Keep only the lines of the run file that are about evaluated queries."""
        indexes = np.array([self._query_indexes.get(name, -1) for name in columns.queries.values], np.int64)
        query = indexes[columns.queries.codes]
        is_evaluated = query >= 0
        if not is_evaluated.all():
            self._left_out[OTHER_PART] += int((~is_evaluated).sum())
        document = columns.documents.codes[is_evaluated]
        ids = string_array(columns.documents.values).dictionary_encode()  # two names may mean one document
        documents = pa.DictionaryArray.from_arrays(int_array(to_ints(ids.indices)[document]), ids.dictionary)
        ranks = None if columns.ranks is None else columns.ranks[is_evaluated]
        if columns.scores is None:
            scores = -np.asarray(ranks, np.float64)
            ranks = None
        else:
            scores = columns.scores[is_evaluated]
        rows = int_array(np.flatnonzero(is_evaluated))
        cells = {name: column.take(rows) for name, column in columns.chunk.items()}
        return _RunLines(columns.lines[is_evaluated], query[is_evaluated], documents, scores, ranks, cells)

    def _read_lines(self) -> RunColumns:
        """Read the run file line by line into columns, and record problems in the lines."""
        lines: list[RunRow] = []
        with suppress(InputError):  # reported with the file's other problems
            lines += (line for line in self._lines if not self._lines.lacks_number(line))
        fields, indexes = self._file.fields, np.arange(len(lines))
        return RunColumns(
            lines=np.array([line.line for line in lines], np.int64),
            queries=NameColumn(indexes, [line.query for line in lines]),
            documents=NameColumn(indexes, [line.document for line in lines]),
            ranks=np.array([line.rank or 0 for line in lines], np.int64) if fields.rank else None,
            scores=np.array([line.score or 0.0 for line in lines]) if fields.score else None,
            chunk={
                name: string_array([line.chunk[index] for line in lines])
                for index, name in enumerate(self._file.chunk_columns)
            },
        )

    def _locate(self, lines: _RunLines) -> LocatedChunks | None:
        """Locate the chunks of a run's lines; None for a run of documents."""
        if self._release.bodies is None:
            return None
        return locate_chunks(
            *(lines.line, lines.documents, lines.cells, self._release.bodies),
            *(self._chunk_map, self._problems),
            scored_lists=(lines.query, lines.scores),
        )

    def _remove_repeated_chunks(self, lines: _RunLines, located: LocatedChunks) -> RunChunks:
        """Keep each chunk once in a query's list, at its best rank, and record the repeated chunks."""
        repeated = _find_repeated_chunks(lines, located)
        for row in [] if self._skip_repeated else repeated.tolist():
            chunk = f"the chunk {located.start[row]}-{located.end[row]}"
            document, query_id = lines.documents[row].as_py(), self._query_id(lines, row)
            fault = f"{chunk} of document {document!r} is repeated for query {query_id!r}"
            self._problems.add(int(lines.line[row]), fault, CHUNK_ONCE)
        if len(repeated):
            self._left_out[REPEATED] += len(repeated)
        assert self._release.bodies is not None
        rows = np.delete(np.arange(len(lines.line)), repeated)
        columns = (located.start[rows], located.end[rows], located.words[rows], located.first_word[rows])
        query, scores = lines.query[rows], lines.scores[rows]
        documents = lines.documents.take(int_array(rows))
        return order_chunks(query, scores, documents, columns, self._release.bodies.bounds)

    def _choose_best_lines(self, lines: _RunLines, has_chunks: bool) -> Ints:
        """Choose, for each document of a query, its line with the best rank.

        The remaining lines are chunks of the document, or repeated documents, which are counted or refused.
        """
        pairs = lines.pair_codes
        if np.diff(np.sort(pairs)).all():
            return np.arange(len(pairs))
        by_score = np.argsort(-lines.scores, kind="stable")
        _, first, index = np.unique(pairs[by_score], return_index=True, return_inverse=True)
        best = by_score[first]
        if self._skip_repeated and not has_chunks:
            self._left_out[REPEATED] += len(pairs) - len(best)
        elif not has_chunks:
            for row, best_row in sorted(zip(by_score.tolist(), best[index.ravel()].tolist(), strict=True)):
                if row != best_row:
                    self._refuse_repeated(lines, row, best_row)
        return np.sort(best)

    def _refuse_repeated(self, lines: _RunLines, row: int, best_row: int) -> None:
        best_line = f"{self._problems.unit} {lines.line[best_row]}"
        document, query_id = lines.documents[row].as_py(), self._query_id(lines, row)
        fault = f"document {document!r} is repeated for query {query_id!r}, also in {best_line}"
        way_out = f"The file has {self._file.unread}" if OFFSETS in self._file.unread else ONCE
        self._problems.add(int(lines.line[row]), fault, way_out)

    def _query_id(self, lines: _RunLines, row: int) -> str:
        return self._release.qrels.query_ids[int(lines.query[row])]

    def _count_unknown_documents(self, documents: pa.DictionaryArray, lines: Ints) -> int:
        """Count the lines whose documents are missing from the corpus; reject misspelled ids, and a run
        without any known document. Without a corpus, the judged documents are known, and no line is counted.
        """
        names = documents.dictionary.to_pylist()
        is_known = np.fromiter(map(self._known_documents.__contains__, names), bool, len(names))
        unknown = np.flatnonzero(~is_known[to_ints(documents.indices)])
        first_lines = {documents[row].as_py(): int(lines[row]) for row in unknown[::-1].tolist()}
        unknown_names.refuse_similar_names(
            UNKNOWN_DOCUMENT, first_lines, self._find_similar_documents, self._problems
        )
        self._problems.check()
        if len(unknown) == len(documents):
            corpus = "in the release's corpus, which has" if self._has_corpus else "in the qrels, which have"
            self._problems.stop(
                f"no document of the run, such as {documents[0].as_py()!r}, is {corpus} "
                f"{min(self._known_documents, default='none')!r}",
                "Name the field with the documents' ids with --map document=COLUMN, or evaluate a run over "
                "this corpus.",
            )
        return len(unknown) if self._has_corpus else 0

    def _note_unknown_query(self, kind: str, name: str, line: int) -> None:
        if kind == UNKNOWN_QUERY:
            self._left_out[UNKNOWN_QUERY] += 1
            self._unknown_queries.setdefault(name, line)

    def _explain_empty_run(self) -> tuple[str, str]:
        """Explain why no line of the run could be used, and what to do."""
        if not self._left_out:
            return (
                "contains no ranked document: the file is empty, or has only a header or comments",
                "Expected one line for each document of each query.",
            )
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in self._left_out.items())
        parts = ", ".join(self._release.parts)
        names = ", ".join(map(repr, sorted(self._unknown_queries)[:3]))
        known_id = self._release.qrels.query_ids[0]
        if not self._has_corpus:
            return (
                f"the qrels have no query of the file: {reasons}, such as {names}, not {known_id!r}",
                "Name the field with the queries (--map query=COLUMN), or evaluate a run of these queries.",
            )
        examples = f" such as {names}, where the release has {known_id!r}" if names else ""
        return (
            f"the file has no query of {parts} of the release {self._release.name!r}: {reasons}{examples}",
            "Choose another part (--part), name the field with the queries (--map query=COLUMN), or "
            f"{ADD_TOPICS} (--topics FILE; `{self._topics_command()}` writes the release's own topics).",
        )

    def _topics_command(self) -> str:
        """Name the command that writes the release's topics with its own ids."""
        sealed = list_sealed_parts(self._release.frozen.header) if self._release.frozen else ()
        without = "".join(f" --without-grades {part}" for part in sealed)
        return f"goldgrade export {self._release.name} --format trec{without} --out topics"


def _find_repeated_chunks(lines: _RunLines, located: LocatedChunks) -> Ints:
    """Find the lines whose chunk also occurs at a better rank in the query's list."""
    chunk_codes = lines.pair_codes * OPEN + located.start
    if np.diff(np.sort(chunk_codes)).all():  # codes may overflow, and then different chunks look alike
        return np.zeros(0, np.int64)
    by_score = np.argsort(-lines.scores, kind="stable")
    codes = to_ints(lines.documents.indices)
    keys = [column[by_score] for column in (located.end, located.start, codes, lines.query)]
    order = np.lexsort(keys)
    is_repeated = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys])
    return np.sort(by_score[order[1:][is_repeated]])


def _count_queries_against_scores(lines: _RunLines) -> int:
    """Count the queries in which a document has a higher score than a document ranked above it."""
    if lines.ranks is None:
        return 0
    order = np.lexsort((lines.ranks, lines.query))
    query = lines.query[order]
    rises = (np.diff(lines.scores[order]) > 0) & (np.diff(query) == 0)
    return len(np.unique(query[1:][rises]))
