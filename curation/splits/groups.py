"""Leakage groups: queries connected by chains of ties, which must therefore stay in one part of a split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from curation.core.text import percent, pluralize
from curation.splits.assignment import Groups, list_members
from curation.splits.chains import describe_chain, find_longest_chain
from curation.splits.edges import Edge
from curation.splits.inputs import SplitInputs
from curation.splits.rules import Rules
from curation.splits.ties import count_ties_by_kind


@dataclass(frozen=True)
class LeakageGroup:
    """A leakage group with the ties that join its queries.

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
        """Write the number of queries in the group, and the group's share of all queries, as a sentence."""
        return f"{pluralize(len(self.queries), 'query', 'queries')} ({percent(self.share)} of all)"

    @property
    def lines(self) -> list[str]:
        """Name the most frequent kind of tie in the group, and list the chain of ties that spans it."""
        kind, count = next(iter(self.ties.items()))
        return [
            f"{count:,} of the group's {sum(self.ties.values()):,} ties are of one kind: {kind}.",
            "The two most distant queries of the group are connected by "
            f"{pluralize(len(self.chain), 'tie')}:",
            *describe_chain(self.chain, self.queries),
        ]


def find_leakage_groups(query_ids: Iterable[str], edges: Sequence[Edge]) -> dict[str, str]:
    """Map each query id to its leakage group; a group's id is its smallest query id."""
    ids = sorted(query_ids)
    index_of = {query_id: index for index, query_id in enumerate(ids)}
    ends = np.array([(index_of[edge.query_a], index_of[edge.query_b]) for edge in edges], dtype=np.int64)
    first, second = ends.reshape(-1, 2).T
    graph = coo_matrix((np.ones(len(edges), dtype=bool), (first, second)), shape=(len(ids), len(ids)))
    _, labels = connected_components(graph, directed=False)
    _, smallest, group_of = np.unique(labels, return_index=True, return_inverse=True)
    return dict(zip(ids, [ids[index] for index in smallest[group_of].tolist()], strict=True))


def count_group_sizes(groups: Groups) -> dict[int, int]:
    """Count the leakage groups of each size; `groups` maps query id to group."""
    return dict(sorted(Counter(Counter(groups.values()).values()).items()))


def find_largest_groups(
    inputs: SplitInputs,
    rules: Rules,
    groups: Groups,
    edges: Sequence[Edge],
    limit: int | None = None,
    min_size: int = 2,
) -> tuple[LeakageGroup, ...]:
    """List the largest leakage groups that have a minimum number of queries; `groups` maps query id to group.

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
