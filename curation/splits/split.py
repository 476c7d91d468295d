"""Preparation, check and storage of a split, with its report.

The id of a split is the digest of everything that decides the split. So the same request on the same
judgments finds the stored split, and adds no second copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.digests import canonical_json, digest
from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import left_out_sentences, pluralize
from curation.core.words import CUT, is_cut_otherwise
from curation.people.annotators import require_author
from curation.retrieval.embedding_model import find_model
from curation.splits.assignment import ALL, PartShare
from curation.splits.by_time import ByTime
from curation.splits.certificate import Certificate, certificate_of, without_sealed
from curation.splits.checked_assignment import (
    NOTHING_CARRIED_OVER,
    CarriedOver,
    CheckedAssignment,
    assign_and_check,
    carried_over_among,
    read_carried_over,
)
from curation.splits.cuts import RemainingTies, cut_lines, cuts_by_id, remaining_ties
from curation.splits.edges import Edge
from curation.splits.groups import LeakageGroup, largest_groups
from curation.splits.inputs import GradedQueries, read_labels, settled_queries
from curation.splits.refusals import MAX_SMALL_GROUP, balance_problem, refuse_empty, refuse_large
from curation.splits.request import LARGEST_GROUP, SplitRequest, check_request
from curation.splits.tie_data import with_tie_data
from curation.splits.tie_kinds import KINDS
from curation.splits.ties import Ties, find_edges, rule_parameters
from curation.store import COMMAND_LINE, Store, append_rows, get_setting, put_setting, record_event, utc_now

STORED_EDGES = "strongest spanning forest"


def split_id_of(graded: GradedQueries, parameters: Mapping[str, Any], carried: CarriedOver) -> str:
    """Compute the digest of everything that decides a split."""
    inputs = graded.inputs
    relevant = [(query_id, sorted(documents)) for query_id, documents in sorted(inputs.relevant.items())]
    texts = [(name, digest(text)) for name, text in sorted(inputs.documents.items())]
    queries = sorted(inputs.queries.items())
    levels = [(name, sorted(labels)) for name, labels in sorted(graded.levels.items())]
    keys = [(name, sorted(labels)) for name, labels in sorted(inputs.keys.items())]
    times = [(name, time.isoformat()) for name, time in sorted(inputs.times.items())]
    carried_inputs = [sorted(carried.parts.items()), keys, times]
    return digest("split", parameters, queries, levels, relevant, texts, carried_inputs)


def store_split(
    store: Store, report: SplitReport, checked: CheckedAssignment, edges: Sequence[Edge], actor: str
) -> bool:
    """Store the split and make it the current split. Returns whether the split is new."""
    split_id = report.split_id
    content = asdict(report)
    del content["created"]
    parameters = report.certificate.parameters
    row = [split_id, canonical_json(parameters), canonical_json(_with_texts_for_times(content))]
    details = [{"documents": edge.documents} | ({"key": edge.key} if edge.key else {}) for edge in edges]
    ties = [(*edge[:4], canonical_json(detail)) for edge, detail in zip(edges, details, strict=True)]
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
    """Return the value with all times as ISO text."""
    if isinstance(value, dict):
        return {key: _with_texts_for_times(item) for key, item in value.items()}
    return value.isoformat(sep=" ") if isinstance(value, datetime) else value


@dataclass(frozen=True)
class SplitReport:
    """The report of a split, with the ties and leakage groups that determined its parts.

    Attributes
    ----------
    created: False where this very split existed already and nothing was added.
    certificate: parameters, part sizes, and the ties that the exhaustive check across the parts found.
    ties: kind → number of ties: pairs of similar query texts; pairs of queries for each document that is
        relevant to both; pairs of nearly identical relevant documents.
    edges: kind → number of stored edges, which are the strongest ties that hold the groups together.
    cut: the ties that were cut by name, whether or not they cross the parts.
    remaining_ties: pairs that were cut and that other ties still join.
    large_groups: groups with more than 5 % of the queries; a split into one part has no such groups.
    kept: queries whose part is carried over from a release.
    disagreeing: kept queries that releases have in different parts; the newest release decides.
    by_time: facts about the cut by time; None if parts were balanced.
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
    kept: int
    disagreeing: int
    by_time: ByTime | None
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """Return sentences on the queries and groups of the split, kept parts, and left-out queries."""
        state = (
            "This is the current split now" if self.created else "This split exists already, and is current"
        )
        queries = pluralize(self.certificate.queries, "query", "queries")
        groups = pluralize(self.certificate.groups, "leakage group")
        kept = pluralize(self.kept, "query keeps", "queries keep")
        return [
            f"{state}: {queries} in {groups}.",
            *([f"{kept} the part from an earlier release."] if self.kept else []),
            *left_out_sentences(self.left_out),
        ]

    @property
    def further(self) -> list[str]:
        """List the number of ties of each kind, the ties that were cut, and the large groups."""
        texts = self.certificate.texts
        ties = ", ".join(f"{count:,} by {kind}" for kind, count in self.ties.items() if count)
        lines = [
            f"Ties between queries: {ties or 'none'}. The {sum(self.edges.values()):,} strongest ties, which "
            "connect the queries of each leakage group, are stored.",
            *cut_lines(self.cut, self.remaining_ties, texts),
        ]
        if self.disagreeing:
            lines.append(
                f"Releases have {self.disagreeing:,} of these queries in different parts: the newest release "
                "decides."
            )
        if self.by_time is not None:
            lines += self.by_time.sentences
        for group in self.large_groups:
            spoils = group.spoils or "the parts have the requested sizes"
            lines += ["", f"WARNING: one leakage group holds {group.size}, and {spoils}.", *group.lines]
        return lines


