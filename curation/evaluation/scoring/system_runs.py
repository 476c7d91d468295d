"""The runs of systems as files have them, read for a release.

A list is ordered by its scores, as trec_eval does; by its ranks only where the file has no scores. Where both
are there and contradict each other, the scores count, and the queries are counted. Documents that the
release's corpus does not have keep their places, for the system did return them; they are counted. Lines of
queries that are not evaluated are passed over and counted.

A list may be one of chunks, parts of documents (`run_chunks`). A document then has the score of its best
chunk (MaxP: Z. Dai and J. Callan (2019), Deeper text understanding for IR with contextual neural language
modeling, SIGIR), and the run keeps its chunks for the measures of chunks.

`NAME=FILE` names a system. Several files of one name are runs of one system, such as seeds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from curation.core.arrow import ints_of, numbers, texts
from curation.core.errors import InputError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Floats, Ints
from curation.core.text import alike
from curation.evaluation.scoring.chunk_measures import RunChunks
from curation.evaluation.scoring.evidence import OPEN
from curation.evaluation.scoring.measure_names import Measure
from curation.evaluation.scoring.rankings import RunRows, ordered
from curation.evaluation.scoring.release import EvaluatedRelease
from curation.evaluation.scoring.run_chunks import (
    ChunkCounts,
    ChunkPlace,
    LocatedChunks,
    located_chunks,
    read_chunk_map,
)
from curation.ingest.importers.run_lines import RunLines, with_topics
from curation.ingest.importers.unknown_names import (
    UNKNOWN_DOCUMENT,
    UNKNOWN_QUERY,
    KnownDocuments,
    refuse_alike,
)
from curation.ingest.readers.fields import ChunkFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import OFFSETS
from curation.ingest.readers.run_columns import Names, RunColumns
from curation.ingest.readers.run_files import RunFile, RunRow
from curation.people.seal_access import sealed_parts

_NAMED = re.compile(r"([\w.+:@ -]{1,80})=(.+)", re.DOTALL)
_ENDINGS = {
    ".gz",
    ".trec",
    ".run",
    ".txt",
    ".tsv",
    ".tab",
    ".csv",
    ".jsonl",
    ".ndjson",
    ".json",
    ".parquet",
    ".pq",
}

OTHER_PART = "query of another part"
REPEATED = "a document again for the same query"
ONCE = "A document has one place in a list: correct the file, or keep the best one (--skip-repeated)."
ADD_TOPICS = "add a table of id and text that says which query each id is"


class RunSource(NamedTuple):
    """A run's file, and the name of its system."""

    name: str
    path: Path


def named_runs(texts: Sequence[str]) -> list[RunSource]:
    """The runs that `NAME=FILE` or `FILE` name.

    Raises
    ------
    InputError: a name or a file is missing, a file is named twice, or two files without a name would give
        their systems the same one.
    """
    refuse_problems([problem for text in texts if (problem := _missing(text))])
    sources = [_source(text) for text in texts]
    paths = Counter(source.path.resolve() for source in sources)
    problems = [
        f"--run {path}: the file is named {count} times" for path, count in paths.items() if count > 1
    ]
    unnamed = Counter(source.name for source, text in zip(sources, texts, strict=True) if not _is_named(text))
    problems += [
        f"{count} files would all be the system {name!r}: name them, as in --run {name}-1=FILE; "
        f"several runs of one system are named alike on purpose, as in --run {name}=FILE"
        for name, count in unnamed.items()
        if count > 1
    ]
    refuse_problems(problems)
    return sources


def _missing(text: str) -> str:
    """What `NAME=FILE` lacks, in a sentence; nothing where it has both or is a file."""
    name, separator, file = text.partition("=")
    if Path(text).is_file() or not (separator and (not name.strip() or not file.strip())):
        return "" if text.strip() else "--run: no file was named; expected --run FILE or --run NAME=FILE"
    if not file.strip():
        return f"--run {text}: the file is missing after =; expected --run {name.strip() or 'NAME'}=FILE"
    return f"--run {text}: the name is missing before =; expected --run NAME={file} or --run {file}"


