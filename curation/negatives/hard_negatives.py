"""Hard negatives: what systems rank high and people judged not relevant, and what only looks like that.

A mined negative is a candidate, never a label, until a person says so: of the top-ranked passages that a
well-known collection had left unlabelled, about 70 % were relevant (Qu and others, NAACL 2021: RocketQA).
Therefore a hard negative here always has a grade by people, of the text that the document has now, and a
near-duplicate of a relevant document is excluded at any grade. Unjudged documents that several systems rank
above a relevant one are listed as suspects, to be judged first.

What is outside the filter of its query needs no grade: it is a negative of a kind of its own, and of another
where its text is nearly that of a relevant document.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curation.core.errors import RefusedError, refuse_problems
from curation.core.similarity.near_duplicates import NearDuplicate, near_duplicate
from curation.core.similarity.shingles import Shingles, word_shingles
from curation.ingest.filters.query_filter import OUTDATED, OUTSIDE
from curation.ingest.importers.queries import active_queries
from curation.labeling.consensus.relevance import read_votes_on_scale, relevance_of
from curation.people.seal_access import SealAccess, door_or_shut
from curation.pooling.relevance import Ranked, Relevance
from curation.store import Cursor, Document, Query, Store, fetch
from curation.store.documents import current_snapshot, snapshot_texts

WANT = 10
NEAR_DUPLICATE = 0.8
JUDGED = "judged not relevant"
WITNESSES = 2
"""How many systems must rank an unjudged document above a relevant one to make it a suspect."""


# A system that was pooled several times (deeper, or over another corpus) counts as it last was.
_RANKED = """
SELECT c.query_id, c.document_id, c.system, c.rank, c.score
FROM candidate_sources c JOIN pools p USING (pool_id)
WHERE c.rank IS NOT NULL {query}
QUALIFY row_number() OVER (
    PARTITION BY c.query_id, c.document_id, c.system ORDER BY p.rowid DESC) = 1
ORDER BY ALL
"""


class HardNegative(NamedTuple):
    """A top-ranked document that people judged not relevant, or that is outside the filter of its query.

    Attributes
    ----------
    rank, system, score: its best place; of systems that place it alike, the first by name.
    systems: system → rank, of all that found it.
    margin: ranks between it and the best relevant document of the same system; below zero it is ranked above.
        None where that system found no relevant one.
    kind: `JUDGED`, or of those outside the filter `OUTSIDE` or `OUTDATED`.
    """

    document_id: str
    title: str
    rank: int
    system: str
    score: float | None
    systems: dict[str, int]
    margin: int | None
    kind: str = JUDGED


class Suspect(NamedTuple):
    """An unjudged document that several systems rank above a relevant one.

    Attributes
    ----------
    above: system → (its rank, the rank of the lowest relevant document below it).
    """

    document_id: str
    title: str
    above: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class QueryNegatives:
    """One query's negatives, best ranked first.

    Attributes
    ----------
    positives: documents graded above the scale's lowest.
    missing: hard negatives that are still wanted.
    """

    query_id: str
    text: str
    positives: int
    negatives: list[HardNegative]
    near_duplicates: list[NearDuplicate]
    suspects: list[Suspect]
    missing: int


@dataclass(frozen=True)
class HardNegatives:
    """All queries for which a pool found something, by query id.

    Attributes
    ----------
    want: hard negatives wanted for each query.
    enough: queries that have as many.
    sealed: queries that are not named, as a release seals what people said of their pairs.
    left_out: reason, written to be read after its number → number.
    """

    want: int
    threshold: float
    negatives: int
    near_duplicates: int
    suspects: int
    enough: int
    queries: list[QueryNegatives]
    sealed: int
    left_out: dict[str, int]


class _ShingledText(NamedTuple):
    title: str
    shingles: Shingles


class _Pooled(NamedTuple):
    """What one query's negatives are made from."""

    query: Query
    ranks: Mapping[str, Mapping[str, Ranked]]  # document → system → its place
    positives: frozenset[str]


