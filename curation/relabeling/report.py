"""The drift report: old grades against new ones in figures, by type, tag and part, and what had changed.

Queries are resampled, because the pairs of a query depend on each other. Groups share their resamples, so
that their differences have intervals of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.agreement.inter_annotator import cohen_of, weights_of
from curation.core.reports.charts import HeatCell, heat_map
from curation.core.reports.page import QueryName, Section, Table, html_page
from curation.core.statistics.arrays import Floats
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES, Sums, percentile_interval, resampled_figures
from curation.core.text import percent, pluralize
from curation.guides.guide import current_guide
from curation.people.seal_access import sealed_queries
from curation.relabeling.fixed_reports import ReportInputs, report_inputs
from curation.relabeling.regraded_pairs import (
    DISPUTED_NOW,
    DOCUMENT,
    GUIDE,
    NO_GRADE_BEFORE,
    NOT_ASKED,
    NOT_WHOLE,
    RegradedPair,
    read_campaigns,
)
from curation.relabeling.stored_plans import find_plan
from curation.relabeling.wrong_labels import (
    MIN_RANDOM_PAIRS,
    WrongLabels,
    query_numbers,
    share_of,
    wrong_labels,
)
from curation.store import Store

SEED = 0
NEITHER = "neither"
TOO_FEW, FEW_QUERIES, NO_VARIATION = (
    f"fewer than {MIN_RANDOM_PAIRS} pairs",
    f"no interval: fewer than {MINIMUM_QUERIES} queries",
    "undefined: no variation",
)

LIMIT = 50
"""Pairs with another grade that are shown."""


@dataclass(frozen=True)
class DriftRow:
    """A group of pairs: the same grade both times, Cohen's kappa, quadratic kappa, and the mean shift in
    grades.
    """

    name: str
    pairs: int
    queries: int
    same: Estimate
    kappa: Estimate
    quadratic: Estimate
    shift: Estimate


class ChangeRow(NamedTuple):
    """Pairs by what was not the same the second time, and the share of them with another grade."""

    name: str
    pairs: int
    changed: int
    share: Estimate


def drift_row(name: str, pairs: Sequence[RegradedPair], scale: Sequence[int]) -> DriftRow:
    """The figures of one group."""
    queries, number = query_numbers(pairs)
    if len(pairs) < MIN_RANDOM_PAIRS:
        none = Estimate(n=len(pairs), why=TOO_FEW)
        return DriftRow(name, len(pairs), number, none, none, none, none)
    values = len(scale)
    step_of: dict[int | None, int] = {grade: step for step, grade in enumerate(scale)}
    cells = np.array([step_of[p.before] * values + step_of[p.after] for p in pairs])
    tables = np.zeros((number, values * values))
    np.add.at(tables, (queries, cells), 1.0)
    steps = np.array(scale, np.float64)

    def figures(sums: Floats) -> Floats:
        matrices = sums.reshape(-1, values, values)
        total = matrices.sum(axis=(1, 2))
        same = np.einsum("rkk->r", matrices) / total
        shift = (matrices * (steps[None, None, :] - steps[None, :, None])).sum(axis=(1, 2)) / total
        plain = cohen_of(matrices, weights_of(values, "identity"))
        quadratic = cohen_of(matrices, weights_of(values, "quadratic"))
        return np.stack([same, plain, quadratic, shift], axis=1)

    point = figures(tables.sum(axis=0, keepdims=True))[0]
    (drawn,) = resampled_figures([Sums(np.arange(number), tables, figures)], number, SEED)
    estimates = (_estimate(value, drawn[:, k], number, len(pairs)) for k, value in enumerate(point))
    return DriftRow(name, len(pairs), number, *estimates)


def confusion_of(pairs: Sequence[RegradedPair], scale: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Pairs by old grade (row) and new grade (column), in the order of the scale."""
    return tuple(
        tuple(sum(p.before == old and p.after == new for p in pairs) for new in scale) for old in scale
    )


