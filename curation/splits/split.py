"""Making a split: read, find ties, assign, check, store.

The id of a split is the digest of everything that decides it. So the same call on the same labels finds the
split that it made before, and adds nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from curation.consensus.consensus import settled
from curation.errors import RefusedError
from curation.progress import Progress, silent
from curation.retrieval.embeddings import find_model
from curation.splits.assignment.carried_over import (
    NOTHING_CARRIED_OVER,
    CarriedOver,
    carried_over_among,
    read_carried_over,
)
from curation.splits.assignment.spoiling import spoiled_by
from curation.splits.certificate.certificate import certificate_of
from curation.splits.checked_assignment import CheckedAssignment, assign_and_check
from curation.splits.groups.cuts import still_tied
from curation.splits.groups.named_cuts import cuts_by_id
from curation.splits.inputs import GradedQueries, graded_queries, read_labels
from curation.splits.refusals import large_groups, refuse_empty, refuse_large
from curation.splits.request import (
    LARGEST_GROUP,
    PARTS,
    RULES,
    AssignmentOptions,
    SplitRequest,
    check_request,
)
from curation.splits.rules import GROUP, Rules
from curation.splits.split_report import SplitReport
from curation.splits.stored_split import split_id_of, store_split
from curation.splits.ties.edges import Edge
from curation.splits.ties.kinds import KINDS
from curation.splits.ties.parameters import compared_texts, described
from curation.splits.ties.reading import with_tie_data
from curation.splits.ties.same_key import groups_across
from curation.splits.ties.search import Ties, find_edges
from curation.store import Store
from curation.store.settings import COMMAND_LINE
from curation.words import CUT, is_cut_otherwise

STORED_EDGES = "strongest spanning forest"


class _SplitBasis(NamedTuple):
    """What was read: the graded queries, and their parts in releases."""

    graded: GradedQueries
    carried: CarriedOver


def make_split(
    store: Store,
    parts: Mapping[str, float] = PARTS,
    seed: int = 0,
    rules: Rules = RULES,
    relevant_grade: int | None = None,
    options: AssignmentOptions = AssignmentOptions(),
    progress: Progress = silent,
    actor: str = COMMAND_LINE,
) -> SplitReport:
    """Split the graded queries into parts that share no leakage group, and make it the current split.

    Parameters
    ----------
    parts: name → fraction; they sum to 1.
    rules: which ties are looked for; cuts may name queries by their texts where these are unique.
    relevant_grade: least grade of a relevant document; by default all above the scale's lowest.

    Raises
    ------
    InputError: fractions, names, rules, options or the relevant grade; all at once.
    NotFoundError: a release to keep does not exist.
    RefusedError: nothing is graded; embeddings are missing and the model is not available; a group is too
        large; carried-over queries of different parts are tied; a part would stay empty.
    """
    check_request(parts, rules, options)
    basis = _read(store, relevant_grade, parts, options)
    rules = replace(rules, cut=cuts_by_id(rules.cut, basis.graded.inputs.queries))
    inputs = with_tie_data(store, basis.graded.inputs, rules, progress, dated=options.by_time)
    basis = basis._replace(graded=replace(basis.graded, inputs=inputs))
    if rules.paraphrase is not None:
        rules = replace(rules, model=find_model(rules.model).name)  # the name of stored vectors, not a path
    request = SplitRequest(parts, seed, rules, options)
    ties = find_edges(inputs, rules, progress)
    checked = assign_and_check(basis.graded, request, basis.carried, ties.edges, progress)
    edges = sorted([*ties.edges, *checked.missed])
    groups = 0
    if GROUP not in rules.keys:
        with store.reading() as cursor:
            groups = groups_across(cursor, inputs, checked.parts)
    report = _report(basis, request, ties, edges, checked, groups)
    refuse_large(report.large_groups, checked.groups, inputs, rules, options.largest_group)
    refuse_empty(report.shares, checked.groups, edges, inputs.queries)
    return replace(report, created=store_split(store, report, checked, edges, actor))


def _read(
    store: Store, relevant_grade: int | None, parts: Mapping[str, float], options: AssignmentOptions
) -> _SplitBasis:
    with store.reading() as cursor:
        labels = read_labels(cursor, relevant_grade)
        carried = read_carried_over(cursor, options.keep) if options.keep != () else NOTHING_CARRIED_OVER
    graded = graded_queries(labels, settled(labels.votes))
    if not graded.inputs.queries:
        raise RefusedError(
            "No query has a grade yet, so there is nothing to split. Judge first (`goldset app`, "
            "`goldset import judgments PATH`); disputed pairs count once they are decided."
        )
    return _SplitBasis(graded, carried_over_among(carried, graded.inputs.queries, parts))


def _report(
    basis: _SplitBasis,
    request: SplitRequest,
    ties: Ties,
    edges: Sequence[Edge],
    checked: CheckedAssignment,
    groups: int,
) -> SplitReport:
    graded, carried = basis
    parameters = _parameters(basis, request, ties)
    split_id = split_id_of(graded, parameters, carried)
    counts = Counter(edge.kind for edge in edges)
    missed = Counter(edge.kind for edge in checked.missed)
    certificate = certificate_of(
        graded, split_id, parameters, checked.groups, checked.parts, checked.findings, checked.proved
    )
    spoils = partial(
        spoiled_by,
        parts=checked.parts,
        shares=certificate.shares,
        levels=graded.levels,
        balanced=checked.by_time is None,
    )
    return SplitReport(
        split_id=split_id,
        created=True,
        certificate=certificate,
        ties={label: ties.found[label] + missed[label] for label in KINDS},
        edges={label: counts[label] for label in KINDS},
        cut=tuple(ties.cut),
        still_tied=still_tied(graded.inputs, request.rules, checked.groups),
        missed=len(checked.missed),
        large_groups=large_groups(graded.inputs, checked.groups, edges, request.rules, spoils),
        groups_across=groups,
        kept=len(carried.parts),
        disagreeing=carried.disagreeing,
        by_time=checked.by_time,
        left_out=graded.left_out | ties.left_out,
    )


def _parameters(basis: _SplitBasis, request: SplitRequest, ties: Ties) -> dict[str, Any]:
    graded, carried = basis
    found: dict[str, Any] = {
        "parts": dict(request.parts),
        "seed": request.seed,
        **described(request.rules, ties.methods, compared_texts(graded.inputs)),
        "relevant_grade": graded.relevant_grade,
        "largest_group": request.options.largest_group or LARGEST_GROUP,
        "edges": STORED_EDGES,
    }
    found |= ties.told
    if request.rules.document is not None and any(map(is_cut_otherwise, graded.inputs.documents.values())):
        found["words"] = CUT  # said only where the documents of older splits were compared otherwise
    if request.options.by_time:
        found |= {"by_time": True, "undated": request.options.undated}
    if carried.parts:
        found["kept"] = {"releases": list(carried.releases), "queries": len(carried.parts)}
    return found
