"""Chains of tied queries, which show why two distant queries must stay in the same part of a split."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence

from curation.splits.edges import Edge
from curation.splits.findings import Crossing

_Neighbors = Mapping[str, Mapping[str, Edge]]
MAX_EDGES_SHOWN = 12


def find_longest_chain(members: Iterable[str], edges: Iterable[Edge]) -> list[Edge]:
    """Find the chain of ties between the two most distant queries of a leakage group.

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
    """Find a shortest chain of ties from any start query to any end query of the same leakage group."""
    neighbors = _map_neighbors(edges)
    predecessors = _search_breadth_first(starts, neighbors)
    nearest_end = next(query_id for query_id in predecessors if query_id in ends)
    return _trace_path(nearest_end, predecessors, neighbors)


def _map_neighbors(edges: Iterable[Edge]) -> _Neighbors:
    """Map each query to the queries tied to it, with the strongest edge to each."""
    neighbors: defaultdict[str, dict[str, Edge]] = defaultdict(dict)
    for edge in sorted(edges, key=lambda edge: (edge.similarity, edge.kind)):
        neighbors[edge.query_a][edge.query_b] = edge
        neighbors[edge.query_b][edge.query_a] = edge
    return neighbors


def _search_breadth_first(starts: Iterable[str], neighbors: _Neighbors) -> dict[str, str]:
    """Map each query to its predecessor on a shortest chain of ties from a start query, nearest first.

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
    """List the edges of the shortest chain of ties from a start query to `end`."""
    path: list[Edge] = []
    while (predecessor := predecessors[end]) != end:
        path.append(neighbors[predecessor][end])
        end = predecessor
    return path[::-1]


def describe_edge(edge: Edge | Crossing, queries: Mapping[str, str]) -> str:
    """Describe a tie between two queries by their texts."""
    first, second = (queries.get(query_id, query_id) for query_id in (edge.query_a, edge.query_b))
    documents = [*edge.documents[:2], *(["…"] if len(edge.documents) > 2 else [])]
    detail = f" ({', '.join(documents)})" if documents else ""
    return f"“{first}” – “{second}”: {edge.kind} {edge.similarity:.2f}{detail}"


def describe_chain(chain: Sequence[Edge], queries: Mapping[str, str]) -> list[str]:
    """Describe each edge in a chain of ties on its own line; a long chain ends with the number of further
    edges."""
    lines = [f"  {describe_edge(edge, queries)}" for edge in chain[:MAX_EDGES_SHOWN]]
    if len(chain) > MAX_EDGES_SHOWN:
        lines.append(f"  … and {len(chain) - MAX_EDGES_SHOWN:,} more")
    return lines