def change_rows(pairs: Sequence[RegradedPair]) -> tuple[ChangeRow, ...]:
    """Pairs whose document changed, whose grade has other words in the guide, and neither; a pair with both
    is in both rows.
    """
    groups = [(name, [pair for pair in pairs if name in pair.changes]) for name in (DOCUMENT, GUIDE)]
    groups.append((NEITHER, [pair for pair in pairs if not pair.changes]))
    return tuple(_change_row(name, members) for name, members in groups)


def _change_row(name: str, pairs: Sequence[RegradedPair]) -> ChangeRow:
    changed, estimate = [pair.changed for pair in pairs], Estimate(n=len(pairs), why=TOO_FEW)
    if len(pairs) >= MIN_RANDOM_PAIRS:
        estimate = Estimate(*share_of(pairs, changed, np.ones(len(pairs)))[:3], len(pairs))
    return ChangeRow(name, len(pairs), sum(changed), estimate)


def _estimate(point: float, drawn: Floats, queries: int, pairs: int) -> Estimate:
    if np.isnan(point):
        return Estimate(n=pairs, why=NO_VARIATION)
    ends = percentile_interval(drawn, queries) if queries >= MINIMUM_QUERIES else None
    if ends is None:
        return Estimate(float(point), n=pairs, why=FEW_QUERIES)
    return Estimate(float(point), *ends, pairs)


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
    wrong: the share of wrong grades in the whole set; None if no plan chose the pairs.
    pooled: the mean of that over the `pooled_quarters` of a year, weighted by the size of the set; None with
        fewer than two.
    regraded: single pairs with both grades, without queries that a release seals.
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
    regraded: tuple[RegradedPair, ...]
    sealed: int
    left_out: dict[str, int]


def drift_report(store: Store, plan: str | None = None) -> DriftReport:
    """The report of a plan, by default of the newest one.

    Raises
    ------
    NotFoundError: there is no such plan.
    """
    with store.reading() as cursor:
        row = find_plan(cursor, plan)
        inputs = report_inputs(cursor, row)
        sealed = sealed_queries(cursor)
    return _report(row.plan_id, inputs, sealed)


def campaign_report(store: Store, first: str, second: str) -> DriftReport:
    """The report of one round as a re-labeling of another; without pairs that a release seals.

    Raises
    ------
    NotFoundError: there is no such round.
    """
    with store.reading() as cursor:
        sealed = sealed_queries(cursor)
        result = read_campaigns(cursor, first, second, sealed)
        inputs = ReportInputs(current_guide(cursor).values, result, None, 0)
    return _report(None, inputs, sealed)


def _report(plan_id: str | None, inputs: ReportInputs, sealed: Collection[str]) -> DriftReport:
    result = inputs.result
    pairs, left_out = result.comparable, result.left_out
    grades = tuple(
        sorted({*inputs.scale, *(g for pair in pairs for g in (pair.before, pair.after) if g is not None)})
    )

    def rows(names: Sequence[str], groups: Sequence[Sequence[str]]) -> tuple[DriftRow, ...]:
        members = {
            name: [pair for pair, names_of_pair in zip(pairs, groups, strict=True) if name in names_of_pair]
            for name in names
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
        by_type=rows(sorted({name for names in types for name in names}), types),
        by_tag=rows(sorted({name for names in tags for name in names}), tags),
        by_part=rows(("random", "due", "stale", "control"), parts),
        changes=change_rows(pairs),
        wrong=wrong_labels([result]) if result.population else None,
        pooled=inputs.pooled,
        pooled_quarters=inputs.pooled_quarters,
        regraded=tuple(pair for pair in pairs if pair.query_id not in sealed),
        sealed=sum(pair.query_id in sealed for pair in pairs),
        left_out=left_out,
    )


def drift_page(report: DriftReport, limit: int = LIMIT) -> str:
    """A whole HTML page."""
    remark = f"Plan {report.plan_id}." if report.plan_id else ""
    title = f"Re-labeling {report.name}"
    return html_page(title, drift_findings(report), drift_sections(report, limit), remark)


