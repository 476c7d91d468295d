"""The leakage groups of a project, without a split: what would leak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from curation.progress import Progress, silent
from curation.splits.certificate.certificate import without_sealed
from curation.splits.groups.cuts import (
    FEW,
    StillTied,
    WeakLink,
    still_tied,
    ties_by_kind,
    ties_within,
    weakest_links,
)
from curation.splits.groups.groups import chain, leakage_groups, members_of
from curation.splits.groups.named_cuts import cuts_by_id
from curation.splits.inputs import SplitInputs, read_labels, settled_queries
from curation.splits.rules import Rules
from curation.splits.ties.edges import Edge
from curation.splits.ties.reading import with_tie_data
from curation.splits.ties.search import find_edges
from curation.store import Store


@dataclass(frozen=True)
class GroupView:
    """A leakage group.

    Attributes
    ----------
    chain: the steps from one far end to the other.
    ties: kind → number of pairs of queries that it ties directly; of a group with very many of them, of ties.
    weakest: the few pairs whose cut would split the group best; none where no few would; None where the group
        has too many ties to look at.
    """

    group_id: str
    queries: dict[str, str]
    share: float
    chain: tuple[Edge, ...]
    ties: dict[str, int]
    weakest: tuple[WeakLink, ...] | None


@dataclass(frozen=True)
class Overview:
    """The leakage groups of a project.

    Attributes
    ----------
    sizes: queries in a group → number of such groups.
    found, methods: kind → number of ties, and how they were searched.
    cut: ties that were cut by name; `still_tied`: pairs of these that other ties still join.
    groups: the largest, those of more than one query.
    """

    queries: int
    sizes: dict[int, int]
    found: dict[str, int]
    methods: dict[str, str]
    left_out: dict[str, int]
    cut: tuple[Edge, ...]
    still_tied: tuple[StillTied, ...]
    groups: tuple[GroupView, ...]


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


def overview(
    inputs: SplitInputs, rules: Rules, limit: int = 5, number: int = FEW, progress: Progress = silent
) -> Overview:
    """The leakage groups, and the `limit` largest in detail with at most `number` weakest links each.

    Raises
    ------
    InputError: a cut names, by id or text, no query of the inputs.
    """
    rules = replace(rules, cut=cuts_by_id(rules.cut, inputs.queries))
    ties = find_edges(inputs, rules, progress)
    groups = leakage_groups(inputs.queries, ties.edges)
    members = members_of(groups)
    large = sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))[:limit]
    found = Overview(
        queries=len(groups),
        sizes=dict(sorted(Counter(map(len, members.values())).items())),
        found=ties.found,
        methods=ties.methods,
        left_out=ties.left_out,
        cut=tuple(ties.cut),
        still_tied=still_tied(inputs, rules, groups),
        groups=tuple(
            group_view(inputs, rules, name, ties.edges, queries, number)
            for name, queries in large
            if len(queries) > 1
        ),
    )
    return without_sealed(found, inputs.sealed)


def group_view(
    inputs: SplitInputs,
    rules: Rules,
    group_id: str,
    edges: Sequence[Edge],
    queries: Sequence[str],
    number: int = FEW,
) -> GroupView:
    """A group with its chain and at most `number` weakest links; `rules` with cuts by query id."""
    every = ties_within(inputs, queries, rules)
    return GroupView(
        group_id,
        {name: inputs.queries[name] for name in queries},
        len(queries) / len(inputs.queries),
        tuple(chain(queries, edges)),
        ties_by_kind(inputs, queries, rules, every),
        None if every is None else weakest_links(queries, every, number),
    )
