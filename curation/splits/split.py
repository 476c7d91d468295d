"""Making a split: read, find ties, assign, check, store and report.

The id of a split is the digest of everything that decides it. So the same call on the same labels finds the
split that it made before, and adds nothing.

A split is stored with its row, its edges and its assignments. Its report tells what it is, what ties were
found, and how good the parts are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import canonical_json, digest
from curation.core.words import CUT, is_cut_otherwise
from curation.people.annotators import require_author
from curation.retrieval.embeddings import find_model
from curation.splits.assignment.assignment import ALL, PartShare
from curation.splits.assignment.by_time import ByTime
from curation.splits.assignment.carried_over import (
    NOTHING_CARRIED_OVER,
    CarriedOver,
    carried_over_among,
    read_carried_over,
)
from curation.splits.certificate.certificate import Certificate, certificate_of, without_sealed
from curation.splits.checked_assignment import CheckedAssignment, assign_and_check
from curation.splits.cuts import RemainingTies, cuts_by_id, remaining_ties
from curation.splits.inputs import GradedQueries, read_labels, settled_queries
from curation.splits.leakage_groups import LeakageGroup, balance_problem, largest_groups
from curation.splits.refusals import SMALL, refuse_empty, refuse_large
from curation.splits.request import LARGEST_GROUP, PARTS, RULES, AssignmentOptions, NewSplit, check_request
from curation.splits.rules import GROUP, Rules
from curation.splits.ties.edges import Edge
from curation.splits.ties.kinds import KINDS
from curation.splits.ties.parameters import described
from curation.splits.ties.same_key import groups_across
from curation.splits.ties.search import Ties, find_edges, with_tie_data
from curation.store import COMMAND_LINE, Store, append_rows, get_setting, put_setting, record_event, utc_now

STORED_EDGES = "strongest spanning forest"


def split_id_of(graded: GradedQueries, parameters: Mapping[str, Any], carried: CarriedOver) -> str:
    """The digest of everything that decides a split."""
    inputs = graded.inputs
    relevant = [(query_id, sorted(documents)) for query_id, documents in sorted(inputs.relevant.items())]
    texts = [(name, digest(text)) for name, text in sorted(inputs.documents.items())]
    queries = sorted(inputs.queries.items())
    levels = [(name, sorted(found)) for name, found in sorted(graded.levels.items())]
    keys = [(name, sorted(found)) for name, found in sorted(inputs.keys.items())]
    times = [(name, time.isoformat()) for name, time in sorted(inputs.times.items())]
    carried_inputs = [sorted(carried.parts.items()), keys, times]
    return digest("split", parameters, queries, levels, relevant, texts, carried_inputs)


def store_split(
    store: Store, report: SplitReport, checked: CheckedAssignment, edges: Sequence[Edge], actor: str
) -> bool:
    """Store the split and make it the current one; says whether it is new."""
    split_id = report.split_id
    content = asdict(report)
    del content["created"]
    parameters = report.certificate.parameters
    row = [split_id, canonical_json(parameters), canonical_json(_with_texts_for_times(content))]
    ties = [(*edge[:4], _detail(edge)) for edge in edges]
    assigned = [(name, checked.groups[name], part) for name, part in sorted(checked.parts.items())]
    reached = {share.part: share.reached for share in report.certificate.shares if share.dimension == ALL}
    detail = {"split": split_id, **parameters, "queries": reached}
    with store.transaction(appends=True) as cursor:
        new = not cursor.execute("SELECT 1 FROM splits WHERE split_id = ?", [split_id]).fetchone()
        if new:
            cursor.execute("INSERT INTO splits VALUES (?, ?, ?, ?)", [*row, utc_now()])
            append_rows(cursor, "leakage_edges", ties, (*Edge._fields[:4], "detail"), split_id=split_id)
            append_rows(
                cursor, "split_assignments", assigned, ("query_id", "group_id", "part"), split_id=split_id
            )
        if new or get_setting(cursor, "split") != split_id:
            put_setting(cursor, "split", split_id)
            record_event(cursor, "split", detail, actor)
    return new


def _with_texts_for_times(value: Any) -> Any:
    """The value with times as text."""
    if isinstance(value, dict):
        return {key: _with_texts_for_times(item) for key, item in value.items()}
    return value.isoformat(sep=" ") if isinstance(value, datetime) else value


def _detail(edge: Edge) -> str:
    """What makes the edge; the key only where there is one."""
    return canonical_json({"documents": edge.documents} | ({"key": edge.key} if edge.key else {}))


@dataclass(frozen=True)
class SplitReport:
    """What a split is and how good.

    Attributes
    ----------
    created: False where this very split existed already; nothing was added then.
    certificate: parameters, shares, and what the exhaustive check across the parts found.
    ties: kind → number of ties found: pairs of similar query texts; pairs of queries for each document that
        is relevant to both; pairs of nearly identical relevant documents.
    edges: kind → number of edges kept: the strongest ties that hold the groups together.
    cut: the ties that were cut by name, whether or not they cross the parts.
    remaining_ties: pairs that were cut and that other ties still join.
    large_groups: groups with more than 5 % of the queries, and what they spoil; none where there is one part.
    groups_across: groups of documents that are relevant in several parts, where groups are no tie.
    kept: queries whose part is carried over from a release.
    disagreeing: of these, queries that releases have in different parts: the newest release decides.
    by_time: how the cut by time went; None where parts were balanced.
    left_out: reason → number.
    """

    split_id: str
    created: bool
    certificate: Certificate
    ties: dict[str, int]
    edges: dict[str, int]
    cut: tuple[Edge, ...]
    remaining_ties: tuple[RemainingTies, ...]
    large_groups: tuple[LeakageGroup, ...]
    groups_across: int
    kept: int
    disagreeing: int
    by_time: ByTime | None
    left_out: dict[str, int]


class PreparedSplit(NamedTuple):
    """A split that was made and certified, and is not stored.

    Attributes
    ----------
    edges: of the groups, ordered.
    request: with cuts by query id and the name of the model.
    """

    graded: GradedQueries
    carried: CarriedOver
    request: NewSplit
    report: SplitReport
    checked: CheckedAssignment
    edges: list[Edge]

    def refuse_unfit(self) -> None:
        """Refuse a split with a group that is too large, or with a part without a query."""
        inputs, groups, most = self.graded.inputs, self.checked.groups, self.request.options.largest_group
        if most is not None or not self.request.rules.says_what_belongs_together:
            refuse_large(self.report.large_groups, inputs, len(groups), most)
        refuse_empty(self.report.certificate.shares, groups, self.edges, inputs)


def make_split(
    store: Store,
    parts: Mapping[str, float] = PARTS,
    seed: int = 0,
    rules: Rules = RULES,
    relevant_grade: int | None = None,
    options: AssignmentOptions = AssignmentOptions(),
    progress: Progress = silent,
    actor: str = COMMAND_LINE,
    *,
    expected: str | None = None,
) -> SplitReport:
    """Split the graded queries into parts that share no leakage group, and make it the current split.

    Parameters
    ----------
    parts: name → fraction; they sum to 1.
    rules: which ties are looked for; cuts may name queries by their texts where these are unique.
    relevant_grade: least grade of a relevant document; by default all above the scale's lowest.
    expected: the id of the split that somebody saw before: another one is refused.

    Raises
    ------
    InputError: fractions, names, rules, options or the relevant grade; all at once.
    NotFoundError: a release to keep does not exist, or the project does not know the actor.
    RefusedError: the actor is no lead; nothing is graded; embeddings are missing and the model is not
        available; a group is too large; carried-over queries of different parts are tied; a part would stay
        empty; the split is another one than was expected.
    """
    with store.reading() as cursor:
        require_author(cursor, actor, "lead")
    request = NewSplit(tuple(parts.items()), seed, rules, relevant_grade, options)
    found = prepare_split(store, request, progress)
    found.refuse_unfit()
    if expected not in (None, found.report.split_id):
        raise RefusedError(
            "Labels, queries or documents have changed since the preview, so the split would be another one. "
            "Nothing was stored: preview it again."
        )
    created = store_split(store, found.report, found.checked, found.edges, actor)
    return without_sealed(replace(found.report, created=created), found.graded.inputs.sealed)


def prepare_split(store: Store, request: NewSplit, progress: Progress = silent) -> PreparedSplit:
    """The split that `make_split` would store; stores embeddings alone.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `make_split`, except where a group is too large or a part
        would stay empty (`PreparedSplit.refuse_unfit`).
    """
    check_request(request)
    graded, carried = _read(store, request)
    rules = replace(request.rules, cut=cuts_by_id(request.rules.cut, graded.inputs.queries))
    dated, nothing_leaks = request.options.by_time, len(request.parts) == 1
    try:
        inputs = with_tie_data(store, graded.inputs, rules, progress, dated)
    except RefusedError:  # the model of paraphrases is missing
        if not nothing_leaks:
            raise
        rules = replace(rules, paraphrase=None)
        inputs = with_tie_data(store, graded.inputs, rules, progress, dated)
    graded = replace(graded, inputs=inputs)
    if rules.paraphrase is not None:
        rules = replace(rules, model=find_model(rules.model).name)  # the name of stored vectors, not a path
    request = replace(request, rules=rules)
    ties = find_edges(inputs, rules, progress)
    checked = assign_and_check(graded, request, carried, ties.edges, progress)
    edges = sorted([*ties.edges, *checked.missed])
    groups = 0
    if GROUP not in rules.keys:
        with store.reading() as cursor:
            groups = groups_across(cursor, inputs, checked.parts)
    report = _report(graded, carried, request, ties, edges, checked, groups)
    return PreparedSplit(graded, carried, request, report, checked, edges)


def _read(store: Store, request: NewSplit) -> tuple[GradedQueries, CarriedOver]:
    keep = request.options.keep
    with store.reading() as cursor:
        labels = read_labels(cursor, request.relevant_grade)
        carried = read_carried_over(cursor, keep) if keep != () else NOTHING_CARRIED_OVER
    graded = settled_queries(labels)
    return graded, carried_over_among(carried, graded.inputs.queries, request.fractions)


def _report(
    graded: GradedQueries,
    carried: CarriedOver,
    request: NewSplit,
    ties: Ties,
    edges: Sequence[Edge],
    checked: CheckedAssignment,
    groups: int,
) -> SplitReport:
    parameters = _parameters(graded, carried, request, ties)
    split_id = split_id_of(graded, parameters, carried)
    counts = Counter(edge.kind for edge in edges)
    missed = Counter(edge.kind for edge in checked.missed)
    certificate = certificate_of(
        graded,
        split_id,
        parameters,
        checked.groups,
        checked.parts,
        checked.findings,
        len(checked.missed),
    )
    return SplitReport(
        split_id=split_id,
        created=True,
        certificate=certificate,
        ties={label: ties.found[label] + missed[label] for label in KINDS},
        edges={label: counts[label] for label in KINDS},
        cut=tuple(ties.cut),
        remaining_ties=remaining_ties(request.rules.cut, checked.groups, edges),
        large_groups=_large_groups(graded, request, checked, edges, certificate.shares),
        groups_across=groups,
        kept=len(carried.parts),
        disagreeing=carried.disagreeing,
        by_time=checked.by_time,
        left_out=graded.left_out | ties.left_out,
    )


def _large_groups(
    graded: GradedQueries,
    request: NewSplit,
    checked: CheckedAssignment,
    edges: Sequence[Edge],
    shares: Sequence[PartShare],
) -> tuple[LeakageGroup, ...]:
    if len(request.parts) == 1:
        return ()
    groups, parts = checked.groups, checked.parts
    least = int(max(SMALL, LARGEST_GROUP * len(groups))) + 1
    large = largest_groups(graded.inputs, request.rules, groups, edges, least=least)
    balanced = checked.by_time is None
    return tuple(
        replace(
            group,
            part=parts[group.group_id],
            spoils=balance_problem(list(group.queries), parts, shares, graded.levels, balanced),
        )
        for group in large
    )


def _parameters(graded: GradedQueries, carried: CarriedOver, request: NewSplit, ties: Ties) -> dict[str, Any]:
    found: dict[str, Any] = {
        "parts": request.fractions,
        "seed": request.seed,
        **described(request.rules, ties.methods),
        "relevant_grade": graded.relevant_grade,
        "largest_group": request.options.largest_group or LARGEST_GROUP,
        "edges": STORED_EDGES,
    }
    found |= ties.further
    if request.rules.document is not None and any(map(is_cut_otherwise, graded.inputs.documents.values())):
        found["words"] = CUT  # said only where the documents of older splits were compared otherwise
    if request.options.by_time:
        found |= {"by_time": True, "undated": request.options.undated}
    if carried.parts:
        found["kept"] = {"releases": list(carried.releases), "queries": len(carried.parts)}
    return found
