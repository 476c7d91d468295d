"""The drift report for people: sentences, tables and pictures that the terminal, a page and HTML share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from curation.core.reports.charts import HeatCell, heat_map
from curation.core.reports.page import QueryName, Section, Table, html_page
from curation.core.text import amount, decimal, percent
from curation.relabeling.drift.figures import ChangeRow, DriftFigure, DriftRow
from curation.relabeling.drift.past_evaluations import OrderChange
from curation.relabeling.drift.regraded_pairs import DOCUMENT, GUIDE
from curation.relabeling.drift.report import DriftReport
from curation.relabeling.drift.wrong_labels import FEW, WrongLabels

LIMIT = 50
"""Pairs with another grade that are shown."""


def drift_page(report: DriftReport, limit: int = LIMIT) -> str:
    """A whole HTML page."""
    remark = f"Plan {report.plan_id}." if report.plan_id else ""
    title = f"Re-labeling {report.name}"
    return html_page(title, drift_findings(report), drift_sections(report, limit), remark)


def drift_findings(report: DriftReport) -> list[str]:
    """What a reader wants to know first."""
    if not report.pairs:
        return [_judged_told(report), *_orders_told(report)]
    of = f"of {amount(report.pairs, 'pair')}"
    sentences = [
        _judged_told(report),
        f"{amount(report.changed, f'{of} has', f'{of} have')} another grade. The same grade: "
        f"{_figure_text(report.overall.same, share=True)}; kappa {_figure_text(report.overall.kappa)}, "
        f"quadratic kappa {_figure_text(report.overall.quadratic)}.",
    ]
    if report.wrong is not None:
        sentences += [_wrong_told(report), *_pooled_told(report)]
    sentences.append(what_to_do(report.changes))
    sentences += _orders_told(report)
    if report.fixed:
        sentences.append("The quarter is closed: its report does not change any more.")
    if report.sealed:
        sentences.append(
            f"{amount(report.sealed, 'of the pairs is', 'of the pairs are')} of parts that "
            "a release seals: the figures count them, the list of pairs does not name them."
        )
    return sentences


def _judged_told(report: DriftReport) -> str:
    """How many pairs were judged again, what became of all of them, and what is open."""
    until = " (until a reviewer decides, an old grade counts)" if report.disputed and report.plan_id else ""
    newly = f", {report.newly:,} newly graded (no grade before)" if report.newly else ""
    rest = report.judged - report.pairs - report.disputed - report.newly
    others = f", {rest:,} left out for other reasons" if rest > 0 else ""
    return (
        f"Of {amount(report.planned, 'pair')}, {amount(report.judged, 'is', 'are')} judged again: "
        f"{report.pairs:,} comparable, {report.disputed:,} disputed{until}{newly}{others}; "
        f"{amount(report.open, 'is', 'are')} not judged yet."
    )


def drift_sections(report: DriftReport, limit: int = LIMIT) -> list[Section]:
    """All that a page shows, in the order in which it is read; empty sections are left out."""
    names = [f"{grade}" for grade in report.scale]
    found = [
        Section(
            "Old and new grades",
            "A row is an old grade; its colour says how often it became the column's.",
            (heat_map("Old grades (rows) and new grades (columns)", "new grade", names, _cells(report)),)
            if report.pairs
            else (),
            (_confusion(report, names),) if report.pairs else (),
        ),
        Section("Agreement", "Of old and new grades.", (), (_rows("All pairs", [report.overall]),)),
        Section("By type", "", (), (_rows("Type", report.by_type), _rows("Tag", report.by_tag))),
        Section("By part of the plan", "", (), (_rows("Part", report.by_part),)),
        Section(
            "What had changed",
            "Pairs by what was not the same as at their old grade; a pair with both changes is in both rows.",
            (),
            (_changes(report.changes),),
        ),
        Section("Past evaluations", _past_told(report), (), (_orders(report),)),
        Section("Pairs with another grade", "", (), (_regraded(report, limit),)),
        Section(
            "Left out",
            "",
            (),
            (Table("Pairs that are not compared", ("reason", "pairs"), tuple(report.left_out.items())),),
        ),
    ]
    return [one for one in found if any(table.rows for table in one.tables)]


def _orders_told(report: DriftReport) -> list[str]:
    orders = [order for order in report.orders if len(order.systems) > 1]
    if not orders:
        return []
    turned = [order.measure for order in orders if not order.kept]
    kept = len(orders) - len(turned)
    turns = f"; it turns by {', '.join(turned)}" if turned else ""
    return [
        f"The order of the systems is the same on both releases by {kept:,} of {len(orders):,} "
        f"measures{turns}."
    ]


def _wrong_told(report: DriftReport) -> str:
    wrong = report.wrong
    if wrong is None:
        return ""
    of = amount(wrong.population, "pair")
    if wrong.share is None:
        share = percent(wrong.found / wrong.population, 1)
        return (
            f"How much of the whole set is wrong is unknown: {wrong.found:,} of {of} ({share}) were found "
            f"to be wrong. An estimate for the others takes {FEW} random pairs with both grades; the plan "
            f"has {wrong.drawn:,}.{_bounds_told(wrong)}"
        )
    return (
        f"Of the whole set, {_wrong_text(wrong)} had another grade: about {wrong.wrong:,} of {of}. "
        f"{wrong.found:,} of them were found. How many of the {wrong.population - wrong.judged:,} other "
        f"pairs were wrong is estimated from {amount(wrong.drawn, 'random pair')}, of which "
        f"{wrong.drawn_changed:,} changed.{_bounds_told(wrong)}"
    )


def _wrong_text(wrong: WrongLabels) -> str:
    return f"{percent(wrong.share, 1)} ({percent(wrong.low, 1)} to {percent(wrong.high, 1)})"


def _bounds_told(wrong: WrongLabels) -> str:
    """What the pairs without a new grade can make of the share."""
    if not wrong.open:
        return ""
    more = f" {amount(wrong.open, 'pair of the plan has', 'pairs of the plan have')} no new grade"
    if wrong.least is None:
        return f"{more}: together they are too few for bounds, too."
    return (
        f"{more}: with none of them changed it is {percent(wrong.least, 1)}, with all of them "
        f"{percent(wrong.most, 1)}; both intervals together are {percent(wrong.lowest, 1)} to "
        f"{percent(wrong.highest, 1)}."
    )


def _pooled_told(report: DriftReport) -> list[str]:
    pooled = report.pooled
    if pooled is None or pooled.share is None:
        return []
    return [
        f"Over {report.pooled_quarters} re-labelings of a year it was {_wrong_text(pooled)} on average, from "
        f"{pooled.judged:,} judged pairs, {pooled.drawn:,} of them random.{_bounds_told(pooled)}"
    ]


def _cells(report: DriftReport) -> list[list[HeatCell]]:
    def cell(old: int, new: int, count: int, total: int) -> HeatCell:
        share = count / total if total else None
        return HeatCell(share, count, f"{amount(count, 'pair')} went from {old} to {new}")

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
            _figure_text(row.same, share=True),
            *(_figure_text(one) for one in (row.kappa, row.quadratic, row.shift)),
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
    cells = tuple((row.name, row.pairs, row.changed, _figure_text(row.share, share=True)) for row in rows)
    return Table(
        "Pairs with another grade by what had changed", columns, cells if any(r.pairs for r in rows) else ()
    )


def _past_told(report: DriftReport) -> str:
    if not report.orders:
        return ""
    order = report.orders[0]
    return f"The same runs on {order.old} and on {order.new}, queries of {', '.join(order.parts)}."


def _order(change: OrderChange) -> str:
    """Whether the order is the same; a dash for one system, which has none."""
    if len(change.systems) < 2:
        return "–"
    return "kept" if change.kept else "turned: " + ", ".join(f"{a} and {b}" for a, b in change.swapped)


def _orders(report: DriftReport) -> Table:
    rows = tuple(
        (
            order.measure,
            _order(order),
            ", ".join(f"{s.system} {decimal(s.before)} → {decimal(s.after)}" for s in order.systems),
        )
        for order in report.orders
    )
    return Table("Order of the systems", ("measure", "order", "means"), rows, words=True)


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
    return Table(f"{amount(len(changed), 'pair')}{shown}", columns, rows)


def _figure_text(figure: DriftFigure, share: bool = False) -> str:
    if figure.value is None:
        return figure.why or "unknown"
    form = partial(percent, places=1) if share else "{:.3f}".format
    if figure.low is None or figure.high is None:
        return f"{form(figure.value)} ({figure.why})"
    return f"{form(figure.value)} ({form(figure.low)} to {form(figure.high)})"
