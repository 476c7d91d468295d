"""What a kind of tie is: its record, what its search is given, and what the search returns.

Queries that are cut by name have no direct ties, but all their other ties still count. So every tie of such a
query is listed: what a spanning forest leaves out may be what keeps two of them together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from curation.core.progress import Progress
from curation.core.similarity.forest import Links
from curation.core.similarity.pairs import EXACTLY, Search
from curation.splits.inputs import SplitInputs
from curation.splits.numbers import names
from curation.splits.rules import Rules
from curation.splits.ties.edges import Edge, QueryPair, ordered_pair

OFF = "not looked for"


class FoundTies(NamedTuple):
    """What the search for one kind found.

    Attributes
    ----------
    edges: those that hold together what all ties do, and every one of a query that a cut names.
    ties: number of all ties.
    method: how they were searched.
    left_out: reason, written to be read after its number → number of queries.
    further: more parameters of a stored split, where the search found what older goldgrades did not.
    """

    edges: list[Edge]
    ties: int
    method: str
    left_out: Mapping[str, int] = {}
    further: Mapping[str, Any] = {}


def _nothing(rules: Rules) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class TieKind:
    """One kind of tie.

    Attributes
    ----------
    label: its name in stored splits, in JSON and on screen.
    setting: the field of `Rules` that switches it; None, False or () there switch it off.
    parameter: the name under which a stored split has that field.
    find: the search; it is called only where the kind is switched on.
    is_threshold: whether the setting is a number from which on there is a tie.
    if_absent: value of the setting in stored splits that are older than the kind.
    fixed: further parameters that a stored split has in any case.
    when_on: further parameters that a stored split has where the kind is switched on.
    unsearchable: why these inputs cannot be searched; None where they can.
    minhashed: whether the search compares texts by MinHash.
    """

    label: str
    setting: str
    parameter: str
    find: Callable[[TieSearch], FoundTies]
    is_threshold: bool = False
    if_absent: Any = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    when_on: Callable[[Rules], dict[str, Any]] = _nothing
    unsearchable: Callable[[SplitInputs], str | None] = lambda inputs: None
    minhashed: bool = False

    def value(self, rules: Rules) -> Any:
        """The value of its setting."""
        return getattr(rules, self.setting)

    def is_on(self, rules: Rules) -> bool:
        """Whether the rules ask for it."""
        return bool(self.value(rules))

    def search(self, search: TieSearch) -> FoundTies:
        """The ties of this kind; none where it is switched off or cannot be searched."""
        if not self.is_on(search.rules):
            return FoundTies([], 0, OFF)
        reason = self.unsearchable(search.inputs)
        return FoundTies([], 0, reason) if reason else self.find(search)


@dataclass(frozen=True)
class TieSearch:
    """What a search is given.

    Attributes
    ----------
    ids: the queries, ordered.
    named: queries of which every tie is listed.
    cut: pairs (smaller id first) whose direct ties do not count.
    compare: how similar texts are searched.
    """

    inputs: SplitInputs
    rules: Rules
    ids: list[str]
    named: frozenset[str]
    cut: frozenset[QueryPair]
    progress: Progress
    compare: Search

    @property
    def named_places(self) -> list[int]:
        """The positions in `ids` of the named queries."""
        return [place for place, name in enumerate(self.ids) if name in self.named]

    @property
    def grouped_places(self) -> list[int]:
        """The positions in `ids` of the queries that have a group: no two of them are compared."""
        grouped = self.inputs.grouped_queries
        return [place for place, name in enumerate(self.ids) if name in grouped]

    @property
    def labels(self) -> list[str] | None:
        """What the texts of two queries must have in common to be compared; None where nothing."""
        if self.rules.numbers != "apart":
            return None
        return [" ".join(sorted(names(self.inputs.queries[name]))) for name in self.ids]

    def of_similar_queries(self, links: Links, label: str, pairs: int, method: str) -> FoundTies:
        """Links between positions in `ids` as edges, without what is cut; `pairs`: number of all links."""
        edges = [Edge(self.ids[a], self.ids[b], label, similarity) for a, b, similarity in each_link(links)]
        kept = [edge for edge in edges if edge[:2] not in self.cut]
        return FoundTies(kept, pairs - (len(edges) - len(kept)), method)

    def of_equal_keys(
        self, holders: Mapping[str, Sequence[str]], label: str, left_out: Mapping[str, int]
    ) -> FoundTies:
        """All queries with one key tied with each other; `holders`: key → query ids."""
        edges = [
            Edge(*pair, label, 1.0, (), key)
            for key, queries in sorted(holders.items())
            for pair in self.pairs_among(queries)
        ]
        ties = sum(self.count_among(queries) for queries in holders.values())
        return FoundTies(edges, ties, EXACTLY, left_out)

    def count_among(self, queries: Collection[str]) -> int:
        """How many pairs these queries have that are not cut."""
        inside = set(queries)
        return len(inside) * (len(inside) - 1) // 2 - sum(inside.issuperset(pair) for pair in self.cut)

    def pairs_among(self, queries: Sequence[str]) -> Iterator[QueryPair]:
        """Pairs that hold together what all pairs of these queries do, and each pair of a named query.

        The first query that no cut names is the centre of a star: it is paired with all others.
        """
        centre = next((name for name in queries if name not in self.named), None)
        named = [name for name in queries if name in self.named]
        pairs = {pair for pair in combinations(named, 2) if pair not in self.cut}
        if centre is not None:
            pairs |= {ordered_pair(centre, other) for other in queries if other != centre}
        pairs |= {ordered_pair(one, other) for one in named for other in queries if other not in self.named}
        yield from sorted(pairs)

    def pairs_between(self, left: Sequence[str], right: Sequence[str]) -> Iterator[QueryPair]:
        """As `pairs_among`, of the pairs of a query on the left and another on the right; left first."""
        pairs = {(one, other) for one in self._centres(left) for other in right if one != other}
        pairs |= {(one, other) for other in self._centres(right) for one in left if one != other}
        yield from sorted(pair for pair in pairs if ordered_pair(*pair) not in self.cut)

    def _centres(self, queries: Sequence[str]) -> Iterable[str]:
        """The first query that no cut names, and all that a cut names."""
        free = [name for name in queries if name not in self.named]
        return [*free[:1], *(name for name in queries if name in self.named)]


def each_link(links: Links) -> Iterable[tuple[int, int, float]]:
    """The links one by one, as Python numbers."""
    return zip(links.first.tolist(), links.second.tolist(), links.similarity.tolist(), strict=True)
