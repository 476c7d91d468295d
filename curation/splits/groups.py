"""Leakage groups: queries that chains of ties connect, so that they must stay in one part of a split."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from curation.core.text import percent, pluralize
from curation.splits.assignment import list_members
from curation.splits.certify import Crossing
from curation.splits.edges import Edge
from curation.splits.inputs import SplitInputs
from curation.splits.request import Rules
from curation.splits.ties import count_ties_by_kind

_Neighbors = Mapping[str, Mapping[str, Edge]]
MAX_EDGES_SHOWN = 12


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
    spoils: the balance problem that the group causes; '' without a problem (`refusals.find_balance_problem`).
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
            *describe_chain(self.chain, self.queries),
        ]


def find_leakage_groups(query_ids: Iterable[str], edges: Sequence[Edge]) -> dict[str, str]:
    """Map each query id to the id of its leakage group.

    The id of a leakage group is the smallest id of its queries.
    """
    ids = sorted(query_ids)
    index_of = {query_id: index for index, query_id in enumerate(ids)}
    ends = np.array([(index_of[edge.query_a], index_of[edge.query_b]) for edge in edges], dtype=np.int64)
    first, second = ends.reshape(-1, 2).T
    graph = coo_matrix((np.ones(len(edges), dtype=bool), (first, second)), shape=(len(ids), len(ids)))
    _, labels = connected_components(graph, directed=False)
    _, smallest, group_of = np.unique(labels, return_index=True, return_inverse=True)
    return dict(zip(ids, [ids[index] for index in smallest[group_of].tolist()], strict=True))


def count_group_sizes(groups: Mapping[str, str]) -> dict[int, int]:
    """Count the leakage groups of each size. `groups` maps query id to group."""
    return dict(sorted(Counter(Counter(groups.values()).values()).items()))


def find_largest_groups(
    inputs: SplitInputs,
    rules: Rules,
    groups: Mapping[str, str],
    edges: Sequence[Edge],
    limit: int | None = None,
    min_size: int = 2,
) -> tuple[LeakageGroup, ...]:
    """Return the largest leakage groups with a minimum number of queries. `groups` maps query id to group.

    Parameters
    ----------
    rules: cuts are by query id.
    limit: largest number of groups to return; None returns all.
    min_size: smallest number of queries of a group to return.
    """
    largest_first = sorted(list_members(groups).items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        LeakageGroup(
            group_id,
            {query_id: inputs.queries[query_id] for query_id in members},
            len(members) / len(groups),
            count_ties_by_kind(inputs, members, rules),
            tuple(find_longest_chain(members, edges)),
        )
        for group_id, members in largest_first[:limit]
        if len(members) >= min_size
    )


def find_longest_chain(members: Iterable[str], edges: Iterable[Edge]) -> list[Edge]:
    """Find the chain of ties between the two most distant queries of a group, from the smaller query id on.

    The chain is nearly the longest of the shortest paths: a search breadth-first from the smallest query to
    the farthest query, and from there to the farthest query again. If several edges tie two queries, only the
    strongest edge counts.
    """
    member_ids = set(members)
    neighbors = _map_neighbors(edge for edge in edges if edge.query_a in member_ids)
    *_, first_end = _search_breadth_first([min(member_ids)], neighbors)
    predecessors = _search_breadth_first([first_end], neighbors)
    *_, second_end = predecessors
    chain = _trace_path(second_end, predecessors, neighbors)
    return chain[::-1] if second_end < first_end else chain


def find_shortest_chain(starts: Iterable[str], ends: Collection[str], edges: Iterable[Edge]) -> list[Edge]:
    """Find a shortest path of ties from any start query to any end query of the same group."""
    neighbors = _map_neighbors(edges)
    predecessors = _search_breadth_first(starts, neighbors)
    nearest_end = next(query_id for query_id in predecessors if query_id in ends)
    return _trace_path(nearest_end, predecessors, neighbors)


def _map_neighbors(edges: Iterable[Edge]) -> _Neighbors:
    """Map each query to its tied queries, with the strongest edge to each."""
    neighbors: defaultdict[str, dict[str, Edge]] = defaultdict(dict)
    for edge in sorted(edges, key=lambda edge: (edge.similarity, edge.kind)):
        neighbors[edge.query_a][edge.query_b] = edge
        neighbors[edge.query_b][edge.query_a] = edge
    return neighbors


def _search_breadth_first(starts: Iterable[str], neighbors: _Neighbors) -> dict[str, str]:
    """Map each query to its predecessor on a shortest path from a start query, the nearest queries first.

    A start query is its own predecessor.
    """
    predecessors = {start: start for start in starts}
    queue = deque(predecessors)
    while queue:
        current = queue.popleft()
        for neighbor in sorted(neighbors.get(current, {})):
            if neighbor not in predecessors:
                predecessors[neighbor] = current
                queue.append(neighbor)
    return predecessors


def _trace_path(end: str, predecessors: Mapping[str, str], neighbors: _Neighbors) -> list[Edge]:
    """List the edges of the shortest path from a start query to `end`, by `_search_breadth_first`."""
    path: list[Edge] = []
    while (predecessor := predecessors[end]) != end:
        path.append(neighbors[predecessor][end])
        end = predecessor
    return path[::-1]


def describe_edge(edge: Edge | Crossing, queries: Mapping[str, str]) -> str:
    """Describe an edge by the texts of its two queries."""
    first, second = (queries.get(query_id, query_id) for query_id in (edge.query_a, edge.query_b))
    documents = [*edge.documents[:2], *(["…"] if len(edge.documents) > 2 else [])]
    detail = f" ({', '.join(documents)})" if documents else ""
    return f"“{first}” – “{second}”: {edge.kind} {edge.similarity:.2f}{detail}"


def describe_chain(chain: Sequence[Edge], queries: Mapping[str, str]) -> list[str]:
    """Describe each edge of a chain of ties on a line. A long chain ends with the number of further edges."""
    lines = [f"  {describe_edge(edge, queries)}" for edge in chain[:MAX_EDGES_SHOWN]]
    if len(chain) > MAX_EDGES_SHOWN:
        lines.append(f"  … and {len(chain) - MAX_EDGES_SHOWN:,} more")
    return lines
