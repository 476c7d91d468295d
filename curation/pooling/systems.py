"""The systems of a pool: their search, their candidates, and a report on each system.

Each candidate keeps every system that proposed it, with rank and score. If the same text is a candidate under
another document id, the systems' proposals get that id, so that the text is not judged twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress
from curation.core.similarity.identical import StandIns
from curation.core.text import pluralize
from curation.ingest.stored_runs import find_run, run_entries
from curation.pooling.request import SYSTEMS
from curation.retrieval import RUN_PREFIX, Bm25, Dense, Hit, Hybrid, ImportedRun, Retriever
from curation.retrieval.bm25_check import compare_with_rank_bm25
from curation.retrieval.terms import project_stemmer
from curation.store import Cursor, Query, Store
from curation.store.documents import Corpus, StoredDocuments, count_documents, refuse_held

ENGINE_PREFIX = "engine:"
MAX_IDS_KEPT = 3
"""Largest number of query ids that a report keeps for each reason why a system found nothing."""
MAX_DOCUMENTS = {"bm25": 20_000_000, "dense": 1_000_000, "hybrid": 1_000_000}
"""Largest corpus that a system searches on one machine; see docs/scale.md."""
_PARTS = ("bm25", "dense")
SystemLists = Mapping[str, Sequence[Sequence[Hit]]]
"""System → a list of hits for each query, in the order of the queries."""
TOP = 10
"""Rank down to which a system's judged results are counted, the same as in nDCG@10."""
AUDIT = "audit:"
"""Prefix of the system name of audited pairs. The stratum of the pair follows (`negatives.audit`)."""


def known_systems(names: Sequence[str], engines: bool = False) -> list[str]:
    """Order system names without repetitions: names in `SYSTEMS` first, then runs (`run:NAME`) by name.

    engines: accept engines (`engine:NAME`) too.

    Raises
    ------
    InputError: no system is named, or a system is unknown.
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
    """Refuse systems that cannot search the corpus, because the corpus is held or too large."""
    searching = [name for name in names if name in SYSTEMS]
    if searching:
        refuse_held(cursor, ", ".join(searching))
    documents = count_documents(cursor)
    if beyond := [name for name in searching if documents > MAX_DOCUMENTS[name]]:
        raise RefusedError(
            f"The corpus has {pluralize(documents, 'document')}. One machine searches up to "
            f"{MAX_DOCUMENTS[beyond[0]]:,} with {beyond[0]}. Use a search engine for a larger corpus.",
            command="`--systems engine:NAME` asks an engine (docs/engines.md); docs/scale.md has figures.",
        )


class Systems:
    """The named systems of a pool over one corpus. The system hybrid also builds bm25 and dense.

    Parameters
    ----------
    vectors: store of the project that keeps embeddings and passages; None is `store`.

    Attributes
    ----------
    outside: number of imported runs' entries whose documents are not in the corpus.
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
        self._runs = _read_runs(store, names, set(corpus.ids))
        self.outside = sum(run.outside for run in self._runs.values())

    @property
    def settings(self) -> Mapping[str, Any]:
        """Systems with all parameters that decide their results."""
        return {name: dict(self.retriever(name).settings) for name in self._names}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress) -> SystemLists:
        """Search with each named system down to `depth`; hybrid fuses the lists of bm25 and dense."""
        hits = {name: part.search(queries, depth, progress) for name, part in self._parts.items()}
        if "hybrid" in self._names:
            hits["hybrid"] = self._hybrid.fuse_found(list(hits.values()), depth)
        hits |= {name: run.search(queries, depth, progress) for name, run in self._runs.items()}
        return {name: hits[name] for name in self._names}

    def compare_bm25(self, queries: Sequence[Query], seed: int, progress: Progress) -> dict[str, int]:
        """Numbers of BM25 lists that were compared with rank-bm25, and of their documents; {} without BM25.

        Raises
        ------
        RefusedError: BM25 differs from rank-bm25.
        """
        if self._bm25 is None:
            return {}
        return compare_with_rank_bm25(self._store, self._corpus, queries, self._bm25, seed, progress)

    def retriever(self, name: str) -> Retriever:
        """Return the system with a name."""
        if name in self._runs:
            return self._runs[name]
        return self._hybrid if name == "hybrid" else self._parts[name]

    def why_empty(self, name: str, queries: Sequence[Query], filled: Sequence[int]) -> dict[str, list[str]]:
        """List the ids of queries for which a system found nothing, by reason."""
        system, empty = self.retriever(name), defaultdict[str, list[str]](list)
        for query, count in zip(queries, filled, strict=True):
            if not count:
                empty[system.why_none(query)].append(query.query_id)
        return dict(sorted(empty.items()))


