"""The drift report for people: sentences, tables and pictures that the terminal, a page and HTML share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from curation.agreement.report.sections import pass_sections
from curation.relabeling.drift.causes import CauseRow, PersonRow, VoteCount, named
from curation.relabeling.drift.figures import FEW, DriftFigure, DriftRow, WrongLabels
from curation.relabeling.drift.report import DriftReport
from curation.reports.page import HeatCell, QueryName, Section, Table, heat_map, html_page
from curation.text import amount, decimal, p_cell, p_text, percent

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
    sentences += _causes_told(report)
    sentences += _orders_told(report)
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
        *pass_sections(report.passes),
        Section("By type", "", (), (_rows("Type", report.by_type), _rows("Tag", report.by_tag))),
        Section("By part of the plan", "", (), (_rows("Part", report.by_part),)),
        Section(
            "Causes",
            f"Over {amount(len(report.causes.quarters), 're-labeling')}, with Holm's correction. A cause is "
            "compared with all pairs without it, the other causes held equal: documents within a query and "
            "quarter, the guide before and after it changed, traffic and annotators between queries. Counted "
            "are new votes that differ from the old grade.",
            (),
            (_causes(report.causes.rows), _people(report.causes.people)),
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
    if not report.orders:
        return []
    turned = [one.measure for one in report.orders if not one.kept]
    kept = len(report.orders) - len(turned)
    turns = f"; it turns by {', '.join(turned)}" if turned else ""
    return [
        f"The order of the systems is the same on both releases by {kept:,} of {len(report.orders):,} "
        f"measures{turns}."
    ]


def _wrong_told(report: DriftReport) -> str:
    wrong = report.wrong
    if wrong is None:
        return ""
    if wrong.share is None:
        can = amount(wrong.pairs, "pair of the random part", "pairs of the random part")
        return (
            f"How much of the whole set is wrong is unknown: {can} can be compared, and an "
            f"estimate takes {FEW}.{_bounds_told(wrong)}"
        )
    return (
        f"Of the whole set, {percent(wrong.share, 1)} would get another grade ({percent(wrong.low, 1)} to "
        f"{percent(wrong.high, 1)}, from {amount(wrong.pairs, 'pair')} drawn at random): about "
        f"{wrong.wrong:,} of {amount(wrong.population, 'pair')}.{_bounds_told(wrong)}"
    )


def _bounds_told(wrong: WrongLabels) -> str:
    """What the pairs without a new grade can make of the share."""
    if not wrong.open:
        return ""
    more = f" {amount(wrong.open, 'more drawn pair has', 'more drawn pairs have')} no new grade"
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
        f"Over {report.pooled_quarters} re-labelings of a year it was {percent(pooled.share, 1)} on average "
        f"({percent(pooled.low, 1)} to {percent(pooled.high, 1)}, from {amount(pooled.pairs, 'pair')} drawn "
        f"at random).{_bounds_told(pooled)}"
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


def _causes_told(report: DriftReport) -> list[str]:
    """Causes and people with a corrected p below 5 %; and what could not be found."""
    found = report.causes
    over = f"over {amount(len(found.quarters), 're-labeling')}"
    sentences = [
        f"{row.cause.capitalize()}: new votes differ from the old grade in {_votes(row.having)}, against "
        f"{_votes(row.others)} without it (p {p_text(row.p)}, {over})."
        for row in found.rows
        if named(row)
    ]
    sentences += [
        f"{row.annotator} grades otherwise than before: by {_figure_text(row.others)} against the others, "
        f"by {_figure_text(row.old)} against the old grades (p {p_text(row.p)})."
        for row in found.people
        if named(row)
    ]
    if found.apart:
        sentences.append(f"No cause counts the votes of {', '.join(found.apart)}.")
    for row in (row for row in found.rows if not named(row)):
        least = f"A difference of {percent(row.least)} of the votes would mostly be found, {over}."
        why = f"Not tested: {row.difference.why}." if row.least is None else least
        sentences.append(f"{row.cause.capitalize()}: not shown to change grades. {why}")
    return sentences


def _votes(count: VoteCount) -> str:
    share = count.differ / count.votes if count.votes else None
    return f"{count.differ:,} of {count.votes:,} ({percent(share)})"


def _causes(rows: Sequence[CauseRow]) -> Table:
    columns = ("cause", "pairs", "this quarter", "with it", "without it", "difference", "found from", "p")
    cells = tuple(
        (
            *(row.cause, row.pairs, _votes(row.newest), _votes(row.having), _votes(row.others)),
            *(_figure_text(row.difference, share=True), percent(row.least), p_cell(row.p)),
        )
        for row in rows
    )
    return Table("New votes that differ from the old grade", columns, cells)


def _people(rows: Sequence[PersonRow]) -> Table:
    columns = ("annotator", "votes", "against the others", "against the old grades", "p")
    cells = tuple(
        (row.annotator, row.votes, _figure_text(row.others), _figure_text(row.old), p_cell(row.p))
        for row in rows
    )
    return Table("New grades of each annotator, within a year", columns, cells)


def _past_told(report: DriftReport) -> str:
    if not report.orders:
        return ""
    one = report.orders[0]
    return f"The same runs on {one.old} and on {one.new}, queries of {', '.join(one.parts)}."


def _orders(report: DriftReport) -> Table:
    rows = tuple(
        (
            one.measure,
            "kept" if one.kept else "turned: " + ", ".join(f"{a} and {b}" for a, b in one.swapped),
            ", ".join(f"{s.system} {decimal(s.before)} → {decimal(s.after)}" for s in one.systems),
        )
        for one in report.orders
    )
    return Table("Order of the systems", ("measure", "order", "means"), rows, words=True)


def _regraded(report: DriftReport, limit: int) -> Table:
    changed = [pair for pair in report.regraded if pair.changed]
    rows = tuple(
        (
            QueryName(p.query_id, p.query_id, p.document_id),
            *(p.document_id, p.part, f"{p.before} → {p.after}", ", ".join(p.causes) or "none"),
        )
        for p in changed[:limit]
    )
    shown = f", the first {limit:,} shown" if len(changed) > limit else ""
    columns = ("query id", "document", "part", "grade", "what was not the same")
    return Table(f"{amount(len(changed), 'pair')}{shown}", columns, rows)


def _figure_text(figure: DriftFigure, share: bool = False) -> str:
    if figure.value is None:
        return figure.why or "unknown"
    form = partial(percent, places=1) if share else "{:.3f}".format
    if figure.low is None or figure.high is None:
        return f"{form(figure.value)} ({figure.why})"
    return f"{form(figure.value)} ({form(figure.low)} to {form(figure.high)})"
