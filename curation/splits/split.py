"""The making of a split: leakage groups are assigned to parts until the exhaustive check finds no ties
between parts.

A tie that only the check finds also joins its two queries into one group, and the groups are assigned again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.words import TOKENIZATION, is_cut_differently
from curation.people.annotators import require_author
from curation.retrieval.embedding_model import can_embed, find_model
from curation.splits import carried_over, refusals
from curation.splits.assignment import PartShare, assign_parts
from curation.splits.by_time import ByTime, assign_by_time
from curation.splits.carried_over import NOTHING_CARRIED_OVER, CarriedOver, map_carried_groups, select_carried
from curation.splits.certificate import make_certificate
from curation.splits.certify import certify
from curation.splits.cuts import find_remaining_ties, resolve_cuts
from curation.splits.edges import Edge
from curation.splits.findings import Findings
from curation.splits.graded_queries import GradedQueries, find_graded_queries, read_labels
from curation.splits.groups import LeakageGroup, find_largest_groups, find_leakage_groups
from curation.splits.inputs import complete_inputs
from curation.splits.refusals import MAX_SMALL_GROUP, find_balance_problem
from curation.splits.request import LARGEST_GROUP, SplitRequest, check_request
from curation.splits.rules import RULES
from curation.splits.sealed_ties import hide_sealed_documents
from curation.splits.split_report import SplitReport
from curation.splits.stored_rules import write_rules
from curation.splits.stored_split import compute_split_id, store_split
from curation.splits.ties import KINDS, Ties, find_edges
from curation.store import COMMAND_LINE, Store


class CheckedAssignment(NamedTuple):
    """Leakage groups and parts of a split without ties between different parts.

    Attributes
    ----------
    groups, parts: query id → group, part.
    edges: the edges of the groups, in order.
    missed: edges that only the exhaustive check found.
    by_time: facts about the cut by time; None if parts were balanced.
    """

    groups: dict[str, str]
    parts: dict[str, str]
    findings: Findings
    edges: list[Edge]
    missed: list[Edge]
    by_time: ByTime | None


class PreparedSplit(NamedTuple):
    """A split that has been made and checked but not yet stored.

    Attributes
    ----------
    request: the request with cuts by query id and with the name of the model.
    """

    graded: GradedQueries
    request: SplitRequest
    report: SplitReport
    checked: CheckedAssignment

    def refuse_unfit(self) -> None:
        """Reject a split that has an overly large leakage group or an empty part."""
        inputs, groups, max_share = self.graded.inputs, self.checked.groups, self.request.largest_group
        if max_share is not None or not self.request.rules.has_grouping_key:
            refusals.refuse_large_groups(self.report.large_groups, inputs, len(groups), max_share)
        refusals.refuse_empty_parts(self.report.certificate.shares, groups, self.checked.edges, inputs)


def make_split(
    store: Store, request: SplitRequest, progress: Progress = silent, actor: str = COMMAND_LINE
) -> SplitReport:
    """Split the graded queries into parts that share no leakage group, and make this the current split.

    Cuts in the request may name queries by their texts if the texts are unique.

    Raises
    ------
    InputError: fractions, names, rules, options or the relevant grade are wrong. The error lists all
        problems.
    NotFoundError: the project does not know the actor.
    RefusedError: the actor is not a lead; nothing is graded; embeddings are missing and the model is not
        available; a group is too large; carried-over queries of different parts are tied; a part would stay
        empty; the split is not the split that was expected.
    """
    store.read(require_author, actor, "lead")
    prepared = prepare_split(store, request, progress)
    prepared.refuse_unfit()
    report, checked = prepared.report, prepared.checked
    if request.expected not in (None, report.split_id):
        raise RefusedError(
            "Labels, queries or documents have changed since the preview, so the split would differ from the "
            "preview. Nothing was stored: preview the split again."
        )
    created = store_split(store, report, checked.groups, checked.parts, checked.edges, actor)
    return hide_sealed_documents(replace(report, created=created), prepared.graded.inputs.sealed)


def prepare_split(store: Store, request: SplitRequest, progress: Progress = silent) -> PreparedSplit:
    """Make the split that `make_split` would store, but store only the embeddings of queries.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `make_split`, except where a group is too large or a part
        would stay empty (`PreparedSplit.refuse_unfit`).
    """
    check_request(request)
    with store.reading() as cursor:
        labels = read_labels(cursor, request.relevant_grade)
        released = NOTHING_CARRIED_OVER if request.fresh else carried_over.read_carried_over(cursor)
    graded = find_graded_queries(labels)
    carried = select_carried(released, graded.inputs.queries, request.fractions)
    rules = replace(request.rules, cut=resolve_cuts(request.rules.cut, graded.inputs.queries))
    try:
        inputs = complete_inputs(store, graded.inputs, rules, progress, request.by_time)
    except RefusedError:  # the model for paraphrases is missing
        is_unasked = not can_embed() and (rules.paraphrase, rules.model) == (RULES.paraphrase, RULES.model)
        if len(request.parts) > 1 and not is_unasked:
            raise
        rules = replace(rules, paraphrase=None)  # the report says so; a single part cannot leak
        inputs = complete_inputs(store, graded.inputs, rules, progress, request.by_time)
    graded = replace(graded, inputs=inputs)
    if rules.paraphrase is not None:
        rules = replace(rules, model=find_model(rules.model).name)  # name of stored vectors, not a path
    request = replace(request, rules=rules)
    ties = find_edges(inputs, rules, progress)
    checked = assign_and_check(graded, request, carried, ties.edges, progress)
    report = _make_report(graded, carried, request, ties, checked)
    return PreparedSplit(graded, request, report, checked)


def assign_and_check(
    graded: GradedQueries, request: SplitRequest, carried: CarriedOver, edges: list[Edge], progress: Progress
) -> CheckedAssignment:
    """Group the queries, assign the groups to parts and check, until there are no ties between different
    parts.

    Raises
    ------
    RefusedError: carried-over queries of different parts are tied.
    """
    inputs = graded.inputs
    missed: list[Edge] = []
    by_time: ByTime | None = None
    while True:
        all_edges = [*edges, *missed]
        groups = find_leakage_groups(inputs.queries, all_edges)
        fixed_parts, chains = map_carried_groups(groups, carried.parts, all_edges)
        refusals.refuse_part_conflicts(chains, carried.parts, inputs)
        if request.by_time and len(request.fractions) > 1:
            parts, by_time = assign_by_time(groups, inputs.times, request.fractions, fixed_parts)
        else:
            parts = assign_parts(groups, graded.levels, request.fractions, request.seed, fixed_parts)
        findings = certify(inputs, parts, request.rules, progress)
        if not findings.leaks:
            return CheckedAssignment(groups, parts, findings, sorted(all_edges), missed, by_time)
        if any(groups[leak.query_a] == groups[leak.query_b] for leak in findings.leaks):
            raise AssertionError(f"an edge crosses the split: {findings.leaks[0]}")
        missed += [Edge(**vars(leak)) for leak in findings.leaks]


def _make_report(
    graded: GradedQueries, carried: CarriedOver, request: SplitRequest, ties: Ties, checked: CheckedAssignment
) -> SplitReport:
    parameters = _stored_parameters(graded, carried, request, ties, checked)
    split_id = compute_split_id(graded, parameters, carried)
    edge_counts = Counter(edge.kind for edge in checked.edges)
    missed_counts = Counter(edge.kind for edge in checked.missed)
    certificate = make_certificate(
        graded, split_id, parameters, checked.groups, checked.parts, checked.findings, len(checked.missed)
    )
    return SplitReport(
        split_id=split_id,
        created=True,
        certificate=certificate,
        ties={label: ties.counts[label] + missed_counts[label] for label in KINDS},
        edges={label: edge_counts[label] for label in KINDS},
        cut=tuple(ties.cut),
        remaining_ties=find_remaining_ties(request.rules.cut, checked.groups, checked.edges),
        large_groups=_find_large_groups(graded, request, checked, certificate.shares),
        kept=len(carried.parts),
        disagreeing=carried.disagreeing,
        by_time=checked.by_time,
        left_out=graded.left_out | ties.left_out,
    )


def _find_large_groups(
    graded: GradedQueries, request: SplitRequest, checked: CheckedAssignment, shares: Sequence[PartShare]
) -> tuple[LeakageGroup, ...]:
    if len(request.parts) == 1:
        return ()
    groups, parts = checked.groups, checked.parts
    min_size = int(max(MAX_SMALL_GROUP, LARGEST_GROUP * len(groups))) + 1
    large_groups = find_largest_groups(graded.inputs, request.rules, groups, checked.edges, min_size=min_size)
    is_balanced = checked.by_time is None
    described = []
    for group in large_groups:
        spoils = find_balance_problem(list(group.queries), parts, shares, graded.levels, is_balanced)
        described.append(replace(group, part=parts[group.group_id], spoils=spoils))
    return tuple(described)


def _stored_parameters(
    graded: GradedQueries, carried: CarriedOver, request: SplitRequest, ties: Ties, checked: CheckedAssignment
) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "parts": request.fractions,
        "seed": request.seed,
        **write_rules(request.rules, ties.methods),
        "relevant_grade": graded.relevant_grade,
        "largest_group": request.largest_group or LARGEST_GROUP,
        "edges": "strongest spanning forest",
    }
    parameters |= ties.parameters
    if request.rules.document is not None and any(map(is_cut_differently, graded.inputs.documents.values())):
        parameters["words"] = TOKENIZATION  # older goldgrades split words in another way
    if request.by_time:
        has_undated = checked.by_time is not None and checked.by_time.undated
        parameters |= {"by_time": True, "undated": request.parts[0][0] if has_undated else None}
    if carried.parts:
        parameters["kept"] = {"releases": list(carried.releases), "queries": len(carried.parts)}
    return parameters