def drift_findings(report: DriftReport) -> list[str]:
    """What a reader wants to know first."""
    if not report.pairs:
        return [_judged_sentence(report)]
    of = f"of {pluralize(report.pairs, 'pair')}"
    sentences = [
        _judged_sentence(report),
        f"{pluralize(report.changed, f'{of} has', f'{of} have')} another grade. The same grade: "
        f"{_share_text(report.overall.same)}; kappa {_figure_text(report.overall.kappa)}, "
        f"quadratic kappa {_figure_text(report.overall.quadratic)}.",
    ]
    if report.wrong is not None:
        sentences += [_wrong_sentence(report), *_pooled_sentences(report)]
    sentences.append(what_to_do(report.changes))
    if report.fixed:
        sentences.append("The quarter is closed: its report does not change any more.")
    if report.sealed:
        sentences.append(
            f"{pluralize(report.sealed, 'of the pairs is', 'of the pairs are')} of parts that "
            "a release seals: the figures count them, the list of pairs does not name them."
        )
    return sentences


def _judged_sentence(report: DriftReport) -> str:
    """How many pairs were judged again, what became of all of them, and what is open."""
    until = " (until a reviewer decides, an old grade counts)" if report.disputed and report.plan_id else ""
    newly = f", {report.newly:,} newly graded (no grade before)" if report.newly else ""
    rest = report.judged - report.pairs - report.disputed - report.newly
    others = f", {rest:,} left out for other reasons" if rest > 0 else ""
    are = "is" if report.judged == 1 else "are"
    return (
        f"{report.judged:,} of {pluralize(report.planned, 'pair')} {are} judged again: "
        f"{report.pairs:,} comparable, {report.disputed:,} disputed{until}{newly}{others}; "
        f"{pluralize(report.open, 'is', 'are')} not judged yet."
    )


def drift_sections(report: DriftReport, limit: int = LIMIT) -> list[Section]:
    """All that a page shows, in the order in which it is read; empty sections are left out."""
    names = [f"{grade}" for grade in report.scale]
    sections = [
        Section(
            "Old and new grades",
            "A row is an old grade; its colour says how often it became the column's.",
            (heat_map("Old grades (rows) and new grades (columns)", "new grade", names, _cells(report)),)
            if report.pairs
            else (),
            (_confusion(report, names),) if report.pairs else (),
        ),
        Section(
            "Agreement", "How far old and new grades agree.", (), (_rows("All pairs", [report.overall]),)
        ),
        Section("By type", "", (), (_rows("Type", report.by_type), _rows("Tag", report.by_tag))),
        Section("By part of the plan", "", (), (_rows("Part", report.by_part),)),
        Section(
            "What had changed",
            "Pairs by what was not the same as at their old grade; a pair with both changes is in both rows.",
            (),
            (_changes(report.changes),),
        ),
        Section("Pairs with another grade", "", (), (_regraded(report, limit),)),
        Section(
            "Left out",
            "",
            (),
            (Table("Pairs that are not compared", ("reason", "pairs"), tuple(report.left_out.items())),),
        ),
    ]
    return [section for section in sections if any(table.rows for table in section.tables)]


def _wrong_sentence(report: DriftReport) -> str:
    wrong = report.wrong
    if wrong is None:
        return ""
    of = pluralize(wrong.population, "pair")
    if wrong.share is None:
        share = percent(wrong.found / wrong.population, 1)
        return (
            f"{wrong.found:,} of {of} ({share}) were found to be wrong. How much of the whole set is wrong "
            f"is not known: an estimate for the others takes {MIN_RANDOM_PAIRS} random pairs with both "
            f"grades; the plan has {wrong.drawn:,}.{_bounds_sentence(wrong)}"
        )
    return (
        f"In the whole set, {_wrong_text(wrong)} had another grade: about {wrong.wrong:,} of {of}. "
        f"{wrong.found:,} of them were found. How many of the {wrong.population - wrong.judged:,} other "
        f"pairs were wrong is estimated from {pluralize(wrong.drawn, 'random pair')}: "
        f"{wrong.drawn_changed:,} of them changed.{_bounds_sentence(wrong)}"
    )


def _wrong_text(wrong: WrongLabels) -> str:
    return f"{percent(wrong.share, 1)} ({percent(wrong.low, 1)} to {percent(wrong.high, 1)})"


