"""Edges: why two queries must stay on one side of a split.

Each kind has its own threshold or switch (`rules`): nearly the same query text, nearly the same meaning, a
document that is relevant to both, two nearly identical documents of which one is relevant to each, the same
key (session, a relevant document's group, a field of the query), and the same block of time. Every edge
carries its exact similarity and what makes it.

Groups need no more than a spanning forest of the strongest edges: that is what `find_edges` keeps, with the
number of all ties that were found. `all_ties` gives every single one, which is what cutting needs.

Ties that are cut by name are no edges, whatever made them, and all else holds: of queries that a cut names
every tie is looked at, because what a forest leaves out may be what keeps them together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from math import floor
from typing import NamedTuple

import numpy as np

from curation.errors import InputError
from curation.progress import Progress, silent
from curation.splits.forest import Links, strongest
from curation.splits.material import Material
from curation.splits.numbers import compared_text, names
from curation.splits.paraphrases import paraphrase_links
from curation.splits.rules import SESSION, SESSIONS, Rules
from curation.splits.similarity import (
    EXACT_BELOW,
    EXACTLY,
    Collected,
    alike,
    character_shingles,
    word_shingles,
)

QUERY_TEXT = "query text"
PARAPHRASE = "paraphrase"
SHARED_DOCUMENT = "shared document"
NEAR_DUPLICATE = "near-duplicate document"
SAME_KEY = "same key"
SAME_TIME = "same time block"
KINDS = (QUERY_TEXT, PARAPHRASE, SHARED_DOCUMENT, NEAR_DUPLICATE, SAME_KEY, SAME_TIME)

OFF = "not looked for"
NO_VECTORS = "not looked for: the queries have no embeddings"

Pair = tuple[str, str]


class Edge(NamedTuple):
    """Two queries (query_a < query_b) that give each other away.

    Attributes
    ----------
    similarity: exact Jaccard of the query texts or documents, or cosine of the embeddings; else 1.
    documents: shared documents; or the two similar ones, that of query_a first; or none.
    key: what both have: 'session 4f1c…', 'project apollo', or the start of the block of time; or ''.
    """

    query_a: str
    query_b: str
    kind: str
    similarity: float
    documents: tuple[str, ...] = ()
    key: str = ""


class Ties(NamedTuple):
    """What ties queries together.

    Attributes
    ----------
    edges: ordered; a spanning forest of the strongest.
    found: kind → number of all ties: pairs of similar query texts; pairs of queries for each document that is
        relevant to both, for each key and block of time; pairs of nearly identical relevant documents.
    cut: ties that the rules cut by name; none of them is in `edges` or `found` (of nearly identical
        documents only the edge is left out, the pair of documents is counted).
    methods: kind → how it was searched.
    left_out: reason, written to be read after its number → number of queries.
    """

    edges: list[Edge]
    found: dict[str, int]
    cut: list[Edge]
    methods: dict[str, str]
    left_out: dict[str, int]


class _Found(NamedTuple):
    edges: list[Edge]
    ties: int
    method: str


class _Search(NamedTuple):
    """What all searches go by.

    Attributes
    ----------
    ids: the queries, ordered.
    named: queries of which every tie is wanted.
    cut: pairs (smaller id first) whose direct ties do not count.
    """

    material: Material
    rules: Rules
    ids: list[str]
    named: frozenset[str]
    cut: frozenset[Pair]
    progress: Progress


def compared_exactly(texts: int) -> bool:
    """Whether so many texts are compared all with all, and not by MinHash."""
    return texts < EXACT_BELOW


def find_edges(material: Material, rules: Rules, progress: Progress = silent) -> Ties:
    """The strongest edges that hold the leakage groups together, and the number of all.

    Raises
    ------
    InputError: a cut names a query that the material does not have.
    """
    _check_cut(material, rules)
    cut = frozenset(_pair(*pair) for pair in rules.cut)
    search = _search(material, rules, frozenset(name for pair in cut for name in pair), cut, progress)
    found = {kind: look(search) for kind, look in _KINDS.items()}
    edges = [edge for kind in KINDS for edge in found[kind].edges]
    uncut = replace(rules, cut=())
    removed = [edge for pair in sorted(cut) for edge in all_ties(within(material, pair), uncut)]
    popular = _in_many_sessions(material) if SESSION in rules.keys else []
    left_out = {
        f"queries were asked in more than {SESSIONS} sessions, so that their sessions tie nothing": len(
            popular
        ),
        "queries have no time, so that no block of time ties them": (
            len(material.queries) - len(material.times) if rules.time_block is not None else 0
        ),
    }
    return Ties(
        _forest(search.ids, edges),
        {kind: found[kind].ties for kind in KINDS},
        removed,
        {kind: found[kind].method for kind in KINDS},
        {reason: count for reason, count in left_out.items() if count},
    )


def all_ties(material: Material, rules: Rules, progress: Progress = silent) -> list[Edge]:
    """Every tie, of each kind and pair of queries the strongest; meant for a group, not for a gold set: their
    number grows with the square of the queries."""
    cut = frozenset(_pair(*pair) for pair in rules.cut)
    search = _search(material, rules, frozenset(material.queries), cut, progress)
    best: dict[tuple[str, str, str], Edge] = {}
    for look in _KINDS.values():
        for edge in look(search).edges:
            held = best.get(edge[:3])
            if held is None or (-edge.similarity, edge) < (-held.similarity, held):
                best[edge[:3]] = edge
    return sorted(best.values())


def within(material: Material, members: Iterable[str]) -> Material:
    """What the material holds of these queries."""
    kept = sorted(set(members) & set(material.queries))
    relevant = {name: material.relevant[name] for name in kept if name in material.relevant}
    documents = sorted(set().union(*relevant.values()))
    vectors = material.vectors
    if vectors is not None:
        inside = set(kept)
        vectors = vectors[[place for place, name in enumerate(sorted(material.queries)) if name in inside]]
    return replace(
        material,
        queries={name: material.queries[name] for name in kept},
        relevant=relevant,
        documents={name: material.documents[name] for name in documents},
        keys={name: material.keys[name] for name in kept if name in material.keys},
        times={name: material.times[name] for name in kept if name in material.times},
        vectors=vectors,
    )


def edge_between(first: Pair, second: Pair, similarity: float) -> Edge:
    """The edge that two similar documents make; `first`, `second`: query id, document id relevant to it."""
    (query_a, document_a), (query_b, document_b) = sorted([first, second])
    return Edge(query_a, query_b, NEAR_DUPLICATE, similarity, (document_a, document_b))


def _search(
    material: Material, rules: Rules, named: frozenset[str], cut: frozenset[Pair], progress: Progress
) -> _Search:
    return _Search(material, rules, sorted(material.queries), named, cut, progress)


def _check_cut(material: Material, rules: Rules) -> None:
    unknown = [
        f"--cut {'~'.join(pair)}: there is no graded query {name!r}; expected the ids of two graded queries"
        for pair in rules.cut
        for name in pair
        if name not in material.queries
    ]
    if unknown:
        raise InputError(unknown)


def _forest(ids: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    ordered = sorted(edges)
    number = {query_id: place for place, query_id in enumerate(ids)}
    links = Links(
        np.array([number[edge.query_a] for edge in ordered], dtype=np.int64),
        np.array([number[edge.query_b] for edge in ordered], dtype=np.int64),
        np.array([edge.similarity for edge in ordered], dtype=np.float64),
    )
    return [ordered[place] for place in strongest(links, len(ids)).tolist()]


def _query_text(search: _Search) -> _Found:
    if search.rules.query is None:
        return _Found([], 0, OFF)
    numbers = search.rules.numbers
    texts = (compared_text(search.material.queries[name], numbers) for name in search.ids)
    found = alike(
        map(character_shingles, texts),
        search.rules.query,
        progress=search.progress,
        labels=_labels(search),
        single=_places(search),
    )
    return _of_queries(search, found.links, QUERY_TEXT, found.pairs, found.method)


def _paraphrases(search: _Search) -> _Found:
    vectors = search.material.vectors
    if search.rules.paraphrase is None or vectors is None:
        return _Found([], 0, NO_VECTORS if search.rules.paraphrase is not None else OFF)
    labels = _labels(search)
    label_of = np.unique(labels, return_inverse=True)[1] if labels else np.zeros(len(vectors), np.int64)
    found = Collected(len(vectors), _places(search))
    for links in paraphrase_links(vectors, search.rules.paraphrase, search.progress):
        found.add(links.at(label_of[links.first] == label_of[links.second]))
    return _of_queries(search, found.links(), PARAPHRASE, found.pairs, EXACTLY)


def _of_queries(search: _Search, links: Links, kind: str, pairs: int, method: str) -> _Found:
    edges = [Edge(search.ids[a], search.ids[b], kind, similarity) for a, b, similarity in _each(links)]
    kept = [edge for edge in edges if edge[:2] not in search.cut]
    return _Found(kept, pairs - (len(edges) - len(kept)), method)


def _shared_documents(search: _Search) -> _Found:
    if not search.rules.shared:
        return _Found([], 0, OFF)
    shared: dict[Pair, list[str]] = defaultdict(list)
    ties = 0
    for document_id, queries in search.material.queries_of.items():
        ties += _pairs_among(queries, search.cut)
        for pair in _among(queries, search):
            shared[pair].append(document_id)
    edges = [Edge(*pair, SHARED_DOCUMENT, 1.0, tuple(documents)) for pair, documents in shared.items()]
    return _Found(edges, ties, EXACTLY)


def _near_duplicates(search: _Search) -> _Found:
    """Each two similar documents tie the queries of one with those of the other; where a shared document ties
    them anyway, only those that a cut names."""
    threshold, material = search.rules.document, search.material
    if threshold is None:
        return _Found([], 0, OFF)
    ids, queries_of = sorted(material.documents), material.queries_of
    named = {place for place, name in enumerate(ids) if not search.named.isdisjoint(queries_of[name])}
    shingles = (word_shingles(material.documents[name]) for name in ids)
    found = alike(shingles, threshold, progress=search.progress, single=named)
    edges = []
    for a, b, similarity in _each(found.links):
        left, right = queries_of[ids[a]], queries_of[ids[b]]
        tied = search.rules.shared and not ({a, b} & named) and not set(left).isdisjoint(right)
        for one, other in [] if tied else _between(left, right, search):
            edges.append(edge_between((one, ids[a]), (other, ids[b]), similarity))
    return _Found(edges, found.pairs, found.method)


def _same_key(search: _Search) -> _Found:
    if not search.rules.keys:
        return _Found([], 0, OFF)
    popular = set(_in_many_sessions(search.material))
    holders: dict[Pair, list[str]] = defaultdict(list)
    for name in search.ids:
        for kind, value in sorted(search.material.keys.get(name, ())):
            if kind in search.rules.keys and not (kind == SESSION and name in popular):
                holders[kind, value].append(name)
    return _cliques(
        search, {f"{kind} {value}": queries for (kind, value), queries in holders.items()}, SAME_KEY
    )


def _same_time(search: _Search) -> _Found:
    seconds = search.rules.time_block
    if seconds is None:
        return _Found([], 0, OFF)
    holders: dict[str, list[str]] = defaultdict(list)
    for name in search.ids:
        if name in search.material.times:
            holders[_block(search.material.times[name], seconds)].append(name)
    return _cliques(search, holders, SAME_TIME)


def _block(time: datetime, seconds: int) -> str:
    """The start of the block that a time (UTC) lies in; blocks are counted from 1970."""
    stamp = floor(time.replace(tzinfo=UTC).timestamp())
    return datetime.fromtimestamp(stamp // seconds * seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _cliques(search: _Search, holders: Mapping[str, Sequence[str]], kind: str) -> _Found:
    edges = [
        Edge(*pair, kind, 1.0, (), key)
        for key, queries in sorted(holders.items())
        for pair in _among(queries, search)
    ]
    ties = sum(_pairs_among(queries, search.cut) for queries in holders.values())
    return _Found(edges, ties, EXACTLY)


def _in_many_sessions(material: Material) -> list[str]:
    """Queries that were asked in so many sessions that these say nothing."""
    return [
        name for name, keys in material.keys.items() if sum(kind == SESSION for kind, _ in keys) > SESSIONS
    ]


def _among(queries: Sequence[str], search: _Search) -> Iterator[Pair]:
    """Pairs that hold together what all pairs of these queries do, and each pair of a named query.

    The first query that no cut names is tied with all others, so that it can stand in the centre.
    """
    free = next((name for name in queries if name not in search.named), None)
    named = [name for name in queries if name in search.named]
    ties = {_pair(free, other) for other in queries if other != free} if free is not None else set()
    ties |= {pair for pair in combinations(named, 2) if pair not in search.cut}
    ties |= {_pair(one, other) for one in named for other in queries if other not in search.named}
    yield from sorted(ties)


def _between(left: Sequence[str], right: Sequence[str], search: _Search) -> Iterator[Pair]:
    """As `_among`, of the pairs of a query on the left and another on the right; left first."""
    ties = set()
    for near, far in ((left, right), (right, left)):
        free = [name for name in near if name not in search.named][:1]
        for one in (*free, *(name for name in near if name in search.named)):
            ties |= {(one, other) if near is left else (other, one) for other in far if other != one}
    yield from sorted(pair for pair in ties if _pair(*pair) not in search.cut)


def _pairs_among(queries: Collection[str], cut: Collection[Pair]) -> int:
    inside = set(queries)
    return len(inside) * (len(inside) - 1) // 2 - sum(inside.issuperset(pair) for pair in cut)


def _labels(search: _Search) -> list[str] | None:
    """What the texts of two queries must have in common to be a pair, if anything."""
    if search.rules.numbers != "apart":
        return None
    return [" ".join(sorted(names(search.material.queries[name]))) for name in search.ids]


def _places(search: _Search) -> list[int]:
    return [place for place, name in enumerate(search.ids) if name in search.named]


def _pair(first: str, second: str) -> Pair:
    return (first, second) if first < second else (second, first)


def _each(links: Links) -> zip[tuple[int, int, float]]:
    return zip(links.first.tolist(), links.second.tolist(), links.similarity.tolist(), strict=True)


_KINDS = {
    QUERY_TEXT: _query_text,
    PARAPHRASE: _paraphrases,
    SHARED_DOCUMENT: _shared_documents,
    NEAR_DUPLICATE: _near_duplicates,
    SAME_KEY: _same_key,
    SAME_TIME: _same_time,
}
