"""The audit of assumed negatives, which opens a round over a random sample of them.

The population of an audit comes from the current corpus and the lists of the latest pool's systems, which
search again. A simple random sample without replacement is drawn from each stratum: a pair of stratum h is
included with probability n_h / N_h. Each stratum gets the same number of pairs, or all its pairs if it has
fewer, because `audit_rate` computes a rate for each stratum.

The population of an audit has three strata. The stratum 'top' has unjudged pairs within the pool's depth in
some system's list: over the budget, not drawn into the sample of the pool, from a later system or corpus, or
waiting for their round. The stratum 'below' has pairs below the pool's depth in every list, and within the
audit's depth in at least one list, which are often mined as hard negatives. The stratum 'random' has pairs
drawn for a pool as easy negatives, and outside the audit's depth in every list.

The population of an audit leaves out pairs that are judged or planned in an open round, also under the id of
an identical document; documents without text; and near-duplicates of a relevant document, as
`find_hard_negatives` does. The audit counts all pairs that are left out of its population, and lists the
near-duplicates of relevant documents.
"""

from __future__ import annotations

import json
from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.digests import sort_by_seed
from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.reports.tables import Table
from curation.core.request import refuse_invalid
from curation.core.similarity.identical_texts import Representatives
from curation.core.similarity.shingles import find_near_duplicate, word_shingles
from curation.core.statistics.stratified_sampling import allocate
from curation.core.text import pluralize
from curation.ingest.filters import NO_FILTERS, Filters, read_filters
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.consensus.consensus import prepare_relevance
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.candidates import Candidate, Selection
from curation.labeling.rounds.create_round import OpenedRound, open_round_over
from curation.labeling.rounds.rounds import list_rounds
from curation.negatives.requests import AuditRequest
from curation.people.seal_access import SealAccess, access_or_closed, withheld
from curation.pooling.pool import CorpusTexts, read_texts
from curation.pooling.random_negatives import RANDOM
from curation.pooling.relevance import Pair, Relevance
from curation.pooling.systems import AUDIT, SystemLists, Systems, require_corpus, sort_systems
from curation.store import Cursor, Document, Query, Store
from curation.store.documents import Corpus, StoredDocuments, current_corpus

ReadDocuments = Callable[[Iterable[str]], Iterable[Document]]
TOP, BELOW = "top", "below"
STRATA = (TOP, BELOW, RANDOM)

# A pair stays in the population if only a pilot, practice or a closed round showed it and nobody judged it.
_JUDGED_OR_PLANNED = """
SELECT query_id, document_id FROM live_presentations JOIN round_states USING (round_id)
WHERE kind NOT IN ('pilot', 'practice') AND NOT closed
UNION SELECT query_id, document_id FROM counted_judgments
UNION SELECT query_id, document_id FROM current_adjudications
ORDER BY ALL
"""


class NegativeDuplicate(NamedTuple):
    """An unjudged document that nearly repeats a relevant document, and is left out of the audit's
    population.
    """

    query_id: str
    document_id: str
    positive_id: str
    similarity: float


class Population(NamedTuple):
    """The population of an audit: the assumed negatives by stratum, and the numbers of pairs left out by
    reason.
    """

    strata: Mapping[str, list[Pair]]
    near_duplicates: list[NegativeDuplicate]
    left_out: dict[str, int]


