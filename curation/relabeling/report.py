"""The drift report: the agreement between a re-labeling's old and new grades.

The bootstrap resamples queries, because the pairs of a query depend on each other. All groups of pairs use
the same resamples.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from curation.agreement.coefficients import agreement_weights, compare_raters, compute_cohen, count_confusion
from curation.core.statistics.arrays import Floats
from curation.core.statistics.bootstrap import Sums, percentile_interval, resample_figures
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.guides.guide import current_guide
from curation.people.seal_access import read_sealed_queries
from curation.relabeling import regraded_pairs, wrong_labels
from curation.relabeling.fixed_reports import ReportInputs, read_report_inputs
from curation.relabeling.regraded_pairs import RegradedPair, read_two_rounds
from curation.relabeling.stored_plans import find_plan
from curation.relabeling.system_figures import SystemMove, read_system_moves
from curation.relabeling.wrong_labels import MIN_RANDOM_PAIRS, WrongLabels
from curation.store import Store

SEED = 0
NEITHER = "neither"
TOO_FEW = f"fewer than {MIN_RANDOM_PAIRS} pairs"
FEW_QUERIES = f"no interval: fewer than {MINIMUM_QUERIES} queries"
NO_VARIATION = "undefined: no variation"


@dataclass(frozen=True)
class DriftRow:
    """The agreement between old and new grades in a group of pairs: equal grades, two kappas, and mean
    shift."""

    name: str
    pairs: int
    queries: int
    same: Estimate
    kappa: Estimate
    quadratic: Estimate
    shift: Estimate


class ChangeRow(NamedTuple):
    """The number of pairs with one kind of change, and the share of these pairs whose grade changed."""

    name: str
    pairs: int
    changed: int
    share: Estimate


@dataclass(frozen=True)
class DriftReport:
    """The drift report: the comparison of old and new grades in a plan or in two rounds.

    Attributes
    ----------
    name: the quarter of the plan, or the names of both rounds.
    fixed: whether the quarter is closed, so that the report does not change any more.
    planned, judged: number of pairs that were given to annotators, and that each asked annotator has judged.
    disputed: number of judged pairs whose new votes disagree.
    newly: number of judged pairs without an old grade. open: number of pairs that are not judged yet.
    pairs, changed: number of pairs with both grades, and of pairs whose grades differ.
    confusion: pairs by old grade (row) and new grade (column), in the order of the scale.
    changes: figures of the pairs whose document or guide changed, and of the other pairs.
    wrong: the share of wrong grades in the whole set; None if no plan chose the pairs.
    pooled: the mean share over the `pooled_quarters` of a year; None with fewer than two quarters.
    regraded: the pairs with both grades, without sealed queries.
    sealed: number of pairs of sealed queries, which figures count and lists do not name.
    left_out: number of pairs without a comparison, by reason.
    why: the reason for which a lead chose the pairs; '' for a quarter and for two rounds.
    systems: the figures of systems over the releases; empty for two rounds.
    """

    name: str
    plan_id: str | None
    fixed: bool
    scale: tuple[int, ...]
    planned: int
    judged: int
    disputed: int
    newly: int
    open: int
    pairs: int
    changed: int
    overall: DriftRow
    confusion: tuple[tuple[int, ...], ...]
    changes: tuple[ChangeRow, ...]
    wrong: WrongLabels | None
    pooled: WrongLabels | None
    pooled_quarters: int
    regraded: tuple[RegradedPair, ...]
    sealed: int
    left_out: dict[str, int]
    why: str = ""
    systems: tuple[SystemMove, ...] = ()


def compute_drift(name: str, pairs: Sequence[RegradedPair], scale: Sequence[int]) -> DriftRow:
    """Compute the agreement between old and new grades in one group of pairs."""
    queries, query_count = wrong_labels.index_queries(pairs)
    if len(pairs) < MIN_RANDOM_PAIRS:
        none = Estimate(n=len(pairs), why=TOO_FEW)
        return DriftRow(name, len(pairs), query_count, none, none, none, none)
    values = len(scale)
    step_of: dict[int | None, int] = {grade: step for step, grade in enumerate(scale)}
    cells = np.array([step_of[pair.before] * values + step_of[pair.after] for pair in pairs])
    tables = np.zeros((query_count, values * values))
    np.add.at(tables, (queries, cells), 1.0)

    def compare(sums: Floats) -> Floats:
        matrices = sums.reshape(-1, values, values)
        same, quadratic, shift = compare_raters(matrices, np.array(scale, np.float64)).T
        kappa = compute_cohen(matrices, agreement_weights(values, "identity"))
        return np.stack([same, kappa, quadratic, shift], axis=1)

    points = compare(tables.sum(axis=0, keepdims=True))[0]
    (drawn,) = resample_figures([Sums(np.arange(query_count), tables, compare)], query_count, SEED)
    estimates = (
        _make_estimate(point, resampled, query_count, len(pairs))
        for point, resampled in zip(points, drawn.T, strict=True)
    )
    return DriftRow(name, len(pairs), query_count, *estimates)


def count_changes(pairs: Sequence[RegradedPair]) -> tuple[ChangeRow, ...]:
    """Count the pairs with a changed document, with a grade that the guide rewords, and with no change."""
    groups = [
        (name, [pair for pair in pairs if name in pair.changes])
        for name in (regraded_pairs.DOCUMENT, regraded_pairs.GUIDE)
    ]
    groups.append((NEITHER, [pair for pair in pairs if not pair.changes]))
    return tuple(_make_change_row(name, members) for name, members in groups)


def make_drift_report(store: Store, plan: str | None = None) -> DriftReport:
    """Make the drift report of a re-labeling plan, by default of the newest plan.

    Raises
    ------
    NotFoundError: there is no such plan.
    """
    with store.reading() as cursor:
        row = find_plan(cursor, plan)
        inputs = read_report_inputs(cursor, row)
        sealed, systems = read_sealed_queries(cursor), read_system_moves(cursor)
    report = _make_report(row.plan_id, inputs, sealed)
    return replace(report, why=str(row.parameters.get("reason", "")), systems=systems)


def compare_rounds(store: Store, first: str, second: str) -> DriftReport:
    """Compare two rounds as if the second round had judged the pairs of the first again.

    Sealed pairs are left out.

    Raises
    ------
    NotFoundError: one of the rounds does not exist.
    """
    with store.reading() as cursor:
        sealed = read_sealed_queries(cursor)
        result = read_two_rounds(cursor, first, second, sealed)
        inputs = ReportInputs(current_guide(cursor).values, result, None, 0)
    return _make_report(None, inputs, sealed)


def _make_change_row(name: str, pairs: Sequence[RegradedPair]) -> ChangeRow:
    changed = [pair.changed for pair in pairs]
    estimate = Estimate(n=len(pairs), why=TOO_FEW)
    if len(pairs) >= MIN_RANDOM_PAIRS:
        share = wrong_labels.estimate_share(pairs, changed, np.ones(len(pairs)))
        estimate = Estimate(share.share, share.low, share.high, len(pairs))
    return ChangeRow(name, len(pairs), sum(changed), estimate)


def _make_estimate(point: float, drawn: Floats, queries: int, pairs: int) -> Estimate:
    if np.isnan(point):
        return Estimate(n=pairs, why=NO_VARIATION)
    interval = percentile_interval(drawn, queries) if queries >= MINIMUM_QUERIES else None
    if interval is None:
        return Estimate(float(point), n=pairs, why=FEW_QUERIES)
    return Estimate(float(point), *interval, pairs)


def _make_report(plan_id: str | None, inputs: ReportInputs, sealed: Collection[str]) -> DriftReport:
    result = inputs.result
    pairs, left_out = result.comparable, result.left_out
    given_grades = {grade for pair in pairs for grade in (pair.before, pair.after) if grade is not None}
    grades = tuple(sorted(given_grades.union(inputs.scale)))
    return DriftReport(
        name=result.name,
        plan_id=plan_id,
        fixed=inputs.fixed,
        scale=grades,
        planned=len(result.pairs),
        judged=sum(pair.why not in regraded_pairs.UNJUDGED_REASONS for pair in result.pairs),
        disputed=left_out.get(regraded_pairs.DISPUTED_NOW, 0),
        newly=left_out.get(regraded_pairs.NO_GRADE_BEFORE, 0),
        open=left_out.get(regraded_pairs.NOT_WHOLE, 0),
        pairs=len(pairs),
        changed=sum(pair.changed for pair in pairs),
        overall=compute_drift("all", pairs, grades),
        confusion=count_confusion(((pair.before, pair.after) for pair in pairs), grades),
        changes=count_changes(pairs),
        wrong=wrong_labels.estimate_wrong_labels([result]) if result.population else None,
        pooled=inputs.pooled,
        pooled_quarters=inputs.pooled_quarters,
        regraded=tuple(pair for pair in pairs if pair.query_id not in sealed),
        sealed=sum(pair.query_id in sealed for pair in pairs),
        left_out=left_out,
    )
