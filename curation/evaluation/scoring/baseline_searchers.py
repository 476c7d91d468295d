"""What makes the systems of baselines ready to search: their documents, their chunks, or an engine's lists.

What searching documents keeps, such as counts of words, is in a project of its own where the release is a
file or the documents are chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from curation.core.progress import Progress
from curation.core.text import digest
from curation.evaluation.scoring.baseline_systems import (
    ChunkedSystem,
    EngineLists,
)
from curation.evaluation.scoring.inputs.run_chunks import ChunkPlace
from curation.evaluation.scoring.splitters import Splitter
from curation.ingest.importers.corpus import content_hash_of
from curation.pooling.systems import Systems
from curation.releases.verify import FrozenRelease
from curation.retrieval import Retriever
from curation.retrieval.engines.answers import ask_missing, forget, read_asked
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.terms import choose_stemmer, project_stemmer
from curation.store import Document, Query, Store, append_rows, create_store
from curation.store.documents import corpus_of


def _chunks(documents: Sequence[Document], splitter: Splitter) -> list[tuple[Document, ChunkPlace]]:
    """The chunks as documents to search, with their places; none has a place that another one has."""
    found = []
    for document in documents:
        for start, end in splitter.split(document.body):
            place = ChunkPlace(document.document_id, start, end, document.content_hash)
            name = f"{document.document_id}#{start}-{end}"
            chunk = Document(name, "", document.title, document.body[start:end])
            found.append((chunk._replace(content_hash=content_hash_of(chunk)), place))
    return found


@contextmanager
def own_searchers(
    store: Store,
    release: FrozenRelease,
    names: Sequence[str],
    documents: Sequence[Document],
    splitters: Sequence[Splitter],
    model: str,
) -> Iterator[list[Retriever]]:
    with ExitStack() as stack:
        searchers: list[Retriever] = []
        if not splitters:
            work = store if release.file is None else stack.enter_context(_scratch(documents))
            found = Systems(work, names, corpus_of(documents), model)
            searchers = [found.retriever(name) for name in names]
        with nullcontext() if release.file else store.reading() as cursor:
            stemmer = project_stemmer(cursor) if cursor else None
        for splitter in splitters:
            cut = _chunks(documents, splitter)
            places = {chunk.document_id: place for chunk, place in cut}
            work = stack.enter_context(_scratch([chunk for chunk, _ in cut], stemmer))
            corpus = corpus_of(chunk for chunk, _ in cut)
            found = Systems(work, names, corpus, model, vectors=None if release.file else store)
            searchers += [ChunkedSystem(found.retriever(name), splitter, places) for name in names]
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
    lists = ask_missing(store, engine, asked, lambda one: engine.search(one.text, depth), progress)
    yield [EngineLists(engine.engine, lists)]
    forget(store, asked)


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
