"""The systems whose search results become baseline runs: retrievers over documents or chunks, and engines.

A search keeps data such as counts of words: in a temporary project, if the release is a file or the documents
are chunks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from curation.core.digests import digest
from curation.core.progress import Progress, silent
from curation.evaluation.scoring.run_chunks import ChunkLocation
from curation.evaluation.scoring.splitters import Split
from curation.ingest.importers.corpus_documents import compute_content_hash
from curation.pooling.systems import Systems
from curation.releases.frozen_release import FrozenRelease
from curation.retrieval import Hit, Retriever
from curation.retrieval.analyzer import read_analyzer, set_analyzer
from curation.retrieval.engines import stored_lists
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.engines.template import Engine
from curation.retrieval.terms import PLAIN, Analyzer
from curation.store import Document, Query, Store, append_rows, create_store
from curation.store.documents import corpus_of


class EngineLists:
    """An engine's lists for a release's queries, as a `Retriever`."""

    def __init__(self, engine: Engine, lists: Sequence[stored_lists.StoredList]) -> None:
        self.name = engine.name
        self.settings = {"kind": engine.kind, "template": json.loads(engine.template.as_json)}
        self.lists = {stored.query_id: stored for stored in lists}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[list[Hit]]:
        """Implement `Retriever.search`; an invalid result list becomes empty, and a list without scores is
        ordered by rank."""
        hits = []
        for query in queries:
            stored = self.lists[query.query_id]
            scores = stored.scores or [float(-rank) for rank in range(len(stored.document_ids))]
            hits.append(list(map(Hit, stored.document_ids, scores)))
        return hits

    def explain_no_hits(self, query: Query) -> str:
        """Explain why the engine returned no document for a query (see `Retriever.explain_no_hits`)."""
        return self.lists[query.query_id].left_out or "the engine found nothing for the query"


def name_chunked_run(system: str, splitter: str) -> str:
    """Return the name of a run by a system over a splitter's chunks."""
    return f"{system}-{splitter.replace('/', '-')}"


class ChunkedSystem:
    """A `Retriever` over the chunks into which a splitter cuts documents.

    Attributes
    ----------
    locations: the system's id of a chunk → the location of the chunk.
    """

    def __init__(self, system: Retriever, splitter: str, locations: Mapping[str, ChunkLocation]) -> None:
        self.name = name_chunked_run(system.name, splitter)
        self.settings = {**system.settings, "chunks": len(locations), "splitter": splitter}
        self.locations, self._system = locations, system
        self.search = system.search

    def explain_no_hits(self, query: Query) -> str:
        """Explain why a search found no chunk for a query (see `Retriever.explain_no_hits`)."""
        return self._system.explain_no_hits(query).replace("documents", "chunks")


def _split_documents(documents: Sequence[Document], split: Split) -> list[tuple[Document, ChunkLocation]]:
    """Split documents into chunks that can be searched like documents, recording each chunk's location."""
    chunks = []
    for document in documents:
        for start, end in split(document.body):
            location = ChunkLocation(document.document_id, start, end, document.content_hash)
            name = f"{document.document_id}#{start}-{end}"
            chunk = Document(name, "", document.title, document.body[start:end])
            chunks.append((chunk._replace(content_hash=compute_content_hash(chunk)), location))
    return chunks


@contextmanager
def open_searchers(
    store: Store,
    release: FrozenRelease,
    names: Sequence[str],
    documents: Sequence[Document],
    splitters: Mapping[str, Split],
    model: str,
) -> Iterator[list[Retriever]]:
    """Yield the named systems over the documents, or over the chunks of each splitter."""
    with ExitStack() as stack:
        searchers: list[Retriever] = []
        if not splitters:
            project = store if release.file is None else stack.enter_context(_temporary_project(documents))
            systems = Systems(project, names, corpus_of(documents), model)
            searchers = [systems.find_retriever(name) for name in names]
        with nullcontext() if release.file else store.reading() as cursor:
            analyzer = read_analyzer(cursor) if cursor else PLAIN
        for splitter, split in splitters.items():
            located = _split_documents(documents, split)
            locations = {chunk.document_id: location for chunk, location in located}
            chunks = [chunk for chunk, _ in located]
            project = stack.enter_context(_temporary_project(chunks, analyzer))
            vectors = None if release.file else store
            systems = Systems(project, names, corpus_of(chunks), model, vectors=vectors)
            searchers += [ChunkedSystem(systems.find_retriever(name), splitter, locations) for name in names]
        yield searchers


@contextmanager
def open_engine_searchers(
    store: Store,
    release: FrozenRelease,
    engine: EngineClient,
    queries: Sequence[Query],
    depth: int,
    say: Callable[[str], object],
    progress: Progress,
) -> Iterator[list[Retriever]]:
    """Yield an engine with its result lists, which are kept until the run files are written.

    An interrupted run therefore continues with the stored lists.
    """
    template = engine.engine.template.template_hash
    release_id = release.row.release_id
    request_id = digest("engine run of a release", release_id, engine.engine.name, template, depth)
    with store.reading() as cursor:
        asked = stored_lists.read_requested_lists(cursor, request_id, queries)
    say(engine.describe_list_requests(len(asked.missing)))
    lists = stored_lists.request_missing_lists(
        store, engine, asked, lambda query: engine.search(query.text, depth), progress
    )
    yield [EngineLists(engine.engine, lists)]
    stored_lists.delete_lists(store, asked)


@contextmanager
def _temporary_project(documents: Sequence[Document], analyzer: Analyzer = PLAIN) -> Iterator[Store]:
    """Yield a temporary project with these documents, in which a search can store data such as word
    counts."""
    with TemporaryDirectory() as folder:
        store = create_store(Path(folder) / "scratch.duckdb")
        try:
            with store.transaction(appends=True) as cursor:
                append_rows(cursor, "documents", documents)
                set_analyzer(cursor, analyzer.stemmer, tuple(analyzer.kept_words))
            yield store
        finally:
            store.close()
