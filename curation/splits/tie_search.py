"""The search for one kind of tie, which makes edges between a split's queries.

A group of queries that share a document or a key has as many ties as pairs. A search makes only enough edges
to connect the group. The direct ties between two queries that are cut by name do not count, but all other
ties of both do. So a search lists every tie of a query in a cut: a tie that a spanning forest leaves out may
still join both queries. The searches by kind are in `similarity_ties` and `shared_ties`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, product
from typing import Any, NamedTuple

from curation.core.progress import Progress
from curation.core.similarity import pairs
from curation.splits.edges import Edge, QueryPair, ordered_pair
from curation.splits.inputs import SplitInputs
from curation.splits.rules import Rules

OFF = "not looked for"
"""Method that a stored split has for a kind of tie that is switched off."""


class FoundTies(NamedTuple):
    """Ties between queries found by the search for one kind of tie.

    Attributes
    ----------
    edges: edges that hold together what all ties hold together, and every edge of a query in a cut.
    n_ties: number of all ties.
    method: how the kind was searched.
    left_out: reason, written to be read after its number → number of queries.
    parameters: more parameters of a stored split, where the search found ties that older goldgrades missed.
    """

    edges: list[Edge]
    n_ties: int
    method: str
    left_out: Mapping[str, int] = {}
    parameters: Mapping[str, Any] = {}


@dataclass(frozen=True)
class TieSearch:
    """What a search for ties works on: the queries, the rules and the cuts.

    Attributes
    ----------
    cut_queries: queries in a cut, whose ties are all listed.
    compare: the search for similar texts.
    """

    inputs: SplitInputs
    rules: Rules
    cut_queries: frozenset[str]
    compare: pairs.Search
    progress: Progress

    @cached_property
    def ids(self) -> list[str]:
        """Return the ids of all queries in the search for ties, in ascending order."""
        return sorted(self.inputs.queries)

    @cached_property
    def cuts(self) -> frozenset[QueryPair]:
        """Return the pairs of queries whose direct ties do not count."""
        return frozenset(ordered_pair(*pair) for pair in self.rules.cut)

    @property
    def cut_indices(self) -> list[int]:
        """Return the indexes in `ids` of the queries named in a cut."""
        return [index for index, query_id in enumerate(self.ids) if query_id in self.cut_queries]

    @property
    def grouped_indices(self) -> list[int]:
        """Return the indexes in `ids` of the queries whose relevant documents have a document group.

        No two queries with groups are compared.
        """
        grouped = self.inputs.grouped_queries
        return [index for index, query_id in enumerate(self.ids) if query_id in grouped]

    @property
    def method(self) -> str:
        """Return the name of the method that searches for similar texts."""
        return pairs.EXACTLY if self.compare is pairs.exact_links else pairs.VERIFIED

    def tie_similar_queries(self, similar: pairs.PairCollector, label: str, method: str) -> FoundTies:
        """Turn index pairs of queries into edges, leaving out cut pairs."""
        edges = [Edge(self.ids[a], self.ids[b], label, score) for a, b, score in list_links(similar)]
        uncut_edges = [edge for edge in edges if edge[:2] not in self.cuts]
        return FoundTies(uncut_edges, similar.pairs - (len(edges) - len(uncut_edges)), method)

    def count_uncut_pairs(self, queries: Collection[str]) -> int:
        """Count the pairs of these queries that nobody cut from each other."""
        distinct = set(queries)
        cut_pairs = sum(distinct.issuperset(pair) for pair in self.cuts)
        return len(distinct) * (len(distinct) - 1) // 2 - cut_pairs

    def connect(self, queries: Sequence[str]) -> list[QueryPair]:
        """List, in order, enough pairs of queries to connect all these queries, plus all pairs with a query
        that a cut names."""
        return sorted({ordered_pair(*pair) for pair in self.connect_sides(queries, queries)})

    def connect_sides(self, left: Sequence[str], right: Sequence[str]) -> list[QueryPair]:
        """List pairs of queries, one from each of two sides, that connect all queries of both sides.

        On each side, the first query outside all cuts is paired with all queries of the other side. Each
        query in a cut is also paired with all queries of the other side.
        """
        left_pairs = product(self._find_centers(left), right)
        right_pairs = product(left, self._find_centers(right))
        query_pairs = {(first, second) for first, second in chain(left_pairs, right_pairs) if first != second}
        return sorted(pair for pair in query_pairs if ordered_pair(*pair) not in self.cuts)

    def _find_centers(self, queries: Sequence[str]) -> list[str]:
        """List the first query that no cut names, and all queries that a cut names."""
        outside_cuts = [query_id for query_id in queries if query_id not in self.cut_queries]
        in_cuts = [query_id for query_id in queries if query_id in self.cut_queries]
        return [*outside_cuts[:1], *in_cuts]


def list_links(*collectors: pairs.PairCollector) -> Iterable[tuple[int, int, float]]:
    """Yield first index, second index and similarity of each collected pair, as Python numbers."""
    links = pairs.concatenate_links([collector.links() for collector in collectors])
    return zip(links.first.tolist(), links.second.tolist(), links.similarity.tolist(), strict=True)


@dataclass(frozen=True)
class TieKind:
    """A kind of tie between queries, such as similar texts or a shared relevant document.

    Attributes
    ----------
    label: name of the kind in stored splits, in JSON and on screen.
    setting: the field of `Rules` for the kind. The values None, False and () switch the kind off.
    parameter: the name of this field in a stored split.
    find: the search, which is called only if the kind is switched on.
    is_threshold: whether the setting is the minimum similarity of a tie.
    if_absent: value of the setting in stored splits that are older than the kind.
    fixed_parameters: further parameters of every stored split.
    make_parameters: a function that makes further parameters of a stored split, if the kind is switched on.
    explain_obstacle: a function that says why these inputs cannot be searched; None if they can.
    uses_minhash: whether the search compares texts by MinHash.
    """

    label: str
    setting: str
    parameter: str
    find: Callable[[TieSearch], FoundTies]
    is_threshold: bool = False
    if_absent: Any = None
    fixed_parameters: Mapping[str, Any] = field(default_factory=dict)
    make_parameters: Callable[[Rules], dict[str, Any]] = lambda rules: {}
    explain_obstacle: Callable[[SplitInputs], str | None] = lambda inputs: None
    uses_minhash: bool = False

    def read_setting(self, rules: Rules) -> Any:
        """Return this kind of tie's threshold or switch in the rules."""
        return getattr(rules, self.setting)

    def is_on(self, rules: Rules) -> bool:
        """Return whether a split's rules ask for this kind of tie."""
        return bool(self.read_setting(rules))

    def search(self, search: TieSearch) -> FoundTies:
        """Find the ties of this kind; none if the kind is switched off or cannot be searched for."""
        if not self.is_on(search.rules):
            return FoundTies([], 0, OFF)
        reason = self.explain_obstacle(search.inputs)
        return FoundTies([], 0, reason) if reason else self.find(search)
