"""Cuts: where a leakage group comes apart most easily, and what still holds where somebody cut.

Both look at every tie of a group and never at a spanning forest, of which each edge would seem to be the
only one.

`weakest_links` weighs the cuts that take one edge of a spanning tree, with all other ties between its two
sides: among them is every bridge of the group. The tree goes along ties whose ends have many neighbours in
common, so that it crosses between two clusters once. The best cut has the least strength for the queries
that it sets free (edge expansion):

    Σ similarity of the ties cut / number of queries on the smaller side

`further_ties` is a minimum cut between two queries.

L. R. Ford, D. R. Fulkerson (1956), Maximal flow through a network.
R. Kannan, S. Vempala, A. Vetta (2004), On clusterings: good, bad and spectral (expansion as a measure).

Named cuts: two queries whose direct ties do not count, as somebody writes them: 'A~B', by id or text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from curation.errors import refuse_problems
from curation.similarity.pairs import Links, strongest
from curation.splits.inputs import SplitInputs, within
from curation.splits.rules import Rules
from curation.splits.ties.edges import Edge
from curation.splits.ties.search import all_ties, find_edges
from curation.statistics.arrays import Floats, Ints
from curation.text import normalise_query


def cuts_by_id(cuts: Iterable[tuple[str, str]], queries: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The cuts by query id, ordered; a query may be named by its text where one query alone has it.

    Parameters
    ----------
    queries: query id → text.

    Raises
    ------
    InputError: a name is no query's, or several queries'; or a cut names one query twice; all at once.
    """
    by_text: dict[str, list[str]] = {}
    for name, text in queries.items():
        by_text.setdefault(normalise_query(text), []).append(name)
    found, wrong = set(), []
    for cut in cuts:
        ids = []
        for name in cut:
            texts = by_text.get(normalise_query(name), [])
            if name in queries and any(other != name for other in texts):
                two = f"the id of {queries[name]!r} and the text of {texts[0]!r}"
                wrong.append(f"Cut {'~'.join(cut)}: {name!r} is {two}; name them by text and by id")
            elif name in queries or len(texts) == 1:
                ids.append(name if name in queries else texts[0])
            else:
                has = f"several queries have that text: {', '.join(texts)}" if texts else "no query has that"
                wrong.append(f"Cut {'~'.join(cut)}: {name!r} is no graded query's id or text; {has}")
        if len(set(ids)) == 2:
            found.add((min(ids), max(ids)))
        elif len(ids) == 2:
            wrong.append(f"Cut {'~'.join(cut)}: both name the query {ids[0]}; expected two queries")
    refuse_problems(wrong)
    return tuple(sorted(found))


FEW = 8
_DENSE = 4_000
"""With more queries than this neighbours in common are not counted: it takes their square in memory."""
_TIE = 10_000
_ROWS = 256
FEW_QUERIES = 500
MOST_QUERIES = 20_000
MOST_TIES = 300_000
"""Of a group with more ties than this they are counted and not listed: they take some 200 bytes each, and ten
thousand queries with one key have 50 million."""


class WeakLink(NamedTuple):
    """One of the ties that hold a group together: cut all that are named and it comes apart.

    Attributes
    ----------
    edge: the strongest tie between the two queries; cutting them by name cuts all that tie them directly.
    left, right: queries on the side of query_a and of query_b when all links that were named with it are cut.
    """

    edge: Edge
    left: int
    right: int


class StillTied(NamedTuple):
    """Two queries whose direct ties were cut and that are in one group all the same.

    Attributes
    ----------
    further: the smallest number of further ties that would have to be cut to part them; none where the group
    has too many
        to look at (`MOST_TIES`).
    """

    query_a: str
    query_b: str
    further: tuple[Edge, ...]


class _Web(NamedTuple):
    """A group: its queries and the pairs of them that are tied, the smaller number first.

    Attributes
    ----------
    strength: of each pair the sum of the similarities of its ties.
    edges: of each pair its strongest tie.
    """

    ids: list[str]
    first: Ints
    second: Ints
    strength: Floats
    edges: list[Edge]


def ties_within(inputs: SplitInputs, members: Collection[str], rules: Rules) -> list[Edge] | None:
    """Every tie between these queries; None where they are too many to be listed."""
    inside = within(inputs, members)
    if len(members) > MOST_QUERIES:
        return None
    if len(members) > FEW_QUERIES:
        counted = find_edges(inside, replace(rules, cut=())).found
        if sum(counted.values()) > MOST_TIES:
            return None
    return all_ties(inside, rules)


def ties_by_kind(
    inputs: SplitInputs, members: Collection[str], rules: Rules, every: Sequence[Edge] | None
) -> dict[str, int]:
    """Kind → number of ties between these queries, most first; `every`: what `ties_within` gave."""
    if every is None:
        counts = Counter(find_edges(within(inputs, members), replace(rules, cut=())).found)
    else:
        counts = Counter(edge.kind for edge in every)
    return {kind: count for kind, count in counts.most_common() if count}