def _read_runs(store: Store, names: Iterable[str], document_ids: set[str]) -> dict[str, ImportedRun]:
    runs = {}
    for name in names:
        if name.startswith(RUN_PREFIX):
            with store.reading() as cursor:
                run = find_run(cursor, name.removeprefix(RUN_PREFIX))
                entries = run_entries(cursor, run)
            runs[name] = ImportedRun(run, entries, document_ids)
    return runs


class CandidateSource(NamedTuple):
    """A row of the table candidate_sources, without the pool's id. Random pairs have neither rank nor score.

    Attributes
    ----------
    passage_start, passage_end: matching part of a long document, as in `retrieval.retriever.Hit`.
    """

    query_id: str
    document_id: str
    system: str
    rank: int | None
    score: float | None
    passage_start: int | None = None
    passage_end: int | None = None


class SystemReport(NamedTuple):
    """The report of one system in a pool.

    Attributes
    ----------
    candidates: number of pairs that the system proposed.
    alone: number of pairs that no other system proposed.
    top: number of results within the first `TOP` and the depth, including pairs over the budget.
    unfilled: number of missing results within the depth, because the system found no more documents.
    no_hit: reason → number of queries for which the system found nothing.
    no_hit_ids: reason → ids of the first queries for which the system found nothing; older pools have no ids.
    """

    system: str
    candidates: int
    alone: int
    top: int
    unfilled: int
    no_hit: dict[str, int]
    no_hit_ids: Mapping[str, Sequence[str]] = {}


def unite(
    lists: SystemLists, queries: Sequence[Query], depth: int, stand_ins: StandIns
) -> tuple[list[CandidateSource], int]:
    """Collect the first `depth` hits of each system. Each pair is collected once for a system, at its best
    rank.

    Returns
    -------
    The proposals, and the number of pairs that got the id of an identical document.
    """
    proposals: list[CandidateSource] = []
    merged = set()
    for index, query in enumerate(queries):
        best: dict[tuple[str, str], CandidateSource] = {}
        for system, hits in lists.items():
            for rank, hit in enumerate(hits[index][:depth], 1):
                start, end = hit.passage or (None, None)
                ids = stand_ins.all_of(query.query_id, hit.document_id)
                for document_id in ids:
                    proposal = CandidateSource(
                        query.query_id, document_id, system, rank, hit.score, start, end
                    )
                    best.setdefault((document_id, system), proposal)
                if hit.document_id not in ids:
                    merged.add((query.query_id, hit.document_id))
        proposals += best.values()
    return proposals, len(merged)


def system_reports(
    filled: Mapping[str, Sequence[int]],
    empty: Mapping[str, Mapping[str, Sequence[str]]],
    proposals: Iterable[CandidateSource],
    places: int,
) -> list[SystemReport]:
    """Make the report of each system.

    Parameters
    ----------
    filled: system → number of documents that the system found for each query.
    empty: system → reason → ids of the queries for which the system found nothing.
    proposals: proposals grouped by query.
    places: largest number of documents that a system could propose for a query.
    """
    top = min(places, TOP)
    candidates, alone = Counter[str](), Counter[str]()
    for _, of_query in groupby(proposals, key=attrgetter("query_id")):
        systems_of = defaultdict(set)
        for proposal in of_query:
            systems_of[proposal.document_id].add(proposal.system)
        for names in systems_of.values():
            candidates.update(names)
            alone.update(names if len(names) == 1 else ())
    return [
        SystemReport(
            name,
            candidates[name],
            alone[name],
            sum(min(top, count) for count in counts),
            sum(max(places - count, 0) for count in counts),
            {why: len(ids) for why, ids in empty[name].items()},
            {why: ids[:MAX_IDS_KEPT] for why, ids in empty[name].items()},
        )
        for name, counts in filled.items()
    ]