def find_assumed_negatives(
    inputs: AuditInputs,
    request: AuditRequest,
    lists: SystemLists,
    texts: CorpusTexts,
    documents: ReadDocuments,
    relevance: Relevance,
    filters: Filters = NO_FILTERS,
) -> Population:
    """Find the assumed negatives of each stratum of an audit. A text with several document ids counts once.

    Parameters
    ----------
    lists: each system's list for each query, at least to the request's depth.
    texts: identical and blank texts of the corpus.
    documents: a function that reads documents of the corpus by id.
    filters: pairs outside the filter of their query are known to be not relevant, and are left out.
    """
    identical = texts.identical
    judged_pairs = {(query_id, identical.first(document_id)) for query_id, document_id in inputs.taken}
    stand_ins = Representatives(identical, inputs.candidates, filters.outside)
    best_ranks = _find_best_ranks(lists, inputs.queries, inputs.random, stand_ins, request.depth)
    corpus_ids = frozenset(inputs.corpus.part(document_id for _, document_id in best_ranks).ids)
    duplicates = _find_near_duplicates(best_ranks, documents, relevance, request.threshold)
    strata: dict[str, list[Pair]] = {name: [] for name in STRATA}
    near_duplicates: list[NegativeDuplicate] = []
    left_out: Counter[str] = Counter()
    for pair, rank in sorted(best_ranks.items()):
        if pair[1] not in corpus_ids:
            left_out["easy negatives name a document that the corpus no longer has"] += 1
        elif filters.outside(*pair):
            left_out["pairs are outside the filter of their query"] += 1
        elif (pair[0], identical.first(pair[1])) in judged_pairs:
            left_out["pairs are judged, or planned in an open round"] += 1
        elif pair[1] in texts.blank:
            left_out["pairs have a document without text"] += 1
        elif pair in duplicates:
            near_duplicates.append(duplicates[pair])
        else:
            strata[RANDOM if rank is None else TOP if rank <= inputs.pool_depth else BELOW].append(pair)
    left_out["pairs are near-duplicates of a relevant document, and no negatives"] = len(near_duplicates)
    return Population(strata, near_duplicates, {reason: count for reason, count in left_out.items() if count})


def _find_near_duplicates(
    pairs: Iterable[Pair], documents: ReadDocuments, relevance: Relevance, threshold: float
) -> dict[Pair, NegativeDuplicate]:
    """Find for each near-duplicate pair the relevant document that the pair's document nearly repeats."""
    positives = defaultdict[str, list[str]](list)
    for pair in sorted(relevance.grades):
        if relevance.is_relevant(pair):
            positives[pair[0]].append(pair[1])
    asked = defaultdict[str, list[str]](list)
    for query_id, document_id in pairs:
        if query_id in positives:
            asked[document_id].append(query_id)
    relevant = documents(name for names in positives.values() for name in names)
    shingles = {document_read.document_id: word_shingles(document_read.text) for document_read in relevant}
    alike = {}
    for document in documents(asked):
        name = document.document_id
        known = ChainMap({name: word_shingles(document.text)}, shingles)
        for query_id in asked[name]:
            duplicate = find_near_duplicate(name, positives[query_id], known, threshold)
            if duplicate is not None:
                alike[query_id, name] = NegativeDuplicate(query_id, *duplicate)
    return alike


def _find_best_ranks(
    lists: SystemLists, queries: list[Query], random_pairs: list[Pair], stand_ins: Representatives, depth: int
) -> dict[Pair, int | None]:
    """Find each pair's best rank within the depth in any list; None for a pair drawn at random only."""
    ranks: dict[Pair, int | None] = {}
    query_ids = {query.query_id for query in queries}
    for hits_of_queries in lists.values():
        for query, hits in zip(queries, hits_of_queries, strict=True):
            for rank, hit in enumerate(hits[:depth], 1):
                pair = (query.query_id, stand_ins.of(query.query_id, hit.document_id))
                ranks[pair] = min(rank, ranks.get(pair) or rank)
    for query_id, document_id in random_pairs:
        if query_id in query_ids:
            ranks.setdefault((query_id, stand_ins.of(query_id, document_id)), None)
    return ranks


class AuditStratum(NamedTuple):
    """A stratum of an audit, with the numbers of its pairs and of its drawn pairs."""

    name: str
    population: int
    drawn: int


