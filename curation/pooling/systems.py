"""The systems that propose documents: made by name, and searched once each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress
from curation.core.text import amount
from curation.ingest.importers.runs import find_run, run_entries
from curation.pooling.request import SYSTEMS
from curation.retrieval import RUN_PREFIX, Bm25, Dense, Hit, Hybrid, ImportedRun, Retriever
from curation.retrieval.terms import project_stemmer
from curation.retrieval.verify_bm25 import Bm25Sample, check_sample
from curation.store import Cursor, Query, Store
from curation.store.documents import Corpus, StoredDocuments, count_documents, refuse_held

ENGINE_PREFIX = "engine:"
NAMED = 3
"""So many queries for which a system found nothing are kept for each reason."""
MOST = {"bm25": 20_000_000, "dense": 1_000_000, "hybrid": 1_000_000}
"""Documents that a system searches on one machine; see docs/scale.md."""
_PARTS = ("bm25", "dense")


class SystemHits(NamedTuple):
    """What one system found: a list of hits for each query, in the order of the queries."""

    name: str
    hits: Sequence[Sequence[Hit]]


class SystemFound(NamedTuple):
    """How much one system found, of all queries.

    Attributes
    ----------
    filled: how many documents, for each query.
    no_hit: reason → number of queries for which it found nothing.
    no_hit_ids: reason → ids of the first of these.
    """

    name: str
    filled: Sequence[int]
    no_hit: dict[str, int]
    no_hit_ids: dict[str, list[str]]


def known_systems(names: Sequence[str], engines: bool = False) -> list[str]:
    """The names, each once: first those of `SYSTEMS` in their order, then imported runs (`run:NAME`) by name.

    engines: takes engines (`engine:NAME`), too.

    Raises
    ------
    InputError: none is named, or some are not known.
    """
    prefixes = (ENGINE_PREFIX, RUN_PREFIX) if engines else (RUN_PREFIX,)
    runs = sorted({name for name in names if name.startswith(prefixes)})
    unknown = (name for name in dict.fromkeys(names) if name not in {*SYSTEMS, *runs})
    problems = [f"{name!r} is no system." for name in unknown]
    if not names:
        problems = ["No system was named."]
    refuse_problems(
        problems,
        way_out=f"A pool is built from one or more of {', '.join(SYSTEMS)}, {RUN_PREFIX}NAME for an imported "
        f"run and {ENGINE_PREFIX}NAME for an engine.",
    )
    return [*(name for name in SYSTEMS if name in names), *runs]


def refuse_without_corpus(cursor: Cursor, names: Sequence[str]) -> None:
    """Refuse systems that search the corpus where it is held, or too large for one machine."""
    own = [name for name in names if name in SYSTEMS]
    if own:
        refuse_held(cursor, ", ".join(own))
    documents = count_documents(cursor)
    if beyond := [name for name in own if documents > MOST[name]]:
        raise RefusedError(
            f"The corpus has {amount(documents, 'document')}. One machine searches up to "
            f"{MOST[beyond[0]]:,} with {beyond[0]}; beyond that the search engine that holds them does.",
            command="`--systems engine:NAME` asks it (docs/engines.md); docs/scale.md has figures.",
        )


class Systems:
    """The named systems over one corpus. bm25 and dense are also there when only hybrid is asked for.

    Parameters
    ----------
    vectors: the project that keeps embeddings and passages, where it is not `store`.

    Attributes
    ----------
    outside: places of imported runs that name documents which the corpus does not have.
    """

    def __init__(
        self, store: Store, names: Sequence[str], corpus: Corpus, model: str, vectors: Store | None = None
    ) -> None:
        with store.reading() as cursor:
            stemmer = project_stemmer(cursor)
        parts = [name for name in _PARTS if name in names or "hybrid" in names]
        self._store, self._names, self._corpus = store, names, corpus
        self._bm25 = Bm25.stored(store, corpus, stemmer) if "bm25" in parts else None
        self._parts: dict[str, Retriever] = {} if self._bm25 is None else {"bm25": self._bm25}
        if "dense" in parts:
            self._parts["dense"] = Dense(vectors or store, StoredDocuments(store, corpus.hashes), model)
        self._hybrid = Hybrid(list(self._parts.values()))
        self._runs = _imported(store, names, set(corpus.ids))
        self.outside = sum(run.outside for run in self._runs.values())

    @property
    def settings(self) -> Mapping[str, Any]:
        """System → all that its results depend on."""
        return {name: dict(self.retriever(name).settings) for name in self._names}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress) -> list[SystemHits]:
        """What each named system finds to `depth`; hybrid fuses what the others found already."""
        found = {name: part.search(queries, depth, progress) for name, part in self._parts.items()}
        if "hybrid" in self._names:
            found["hybrid"] = self._hybrid.fuse_found(list(found.values()), depth)
        found |= {name: run.search(queries, depth, progress) for name, run in self._runs.items()}
        return [SystemHits(name, found[name]) for name in self._names]

    def compare_bm25(self, queries: Sequence[Query], seed: int, progress: Progress) -> Bm25Sample | None:
        """How far BM25's lists were compared with rank-bm25's, for some of these queries; None without BM25.

        Raises
        ------
        RefusedError: BM25 differs from rank-bm25 (`verify_bm25.check_sample`).
        """
        if self._bm25 is None:
            return None
        return check_sample(self._store, self._corpus, queries, self._bm25, seed, progress)

    def retriever(self, name: str) -> Retriever:
        """The named system by itself."""
        if name in self._runs:
            return self._runs[name]
        return self._hybrid if name == "hybrid" else self._parts[name]

    def found_by(self, name: str, queries: Sequence[Query], filled: Sequence[int]) -> SystemFound:
        """How much the named system found, and why it found nothing for some queries."""
        system, empty = self.retriever(name), defaultdict[str, list[str]](list)
        for query, found in zip(queries, filled, strict=True):
            if not found:
                empty[system.why_none(query)].append(query.query_id)
        reasons = sorted(empty)
        first = {why: empty[why][:NAMED] for why in reasons}
        return SystemFound(name, filled, {why: len(empty[why]) for why in reasons}, first)


def _imported(store: Store, names: Iterable[str], document_ids: set[str]) -> dict[str, ImportedRun]:
    runs = {}
    for name in names:
        if name.startswith(RUN_PREFIX):
            with store.reading() as cursor:
                run = find_run(cursor, name.removeprefix(RUN_PREFIX))
                entries = run_entries(cursor, run)
            runs[name] = ImportedRun(run, entries, document_ids)
    return runs
