"""Leakage groups: connected queries, the chains that join them, cuts by name, and refusals of large groups.

A cut names two queries whose direct ties do not count. Where other ties still join them, the chain of these
ties is shown.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from curation.core.characters import normalise_query
from curation.core.errors import RefusedError, refuse_problems
from curation.core.text import percent, pluralize
from curation.splits.assignment import ALL, Levels, PartShare, members_of
from curation.splits.certificate import without_sealed
from curation.splits.certify import Crossing
from curation.splits.inputs import SplitInputs
from curation.splits.request import Rules
from curation.splits.tie_search import ties_by_kind
from curation.splits.ties import SHARED_DOCUMENT as SHARED_DOCUMENT
from curation.splits.ties import Edge

_Neighbours = Mapping[str, Mapping[str, Edge]]

MAX_PART_SHARE = 0.5
"""A group with a larger share of its part's queries makes figures on that part figures of one topic."""
TOLERANCE = {"all": (1.0, 0.1), "level": (3.0, 0.25)}
"""How far a part may be from its ideal, as a whole and in a level: queries; a share of the ideal if more."""
MAX_SMALL_GROUP = 10
"""A group of no more queries than this is never too large."""
STEPS_SHOWN = 12
GROUPS_SHOWN = 5
RemainingTies = tuple[str, str, tuple[Edge, ...]]
"""Two queries with a cut between them that are in one group all the same, and the chain of other ties."""


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
    pairs, wrong = set(), []
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
            pairs.add((min(ids), max(ids)))
        elif len(ids) == 2:
            wrong.append(f"Cut {'~'.join(cut)}: both name the query {ids[0]}; expected two queries")
    refuse_problems(wrong)
    return tuple(sorted(pairs))


def remaining_ties(
    cuts: Iterable[tuple[str, str]], groups: Mapping[str, str], edges: Sequence[Edge]
) -> tuple[RemainingTies, ...]:
    """The pairs that were cut and are in one group all the same, with the chain that ties them.

    Parameters
    ----------
    groups: query id → group, by edges that were not cut.
    """
    return tuple(
        (first, second, tuple(shortest_chain([first], [second], edges)))
        for first, second in sorted({(min(pair), max(pair)) for pair in cuts})
        if groups[first] == groups[second]
    )