@dataclass(frozen=True)
class AuditOpened:
    """A newly opened audit.

    Attributes
    ----------
    opened: round of the audit, whose `left_out` counts by reason the pairs that are no assumed negatives.
    systems: systems whose lists make the strata, each searched to `depth`.
    near_duplicates: near-duplicates of relevant documents, which are left out of the population.
    sealed: number of near-duplicates that are not listed, because their queries are sealed.
    """

    opened: OpenedRound
    pool_id: str
    systems: list[str]
    depth: int
    strata: list[AuditStratum]
    near_duplicates: list[NegativeDuplicate]
    sealed: int

    @property
    def sentences(self) -> list[str]:
        """Count the round's pairs, the pairs left out by reason, and the sealed pairs."""
        return [
            f"Opened {self.opened.round}: {pluralize(self.opened.candidates, 'pair')}, "
            f"{pluralize(self.opened.presentations, 'presentation')}.",
            *(f"{count:,} {reason}" for reason, count in self.opened.left_out.items()),
            *filter(None, [withheld(self.sealed)]),
        ]

    @property
    def tables(self) -> tuple[Table, Table]:
        """Show the strata with their drawn pairs, and the near-duplicates that were left out."""
        strata = [
            (*stratum, stratum.drawn / stratum.population if stratum.population else None)
            for stratum in self.strata
        ]
        title = f"Assumed negatives of {', '.join(self.systems)} to depth {self.depth:,}"
        columns = ("Query", "Document", "Relevant", "Similarity")
        return (
            Table(title, ("Stratum", "Pairs", "Drawn", "Probability"), tuple(strata)),
            Table("Near-duplicates left out", columns, tuple(self.near_duplicates)),
        )


class AuditInputs(NamedTuple):
    """The inputs of an audit: the latest pool, the corpus, the queries and the judgments.

    Attributes
    ----------
    systems: name → settings of the pool's systems.
    taken: pairs that are judged, decided by a reviewer, or planned in an open round.
    candidates: pairs that decide the id under which a text with several ids is judged.
    random: pairs that were drawn at random as easy negatives.
    """

    pool_id: str
    pool_depth: int
    systems: Mapping[str, Any]
    corpus: Corpus
    queries: list[Query]
    taken: list[Pair]
    candidates: list[Pair]
    random: list[Pair]
    relevance: Callable[[], Relevance]


def open_audit(
    store: Store, request: AuditRequest, progress: Progress = silent, access: SealAccess | None = None
) -> AuditOpened:
    """Open a round of kind 'audit' over a random sample of the assumed negatives.

    Annotators see an audit like any other round, and judgments in an audit count. If the population has fewer
    pairs than the request asks for, all pairs are drawn. A request without systems uses all systems of the
    latest pool, whose settings must be unchanged.

    Parameters
    ----------
    access: access to sealed results. Without access, near-duplicates of sealed queries are counted and not
        listed.

    Raises
    ------
    InputError: a number is out of its bounds, or a system is unknown.
    NotFoundError: an annotator, the model or a run does not exist.
    RefusedError: there is no corpus, no pool or no assumed negative; the settings of a system differ from the
        pool's; or `create_round.open_round_over` refuses.
    """
    refuse_invalid(request)
    with store.reading() as cursor:
        name = request.name or _choose_name(cursor)
        access = access_or_closed(cursor, access)
    layout = RoundRequest(
        name, request.annotators, request.overlap, duplicates=0.0, seed=request.seed, kind="audit"
    ).checked()
    results: list[tuple[Selection, Population]] = []

    def choose(inputs: AuditInputs) -> Selection:
        population, systems = _read_population(store, inputs, request, progress)
        results.append((_draw_candidates(inputs, population, systems, request), population))
        return results[-1][0]

    opened = open_round_over(store, layout, _read_inputs, choose)
    chosen, population = results[-1]
    visible_duplicates = [pair for pair in population.near_duplicates if access.shows(pair.query_id)]
    return AuditOpened(
        opened=opened,
        pool_id=chosen.parameters["pool"],
        systems=chosen.parameters["systems"],
        depth=request.depth,
        strata=[AuditStratum(**row) for row in chosen.parameters["strata"]],
        near_duplicates=visible_duplicates,
        sealed=len(population.near_duplicates) - len(visible_duplicates),
    )


def _choose_name(cursor: Cursor) -> str:
    names = {round_.name for round_ in list_rounds(cursor)}
    return next(name for number in range(1, len(names) + 2) if (name := f"audit-{number}") not in names)