def _is_named(text: str) -> bool:
    return _NAMED.fullmatch(text) is not None and not Path(text).is_file()


def _source(text: str) -> RunSource:
    match = _NAMED.fullmatch(text)
    if match is not None and _is_named(text):
        return RunSource(match[1].strip(), Path(match[2]))
    path = Path(text)
    name = path.name
    while Path(name).suffix.lower() in _ENDINGS:
        name = Path(name).stem
    return RunSource(name, path)


class ReadingOptions(NamedTuple):
    """How run files are read; see `ingest.readers.run_files`.

    Attributes
    ----------
    skip_repeated: of a document that a query names several times, keep the best place and count the others.
    parsed: the files that were read, where several steps read them: each is then parsed once.
    topics: a table of id and text, where the runs' ids of queries are not the release's.
    chunks: a map of chunks, where the runs' ids of documents are an index's own of chunks.
    """

    fields: ChunkFields = ChunkFields()
    layout: FileLayout = FileLayout()
    skip_repeated: bool = False
    parsed: dict[Path, RunFile] | None = None
    topics: Path | None = None
    chunks: Path | None = None


@dataclass(frozen=True)
class SystemRun:
    """A run as it was read for a release.

    Attributes
    ----------
    source: the file's name.
    places: documents that were returned for the evaluated queries.
    unknown_documents: places whose documents the release's corpus does not have.
    against_scores: queries whose ranks contradict their scores; the scores count.
    left_out: reason → number of lines.
    chunks: of a run of chunks.
    unread: the columns that were not read, in a sentence.
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
    InputError: the file cannot be read or understood, or has no query that is evaluated; all its problems.
    """
    file = run_file(source.path, options, progress)
    known = with_topics(release.known, options.topics, progress)
    mapped = read_chunk_map(options.chunks)
    return _RunColumns(file, replace(release, known=known), options.skip_repeated, mapped).read(source.name)


def with_whole_documents(rows: RunRows, release: EvaluatedRelease, measures: Sequence[Measure]) -> RunRows:
    """The rows with their documents as chunks, where a run of documents meets a measure of chunks."""
    if rows.chunks or release.bodies is None or not any(measure.of_chunks for measure in measures):
        return rows
    documents = rows.documents
    ids, codes = documents.dictionary.to_pylist(), ints_of(documents.indices)
    start, end = np.zeros(len(codes), np.int64), release.bodies.lengths(ids)[codes]
    words, first = release.bodies.words(ids, codes, start, end)
    columns = (start, end, words, first, release.bodies.bounds)
    return rows._replace(chunks=_in_order(rows.query, rows.scores, documents, columns))


