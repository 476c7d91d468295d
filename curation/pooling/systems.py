"""The systems that propose documents, searched once each, and the candidates that they propose.

Each candidate has every system, rank and score behind it. A text that is a candidate under another id is
proposed under that id, and not judged twice.
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
"""So many queries for which a system found nothing are kept for each reason."""
MAX_DOCUMENTS = {"bm25": 20_000_000, "dense": 1_000_000, "hybrid": 1_000_000}
"""Documents that a system searches on one machine; see docs/scale.md."""
_PARTS = ("bm25", "dense")
SystemLists = Mapping[str, Sequence[Sequence[Hit]]]
"""System → its list of hits for each query, in the order of the queries."""
TOP = 10
"""How far down a system's list judgments are counted: nDCG@10 and the like look no further."""
AUDIT = "audit:"
"""Audited pairs are candidates of the system 'audit:' and their stratum (`negatives.audit`)."""


def known_systems(names: Sequence[str], engines: bool = False) -> list[str]:
    """The names, each once: those in `SYSTEMS` first, in that order, then imported runs (`run:NAME`) by name.

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
    searching = [name for name in names if name in SYSTEMS]
    if searching:
        refuse_held(cursor, ", ".join(searching))
    documents = count_documents(cursor)
    if beyond := [name for name in searching if documents > MAX_DOCUMENTS[name]]:
        raise RefusedError(
            f"The corpus has {pluralize(documents, 'document')}. One machine searches up to "
            f"{MAX_DOCUMENTS[beyond[0]]:,} with {beyond[0]}; beyond that the search engine that holds them "
            "does.",
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

    def search(self, queries: Sequence[Query], depth: int, progress: Progress) -> SystemLists:
        """What each named system finds to `depth`; hybrid fuses what the others found already."""
        hits = {name: part.search(queries, depth, progress) for name, part in self._parts.items()}
        if "hybrid" in self._names:
            hits["hybrid"] = self._hybrid.fuse_found(list(hits.values()), depth)
        hits |= {name: run.search(queries, depth, progress) for name, run in self._runs.items()}
        return {name: hits[name] for name in self._names}

    def compare_bm25(self, queries: Sequence[Query], seed: int, progress: Progress) -> dict[str, int]:
        """How many BM25 lists were compared with rank-bm25's, and in how many documents; {} without BM25.

        Raises
        ------
        RefusedError: BM25 differs from rank-bm25.
        """
        if self._bm25 is None:
            return {}
        return compare_with_rank_bm25(self._store, self._corpus, queries, self._bm25, seed, progress)

    def retriever(self, name: str) -> Retriever:
        """The named system by itself."""
        if name in self._runs:
            return self._runs[name]
        return self._hybrid if name == "hybrid" else self._parts[name]

    def why_empty(self, name: str, queries: Sequence[Query], filled: Sequence[int]) -> dict[str, list[str]]:
        """Reason → ids of the queries for which the named system found nothing."""
        system, empty = self.retriever(name), defaultdict[str, list[str]](list)
        for query, count in zip(queries, filled, strict=True):
            if not count:
                empty[system.why_none(query)].append(query.query_id)
        return dict(sorted(empty.items()))


def _imported(store: Store, names: Iterable[str], document_ids: set[str]) -> dict[str, ImportedRun]:
    runs = {}
    for name in names:
        if name.startswith(RUN_PREFIX):
            with store.reading() as cursor:
                run = find_run(cursor, name.removeprefix(RUN_PREFIX))
                entries = run_entries(cursor, run)
            runs[name] = ImportedRun(run, entries, document_ids)
    return runs


class CandidateSource(NamedTuple):
    """One row of candidate_sources, without its pool. Chance gives neither rank nor score.

    Attributes
    ----------
    passage_start, passage_end: the part of a longer document that matched, as in `retrieval.retriever.Hit`.
    """

    query_id: str
    document_id: str
    system: str
    rank: int | None
    score: float | None
    passage_start: int | None = None
    passage_end: int | None = None


class SystemReport(NamedTuple):
    """What one system brought to a pool.

    Attributes
    ----------
    candidates: pairs that it proposed.
    alone: of these, the pairs that no other system proposed.
    top: places that it filled within the first `TOP` and the depth, pooled or over the budget.
    unfilled: places within the depth that stayed empty, because it found no more.
    no_hit: reason → number of queries for which it found nothing.
    no_hit_ids: reason → ids of the first of these; pools of older goldgrades have none.
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
    """Each system's first `depth` hits, query by query: a pair once for a system, at its best rank.

    Returned are the proposals, and how many pairs were pooled under the id of an identical document.
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
    """One report a system; `places` is how many documents each could have proposed for a query.

    Parameters
    ----------
    filled: system → how many documents it found, for each query.
    empty: system → reason → ids of the queries for which it found nothing.
    proposals: grouped by query.
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
