"""Leakage groups for people: what ties the largest ones, and what a large one spoils of a split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from curation.core.progress import Progress, silent
from curation.core.text import amount
from curation.splits.assignment.assignment import ALL, Levels, PartShare
from curation.splits.certificate.certificate import without_sealed
from curation.splits.cuts import RemainingTies, cuts_by_id, remaining_ties
from curation.splits.groups import chain, leakage_groups, members_of
from curation.splits.inputs import SplitInputs, read_labels, settled_queries
from curation.splits.rules import Rules
from curation.splits.ties.edges import Edge
from curation.splits.ties.search import find_edges, ties_by_kind, with_tie_data
from curation.store import Store

MAX_PART_SHARE = 0.5
"""A group with a larger share of its part's queries makes figures on that part figures of one topic."""
TOLERANCE = {"all": (1.0, 0.1), "level": (3.0, 0.25)}
"""How far a part may be from its ideal, as a whole and in a level: queries; a share of the ideal if more."""


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
    def most_ties(self) -> str:
        """Which kind most of its ties are, as a sentence."""
        kind, count = next(iter(self.ties.items()))
        return f"{count:,} of its {sum(self.ties.values()):,} ties are of one kind: {kind}."


@dataclass(frozen=True)
class Overview:
    """The leakage groups of a project.

    Attributes
    ----------
    sizes: queries in a group → number of such groups.
    found, methods: kind → number of ties, and how they were searched.
    cut: ties that were cut by name; `remaining_ties`: pairs of these that other ties still join.
    groups: the largest, those of more than one query.
    """

    queries: int
    sizes: dict[int, int]
    found: dict[str, int]
    methods: dict[str, str]
    left_out: dict[str, int]
    cut: tuple[Edge, ...]
    remaining_ties: tuple[RemainingTies, ...]
    groups: tuple[LeakageGroup, ...]


def project_inputs(
    store: Store, rules: Rules, relevant_grade: int | None = None, progress: Progress = silent
) -> SplitInputs:
    """The graded queries with all that the rules compare.

    Raises
    ------
    RefusedError: nothing is graded yet, or embeddings are missing and the model is not here.
    """
    with store.reading() as cursor:
        labels = read_labels(cursor, relevant_grade)
    return with_tie_data(store, settled_queries(labels).inputs, rules, progress)


def overview(inputs: SplitInputs, rules: Rules, limit: int = 5, progress: Progress = silent) -> Overview:
    """The leakage groups, and the `limit` largest in detail.

    Raises
    ------
    InputError: a cut names, by id or text, no query of the inputs.
    """
    rules = replace(rules, cut=cuts_by_id(rules.cut, inputs.queries))
    ties = find_edges(inputs, rules, progress)
    groups = leakage_groups(inputs.queries, ties.edges)
    found = Overview(
        queries=len(groups),
        sizes=group_sizes(groups),
        found=ties.found,
        methods=ties.methods,
        left_out=ties.left_out,
        cut=tuple(ties.cut),
        remaining_ties=remaining_ties(rules.cut, groups, ties.edges),
        groups=largest_groups(inputs, rules, groups, ties.edges, limit),
    )
    return without_sealed(found, inputs.sealed)


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
        return f"it is {len(members):,} of the {amount(filled, 'query', 'queries')} of {part}"
    held = Counter(column for name in members for column in levels[name])
    held[ALL, ALL] = len(members)
    for share in shares if balanced else ():
        least, ratio = TOLERANCE["all" if share.dimension == ALL else "level"]
        off = abs(share.reached - share.ideal)
        if held[share.dimension, share.level] >= off > max(least, ratio * share.ideal):
            of = "" if share.dimension == ALL else f" of the {share.dimension} “{share.level}”"
            return (
                f"{share.part} has {amount(share.reached, 'query', 'queries')}{of} where "
                f"{share.ideal:,.1f} were asked for"
            )
    return ""
