"""The drift report: a re-labeling in figures, by type, tag and part, and what it says of the whole set."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from curation.guides.guide import current_guide
from curation.people.seal_access import sealed_queries
from curation.relabeling.drift.closing import ReportInputs, report_inputs
from curation.relabeling.drift.figures import ChangeRow, DriftRow, change_rows, confusion_of, drift_row
from curation.relabeling.drift.past_evaluations import OrderChange, stored_orders
from curation.relabeling.drift.regraded_pairs import (
    DISPUTED_NOW,
    NO_GRADE_BEFORE,
    NOT_ASKED,
    NOT_WHOLE,
    RegradedPair,
    read_campaigns,
)
from curation.relabeling.drift.wrong_labels import WrongLabels, wrong_labels
from curation.relabeling.plan.stored import find_plan
from curation.store import Store


@dataclass(frozen=True)
class DriftReport:
    """Old grades against new ones.

    Attributes
    ----------
    name: the plan's quarter, or both rounds.
    fixed: whether the quarter is closed, so that its report does not change any more.
    planned, judged: pairs that were to be judged again, and those that everybody who was asked has judged.
    pairs: with both grades; changed: with another one.
    disputed: judged, but the new votes disagree. newly: they agree, and there was no grade before.
    open: not judged yet.
    confusion: pairs by old (row) and new grade (column), in the order of the scale.
    by_type, by_tag, by_part: groups of the pairs; a pair has one type and part, and any tags.
    changes: pairs whose document or guide changed, and the others.
    wrong: the share of wrong grades in the whole set; None where no plan chose the pairs.
    pooled: the mean of that over the `pooled_quarters` of a year, weighted by the size of the set; None with
        fewer than two.
    orders: what the new release does to comparisons of the same runs.
    regraded: single pairs with both grades, without those of queries that a release seals.
    sealed: pairs that figures and tables count, but that are not named.
    left_out: reason → number of pairs.
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
    by_type: tuple[DriftRow, ...]
    by_tag: tuple[DriftRow, ...]
    by_part: tuple[DriftRow, ...]
    changes: tuple[ChangeRow, ...]
    wrong: WrongLabels | None
    pooled: WrongLabels | None
    pooled_quarters: int
    orders: tuple[OrderChange, ...]
    regraded: tuple[RegradedPair, ...]
    sealed: int
    left_out: dict[str, int]


def drift_report(store: Store, plan: str | None = None) -> DriftReport:
    """The report of a plan, by default of the newest one, with the last comparison of past evaluations.

    Raises
    ------
    NotFoundError: there is no such plan.
    """
    with store.reading() as cursor:
        row = find_plan(cursor, plan)
        inputs = report_inputs(cursor, row)
        orders = stored_orders(cursor, row.plan_id)
        sealed = sealed_queries(cursor)
    return _report(row.plan_id, inputs, orders, sealed)


def campaign_report(store: Store, first: str, second: str, orders: Sequence[OrderChange] = ()) -> DriftReport:
    """The report of one round as a re-labeling of another; without pairs that a release seals.

    Raises
    ------
    NotFoundError: there is no such round.
    """
    with store.reading() as cursor:
        sealed = sealed_queries(cursor)
        result = read_campaigns(cursor, first, second, sealed)
        inputs = ReportInputs(current_guide(cursor).values, result, None, 0)
    return _report(None, inputs, orders, sealed)


def _report(
    plan_id: str | None, inputs: ReportInputs, orders: Sequence[OrderChange], sealed: Collection[str]
) -> DriftReport:
    result = inputs.result
    pairs, left_out = result.comparable, result.left_out
    grades = tuple(
        sorted({*inputs.scale, *(g for one in pairs for g in (one.before, one.after) if g is not None)})
    )

    def rows(names: Sequence[str], groups: Sequence[Sequence[str]]) -> tuple[DriftRow, ...]:
        members = {
            name: [pair for pair, own in zip(pairs, groups, strict=True) if name in own] for name in names
        }
        return tuple(drift_row(name, members[name], grades) for name in names if members[name])

    types, tags = [[pair.type] for pair in pairs], [pair.tags for pair in pairs]
    parts = [[pair.part] if pair.part else [] for pair in pairs]
    return DriftReport(
        name=result.name,
        plan_id=plan_id,
        fixed=inputs.fixed,
        scale=grades,
        planned=len(result.pairs),
        judged=sum(pair.why not in (NOT_ASKED, NOT_WHOLE) for pair in result.pairs),
        disputed=left_out.get(DISPUTED_NOW, 0),
        newly=left_out.get(NO_GRADE_BEFORE, 0),
        open=left_out.get(NOT_WHOLE, 0),
        pairs=len(pairs),
        changed=sum(pair.changed for pair in pairs),
        overall=drift_row("all", pairs, grades),
        confusion=confusion_of(pairs, grades),
        by_type=rows(sorted({one for own in types for one in own}), types),
        by_tag=rows(sorted({one for own in tags for one in own}), tags),
        by_part=rows(("random", "due", "stale", "control"), parts),
        changes=change_rows(pairs),
        wrong=wrong_labels([result]) if result.population else None,
        pooled=inputs.pooled,
        pooled_quarters=inputs.pooled_quarters,
        orders=tuple(orders),
        regraded=tuple(pair for pair in pairs if pair.query_id not in sealed),
        sealed=sum(pair.query_id in sealed for pair in pairs),
        left_out=left_out,
    )
