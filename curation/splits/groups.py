"""Leakage groups: the connected queries, and the chains of ties that connect them."""

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
    """A leakage group, and the ties that made it.

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
        """Say how many queries the group has, and which share of all queries."""
        return f"{pluralize(len(self.queries), 'query', 'queries')} ({percent(self.share)} of all)"

    @property
    def lines(self) -> list[str]:
        """Say which kind most ties of the group are, and list the chain between its far ends."""
        kind, count = next(iter(self.ties.items()))
        return [
            f"{count:,} of its {sum(self.ties.values()):,} ties are of one kind: {kind}.",
            f"Its far ends are tied by a chain of {len(self.chain)}:",
            *chain_lines(self.chain, self.queries),
        ]


def leakage_groups(query_ids: Iterable[str], edges: Sequence[Edge]) -> dict[str, str]:
    """Return query id → group id. The id of a group is its smallest query id."""
    ids = sorted(query_ids)
    number = {query_id: position for position, query_id in enumerate(ids)}
    ends = np.array([(number[edge.query_a], number[edge.query_b]) for edge in edges], dtype=np.int64)
    first, second = ends.reshape(-1, 2).T
    graph = coo_matrix((np.ones(len(edges), dtype=bool), (first, second)), shape=(len(ids), len(ids)))
    _, labels = connected_components(graph, directed=False)
    _, smallest, group_of = np.unique(labels, return_index=True, return_inverse=True)
    return dict(zip(ids, [ids[place] for place in smallest[group_of].tolist()], strict=True))


def group_sizes(groups: Mapping[str, str]) -> dict[int, int]:
    """Return number of queries in a group → number of such groups; `groups`: query id → group."""
    return dict(sorted(Counter(Counter(groups.values()).values()).items()))


def largest_groups(
    inputs: SplitInputs,
    rules: Rules,
    groups: Mapping[str, str],
    edges: Sequence[Edge],
    limit: int | None = None,
    least: int = 2,
) -> tuple[LeakageGroup, ...]:
    """Return the largest groups with at least this many queries; `groups`: query id → group.

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
    """Find the steps from one far end of a group to the other, beginning at the smaller of the two ends.

    The chain is nearly the longest of the shortest paths: a search breadth-first from the smallest query to
    the farthest query, and from there to the farthest query again. Where several edges tie two queries, only
    the strongest counts.
    """
    inside = set(members)
    neighbors = _neighbors_of(edge for edge in edges if edge.query_a in inside)
    *_, far = _reached_from([min(inside)], neighbors)
    came_from = _reached_from([far], neighbors)
    *_, other = came_from
    steps = _steps_to(other, came_from, neighbors)
    return steps[::-1] if other < far else steps


def shortest_chain(starts: Iterable[str], ends: Collection[str], edges: Iterable[Edge]) -> list[Edge]:
    """Find the steps of a shortest path from one of the starts to one of the ends, which are in one group."""
    neighbors = _neighbors_of(edges)
    came_from = _reached_from(starts, neighbors)
    return _steps_to(next(query for query in came_from if query in ends), came_from, neighbors)


def _neighbors_of(edges: Iterable[Edge]) -> _Neighbors:
    """Return query → each query that it is tied to, with the strongest edge between the two."""
    neighbors: defaultdict[str, dict[str, Edge]] = defaultdict(dict)
    for edge in sorted(edges, key=lambda edge: (edge.similarity, edge.kind)):
        neighbors[edge.query_a][edge.query_b] = edge
        neighbors[edge.query_b][edge.query_a] = edge
    return neighbors


def _reached_from(starts: Iterable[str], neighbors: _Neighbors) -> dict[str, str]:
    """Return query → the query before it on a shortest path from a start, the nearest queries first.

    A start has itself as the query before it.
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
    """List the edges of the path that `_reached_from` found to a query, from the start on."""
    steps: list[Edge] = []
    while (before := came_from[end]) != end:
        steps.append(neighbors[before][end])
        end = before
    return steps[::-1]


def edge_sentence(edge: Edge | Crossing, queries: Mapping[str, str]) -> str:
    """Describe an edge with the texts of its queries."""
    first, second = (queries.get(name, name) for name in (edge.query_a, edge.query_b))
    shown = [*edge.documents[:2], *(["…"] if len(edge.documents) > 2 else [])]
    detail = f" ({', '.join(shown)})" if shown else ""
    return f"“{first}” – “{second}”: {edge.kind} {edge.similarity:.2f}{detail}"


def chain_lines(steps: Sequence[Edge], queries: Mapping[str, str]) -> list[str]:
    """Describe each step of a chain on a line; a long chain ends with the number of further steps."""
    lines = [f"  {edge_sentence(edge, queries)}" for edge in steps[:STEPS_SHOWN]]
    if len(steps) > STEPS_SHOWN:
        lines.append(f"  … and {len(steps) - STEPS_SHOWN:,} more")
    return lines