@dataclass(frozen=True)
class LeakageGroup:
    """A leakage group, and what made it.

    Attributes
    ----------
    queries: query id → text.
    share: its share of all queries.
    ties: kind → number of ties in it, most first.
    chain: the steps from one far end to the other.
    part: the part that it is in; '' where there is no split.
    spoils: what it spoils of the split; '' where the parts are as asked for all the same.
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
        """How many queries it has, and which share of all."""
        return f"{pluralize(len(self.queries), 'query', 'queries')} ({percent(self.share)} of all)"

    @property
    def lines(self) -> list[str]:
        """What its ties are, and the chain from one far end to the other."""
        first = f"Its far ends are tied by a chain of {len(self.chain)}:"
        return [self.most_ties, first, *chain_lines(self.chain, self.queries)]

    @property
    def most_ties(self) -> str:
        """Which kind most of its ties are, as a sentence."""
        kind, count = next(iter(self.ties.items()))
        return f"{count:,} of its {sum(self.ties.values()):,} ties are of one kind: {kind}."


def group_sizes(groups: Mapping[str, str]) -> dict[int, int]:
    """Queries in a group → number of such groups; `groups`: query id → group."""
    return dict(sorted(Counter(Counter(groups.values()).values()).items()))


def largest_groups(
    inputs: SplitInputs,
    rules: Rules,
    groups: Mapping[str, str],
    edges: Sequence[Edge],
    limit: int | None = None,
    least: int = 2,
) -> tuple[LeakageGroup, ...]:
    """The largest groups (query id → group) of at least so many queries; `rules` with cuts by query id."""
    members = sorted(members_of(groups).items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        LeakageGroup(
            name,
            {query_id: inputs.queries[query_id] for query_id in queries},
            len(queries) / len(groups),
            ties_by_kind(inputs, queries, rules),
            tuple(chain(queries, edges)),
        )
        for name, queries in members[:limit]
        if len(queries) >= least
    )


def balance_problem(
    members: Sequence[str],
    parts: Mapping[str, str],
    shares: Sequence[PartShare],
    levels: Levels,
    balanced: bool,
) -> str:
    """What a group spoils of a split, as the end of a sentence about it; '' where it does no harm.

    It spoils a split where it fills most of its part, or keeps parts from their shares. A group that other
    queries balance does no harm: of 134 queries, 11 that must stay together leave both parts at their size.

    Parameters
    ----------
    members: the group's queries.
    parts: query id → part.
    balanced: whether parts were to be near their fractions; by time they are not.
    """
    part = parts[members[0]]
    filled = next(share.reached for share in shares if share.part == part and share.dimension == ALL)
    if len(members) > MAX_PART_SHARE * filled:
        return f"it is {len(members):,} of the {pluralize(filled, 'query', 'queries')} of {part}"
    group_counts = Counter(column for name in members for column in levels[name])
    group_counts[ALL, ALL] = len(members)
    for share in shares if balanced else ():
        least, ratio = TOLERANCE["all" if share.dimension == ALL else "level"]
        off = abs(share.reached - share.ideal)
        if group_counts[share.dimension, share.level] >= off > max(least, ratio * share.ideal):
            of = "" if share.dimension == ALL else f" of the {share.dimension} “{share.level}”"
            return (
                f"{share.part} has {pluralize(share.reached, 'query', 'queries')}{of} where "
                f"{share.ideal:,.1f} were asked for"
            )
    return ""


def edge_sentence(edge: Edge | Crossing, queries: Mapping[str, str]) -> str:
    """An edge in words, with the queries' texts."""
    first, second = (queries.get(name, name) for name in (edge.query_a, edge.query_b))
    shown = [*edge.documents[:2], *(["…"] if len(edge.documents) > 2 else [])]
    detail = f" ({', '.join(shown)})" if shown else ""
    return f"“{first}” – “{second}”: {edge.kind} {edge.similarity:.2f}{detail}"


def chain_lines(steps: Sequence[Edge], queries: Mapping[str, str]) -> list[str]:
    """The steps of a chain, a line each; a long one ends with the number of the others."""
    lines = [f"  {edge_sentence(edge, queries)}" for edge in steps[:STEPS_SHOWN]]
    if len(steps) > STEPS_SHOWN:
        lines.append(f"  … and {len(steps) - STEPS_SHOWN:,} more")
    return lines


def cut_lines(
    cut: Sequence[Edge], remaining: Sequence[RemainingTies], queries: Mapping[str, str]
) -> list[str]:
    """The ties that were cut by name, and the cuts without effect, a line each."""
    lines = [f"Cut by name: {edge_sentence(edge, queries)}" for edge in cut]
    return [*lines, *(line for pair in remaining for line in _remaining_lines(pair, queries))]


def _remaining_lines(pair: RemainingTies, queries: Mapping[str, str]) -> list[str]:
    """A cut without effect, and the chain that still ties the two queries, a line each."""
    first, second = (queries.get(name, name) for name in pair[:2])
    return [
        f"“{first}” and “{second}” stay together all the same, by a chain of {len(pair[2])}:",
        *chain_lines(pair[2], queries),
    ]


