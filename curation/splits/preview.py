"""A split before it is stored: its parts, its groups with what ties them, and what would change.

A preview is what `make_split` would store of the same labels, by the same code. Where a group is too large or
a part would be empty, it shows the groups all the same and says why it would be refused.

The leakage groups of a project, without a split: what would leak.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from curation.errors import RefusedError
from curation.progress import Progress, silent
from curation.splits.certificate.certificate import Certificate, without_sealed
from curation.splits.groups.cuts import (
    FEW,
    StillTied,
    WeakLink,
    cuts_by_id,
    still_tied,
    ties_by_kind,
    ties_within,
    weakest_links,
)
from curation.splits.groups.groups import chain, leakage_groups, members_of
from curation.splits.inputs import SplitInputs, read_labels, settled_queries
from curation.splits.request import NewSplit
from curation.splits.rules import Rules
from curation.splits.split import PreparedSplit, prepare_split
from curation.splits.ties.edges import Edge
from curation.splits.ties.search import find_edges, with_tie_data
from curation.store import Cursor, Store, get_setting


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
            for name, queries in _largest(members, limit)
        ),
    )
    return without_sealed(found, inputs.sealed)


def _largest(members: Mapping[str, list[str]], limit: int) -> list[tuple[str, list[str]]]:
    """The largest groups of several queries, with their queries."""
    large = sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))[:limit]
    return [(name, queries) for name, queries in large if len(queries) > 1]


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


GROUPS = 8
"""The largest groups that a preview shows in detail."""


@dataclass(frozen=True)
class PreviewedPart:
    """A part of the split.

    Attributes
    ----------
    asked: its fraction.
    traffic: how often its queries were asked, of those that the current sample drew; None where it drew none.
    grades: pairs with a grade.
    added: queries that have no part in the split in force.
    """

    part: str
    asked: float
    queries: int
    traffic: int | None
    grades: int
    added: int


@dataclass(frozen=True)
class PreviewedGroup:
    """One of the largest leakage groups, and the part that it is in."""

    part: str
    group: GroupView


@dataclass(frozen=True)
class SplitPreview:
    """What a split would be.

    Attributes
    ----------
    sizes: queries in a group → number of such groups.
    groups: the largest of those with more than one query.
    kept: queries whose part is carried over from a release.
    moved: queries that the split in force has in another part; None where no split is in force.
    refused: why it cannot be stored; '' where it can.
    left_out: reason → number.
    """

    certificate: Certificate
    parts: tuple[PreviewedPart, ...]
    sizes: dict[int, int]
    groups: tuple[PreviewedGroup, ...]
    kept: int
    moved: int | None
    refused: str
    left_out: dict[str, int]

    @property
    def split_id(self) -> str:
        return self.certificate.split_id


_FORM = TypeAdapter(SplitPreview)


def preview_split(store: Store, request: NewSplit, progress: Progress = silent) -> SplitPreview:
    """What `make_split` would store of the labels of now.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `split.prepare_split`.
    """
    found = prepare_split(store, request, progress)
    with store.reading() as cursor:
        now, traffic = parts_in_force(cursor), _traffic(cursor)
    assigned = found.checked.parts
    members = members_of(found.checked.groups)
    preview = SplitPreview(
        certificate=found.report.certificate,
        parts=tuple(_part(*asked, found, now, traffic) for asked in request.parts),
        sizes=dict(sorted(Counter(map(len, members.values())).items())),
        groups=_groups(found, members),
        kept=found.report.kept,
        moved=sum(now.get(name, part) != part for name, part in assigned.items()) if now else None,
        refused=_refusal(found),
        left_out=found.report.left_out,
    )
    return without_sealed(preview, found.graded.inputs.sealed)


def preview_json(preview: SplitPreview) -> bytes:
    """The preview as JSON."""
    return _FORM.dump_json(preview)


def parsed_preview(written: bytes) -> SplitPreview:
    """The preview that `preview_json` wrote.

    Raises
    ------
    ValueError: it is none.
    """
    return _FORM.validate_json(written)


def parts_in_force(cursor: Cursor) -> dict[str, str]:
    """Query id → part of the split in force; nothing where there is none."""
    split_id = get_setting(cursor, "split")
    sql = "SELECT query_id, part FROM split_assignments WHERE split_id = ?"
    return dict(cursor.execute(sql, [split_id]).fetchall())


def _traffic(cursor: Cursor) -> dict[str, int]:
    sample_id = get_setting(cursor, "sample")
    sql = "SELECT query_id, traffic FROM sample_queries WHERE sample_id = ?"
    return dict(cursor.execute(sql, [sample_id]).fetchall())


def _part(
    name: str, asked: float, found: PreparedSplit, now: Mapping[str, str], traffic: Mapping[str, int]
) -> PreviewedPart:
    inside = [query_id for query_id, part in found.checked.parts.items() if part == name]
    drawn = [traffic[query_id] for query_id in inside if query_id in traffic]
    grades = sum(found.graded.grades.get(query_id, 0) for query_id in inside)
    added = sum(query_id not in now for query_id in inside)
    return PreviewedPart(name, asked, len(inside), sum(drawn) if traffic else None, grades, added)


def _groups(found: PreparedSplit, members: Mapping[str, list[str]]) -> tuple[PreviewedGroup, ...]:
    inputs, rules, parts = found.graded.inputs, found.request.rules, found.checked.parts
    return tuple(
        PreviewedGroup(parts[queries[0]], group_view(inputs, rules, name, found.edges, queries))
        for name, queries in _largest(members, GROUPS)
    )


def _refusal(found: PreparedSplit) -> str:
    try:
        found.refuse_unfit()
    except RefusedError as error:
        return error.found
    return ""