class PreparedSplit(NamedTuple):
    """A split that was made and checked, but is not stored yet.

    Attributes
    ----------
    request: the request with cuts by query id and with the name of the model.
    edges: the edges of the groups, in order.
    """

    graded: GradedQueries
    carried: CarriedOver
    request: SplitRequest
    report: SplitReport
    checked: CheckedAssignment
    edges: list[Edge]

    def refuse_unfit(self) -> None:
        """Refuse a split that has a too large leakage group or an empty part."""
        inputs, groups, most = self.graded.inputs, self.checked.groups, self.request.largest_group
        if most is not None or not self.request.rules.says_what_belongs_together:
            refuse_large(self.report.large_groups, inputs, len(groups), most)
        refuse_empty(self.report.certificate.shares, groups, self.edges, inputs)


def make_split(
    store: Store,
    request: SplitRequest = SplitRequest(),
    progress: Progress = silent,
    actor: str = COMMAND_LINE,
) -> SplitReport:
    """Split the graded queries into parts that share no leakage group, and make it the current split.

    Cuts in the request may name queries by their texts if the texts are unique.

    Raises
    ------
    InputError: fractions, names, rules, options or the relevant grade are wrong. The error lists all
        problems.
    NotFoundError: the project does not know the actor.
    RefusedError: the actor is no lead; nothing is graded; embeddings are missing and the model is not
        available; a group is too large; carried-over queries of different parts are tied; a part would stay
        empty; the split is not the split that was expected.
    """
    with store.reading() as cursor:
        require_author(cursor, actor, "lead")
    prepared = prepare_split(store, request, progress)
    prepared.refuse_unfit()
    if request.expected not in (None, prepared.report.split_id):
        raise RefusedError(
            "Labels, queries or documents have changed since the preview, so the split would differ from the "
            "preview. Nothing was stored: preview the split again."
        )
    created = store_split(store, prepared.report, prepared.checked, prepared.edges, actor)
    return without_sealed(replace(prepared.report, created=created), prepared.graded.inputs.sealed)


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
        released = NOTHING_CARRIED_OVER if request.fresh else read_carried_over(cursor)
    graded = settled_queries(labels)
    carried = carried_over_among(released, graded.inputs.queries, request.fractions)
    rules = replace(request.rules, cut=cuts_by_id(request.rules.cut, graded.inputs.queries))
    try:
        inputs = with_tie_data(store, graded.inputs, rules, progress, request.by_time)
    except RefusedError:  # the model of paraphrases is missing
        if len(request.parts) > 1:
            raise
        rules = replace(rules, paraphrase=None)  # nothing leaks out of a single part
        inputs = with_tie_data(store, graded.inputs, rules, progress, request.by_time)
    graded = replace(graded, inputs=inputs)
    if rules.paraphrase is not None:
        rules = replace(rules, model=find_model(rules.model).name)  # the name of stored vectors, not a path
    request = replace(request, rules=rules)
    ties = find_edges(inputs, rules, progress)
    checked = assign_and_check(graded, request, carried, ties.edges, progress)
    edges = sorted([*ties.edges, *checked.missed])
    report = _report_of(graded, carried, request, ties, edges, checked)
    return PreparedSplit(graded, carried, request, report, checked, edges)


def _report_of(
    graded: GradedQueries,
    carried: CarriedOver,
    request: SplitRequest,
    ties: Ties,
    edges: Sequence[Edge],
    checked: CheckedAssignment,
) -> SplitReport:
    parameters = _stored_parameters(graded, carried, request, ties, checked)
    split_id = split_id_of(graded, parameters, carried)
    counts = Counter(edge.kind for edge in edges)
    missed = Counter(edge.kind for edge in checked.missed)
    certificate = certificate_of(
        graded, split_id, parameters, checked.groups, checked.parts, checked.findings, len(checked.missed)
    )
    return SplitReport(
        split_id=split_id,
        created=True,
        certificate=certificate,
        ties={label: ties.counts[label] + missed[label] for label in KINDS},
        edges={label: counts[label] for label in KINDS},
        cut=tuple(ties.cut),
        remaining_ties=remaining_ties(request.rules.cut, checked.groups, edges),
        large_groups=_large_groups(graded, request, checked, edges, certificate.shares),
        kept=len(carried.parts),
        disagreeing=carried.disagreeing,
        by_time=checked.by_time,
        left_out=graded.left_out | ties.left_out,
    )


def _large_groups(
    graded: GradedQueries,
    request: SplitRequest,
    checked: CheckedAssignment,
    edges: Sequence[Edge],
    shares: Sequence[PartShare],
) -> tuple[LeakageGroup, ...]:
    if len(request.parts) == 1:
        return ()
    groups, parts = checked.groups, checked.parts
    least = int(max(MAX_SMALL_GROUP, LARGEST_GROUP * len(groups))) + 1
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


def _stored_parameters(
    graded: GradedQueries, carried: CarriedOver, request: SplitRequest, ties: Ties, checked: CheckedAssignment
) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "parts": request.fractions,
        "seed": request.seed,
        **rule_parameters(request.rules, ties.methods),
        "relevant_grade": graded.relevant_grade,
        "largest_group": request.largest_group or LARGEST_GROUP,
        "edges": STORED_EDGES,
    }
    parameters |= ties.further
    if request.rules.document is not None and any(map(is_cut_otherwise, graded.inputs.documents.values())):
        parameters["words"] = CUT  # only where older goldgrades compared these documents otherwise
    if request.by_time:
        undated = checked.by_time is not None and checked.by_time.undated
        parameters |= {"by_time": True, "undated": request.parts[0][0] if undated else None}
    if carried.parts:
        parameters["kept"] = {"releases": list(carried.releases), "queries": len(carried.parts)}
    return parameters