def hard_negatives(
    store: Store, want: int = WANT, threshold: float = NEAR_DUPLICATE, door: SealAccess | None = None
) -> HardNegatives:
    """The hard negatives of every query in all pools, with what is missing, excluded or suspect.

    Parameters
    ----------
    want: how many hard negatives each query should have; 10 to 20 serve training and evaluation.
    threshold: least Jaccard similarity of word 3-grams that makes a near-duplicate.
    door: without one, queries that a release seals are counted only.

    Raises
    ------
    InputError: a number out of its bounds.
    RefusedError: there is no corpus or no pool.
    """
    _check_numbers(want, threshold)
    with store.reading() as cursor:
        door = door_or_shut(cursor, door)
        queries = active_queries(cursor)
        ranked = fetch(cursor, Ranked, _RANKED.format(query=""))
        votes = read_votes_on_scale(cursor)
        judged = votes.votes.rows["document_id"].unique().to_pylist()
        needed = sorted({*judged, *(row.document_id for row in ranked)})
        documents = snapshot_texts(cursor, current_snapshot(cursor), needed)
    if not ranked:
        raise RefusedError(
            "No system has proposed anything yet. Build a pool.", command="`goldgrade pool` builds one."
        )
    relevance = relevance_of(votes)
    texts = _shingled(zip(*documents.to_pydict().values(), strict=True))
    known = [row for row in ranked if row.document_id in texts]
    everything = _by_query(queries, known, relevance)
    pooled = [item for item in everything if door.shows(item.query.query_id)]
    found = [_query_negatives(item, relevance, texts, want, threshold) for item in pooled]
    pairs = {row[:2] for row in known}
    left_out = {
        "places name a document that the corpus no longer has": len(ranked) - len(known),
        "pairs were judged without a grade (disputed, or cannot tell): they are no negatives yet": len(
            relevance.open & pairs
        ),
        "pairs were graded on an older text of their document: they are no negatives until judged again": sum(
            relevance.grades.get(pair) == relevance.lowest for pair in relevance.changed & pairs
        ),
    }
    return HardNegatives(
        want=want,
        threshold=threshold,
        negatives=sum(len(item.negatives) for item in found),
        near_duplicates=sum(len(item.near_duplicates) for item in found),
        suspects=sum(len(item.suspects) for item in found),
        enough=sum(not item.missing for item in found),
        queries=found,
        sealed=len(everything) - len(pooled),
        left_out={reason: count for reason, count in left_out.items() if count},
    )


def read_ranked(cursor: Cursor, query_id: str) -> list[Ranked]:
    """The places that systems gave a query's documents, in the pools that count."""
    return fetch(cursor, Ranked, _RANKED.format(query="AND c.query_id = ?"), [query_id])


def query_negatives(
    query: Query, ranked: Sequence[Ranked], relevance: Relevance, documents: Iterable[Document]
) -> QueryNegatives:
    """The hard negatives of one query; `documents` are those that the corpus has."""
    shingled = _shingled((document.document_id, document.title, document.body) for document in documents)
    known = [row for row in ranked if row.document_id in shingled]
    [pooled] = _by_query([query], known, relevance) or [_Pooled(query, {}, frozenset())]
    return _query_negatives(pooled, relevance, shingled, WANT, NEAR_DUPLICATE)


def suspects_of(
    ranks: Mapping[str, Mapping[str, Ranked]], positives: Iterable[str], unjudged: Iterable[str]
) -> dict[str, dict[str, tuple[int, int]]]:
    """Unjudged documents that at least `WITNESSES` systems rank above a relevant one.

    Parameters
    ----------
    ranks: document → system → its place.

    Returns
    -------
    Document → system → (its rank, the rank of the lowest relevant document that this system found below it),
    most witnesses first, then best rank. A hybrid repeats its parts and is no witness besides one of them,
    and systems with the same list are one witness, the first by name.
    """
    first_of = _first_of_alike(ranks)
    lowest: dict[str, int] = {}
    for document_id in positives:
        for system, place in ranks.get(document_id, {}).items():
            lowest[system] = max(lowest.get(system, 0), place.rank)
    found = {}
    for document_id in unjudged:
        places = ranks[document_id]
        above = {
            system: (place.rank, lowest[system])
            for system, place in places.items()
            if place.rank < lowest.get(system, 0) and first_of[system] == system
        }
        if above.keys() & {"bm25", "dense"}:
            above.pop("hybrid", None)
        if len(above) >= WITNESSES:
            found[document_id] = dict(sorted(above.items()))
    order = sorted(found, key=lambda d: (-len(found[d]), min(found[d].values())[0], d))
    return {document_id: found[document_id] for document_id in order}