def _read_inputs(cursor: Cursor) -> AuditInputs:
    rows = cursor.execute("SELECT pool_id, parameters FROM pools ORDER BY rowid DESC LIMIT 1").fetchall()
    if not rows:
        raise RefusedError(
            "No system has proposed documents yet. Build a pool.", command="`goldgrade pool` builds a pool."
        )
    parameters = json.loads(rows[0][1])
    return AuditInputs(
        pool_id=rows[0][0],
        pool_depth=parameters["depth"],
        systems=parameters["systems"],
        corpus=current_corpus(cursor),
        queries=read_active_queries(cursor),
        taken=cursor.execute(_JUDGED_OR_PLANNED).fetchall(),
        candidates=cursor.execute("SELECT query_id, document_id FROM candidates ORDER BY ALL").fetchall(),
        random=cursor.execute(
            "SELECT DISTINCT query_id, document_id FROM candidate_sources WHERE system = ? ORDER BY ALL",
            [RANDOM],
        ).fetchall(),
        relevance=prepare_relevance(cursor),
    )


def _read_population(
    store: Store, inputs: AuditInputs, request: AuditRequest, progress: Progress
) -> tuple[Population, list[str]]:
    systems = sort_systems(list(inputs.systems) if request.systems is None else request.systems)
    with store.reading() as cursor:
        require_corpus(cursor, systems)
    searches = Systems(store, systems, inputs.corpus, request.model)
    if request.systems is None:
        _refuse_changed(inputs, searches.settings)
    population = find_assumed_negatives(
        inputs,
        request,
        searches.search(inputs.queries, request.depth, progress),
        read_texts(store, inputs.corpus),
        lambda ids: StoredDocuments(store, inputs.corpus.part(ids).hashes),
        inputs.relevance(),
        read_filters(store),
    )
    if not_searched := len(set(inputs.systems) - set(systems)):
        reason = "systems of the pool were not searched, so documents that only they rank are not audited"
        population = population._replace(left_out={reason: not_searched, **population.left_out})
    return population, systems


def _refuse_changed(inputs: AuditInputs, settings: Mapping[str, Any]) -> None:
    current = json.loads(json.dumps(settings))
    changed = [name for name, stored in inputs.systems.items() if current[name] != stored]
    if changed:
        raise RefusedError(
            f"{', '.join(changed)}: the settings have changed since the latest pool "
            f"({inputs.pool_id[:8]}). Name the pool's model with --model, choose other systems with "
            "--systems, or build the pool again with `goldgrade pool`."
        )


def draw_pairs(
    strata: Mapping[str, Sequence[Pair]], size: int, seed: int
) -> tuple[list[AuditStratum], list[Pair]]:
    """Draw at most `size` pairs without replacement, equally many from each stratum, ordered by stratum."""
    populations = [len(strata[name]) for name in STRATA]
    sizes = allocate(min(size, sum(populations)), populations, [1] * len(STRATA))
    drawn_strata = [AuditStratum(*row) for row in zip(STRATA, populations, sizes, strict=True)]
    pairs = []
    for stratum in drawn_strata:
        pairs += sort_by_seed(strata[stratum.name], seed, lambda pair: ["audit", *pair])[: stratum.drawn]
    return drawn_strata, pairs


def _draw_candidates(
    inputs: AuditInputs, population: Population, systems: Sequence[str], request: AuditRequest
) -> Selection:
    if not any(population.strata.values()):
        raise RefusedError(
            f"There is nothing to audit: to depth {request.depth:,}, and among the easy negatives, every "
            "pair is judged, planned in a round, or a near-duplicate of a relevant document. Look deeper "
            "with --depth, or build a pool with --random-negatives."
        )
    drawn_strata, pairs = draw_pairs(population.strata, request.size, request.seed)
    parameters = {
        "pool": inputs.pool_id,
        "systems": list(systems),
        "depth": request.depth,
        "threshold": request.threshold,
        "size": request.size,
        "strata": [stratum._asdict() for stratum in drawn_strata],
    }
    left_out = dict(population.left_out)
    if len(pairs) < request.size:
        reason = "pairs fewer than asked for: there are no more assumed negatives"
        left_out[reason] = request.size - len(pairs)
    documents = inputs.corpus.part(document_id for _, document_id in pairs)
    hashes = dict(zip(documents.ids, documents.hashes.to_pylist(), strict=True))
    candidates = [Candidate(*pair, hashes[pair[1]]) for pair in sorted(pairs)]
    stratum_of = (stratum.name for stratum in drawn_strata for _ in range(stratum.drawn))
    sources = {pair: f"{AUDIT}{name}" for pair, name in zip(pairs, stratum_of, strict=True)}
    return Selection(candidates, parameters, left_out, sources)
