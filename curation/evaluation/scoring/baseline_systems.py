"""The systems whose runs are baselines: over documents, over chunks of a splitter, or an engine's lists.

An engine searches what it has, so documents that the release lacks may be in its run. A chunked system
searches the chunks that a splitter makes, and its run has the places of chunks. What searching documents
keeps, such as counts of words, is in a project of its own where the release is a file or the documents are
chunks.

Tools order a run by its scores, some compare them in single precision, and each breaks ties in its own way.
So scores are written as singles that decrease strictly: a document that scores as the one above it is written
with the next smaller single. The order of equal scores is the retrievers': by document id.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from curation.core.progress import Progress, silent
from curation.core.text import digest, quote_formula
from curation.evaluation.scoring.run_chunks import ChunkPlace
from curation.evaluation.scoring.splitters import Split
from curation.ingest.importers.corpus import content_hash_of
from curation.pooling.systems import Systems
from curation.releases.verify import FrozenRelease
from curation.retrieval import Hit, Retriever
from curation.retrieval.engines.asking import StoredList, ask_missing, delete_answers, read_asked
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.engines.template import Engine
from curation.retrieval.terms import choose_stemmer, project_stemmer
from curation.store import Document, Query, Store, append_rows, create_store
from curation.store.documents import corpus_of

CHUNK_COLUMNS = ("query_id", *ChunkPlace._fields[:-1], "rank", "score")


class EngineLists:
    """An engine's lists for the queries of a release, as a `Retriever`."""

    def __init__(self, engine: Engine, lists: Sequence[StoredList]) -> None:
        self.name = engine.name
        self.settings = {"kind": engine.kind, "template": json.loads(engine.template.written)}
        self.lists = {stored.query_id: stored for stored in lists}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[list[Hit]]:
        """See `Retriever.search`; a broken list counts as empty, and without scores ranks order it."""
        lists = [self.lists[query.query_id] for query in queries]
        scores = [
            stored.scores or [float(-rank) for rank in range(len(stored.document_ids))] for stored in lists
        ]
        return [
            list(map(Hit, stored.document_ids, of_list))
            for stored, of_list in zip(lists, scores, strict=True)
        ]

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        return self.lists[query.query_id].left_out or "the engine has nothing for the query"


def chunked_name(system: str, splitter: str) -> str:
    """What the run of a system over a splitter's chunks is called."""
    return f"{system}-{splitter.replace('/', '-')}"


class ChunkedSystem:
    """A `Retriever` over the chunks that a splitter makes of documents.

    Attributes
    ----------
    places: id of a chunk as the system has it → where it is.
    """

    def __init__(self, system: Retriever, splitter: str, places: Mapping[str, ChunkPlace]) -> None:
        self.name = chunked_name(system.name, splitter)
        self.settings = {**system.settings, "chunks": len(places), "splitter": splitter}
        self.places, self._system = places, system
        self.search = system.search

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`: what is searched is chunks."""
        return self._system.why_none(query).replace("documents", "chunks")

    def lines(self, query_id: str, hits: Sequence[Hit]) -> list[str]:
        """The lines of one query, with scores as `run_lines` has them."""
        written = StringIO()
        writer = csv.writer(written, lineterminator="\n")
        for rank, (hit, score) in enumerate(zip(hits, written_scores(hits), strict=True), 1):
            writer.writerow(
                [
                    quote_formula(str(cell))
                    for cell in (query_id, *self.places[hit.document_id][:-1], rank, score)
                ]
            )
        return written.getvalue().splitlines()


def run_lines(query_id: str, hits: Sequence[Hit], tag: str, ids: Mapping[str, str]) -> list[str]:
    """The lines of one query in TREC's six columns; see the head of the module for the scores.

    Parameters
    ----------
    ids: document id → id as it is written.
    """
    return [
        f"{query_id} Q0 {ids[hit.document_id]} {rank} {score} {tag}"
        for rank, (hit, score) in enumerate(zip(hits, written_scores(hits), strict=True), 1)
    ]


def written_scores(hits: Sequence[Hit]) -> list[str]:
    return decreasing([hit.score or 0.0 for hit in hits])


def decreasing(scores: Iterable[float]) -> list[str]:
    """Scores, best first, as texts of singles that decrease strictly: each as near to its own as can be."""
    written: list[str] = []
    above = np.float32(np.inf)
    for score in scores:
        above = min(np.float32(score), np.nextafter(above, np.float32(-np.inf)))
        written.append(str(above))
    return written


def _chunks(documents: Sequence[Document], split: Split) -> list[tuple[Document, ChunkPlace]]:
    """The chunks as documents to search, with their places; none has a place that another one has."""
    chunks = []
    for document in documents:
        for start, end in split(document.body):
            place = ChunkPlace(document.document_id, start, end, document.content_hash)
            name = f"{document.document_id}#{start}-{end}"
            chunk = Document(name, "", document.title, document.body[start:end])
            chunks.append((chunk._replace(content_hash=content_hash_of(chunk)), place))
    return chunks


@contextmanager
def own_searchers(
    store: Store,
    release: FrozenRelease,
    names: Sequence[str],
    documents: Sequence[Document],
    splitters: Mapping[str, Split],
    model: str,
) -> Iterator[list[Retriever]]:
    with ExitStack() as stack:
        searchers: list[Retriever] = []
        if not splitters:
            work = store if release.file is None else stack.enter_context(_scratch(documents))
            systems = Systems(work, names, corpus_of(documents), model)
            searchers = [systems.retriever(name) for name in names]
        with nullcontext() if release.file else store.reading() as cursor:
            stemmer = project_stemmer(cursor) if cursor else None
        for splitter, split in splitters.items():
            cut = _chunks(documents, split)
            places = {chunk.document_id: place for chunk, place in cut}
            work = stack.enter_context(_scratch([chunk for chunk, _ in cut], stemmer))
            corpus = corpus_of(chunk for chunk, _ in cut)
            systems = Systems(work, names, corpus, model, vectors=None if release.file else store)
            searchers += [ChunkedSystem(systems.retriever(name), splitter, places) for name in names]
        yield searchers


@contextmanager
def engine_searchers(
    store: Store,
    release: FrozenRelease,
    engine: EngineClient,
    queries: Sequence[Query],
    depth: int,
    say: Callable[[str], object],
    progress: Progress,
) -> Iterator[list[Retriever]]:
    """An engine with its lists, which are kept until the files are written: what breaks off goes on."""
    template = engine.engine.template.template_hash
    request_id = digest(
        "engine run of a release", release.row.release_id, engine.engine.name, template, depth
    )
    with store.reading() as cursor:
        asked = read_asked(cursor, request_id, queries)
    say(engine.notice_of_lists(len(asked.missing)))
    lists = ask_missing(store, engine, asked, lambda query: engine.search(query.text, depth), progress)
    yield [EngineLists(engine.engine, lists)]
    delete_answers(store, asked)


@contextmanager
def _scratch(documents: Sequence[Document], stemmer: str | None = None) -> Iterator[Store]:
    """A project of these documents for what searching them keeps, such as counts of words."""
    with TemporaryDirectory() as folder:
        store = create_store(Path(folder) / "scratch.duckdb")
        try:
            with store.transaction(appends=True) as cursor:
                append_rows(cursor, "documents", documents)
                if stemmer is not None:
                    choose_stemmer(cursor, stemmer)
            yield store
        finally:
            store.close()
