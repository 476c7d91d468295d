"""Leakage groups of connected queries, and the chains of ties that connect the queries of a group."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from curation.core.text import percent, pluralize
from curation.splits.assignment import members_of
from curation.splits.certify import Crossing
from curation.splits.edges import Edge
from curation.splits.inputs import SplitInputs
from curation.splits.request import Rules
from curation.splits.ties import ties_by_kind

_Neighbors = Mapping[str, Mapping[str, Edge]]
STEPS_SHOWN = 12


@dataclass(frozen=True)
class LeakageGroup:
    """A leakage group, and the ties that join the queries of the group.

    Attributes
    ----------
    queries: query id → text.
    share: the group's share of all queries.
    ties: kind → number of ties in the group, the largest number first.
    chain: the steps from one far end to the other.
    part: the part of the group; '' where there is no split.
    spoils: how the group spoils the split; '' where the parts have the sizes that were asked for.
    """

    group_id: str
    queries: dict[str, str]
    share: float
    ties: dict[str, int]
    chain: tuple[Edge, ...]
    part: str = ""
    spoils: str = ""

    @property
    def size(self) -> str:
        """Return a sentence with the number of queries in the group, and with its share of all queries."""
        return f"{pluralize(len(self.queries), 'query', 'queries')} ({percent(self.share)} of all)"

    @property
    def lines(self) -> list[str]:
        """Name the most frequent kind of tie in the group, and list the chain between its far ends."""
        kind, count = next(iter(self.ties.items()))
        return [
            f"{count:,} of the group's {sum(self.ties.values()):,} ties are of one kind: {kind}.",
            f"The two most distant queries of the group are tied by a chain of {len(self.chain)}:",
            *chain_lines(self.chain, self.queries),
        ]


def leakage_groups(query_ids: Iterable[str], edges: Sequence[Edge]) -> dict[str, str]:
    """Map each query id to the id of its leakage group.

    The id of a leakage group is the smallest id of its queries.
    """
    ids = sorted(query_ids)
    number = {query_id: position for position, query_id in enumerate(ids)}
    ends = np.array([(number[edge.query_a], number[edge.query_b]) for edge in edges], dtype=np.int64)
    first, second = ends.reshape(-1, 2).T
    graph = coo_matrix((np.ones(len(edges), dtype=bool), (first, second)), shape=(len(ids), len(ids)))
    _, labels = connected_components(graph, directed=False)
    _, smallest, group_of = np.unique(labels, return_index=True, return_inverse=True)
    return dict(zip(ids, [ids[place] for place in smallest[group_of].tolist()], strict=True))


def group_sizes(groups: Mapping[str, str]) -> dict[int, int]:
    """Count the leakage groups of each size. `groups` maps query id to group."""
    return dict(sorted(Counter(Counter(groups.values()).values()).items()))


def largest_groups(
    inputs: SplitInputs,
    rules: Rules,
    groups: Mapping[str, str],
    edges: Sequence[Edge],
    limit: int | None = None,
    least: int = 2,
) -> tuple[LeakageGroup, ...]:
    """Return the largest leakage groups with a minimum number of queries. `groups` maps query id to group.

    Parameters
    ----------
    rules: cuts are by query id.
    limit: the most groups that are returned; None: all.
    """
    members = sorted(members_of(groups).items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        LeakageGroup(
            name,
            {query_id: inputs.queries[query_id] for query_id in queries},
            len(queries) / len(groups),
            ties_by_kind(inputs, queries, rules),
            tuple(longest_chain(queries, edges)),
        )
        for name, queries in members[:limit]
        if len(queries) >= least
    )


def longest_chain(members: Iterable[str], edges: Iterable[Edge]) -> list[Edge]:
    """Find the chain of ties between the two most distant queries of a group, from the smaller query id on.

    The chain is nearly the longest of the shortest paths: a search breadth-first from the smallest query to
    the farthest query, and from there to the farthest query again. If several edges tie two queries, only the
    strongest edge counts.
    """
    inside = set(members)
    neighbors = _neighbors_of(edge for edge in edges if edge.query_a in inside)
    *_, far = _reached_from([min(inside)], neighbors)
    came_from = _reached_from([far], neighbors)
    *_, other = came_from
    steps = _steps_to(other, came_from, neighbors)
    return steps[::-1] if other < far else steps


def shortest_chain(starts: Iterable[str], ends: Collection[str], edges: Iterable[Edge]) -> list[Edge]:
    """Find a shortest path of ties from any start query to any end query of the same group."""
    neighbors = _neighbors_of(edges)
    came_from = _reached_from(starts, neighbors)
    return _steps_to(next(query for query in came_from if query in ends), came_from, neighbors)


def _neighbors_of(edges: Iterable[Edge]) -> _Neighbors:
    """Map each query to its tied queries, with the strongest edge to each."""
    neighbors: defaultdict[str, dict[str, Edge]] = defaultdict(dict)
    for edge in sorted(edges, key=lambda edge: (edge.similarity, edge.kind)):
        neighbors[edge.query_a][edge.query_b] = edge
        neighbors[edge.query_b][edge.query_a] = edge
    return neighbors


def _reached_from(starts: Iterable[str], neighbors: _Neighbors) -> dict[str, str]:
    """Map each query to its predecessor on a shortest path from a start query, the nearest queries first.

    A start query is its own predecessor.
    """
    came_from = {start: start for start in starts}
    queue = deque(came_from)
    while queue:
        at = queue.popleft()
        for query_id in sorted(neighbors.get(at, {})):
            if query_id not in came_from:
                came_from[query_id] = at
                queue.append(query_id)
    return came_from


def _steps_to(end: str, came_from: Mapping[str, str], neighbors: _Neighbors) -> list[Edge]:
    """List the edges of the shortest path to a query, from the start on, as `_reached_from` found it."""
    steps: list[Edge] = []
    while (before := came_from[end]) != end:
        steps.append(neighbors[before][end])
        end = before
    return steps[::-1]


def edge_sentence(edge: Edge | Crossing, queries: Mapping[str, str]) -> str:
    """Describe an edge by the texts of its two queries."""
    first, second = (queries.get(name, name) for name in (edge.query_a, edge.query_b))
    shown = [*edge.documents[:2], *(["…"] if len(edge.documents) > 2 else [])]
    detail = f" ({', '.join(shown)})" if shown else ""
    return f"“{first}” – “{second}”: {edge.kind} {edge.similarity:.2f}{detail}"


def chain_lines(steps: Sequence[Edge], queries: Mapping[str, str]) -> list[str]:
    """Describe each step of a chain of ties on a line. A long chain ends with the number of further steps."""
    lines = [f"  {edge_sentence(edge, queries)}" for edge in steps[:STEPS_SHOWN]]
    if len(steps) > STEPS_SHOWN:
        lines.append(f"  … and {len(steps) - STEPS_SHOWN:,} more")
    return lines
