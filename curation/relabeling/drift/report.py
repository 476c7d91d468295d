"""The drift report: a re-labeling in figures, by type, part and cause, and what it says of the whole set."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

from curation.agreement.between.passes import Passes, compare_passes, read_passes
from curation.door import sealed_queries
from curation.guides.guide import current_guide
from curation.labeling.rounds.rounds import find_round
from curation.relabeling.drift.causes import DriftCauses, drift_causes
from curation.relabeling.drift.figures import (
    DriftRow,
    WrongLabels,
    confusion_of,
    drift_row,
    wrong_labels,
)
from curation.relabeling.drift.past_evaluations import OrderChange, stored_orders
from curation.relabeling.drift.regraded_pairs import (
    DISPUTED_NOW,
    NO_GRADE_BEFORE,
    NOT_WHOLE,
    Regraded,
    RegradedPair,
    read_campaigns,
    read_regraded,
)
from curation.relabeling.plan.stored import find_plan
from curation.settling.votes import Votes
from curation.store import Store


@dataclass(frozen=True)
class DriftReport:
    """Old grades against new ones.

    Attributes
    ----------
    name: the plan's quarter, or both rounds.
    planned, judged: pairs that were to be judged again, and those that everybody who was asked has judged.
    pairs: with both grades; changed: with another one.
    disputed: judged, but the new votes disagree. newly: they agree, and there was no grade before.
    open: not judged yet.
    confusion: pairs by old (row) and new grade (column), in the order of the scale.
    by_type, by_tag, by_part: groups of the pairs; a pair has one type and part, and any tags.
    causes: causes and people, tested over all re-labelings up to this one.
    wrong: the estimate for the whole set; None where no pair was drawn at random.
    pooled: the same over the random parts of `pooled_quarters` within a year: the mean of what was wrong in
        each, weighted by the size of the set; None with fewer than two.
    orders: what the new release does to comparisons of the same runs.
    regraded: single pairs with both grades, without those of queries that a release seals.
    sealed: pairs that figures and tables count, but that are not named.
    left_out: reason → number of pairs.
    passes: the votes and the agreement of the round against what was judged before, about the same text.
    """

    name: str
    plan_id: str | None
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
    causes: DriftCauses
    wrong: WrongLabels | None
    pooled: WrongLabels | None
    pooled_quarters: int
    orders: tuple[OrderChange, ...]
    regraded: tuple[RegradedPair, ...]
    sealed: int
    left_out: dict[str, int]
    passes: Passes | None


def drift_report(store: Store, plan: str | None = None) -> DriftReport:
    """The report of a plan, by default of the newest one, with the last comparison of past evaluations.

    Raises
    ------
    NotFoundError: there is no such plan.
    """
    with store.reading() as cursor:
        row = find_plan(cursor, plan)
        sealed = sealed_queries(cursor)
        found = read_regraded(cursor, row.plan_id)
        scale = current_guide(cursor).values
        orders = stored_orders(cursor, row.plan_id)
        again = read_passes(cursor, row.round_id)
    frame = round(row.report["pairs"] / row.report["fraction_of_pairs"])
    return _report(row.quarter, row.plan_id, found, scale, frame, orders, sealed, again)


def campaign_report(store: Store, first: str, second: str, orders: Sequence[OrderChange] = ()) -> DriftReport:
    """The report of one round as a re-labeling of another; without pairs that a release seals.

    Raises
    ------
    NotFoundError: there is no such round.
    """
    with store.reading() as cursor:
        sealed = sealed_queries(cursor)
        found = read_campaigns(cursor, first, second, sealed)
        scale = current_guide(cursor).values
        again = read_passes(cursor, *(find_round(cursor, name).round_id for name in (second, first)))
    return _report(f"{first} → {second}", None, found, scale, 0, orders, sealed, again)


def _report(
    name: str,
    plan_id: str | None,
    found: Regraded,
    scale: Sequence[int],
    frame: int,
    orders: Sequence[OrderChange],
    sealed: Collection[str],
    again: Votes,
) -> DriftReport:
    pairs = found.pairs
    grades = tuple(sorted({*scale, *(g for pair in pairs for g in (pair.before, pair.after))}))
    drawn = any(pair.probability is not None for pair in pairs)

    def rows(names: Sequence[str], groups: Sequence[Sequence[str]]) -> tuple[DriftRow, ...]:
        members = {
            one: [pair for pair, own in zip(pairs, groups, strict=True) if one in own] for one in names
        }
        return tuple(drift_row(one, members[one], grades) for one in names if members[one])

    types, tags = [[pair.type] for pair in pairs], [pair.tags for pair in pairs]
    parts = [[pair.part] if pair.part else [] for pair in pairs]
    return DriftReport(
        name=name,
        plan_id=plan_id,
        scale=grades,
        planned=found.planned,
        judged=found.judged,
        disputed=found.left_out.get(DISPUTED_NOW, 0),
        newly=found.left_out.get(NO_GRADE_BEFORE, 0),
        open=found.left_out.get(NOT_WHOLE, 0),
        pairs=len(pairs),
        changed=sum(pair.changed for pair in pairs),
        overall=drift_row("all", pairs, grades),
        confusion=confusion_of(pairs, grades),
        by_type=rows(sorted({one for own in types for one in own}), types),
        by_tag=rows(sorted({one for own in tags for one in own}), tags),
        by_part=rows(("random", "due", "stale", "control"), parts),
        causes=drift_causes(found.votes if pairs else ()),
        wrong=wrong_labels(pairs, frame, found.open) if drawn else None,
        pooled=_pooled(found.year, frame),
        pooled_quarters=len(found.year),
        orders=tuple(orders),
        regraded=tuple(pair for pair in pairs if pair.query_id not in sealed),
        sealed=sum(pair.query_id in sealed for pair in pairs),
        left_out=found.left_out,
        passes=compare_passes(again, scale, 0, sealed),
    )


def _pooled(year: Sequence[Regraded], frame: int) -> WrongLabels | None:
    pairs, without = ([*chain(*given)] for given in ([one.pairs for one in year], [one.open for one in year]))
    return wrong_labels(pairs, frame, without) if len(year) > 1 else None
