"""Leakage groups: the connected components of the edges, and chains of edges through a group."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from curation.splits.ties.edges import Edge

_Neighbours = Mapping[str, Mapping[str, Edge]]


def leakage_groups(query_ids: Iterable[str], edges: Sequence[Edge]) -> dict[str, str]:
    """Query id → group id, which is the smallest query id of its connected component."""
    ids = sorted(query_ids)
    number = {query_id: position for position, query_id in enumerate(ids)}
    ends = np.array([(number[edge.query_a], number[edge.query_b]) for edge in edges], dtype=np.int64)
    first, second = ends.reshape(-1, 2).T
    graph = coo_matrix((np.ones(len(edges), dtype=bool), (first, second)), shape=(len(ids), len(ids)))
    _, labels = connected_components(graph, directed=False)
    smallest: dict[int, str] = {}
    for query_id, label in zip(ids, labels.tolist(), strict=True):
        smallest.setdefault(label, query_id)
    return {query_id: smallest[label] for query_id, label in zip(ids, labels.tolist(), strict=True)}


def members_of(groups: Mapping[str, str]) -> dict[str, list[str]]:
    """Group id → its queries, both ordered."""
    members: dict[str, list[str]] = defaultdict(list)
    for query_id in sorted(groups):
        members[groups[query_id]].append(query_id)
    return dict(sorted(members.items()))


def chain(members: Iterable[str], edges: Iterable[Edge]) -> list[Edge]:
    """The steps by which a group reaches from one far end to the other: its longest shortest path, nearly;
    from the smaller of the two ends.

    Breadth-first from the smallest query to the farthest, and from there to the farthest again. Between two
    queries with several edges only the strongest counts.
    """
    inside = set(members)
    neighbours = _neighbours_of(edge for edge in edges if edge.query_a in inside)
    *_, far = _reached_from([min(inside)], neighbours)
    came_from = _reached_from([far], neighbours)
    *_, other = came_from
    steps = _steps_to(other, came_from, neighbours)
    return steps[::-1] if other < far else steps


def shortest_chain(starts: Iterable[str], ends: Collection[str], edges: Iterable[Edge]) -> list[Edge]:
    """The steps of a shortest way from one of the starts to one of the ends, which are in one group."""
    neighbours = _neighbours_of(edges)
    came_from = _reached_from(starts, neighbours)
    return _steps_to(next(query for query in came_from if query in ends), came_from, neighbours)


def _neighbours_of(edges: Iterable[Edge]) -> _Neighbours:
    """Query → the queries that it is tied to, each with the strongest edge between the two."""
    neighbours: defaultdict[str, dict[str, Edge]] = defaultdict(dict)
    for edge in sorted(edges, key=lambda edge: (edge.similarity, edge.kind)):
        neighbours[edge.query_a][edge.query_b] = edge
        neighbours[edge.query_b][edge.query_a] = edge
    return neighbours


def _reached_from(starts: Iterable[str], neighbours: _Neighbours) -> dict[str, str]:
    """Query → the one before it on a shortest way from a start (or itself), the nearest queries first."""
    came_from = {start: start for start in starts}
    queue = deque(came_from)
    while queue:
        at = queue.popleft()
        for query_id in sorted(neighbours.get(at, {})):
            if query_id not in came_from:
                came_from[query_id] = at
                queue.append(query_id)
    return came_from


def _steps_to(end: str, came_from: Mapping[str, str], neighbours: _Neighbours) -> list[Edge]:
    """The edges of the way that `_reached_from` found to a query, in their order."""
    steps: list[Edge] = []
    while (before := came_from[end]) != end:
        steps.append(neighbours[before][end])
        end = before
    return steps[::-1]