def _first_of_alike(ranks: Mapping[str, Mapping[str, Ranked]]) -> dict[str, str]:
    """System → the first by name of those with the same list for the query."""
    lists: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for document_id, places in ranks.items():
        for system, place in places.items():
            lists[system].add((document_id, place.rank))
    first: dict[frozenset[tuple[str, int]], str] = {}
    return {system: first.setdefault(frozenset(lists[system]), system) for system in sorted(lists)}


def _check_numbers(want: int, threshold: float) -> None:
    problems = []
    if want < 1:
        problems.append(f"{want} hard negatives a query were asked for; expected at least 1.")
    if not 0 < threshold <= 1:
        problems.append(f"A threshold of {threshold:g}: expected a similarity above 0 and up to 1.")
    refuse_problems(problems)


def _shingled(documents: Iterable[tuple[str, str, str]]) -> dict[str, _ShingledText]:
    """Of ids, titles and bodies."""
    return {
        document_id: _ShingledText(title, word_shingles(f"{title}\n{body}"))
        for document_id, title, body in documents
    }


def _by_query(queries: Sequence[Query], ranked: Iterable[Ranked], relevance: Relevance) -> list[_Pooled]:
    ranks: defaultdict[str, defaultdict[str, dict[str, Ranked]]] = defaultdict(lambda: defaultdict(dict))
    for row in ranked:
        ranks[row.query_id][row.document_id][row.system] = row
    positives = defaultdict(set)
    for pair in relevance.grades:
        if relevance.is_relevant(pair):
            positives[pair[0]].add(pair[1])
    return [
        _Pooled(query, ranks[query.query_id], frozenset(positives[query.query_id]))
        for query in queries
        if query.query_id in ranks
    ]


def _query_negatives(
    pooled: _Pooled, relevance: Relevance, texts: Mapping[str, _ShingledText], want: int, threshold: float
) -> QueryNegatives:
    query_id, ranks = pooled.query.query_id, pooled.ranks
    refused = [d for d in ranks if relevance.is_refused((query_id, d))]
    shingles = {d: texts[d].shingles for d in {*refused, *pooled.positives} if d in texts}
    alike = {d: near_duplicate(d, pooled.positives, shingles, threshold) for d in sorted(refused)}
    kinds = {d: JUDGED for d in refused if alike[d] is None}
    for d in refused:
        if (query_id, d) in relevance.outside:
            kinds[d] = OUTSIDE if alike.pop(d) is None else OUTDATED
    negatives = [
        _negative(d, ranks, pooled.positives, texts[d].title)._replace(kind=kind) for d, kind in kinds.items()
    ]
    unjudged = [d for d in ranks if not relevance.is_judged((query_id, d))]
    suspects = suspects_of(ranks, pooled.positives, unjudged)
    return QueryNegatives(
        *(query_id, pooled.query.text, len(pooled.positives)),
        negatives=sorted(negatives, key=lambda item: (item.rank, -len(item.systems), item.document_id)),
        near_duplicates=[item for item in alike.values() if item is not None],
        suspects=[Suspect(d, texts[d].title, above) for d, above in suspects.items()],
        missing=max(0, want - len(negatives)),
    )


def _negative(
    document_id: str, ranks: Mapping[str, Mapping[str, Ranked]], positives: Iterable[str], title: str
) -> HardNegative:
    places = ranks[document_id]
    best = min(places.values(), key=lambda place: (place.rank, place.system))
    others = [ranks[d][best.system].rank for d in positives if best.system in ranks.get(d, {})]
    systems = {system: places[system].rank for system in sorted(places)}
    margin = best.rank - min(others) if others else None
    return HardNegative(document_id, title, best.rank, best.system, best.score, systems, margin)