def _in_order(
    query: Ints, scores: Floats, documents: pa.DictionaryArray, columns: tuple[Ints, Ints, Ints, Ints, Ints]
) -> RunChunks:
    """Chunks by query and score; equal scores are ordered as documents are, and chunks of one document as in
    the file.

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
    """The file, parsed before where another step has read it.

    Raises
    ------
    InputError: it cannot be read or understood.
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
    line, query, scores: shape (N,); without scores in the file these are the ranks with a minus.
    documents: ids, N of them, each once in the dictionary.
    ranks: shape (N,), where the file has both.
    chunk: field of a chunk → N texts.
    """

    line: Ints
    query: Ints
    documents: pa.DictionaryArray
    scores: Floats
    ranks: Ints | None
    chunk: Mapping[str, pa.Array]


class _RunColumns:
    """One reading of one run into columns."""

    def __init__(
        self, file: RunFile, release: EvaluatedRelease, skip_repeated: bool, mapped: Mapping[str, ChunkPlace]
    ) -> None:
        self._file, self._mapped = file, mapped
        self._release = release
        self._skip_repeated = skip_repeated
        self._left_out: Counter[str] = Counter()
        self._unknown_queries: dict[str, int] = {}
        documents = KnownDocuments(release.documents.intersection, self._documents_alike)
        self._lines = RunLines(file, release.known, documents, self._note)
        self._place = {query: number for number, query in enumerate(release.qrels.query_ids)}

    def read(self, name: str) -> SystemRun:
        problems = self._file.problems
        places = self._chosen(self._lines.columns() or self._iterated())
        refuse_alike(UNKNOWN_QUERY, self._unknown_queries, self._release.known.alike, problems)
        problems.check()
        if not len(places.query):
            problems.stop(*self._nothing())
        scores = places.scores
        against = 0 if places.ranks is None else _against(places.query, places.ranks, scores)
        located, chunks = self._located(places), None
        if located is not None:
            places = places._replace(documents=located.documents)
            chunks = self._chunks(places, located)
        kept = self._kept(places, of_chunks=chunks is not None)
        problems.check()
        documents = places.documents.take(numbers(kept))
        names = documents.dictionary.to_pylist()
        known = np.fromiter(map(self._release.documents.__contains__, names), bool, len(names))
        unknown_rows = np.flatnonzero(~known[ints_of(documents.indices)])
        unknown = len(unknown_rows)
        first = {documents[row].as_py(): int(places.line[kept[row]]) for row in unknown_rows[::-1].tolist()}
        refuse_alike(UNKNOWN_DOCUMENT, first, self._documents_alike, problems)
        problems.check()
        if unknown == len(kept):
            problems.stop(
                f"no document of it, such as {documents[0].as_py()!r}, is in the release's corpus, which has "
                f"{min(self._release.documents, default='none')!r}",
                "Name the field with the documents' ids with --map document=COLUMN, or evaluate a run over "
                "this corpus.",
            )
        return SystemRun(
            name=name,
            source=self._file.source,
            rows=RunRows(places.query[kept], documents, scores[kept], chunks),
            places=len(kept),
            unknown_documents=unknown,
            against_scores=against,
            left_out=dict(self._left_out),
            chunks=located and located.counts,
            unread=self._file.unread,
        )

    def _documents_alike(self, names: Collection[str]) -> dict[str, str]:
        return alike(names, self._release.documents)

    def _located(self, places: _Places) -> LocatedChunks | None:
        bodies = self._release.bodies
        if bodies is None:
            return None
        of_lines, listed = (places.line, places.documents, places.chunk), (places.query, places.scores)
        return located_chunks(*of_lines, bodies, self._mapped, self._file.problems, listed)

    def _chunks(self, places: _Places, located: LocatedChunks) -> RunChunks:
        """The chunks, each once in a query's list: at its best place, or as its document."""
        again = _chunks_again(places, located)
        for row in [] if self._skip_repeated else again.tolist():
            self._file.problems.add(
                int(places.line[row]),
                f"the chunk {located.start[row]}-{located.end[row]} of document "
                f"{places.documents[row].as_py()!r} again for query "
                f"{self._release.qrels.query_ids[places.query[row]]!r}",
                "A chunk has one place in a list: correct the file, or keep the best one (--skip-repeated).",
            )
        if len(again):
            self._left_out[REPEATED] += len(again)
        kept = np.delete(np.arange(len(places.line)), again)
        documents = places.documents.take(numbers(kept))
        assert self._release.bodies is not None
        places_of = located.start[kept], located.end[kept], located.words[kept], located.first_word[kept]
        columns = (*places_of, self._release.bodies.bounds)
        return _in_order(places.query[kept], places.scores[kept], documents, columns)

    def _chosen(self, columns: RunColumns) -> _Places:
        """The lines of evaluated queries, from columns."""
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

    def _iterated(self) -> RunColumns:
        """The lines, one by one, as columns; what is wrong with them is noted."""
        lines: list[RunRow] = []
        with suppress(InputError):  # noted with the file's problems: raised with what else is found
            lines += (line for line in self._lines if not self._lines.lacks_a_number(line))
        fields, each = self._file.fields, np.arange(len(lines))
        return RunColumns(
            lines=np.array([line.line for line in lines], np.int64),
            queries=Names(each, [line.query for line in lines]),
            documents=Names(each, [line.document for line in lines]),
            ranks=np.array([line.rank or 0 for line in lines], np.int64) if fields.rank else None,
            scores=np.array([line.score or 0.0 for line in lines]) if fields.score else None,
            chunk={
                name: texts([line.chunk[index] for line in lines])
                for index, name in enumerate(self._file.chunk_columns)
            },
        )

    def _kept(self, places: _Places, of_chunks: bool) -> Ints:
        """The lines that are the best place of their document; others are chunks, problems, or counted."""
        codes = ints_of(places.documents.indices)
        pairs = places.query * (int(codes.max(initial=0)) + 1) + codes
        if np.diff(np.sort(pairs)).all():
            return np.arange(len(pairs))
        by_score = np.argsort(-places.scores, kind="stable")
        _, first, index = np.unique(pairs[by_score], return_index=True, return_inverse=True)
        best = by_score[first]
        if of_chunks:
            return np.sort(best)
        if self._skip_repeated:
            self._left_out[REPEATED] += len(pairs) - len(best)
            return np.sort(best)
        for row, at in sorted(zip(by_score.tolist(), best[index.ravel()].tolist(), strict=True)):
            if row != at:
                self._file.problems.add(int(places.line[row]), *self._again(places, row, at))
        return np.sort(best)

    def _again(self, places: _Places, row: int, at: int) -> tuple[str, str]:
        query = self._release.qrels.query_ids[places.query[row]]
        other = f"{self._file.problems.unit} {places.line[at]}"
        return (
            f"document {places.documents[row].as_py()!r} again for query {query!r}, also in {other}",
            f"The file has {self._file.unread}" if OFFSETS in self._file.unread else ONCE,
        )

    def _note(self, what: str, name: str, line: int) -> None:
        if what == UNKNOWN_QUERY:
            self._left_out[UNKNOWN_QUERY] += 1
            self._unknown_queries.setdefault(name, line)

    def _nothing(self) -> tuple[str, str]:
        """Why nothing could be taken, and what to do."""
        if not self._left_out:
            return (
                "holds no place of a list: it is empty, or has a header or comments alone",
                "Expected one line for each document of each query.",
            )
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in self._left_out.items())
        parts = ", ".join(self._release.parts)
        shown = ", ".join(map(repr, sorted(self._unknown_queries)[:3]))
        example = (
            f" such as {shown}, where the release has {self._release.qrels.query_ids[0]!r}" if shown else ""
        )
        return (
            f"it has no query of {parts} of the release {self._release.name!r}: {reasons}{example}",
            "Choose another part (--part), name the field with the queries (--map query=COLUMN), or "
            f"{ADD_TOPICS} (--topics FILE; `{self._topics()}` writes the release's own topics).",
        )

    def _topics(self) -> str:
        """The command that writes the topics of the release with its own ids."""
        sealed = sealed_parts(self._release.frozen.header) if self._release.frozen else ()
        without = "".join(f" --without-grades {part}" for part in sealed)
        return f"goldgrade export {self._release.name} --format trec{without} --out topics"


def _chunks_again(places: _Places, located: LocatedChunks) -> Ints:
    """The lines with a chunk that is at a better place of the query's list, too."""
    codes = ints_of(places.documents.indices)
    key = (places.query * (int(codes.max(initial=0)) + 1) + codes) * OPEN + located.start
    if np.diff(np.sort(key)).all():  # may wrap around: then some look alike that are not
        return np.zeros(0, np.int64)
    by_score = np.argsort(-places.scores, kind="stable")
    keys = [column[by_score] for column in (located.end, located.start, codes, places.query)]
    order = np.lexsort(keys)
    same = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys])
    return np.sort(by_score[order[1:][same]])


def _against(query: Ints, ranks: Ints, scores: Floats) -> int:
    """How many queries have a score that rises with the rank."""
    order = np.lexsort((ranks, query))
    rises = (np.diff(scores[order]) > 0) & (np.diff(query[order]) == 0)
    return len(np.unique(query[order][1:][rises]))