def _bounds_sentence(wrong: WrongLabels) -> str:
    """What the pairs without a new grade can make of the share."""
    if not wrong.open:
        return ""
    more = f" {pluralize(wrong.open, 'pair of the plan has', 'pairs of the plan have')} no new grade"
    if wrong.least is None:
        return f"{more}: together they are too few for bounds, too."
    return (
        f"{more}: if none of them changed it is {percent(wrong.least, 1)}, if all did "
        f"{percent(wrong.most, 1)}; both intervals together are {percent(wrong.lowest, 1)} to "
        f"{percent(wrong.highest, 1)}."
    )


def _pooled_sentences(report: DriftReport) -> list[str]:
    pooled = report.pooled
    if pooled is None or pooled.share is None:
        return []
    return [
        f"Over {report.pooled_quarters} re-labelings of a year it was {_wrong_text(pooled)} on average, from "
        f"{pooled.judged:,} judged pairs, {pooled.drawn:,} of them random.{_bounds_sentence(pooled)}"
    ]


def _cells(report: DriftReport) -> list[list[HeatCell]]:
    def cell(old: int, new: int, count: int, total: int) -> HeatCell:
        share = count / total if total else None
        return HeatCell(share, count, f"{pluralize(count, 'pair')} went from {old} to {new}")

    return [
        [cell(old, new, count, sum(row)) for new, count in zip(report.scale, row, strict=True)]
        for old, row in zip(report.scale, report.confusion, strict=True)
    ]


def _confusion(report: DriftReport, names: Sequence[str]) -> Table:
    rows = tuple((name, *row) for name, row in zip(names, report.confusion, strict=True))
    return Table("Pairs by old grade (row) and new grade (column)", ("old grade", *names), rows)


def _rows(what: str, rows: Sequence[DriftRow]) -> Table:
    columns = (what.lower(), "pairs", "queries", "same grade", "kappa", "quadratic kappa", "mean shift")
    cells = tuple(
        (
            row.name,
            row.pairs,
            row.queries,
            _share_text(row.same),
            *(_figure_text(estimate) for estimate in (row.kappa, row.quadratic, row.shift)),
        )
        for row in rows
    )
    return Table(what, columns, cells)


def what_to_do(rows: Sequence[ChangeRow]) -> str:
    """One sentence: which pairs to judge again first."""
    *marked, others = rows
    words = {DOCUMENT: "whose document changed", GUIDE: "whose grade the guide words otherwise"}
    clear = [row for row in marked if (row.share.low or 0.0) > (others.share.high or 1.0)]
    if clear:
        first = " and ".join(f"{words[row.name]} ({_of_pairs(row)} had another grade)" for row in clear)
        return f"What to do: judge pairs {first} before the others ({_of_pairs(others)})."
    return (
        "What to do: judge by age and at random, because neither changed documents nor changed words of the "
        "guide are known to mark the pairs with another grade."
    )


def _of_pairs(row: ChangeRow) -> str:
    return f"{row.changed:,} of {row.pairs:,}"


def _changes(rows: Sequence[ChangeRow]) -> Table:
    columns = ("what had changed", "pairs", "another grade", "share (95 %)")
    cells = tuple((row.name, row.pairs, row.changed, _share_text(row.share)) for row in rows)
    return Table(
        "Pairs with another grade by what had changed", columns, cells if any(r.pairs for r in rows) else ()
    )


def _regraded(report: DriftReport, limit: int) -> Table:
    changed = [pair for pair in report.regraded if pair.changed]
    rows = tuple(
        (
            QueryName(p.query_id, p.query_id, p.document_id),
            *(p.document_id, p.part, f"{p.before} → {p.after}", ", ".join(p.changes) or "nothing known"),
        )
        for p in changed[:limit]
    )
    shown = f", the first {limit:,} shown" if len(changed) > limit else ""
    columns = ("query id", "document", "part", "grade", "what had changed")
    return Table(f"{pluralize(len(changed), 'pair')}{shown}", columns, rows)


def _share_text(estimate: Estimate) -> str:
    if estimate.value is None:
        return estimate.why or "unknown"
    return estimate.percent_text(1)


def _figure_text(estimate: Estimate) -> str:
    return (estimate.why or "unknown") if estimate.value is None else estimate.text()