def refuse_large(
    groups: Sequence[LeakageGroup], inputs: SplitInputs, queries: int, most: float | None
) -> None:
    """Refuse large groups that spoil the split, or have a larger share than `most` where that is given; with
    the chains that made them and what could be cut. `queries`: how many queries there are."""
    allowed = None if most is None else max(MAX_SMALL_GROUP, most * queries)
    large = [group for group in groups if (group.spoils if allowed is None else len(group.queries) > allowed)]
    if not large:
        return
    shown = without_sealed(large[:GROUPS_SHOWN], inputs.sealed)
    lines = [line for group in shown for line in _large_lines(group, inputs.queries, most)]
    if len(large) > GROUPS_SHOWN:
        lines.append(f"… and {len(large) - GROUPS_SHOWN:,} more groups as large")
    lines.append(
        "Cut what is not really a leak (it is then reported as residual leakage), loosen what ties them (a "
        "higher relevant grade or threshold), or allow a larger group."
    )
    command = _weakest_ties(group.chain for group in shown)
    if any(next(iter(group.ties)) == SHARED_DOCUMENT for group in large):
        command.append(
            "--no-shared-documents lets queries of one document be in several parts: usual for few long ones."
        )
    allowing = min(1.0, (int(large[0].share * 100) + 1) / 100)
    command.append(
        "--dry-run shows the groups at other thresholds, and --relevant-grade sets the grade. "
        f"--largest-group {allowing:g} allows the group."
    )
    raise RefusedError("\n".join(lines), command="\n".join(command))


def _large_lines(group: LeakageGroup, queries: Mapping[str, str], most: float | None) -> list[str]:
    holds = (
        f"One leakage group holds {len(group.queries):,} of {pluralize(len(queries), 'query', 'queries')} "
        f"({percent(group.share)}"
    )
    return [
        f"{holds}), and {group.spoils}." if most is None else f"{holds}; allowed are {percent(most)}).",
        group.most_ties,
        f"Its far ends are tied by a chain of {len(group.chain)}:",
        *chain_lines(group.chain, queries),
    ]


def _weakest_ties(chains: Iterable[Sequence[Edge]]) -> list[str]:
    """The weakest tie of each chain, as the option that cuts it."""
    weakest = [min(steps, key=lambda edge: (edge.similarity, edge)) for steps in chains]
    cuts = [f'  --cut "{edge.query_a}~{edge.query_b}"' for edge in weakest]
    return ["", "The weakest tie of each chain, to be cut:", *cuts]


def refuse_joined(chains: Sequence[Sequence[Edge]], carried: Mapping[str, str], inputs: SplitInputs) -> None:
    """Refuse chains that join queries of different parts; `carried`: query id → part in a release."""
    if not chains:
        return
    queries = inputs.queries
    groups = f"{len(chains):,} leakage group{'' if len(chains) == 1 else 's'}"
    lines = [
        f"A released query never changes its part, but queries of different parts are tied now in {groups}:"
    ]
    shown = without_sealed(chains[:GROUPS_SHOWN], inputs.sealed)
    for steps in shown:
        ends = sorted({name for edge in steps for name in (edge.query_a, edge.query_b) if name in carried})
        lines += [
            ", ".join(f"“{queries[name]}” in {carried[name]}" for name in ends) + ", by:",
            *chain_lines(steps, queries),
        ]
    if len(chains) > GROUPS_SHOWN:
        lines.append(f"… and {len(chains) - GROUPS_SHOWN:,} more groups")
    lines.append(
        "Cut what is not really a leak (it is then reported as residual leakage), loosen what ties them (a "
        "higher relevant grade or threshold), or give up the released parts."
    )
    command = [*_weakest_ties(shown), "--fresh gives up the released parts."]
    raise RefusedError("\n".join(lines), command="\n".join(command))


def refuse_empty(
    shares: Sequence[PartShare], groups: Mapping[str, str], edges: Sequence[Edge], inputs: SplitInputs
) -> None:
    """Refuse a part without a query."""
    empty = [share.part for share in shares if share.dimension == ALL and not share.reached]
    if not empty:
        return
    queries, members = inputs.queries, members_of(groups)
    largest = max(members.values(), key=len)
    lines = [
        f"No query is left for {', '.join(empty)}: {len(queries):,} graded queries form {len(members):,} "
        f"leakage groups that must stay whole, the largest of {len(largest):,}."
    ]
    if len(largest) > 1:
        lines += [
            "The chain that made it:",
            *chain_lines(without_sealed(chain(largest, edges), inputs.sealed), queries),
        ]
    lines.append(
        "Judge more queries, or loosen what ties them: a higher relevant grade or a higher threshold of "
        "query texts or documents."
    )
    options = "--relevant-grade, --query-threshold and --document-threshold set these."
    raise RefusedError("\n".join(lines), command=options)
