"""Leakage groups: the connected components of the edges, and the chain that made one large.

Where a group could be cut is found in `cuts`.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from curation.splits.ties.edges import Edge


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
    neighbours: dict[str, dict[str, Edge]] = defaultdict(dict)
    for edge in sorted(edges, key=lambda edge: (edge.similarity, edge.kind)):
        if edge.query_a in inside:
            neighbours[edge.query_a][edge.query_b] = edge
            neighbours[edge.query_b][edge.query_a] = edge
    far, _ = _farthest(min(inside), neighbours)
    other, came_from = _farthest(far, neighbours)
    steps: list[Edge] = []
    at = other
    while at != far:
        steps.append(neighbours[came_from[at]][at])
        at = came_from[at]
    return steps if other < far else steps[::-1]


def _farthest(start: str, neighbours: Mapping[str, Mapping[str, Edge]]) -> tuple[str, dict[str, str]]:
    came_from = {start: start}
    queue = deque([start])
    last = start
    while queue:
        last = queue.popleft()
        for query_id in sorted(neighbours.get(last, {})):
            if query_id not in came_from:
                came_from[query_id] = last
                queue.append(query_id)
    return last, came_from