def weakest_links(members: Iterable[str], edges: Sequence[Edge], number: int = FEW) -> tuple[WeakLink, ...]:
    """The pairs, at most `number`, whose cut splits a group best for their strength; weakest first.

    None where no cut found is as small as that: then a threshold is too low, and not a tie mistaken.

    Parameters
    ----------
    edges: all ties of the group (`search.all_ties`), not a forest of them.
    """
    web = _web(members, edges)
    size = len(web.ids)
    if size < 2 or not web.edges:
        return ()
    sides = _tree_sides(web)
    side = _best(web, sides, number)
    if side is None:
        side = _best(web, np.eye(size, dtype=bool), number)
    if side is None:
        return ()
    sizes = np.where(side, side.sum(), size - side.sum())
    found = [
        WeakLink(web.edges[place], int(sizes[web.first[place]]), int(sizes[web.second[place]]))
        for place in np.flatnonzero(side[web.first] != side[web.second]).tolist()
    ]
    return tuple(sorted(found, key=lambda link: (link.edge.similarity, link.edge)))


def further_ties(first: str, second: str, edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """The smallest set of ties, of equal ones the weakest, without which two queries are in different groups.

    Parameters
    ----------
    edges: all ties of their group.
    """
    web = _web({name for edge in edges for name in edge[:2]} | {first, second}, edges)
    source, sink = web.ids.index(first), web.ids.index(second)
    # one tie fewer counts more than any strength
    weights = (_TIE + np.rint(np.minimum(web.strength, 6.0) * 100)).astype(np.int32)
    ends = (np.concatenate((web.first, web.second)), np.concatenate((web.second, web.first)))
    graph = sparse.csr_matrix((np.tile(weights, 2), ends), shape=(len(web.ids),) * 2)
    left = graph - maximum_flow(graph, source, sink).flow
    left.data[left.data < 0] = 0
    left.eliminate_zeros()
    reached = np.zeros(len(web.ids), dtype=bool)
    reached[breadth_first_order(left, source, return_predecessors=False)] = True
    crossing = np.flatnonzero(reached[web.first] != reached[web.second]).tolist()
    return tuple(web.edges[place] for place in crossing)


def still_tied(inputs: SplitInputs, rules: Rules, groups: Mapping[str, str]) -> tuple[StillTied, ...]:
    """The pairs that the rules cut and that are in one group all the same, with what holds them.

    Parameters
    ----------
    groups: query id → group, of the edges that the rules leave.
    """
    found = []
    for first, second in sorted({(min(pair), max(pair)) for pair in rules.cut}):
        if groups[first] == groups[second]:
            members = [name for name in groups if groups[name] == groups[first]]
            ties = ties_within(inputs, members, rules)
            further = () if ties is None else further_ties(first, second, ties)
            found.append(StillTied(first, second, further))
    return tuple(found)


def _web(members: Iterable[str], edges: Sequence[Edge]) -> _Web:
    inside = set(members)
    strength: dict[tuple[str, str], float] = {}
    best: dict[tuple[str, str], Edge] = {}
    for edge in sorted(edges):
        pair = (edge.query_a, edge.query_b)
        if inside.issuperset(pair):
            strength[pair] = strength.get(pair, 0.0) + edge.similarity
            if pair not in best or edge.similarity > best[pair].similarity:
                best[pair] = edge
    ids = sorted(inside)
    number = {name: place for place, name in enumerate(ids)}
    ends = np.array([(number[a], number[b]) for a, b in best], dtype=np.int64).reshape(-1, 2)
    strengths = np.array(list(strength.values()), dtype=np.float64)
    return _Web(ids, ends[:, 0], ends[:, 1], strengths, list(best.values()))


def _best(web: _Web, sides: NDArray[np.bool_], number: int) -> NDArray[np.bool_] | None:
    """Of the sides, shape (cuts, queries), with at most so many pairs the one of least expansion."""
    best, least = None, np.inf
    for side in sides[_crossing(web, sides) <= number]:
        crossing = side[web.first] != side[web.second]
        expansion = web.strength[crossing].sum() / min(side.sum(), len(side) - side.sum())
        if expansion < least:
            best, least = side, expansion
    return best


def _crossing(web: _Web, sides: NDArray[np.bool_]) -> Ints:
    """How many pairs each of the sides cuts, shape (cuts,)."""
    size = len(web.ids)
    ends = (np.concatenate((web.first, web.second)), np.concatenate((web.second, web.first)))
    tied = sparse.csr_matrix((np.ones(len(ends[0]), np.int32), ends), shape=(size, size))
    crossing = np.zeros(len(sides), dtype=np.int64)
    for start in range(0, len(sides), _ROWS):
        inside = sides[start : start + _ROWS].astype(np.int32)
        crossing[start : start + _ROWS] = (inside * (tied @ (1 - inside).T).T).sum(axis=1)
    return crossing


def _tree_sides(web: _Web) -> NDArray[np.bool_]:
    """The queries below each edge of a spanning tree, shape (edges, queries)."""
    size = len(web.ids)
    weight = web.strength * (1 + _common(web))
    kept = strongest(Links(web.first, web.second, weight), size)
    tree = sparse.csr_matrix((np.ones(len(kept)), (web.first[kept], web.second[kept])), shape=(size, size))
    order, above = breadth_first_order(tree, 0, directed=False)
    below = np.eye(size, dtype=bool)
    for node in order[:0:-1].tolist():
        below[above[node]] |= below[node]
    sides: NDArray[np.bool_] = below[order[1:]]
    return sides


def _common(web: _Web) -> Floats:
    """How many neighbours the two ends of each pair have in common."""
    size = len(web.ids)
    if size > _DENSE:
        return np.zeros(len(web.first))
    tied = np.zeros((size, size), np.float32)
    tied[web.first, web.second] = tied[web.second, web.first] = 1.0
    common: Floats = (tied @ tied)[web.first, web.second].astype(np.float64)
    return common
