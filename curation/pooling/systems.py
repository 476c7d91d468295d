"""A pool's systems, which search the corpus: BM25, dense, hybrid, imported runs and engines.

An engine takes part as a run: goldgrade queries the engine for its current lists, and stores them as a run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress
from curation.core.text import pluralize, suggest
from curation.ingest.stored_runs import find_run, read_run_entries
from curation.pooling.request import SYSTEMS, PoolRequest
from curation.retrieval import RUN_PREFIX, Bm25, Dense, Hit, Hybrid, ImportedRun, Retriever
from curation.retrieval.analyzer import read_analyzer
from curation.retrieval.bm25_check import compare_with_rank_bm25
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.engines.runs import EngineRunRequest, import_engine_run, plan_run
from curation.store import Cursor, Query, Store
from curation.store.documents import Corpus, StoredDocuments, count_documents, refuse_held

ENGINE_PREFIX = "engine:"
MIN_DEPTH = 100
"""Smallest number of documents that a query to an engine requests."""
MAX_DOCUMENTS = {"bm25": 20_000_000, "dense": 1_000_000, "hybrid": 1_000_000}
"""Largest corpus that a system searches on one machine; see docs/scale.md."""
_BUILT_SYSTEMS = ("bm25", "dense")
"""Systems that goldgrade builds itself; hybrid fuses them."""
SystemLists = Mapping[str, Sequence[Sequence[Hit]]]
"""System → a list of hits for each query, in the order of the queries."""
TOP = 10
"""Rank down to which a system's judged results are counted, the same as in nDCG@10."""
AUDIT = "audit:"
"""Prefix of the system name of audited pairs. The stratum of the pair follows (`negatives.audit`)."""


def sort_systems(names: Sequence[str], with_engines: bool = False) -> list[str]:
    """Order system names without repetitions: names in `SYSTEMS` first, then runs (`run:NAME`) by name.

    Parameters
    ----------
    with_engines: whether engines (`engine:NAME`) are systems too.

    Raises
    ------
    InputError: no system is named, or a system is unknown.
    """
    prefixes = (ENGINE_PREFIX, RUN_PREFIX) if with_engines else (RUN_PREFIX,)
    runs = sorted({name for name in names if name.startswith(prefixes)})
    unknown_names = (name for name in dict.fromkeys(names) if name not in {*SYSTEMS, *runs})
    problems = [f"{name!r} is not a system{suggest(name, SYSTEMS) or '.'}" for name in unknown_names]
    if not names:
        problems = ["Name at least one system."]
    refuse_problems(
        problems,
        way_out=f"A pool is built from one or more of {', '.join(SYSTEMS)}, {RUN_PREFIX}NAME for an imported "
        f"run and {ENGINE_PREFIX}NAME for an engine.",
    )
    return [*(name for name in SYSTEMS if name in names), *runs]


def require_corpus(cursor: Cursor, names: Sequence[str]) -> None:
    """Reject systems that cannot search the corpus, because the corpus is held or too large."""
    local_systems = [name for name in names if name in SYSTEMS]
    if local_systems:
        refuse_held(cursor, ", ".join(local_systems))
    documents = count_documents(cursor)
    for name in local_systems:
        if documents <= MAX_DOCUMENTS[name]:
            continue
        raise RefusedError(
            f"The corpus has {pluralize(documents, 'document')}. On one machine, goldgrade searches up to "
            f"{MAX_DOCUMENTS[name]:,} with {name}. Use a search engine for a larger corpus.",
            command="`--systems engine:NAME` queries an engine (docs/engines.md); docs/scale.md has figures.",
        )


def replace_engines(
    store: Store, request: PoolRequest, author: str, progress: Progress
) -> tuple[PoolRequest, dict[str, int]]:
    """Ask each engine in a request for its current lists, and replace the engine with a run made of them.

    Only lists that are missing from the engine's run of today are requested.

    Returns
    -------
    The request, and reason → number of queries without a list.
    """
    names, left_out = [], dict[str, int]()
    for system in request.systems:
        if system.startswith(ENGINE_PREFIX):
            run_request = _make_run_request(system, request)
            run = import_engine_run(store, run_request, progress, author)
            left_out |= {f"{why} ({system})": count for why, count in run.left_out.items()}
            system = f"{RUN_PREFIX}{run.name}"
        names.append(system)
    return replace(request, systems=list(dict.fromkeys(names))), left_out


