"""The audit of assumed negatives: how many documents that count as not relevant, unjudged, are relevant.

The population is `assumed`'s, from the lists of the latest pool's systems, searched again, and the current
corpus. A simple random sample without replacement is drawn from each stratum: a pair of stratum h is included
with probability n_h / N_h. The strata get equal numbers as far as they have them, because each is asked for a
rate of its own; `audit_rate` works it out from what was judged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.statistics.allocation import allocate
from curation.core.text import seeded
from curation.ingest.filters.stored import read_filters
from curation.ingest.importers.queries import active_queries
from curation.labeling.consensus.relevance import VotesOnScale, read_votes_on_scale, relevance_of
from curation.labeling.rounds.candidates import Candidate, Chosen
from curation.labeling.rounds.create_round import RoundOpened, open_over
from curation.labeling.rounds.layout import RoundLayout
from curation.labeling.rounds.rounds import list_rounds
from curation.negatives.assumed import STRATA, AlikePair, Population, assumed_negatives
from curation.negatives.hard_negatives import NEAR_DUPLICATE
from curation.people.seal_access import SealAccess, door_or_shut
from curation.pooling.candidates import AUDIT
from curation.pooling.corpus_texts import read_texts
from curation.pooling.random_negatives import RANDOM
from curation.pooling.relevance import Pair
from curation.pooling.systems import Systems, known_systems, refuse_without_corpus
from curation.retrieval import DEFAULT_MODEL
from curation.store import Cursor, Query, Store
from curation.store.documents import Corpus, StoredDocuments, current_corpus

DEPTH = 100
# What only a pilot or practice showed, or a round that was closed before anybody judged it, is assumed.
_TAKEN = """
SELECT query_id, document_id FROM live_presentations JOIN round_states USING (round_id)
WHERE kind NOT IN ('pilot', 'practice') AND NOT closed
UNION SELECT query_id, document_id FROM counted_judgments
UNION SELECT query_id, document_id FROM current_adjudications
ORDER BY ALL
"""


class Drawn(NamedTuple):
    """How many pairs a stratum has, and how many of them were drawn."""

    name: str
    population: int
    drawn: int


@dataclass(frozen=True)
class AuditOpened:
    """An audit as it was opened.

    Attributes
    ----------
    systems: whose lists make the strata; each was searched to `depth`.
    near_duplicates: what was kept out of the population for being nearly a relevant document; `sealed` more
        are not named.
    opened: the round; its `left_out` counts what is no assumed negative, written to be read after its number.
    """

    opened: RoundOpened
    pool_id: str
    systems: list[str]
    depth: int
    strata: list[Drawn]
    near_duplicates: list[AlikePair]
    sealed: int


class _AuditedPool(NamedTuple):
    pool_id: str
    depth: int
    systems: Mapping[str, Any]  # name → settings


class _AuditInputs(NamedTuple):
    pool: _AuditedPool
    corpus: Corpus
    queries: list[Query]
    taken: list[Pair]  # judged, decided by the reviewer, or planned in a round that is open
    candidates: list[Pair]
    random: list[Pair]
    votes: VotesOnScale


class _Ask(NamedTuple):
    """What an audit was asked for."""

    size: int
    seed: int
    depth: int
    threshold: float
    systems: Sequence[str] | None
    model: str


def open_audit(
    store: Store,
    annotators: Sequence[str],
    *,
    name: str | None = None,
    size: int = 100,
    seed: int = 0,
    overlap: int = 1,
    duplicates: float = 0.0,
    depth: int = DEPTH,
    threshold: float = NEAR_DUPLICATE,
    systems: Sequence[str] | None = None,
    model: str = DEFAULT_MODEL,
    progress: Progress = silent,
    door: SealAccess | None = None,
) -> AuditOpened:
    """Open a round of kind 'audit' over a random part of the assumed negatives.

    Annotators see it as any other; its judgments count like any other's. Project, seed and numbers decide the
    draw.

    Parameters
    ----------
    name: of the round; None is the first free one of audit-1, audit-2 …
    size: pairs to be judged, over all strata; where there are fewer, all are.
    depth: how far down a system's list a place makes an assumed negative.
    threshold: least Jaccard similarity of word 3-grams that makes a near-duplicate.
    systems: whose lists; None is all of the latest pool's, which must still be as they were.
    model: what dense and hybrid embed with.
    door: without one, near-duplicates of relevant documents are counted only where a release seals the query.

    Raises
    ------
    InputError: numbers that cannot be, or unknown systems.
    NotFoundError: annotators, the model or a run are not there.
    RefusedError: there is no corpus, no pool or no assumed negative; a system is not as the pool had it; or
        as `create_round.open_over`.
    """
    _check_numbers(size, depth, threshold)
    with store.reading() as cursor:
        name, door = name or _free_name(cursor), door_or_shut(cursor, door)
    ask = _Ask(size, seed, depth, threshold, systems, model)
    layout = RoundLayout(name, "audit", annotators, overlap, duplicates, seed).checked()
    choices: list[tuple[Chosen, Population]] = []

    def choose(given: _AuditInputs) -> Chosen:
        population, names = _population(store, given, ask, progress)
        choices.append((_draw(given, population, names, ask), population))
        return choices[-1][0]

    opened = open_over(store, layout, _read, choose)
    chosen, population = choices[-1]
    named = [
        near_duplicate for near_duplicate in population.near_duplicates if door.shows(near_duplicate.query_id)
    ]
    return AuditOpened(
        opened=opened,
        pool_id=chosen.parameters["pool"],
        systems=chosen.parameters["systems"],
        depth=depth,
        strata=[Drawn(**row) for row in chosen.parameters["strata"]],
        near_duplicates=named,
        sealed=len(population.near_duplicates) - len(named),
    )


def _check_numbers(size: int, depth: int, threshold: float) -> None:
    problems = []
    if size < 1:
        problems.append(f"--size {size}: expected at least 1 pair to audit.")
    if depth < 1:
        problems.append(f"--depth {depth}: expected at least 1.")
    if not 0 < threshold <= 1:
        problems.append(f"--threshold {threshold:g}: expected a similarity above 0 and up to 1.")
    refuse_problems(problems)


def _free_name(cursor: Cursor) -> str:
    taken = {found.name for found in list_rounds(cursor)}
    return next(name for number in range(1, len(taken) + 2) if (name := f"audit-{number}") not in taken)


def _read(cursor: Cursor) -> _AuditInputs:
    rows = cursor.execute("SELECT pool_id, parameters FROM pools ORDER BY rowid DESC LIMIT 1").fetchall()
    if not rows:
        raise RefusedError(
            "No system has proposed anything yet. Build a pool.", command="`goldgrade pool` builds one."
        )
    parameters = json.loads(rows[0][1])
    return _AuditInputs(
        pool=_AuditedPool(rows[0][0], parameters["depth"], parameters["systems"]),
        corpus=current_corpus(cursor),
        queries=active_queries(cursor),
        taken=cursor.execute(_TAKEN).fetchall(),
        candidates=cursor.execute("SELECT query_id, document_id FROM candidates ORDER BY ALL").fetchall(),
        random=cursor.execute(
            "SELECT DISTINCT query_id, document_id FROM candidate_sources WHERE system = ? ORDER BY ALL",
            [RANDOM],
        ).fetchall(),
        votes=read_votes_on_scale(cursor),
    )


def _population(
    store: Store, given: _AuditInputs, ask: _Ask, progress: Progress
) -> tuple[Population, list[str]]:
    names = known_systems(list(given.pool.systems) if ask.systems is None else ask.systems)
    with store.reading() as cursor:
        refuse_without_corpus(cursor, names)
    engines = Systems(store, names, given.corpus, ask.model)
    if ask.systems is None:
        _refuse_changed(given.pool, engines.settings)
    match = engines.search(given.queries, ask.depth, progress)
    population = assumed_negatives(
        match,
        given.queries,
        given.corpus,
        read_texts(store, given.corpus),
        lambda ids: StoredDocuments(store, given.corpus.part(ids).hashes),
        given.random,
        given.taken,
        given.candidates,
        relevance_of(given.votes),
        filters=read_filters(store),
        pool_depth=given.pool.depth,
        depth=ask.depth,
        threshold=ask.threshold,
    )
    unheard = len(set(given.pool.systems) - set(names))
    reasons = {
        "systems of the pool were not searched, so what they alone rank is not audited": unheard,
        **population.left_out,
    }
    return population._replace(left_out={reason: n for reason, n in reasons.items() if n}), names


def _refuse_changed(pool: _AuditedPool, settings: Mapping[str, Any]) -> None:
    as_stored = json.loads(json.dumps(settings))
    changed = [name for name, held in pool.systems.items() if as_stored[name] != held]
    if changed:
        raise RefusedError(
            f"Not as the latest pool ({pool.pool_id[:8]}) had it any more: {', '.join(changed)}. Name the "
            "pool's model with --model, choose other systems with --systems, or build the pool again with "
            "`goldgrade pool`."
        )


def draw_pairs(strata: Mapping[str, Sequence[Pair]], size: int, seed: int) -> tuple[list[Drawn], list[Pair]]:
    """`size` pairs, or all there are: from each stratum alike, without replacement, ordered by stratum."""
    populations = [len(strata[name]) for name in STRATA]
    numbers = allocate(min(size, sum(populations)), populations, [1] * len(STRATA))
    counts = [Drawn(*row) for row in zip(STRATA, populations, numbers, strict=True)]
    pairs = []
    for item in counts:
        pairs += seeded(strata[item.name], seed, lambda pair: ["audit", *pair])[: item.drawn]
    return counts, pairs


def _draw(given: _AuditInputs, population: Population, names: Sequence[str], ask: _Ask) -> Chosen:
    if not any(population.strata.values()):
        raise RefusedError(
            f"There is nothing to audit: to depth {ask.depth:,}, and among the easy negatives, every pair is "
            "judged, planned in a round, or nearly a relevant document. Look deeper with --depth, or build a "
            "pool with --random-negatives."
        )
    counts, pairs = draw_pairs(population.strata, ask.size, ask.seed)
    parameters = {
        "pool": given.pool.pool_id,
        "systems": list(names),
        "depth": ask.depth,
        "threshold": ask.threshold,
        "size": ask.size,
        "strata": [item._asdict() for item in counts],
    }
    missing = {"pairs fewer than asked for: there are no more assumed negatives": ask.size - len(pairs)}
    left_out = {**population.left_out, **{reason: count for reason, count in missing.items() if count}}
    drawn = given.corpus.part(document_id for _, document_id in pairs)
    hashes = dict(zip(drawn.ids, drawn.hashes.to_pylist(), strict=True))
    candidates = [Candidate(*pair, hashes[pair[1]]) for pair in sorted(pairs)]
    stratum_of = (item.name for item in counts for _ in range(item.drawn))
    sources = {pair: f"{AUDIT}{name}" for pair, name in zip(pairs, stratum_of, strict=True)}
    return Chosen(candidates, parameters, left_out, sources)