def list_engine_notices(cursor: Cursor, request: PoolRequest) -> list[str]:
    """Return a sentence for each engine from which a pool will request missing lists."""
    systems = [name for name in request.systems if name.startswith(ENGINE_PREFIX)]
    plans = [plan_run(cursor, _make_run_request(name, request)) for name in systems]
    list_counts = [(plan.engine, len(plan.lists.missing)) for plan in plans if plan.lists.missing]
    return [EngineClient(engine, request.rate).describe_list_requests(count) for engine, count in list_counts]


def _make_run_request(system: str, request: PoolRequest) -> EngineRunRequest:
    depth = max(request.depth, MIN_DEPTH)
    return EngineRunRequest(system.removeprefix(ENGINE_PREFIX), depth=depth, rate=request.rate)


class Systems:
    """The named systems of a pool over one corpus. The system hybrid also builds bm25 and dense.

    Parameters
    ----------
    vectors: store of the project that keeps embeddings and passages; None is `store`.

    Attributes
    ----------
    missing_documents: number of imported runs' entries whose documents are not in the corpus.
    """

    def __init__(
        self, store: Store, names: Sequence[str], corpus: Corpus, model: str, vectors: Store | None = None
    ) -> None:
        with store.reading() as cursor:
            analyzer = read_analyzer(cursor)
        built = [name for name in _BUILT_SYSTEMS if name in names or "hybrid" in names]
        self._store = store
        self._names = names
        self._corpus = corpus
        self.bm25 = Bm25.from_store(store, corpus, analyzer) if "bm25" in built else None
        self._retrievers: dict[str, Retriever] = {} if self.bm25 is None else {"bm25": self.bm25}
        if "dense" in built:
            self._retrievers["dense"] = Dense(vectors or store, StoredDocuments(store, corpus.hashes), model)
        self._hybrid = Hybrid(list(self._retrievers.values()))
        self._runs = _read_runs(store, names, set(corpus.ids))
        self.missing_documents = sum(run.outside for run in self._runs.values())

    @property
    def settings(self) -> Mapping[str, Any]:
        """Map each of the pool's systems to all parameters that determine its results."""
        return {name: dict(self.find_retriever(name).settings) for name in self._names}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress) -> SystemLists:
        """Search with each named system down to `depth`; hybrid fuses the lists of bm25 and dense."""
        hits = {name: system.search(queries, depth, progress) for name, system in self._retrievers.items()}
        if "hybrid" in self._names:
            hits["hybrid"] = self._hybrid.fuse_lists(list(hits.values()), depth)
        hits |= {name: run.search(queries, depth, progress) for name, run in self._runs.items()}
        return {name: hits[name] for name in self._names}

    def compare_bm25(self, queries: Sequence[Query], seed: int, progress: Progress) -> dict[str, int]:
        """Compare BM25 with rank-bm25, and return the numbers of lists and documents; {} if BM25 is not among
        the systems.

        Raises
        ------
        RefusedError: BM25 differs from rank-bm25.
        """
        if self.bm25 is None:
            return {}
        return compare_with_rank_bm25(self._store, self._corpus, queries, self.bm25, seed, progress)

    def find_retriever(self, name: str) -> Retriever:
        """Return the retriever of the system with this name."""
        if name in self._runs:
            return self._runs[name]
        return self._hybrid if name == "hybrid" else self._retrievers[name]

    def list_queries_without_hits(
        self, name: str, queries: Sequence[Query], hit_counts: Sequence[int]
    ) -> dict[str, list[str]]:
        """List the ids of queries for which a system found nothing, by reason."""
        retriever = self.find_retriever(name)
        ids_by_reason = defaultdict[str, list[str]](list)
        for query, count in zip(queries, hit_counts, strict=True):
            if not count:
                ids_by_reason[retriever.explain_no_hits(query)].append(query.query_id)
        return dict(sorted(ids_by_reason.items()))


def _read_runs(store: Store, names: Iterable[str], document_ids: set[str]) -> dict[str, ImportedRun]:
    runs = {}
    for name in names:
        if name.startswith(RUN_PREFIX):
            with store.reading() as cursor:
                run = find_run(cursor, name.removeprefix(RUN_PREFIX))
                entries = read_run_entries(cursor, run)
            runs[name] = ImportedRun(run, entries, document_ids)
    return runs
