"""A re-labeling's drift report in human-readable form: sentences, tables, a heat map, and an HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from curation.core.reports.page import Section, html_page
from curation.core.reports.tables import QueryName, Table
from curation.core.statistics.estimate import Estimate
from curation.core.text import percent, pluralize
from curation.relabeling.regraded_pairs import DOCUMENT, GUIDE
from curation.relabeling.report import ChangeRow, DriftReport, DriftRow
from curation.relabeling.system_figures import describe_moves, make_move_section
from curation.relabeling.wrong_labels import MIN_RANDOM_PAIRS, WrongLabels

MAX_ROWS = 50
"""Default number of listed pairs with a changed grade."""


def make_drift_page(report: DriftReport, limit: int = MAX_ROWS) -> str:
    """Write the drift report as a complete HTML page."""
    remark = f"Plan {report.plan_id}." if report.plan_id else ""
    title = f"Re-labeling {report.name}"
    return html_page(title, list_drift_findings(report), make_drift_sections(report, limit), remark)


def list_drift_findings(report: DriftReport) -> list[str]:
    """Return sentences on the main findings of the drift report, most important first."""
    why = [f"Why: {report.why}"] if report.why else []
    if not report.pairs:
        return [_describe_judged(report), *why]
    pairs = f"of {pluralize(report.pairs, 'pair')}"
    changed = pluralize(report.changed, f"{pairs} now has", f"{pairs} now have")
    sentences = [_describe_judged(report), f"{changed} a different grade."]
    if report.wrong is not None:
        sentences += [_describe_wrong_share(report.wrong), *_list_pooled_sentences(report)]
    sentences += [recommend_pairs(report.changes), *filter(None, [describe_moves(report.systems)])]
    sentences += why
    if report.fixed:
        sentences.append("The quarter is closed, so this report is final.")
    if report.sealed:
        sentences.append(
            f"{pluralize(report.sealed, 'of the pairs is', 'of the pairs are')} in parts that a release "
            "seals. The totals include sealed pairs, but the list of pairs does not."
        )
    return sentences


def make_drift_sections(report: DriftReport, limit: int = MAX_ROWS) -> list[Section]:
    """Make the sections of the drift report in their order, leaving out empty sections."""
    left_out = tuple(report.left_out.items())
    sections = [
        Section(
            "What changed",
            "Pairs by what changed since their old grade. A pair with both changes counts in both rows.",
            (),
            (_make_change_table(report.changes),),
        ),
        make_move_section(report.systems),
        Section("Pairs with a different grade", "", (), (_make_regraded_table(report, limit),)),
        Section("Old and new grades", "", (), (_make_confusion_table(report),) if report.pairs else ()),
        Section(
            "Agreement",
            "Agreement between old and new grades of the same pairs.",
            (),
            (_make_agreement_table(report.overall),),
        ),
        Section("Left out", "", (), (Table("Pairs that are not compared", ("reason", "pairs"), left_out),)),
    ]
    return [section for section in sections if any(table.rows for table in section.tables)]


def recommend_pairs(rows: Sequence[ChangeRow]) -> str:
    """Return a sentence on the pairs that people should judge again first."""
    *changes, unchanged = rows
    words = {DOCUMENT: "whose document changed", GUIDE: "whose grade has a changed definition in the guide"}
    clear = [row for row in changes if (row.share.low or 0.0) > (unchanged.share.high or 1.0)]
    if clear:
        first = " and ".join(
            f"{words[row.name]} ({_format_changed(row)} now have a different grade)" for row in clear
        )
        return f"What to do: judge pairs {first} before the other pairs ({_format_changed(unchanged)})."
    return (
        "What to do: judge by age and at random, because the report does not show that changed documents "
        "or changed grade definitions lead to different grades."
    )


def _describe_judged(report: DriftReport) -> str:
    """Return a sentence on the pairs that were judged again, their results, and the open pairs."""
    remark = " (until a reviewer decides, an old grade counts)" if report.disputed and report.plan_id else ""
    newly = f", {report.newly:,} newly graded (no grade before)" if report.newly else ""
    other = report.judged - report.pairs - report.disputed - report.newly
    others = f", {other:,} left out for other reasons" if other > 0 else ""
    verb = "is" if report.judged == 1 else "are"
    return (
        f"{report.judged:,} of {pluralize(report.planned, 'pair')} {verb} judged again: "
        f"{report.pairs:,} comparable, {report.disputed:,} disputed{remark}{newly}{others}; "
        f"{pluralize(report.open, 'is', 'are')} not judged yet."
    )


def _describe_wrong_share(wrong: WrongLabels) -> str:
    set_pairs = pluralize(wrong.population, "pair")
    if wrong.share is None:
        share = percent(wrong.found / wrong.population, 1)
        return (
            f"{wrong.found:,} of {set_pairs} ({share}) had a wrong grade. The share in the whole set is "
            f"unknown: an estimate needs {MIN_RANDOM_PAIRS} random pairs with an old and a new grade, and "
            f"the plan has {wrong.drawn:,}.{_describe_bounds(wrong)}"
        )
    return (
        f"In the whole set, {_format_wrong(wrong)} had a wrong grade: about {wrong.wrong:,} of {set_pairs}. "
        f"The re-labeling found {wrong.found:,} wrong grades. The share of the "
        f"{wrong.population - wrong.judged:,} other pairs is estimated from "
        f"{pluralize(wrong.drawn, 'random pair')}, of which {wrong.drawn_changed:,} changed."
        f"{_describe_bounds(wrong)}"
    )


def _format_wrong(wrong: WrongLabels) -> str:
    return f"{percent(wrong.share, 1)} ({percent(wrong.low, 1)} to {percent(wrong.high, 1)})"


def _describe_bounds(wrong: WrongLabels) -> str:
    """Return a sentence on how much the pairs without a new grade can change the share of wrong grades."""
    if not wrong.open:
        return ""
    open_pairs = f" {pluralize(wrong.open, 'pair of the plan has', 'pairs of the plan have')} no new grade"
    if wrong.least is None:
        return f"{open_pairs}, and there are too few random pairs for bounds on the share."
    return (
        f"{open_pairs}: the share is {percent(wrong.least, 1)} if no such pair changed and "
        f"{percent(wrong.most, 1)} if all such pairs changed. Both intervals together reach from "
        f"{percent(wrong.lowest, 1)} to {percent(wrong.highest, 1)}."
    )


def _list_pooled_sentences(report: DriftReport) -> list[str]:
    pooled = report.pooled
    if pooled is None or pooled.share is None:
        return []
    return [
        f"Mean share of wrong grades in {report.pooled_quarters} re-labelings of a year: "
        f"{_format_wrong(pooled)}, from {pooled.judged:,} judged pairs, of which {pooled.drawn:,} are random."
        f"{_describe_bounds(pooled)}"
    ]


def _make_confusion_table(report: DriftReport) -> Table:
    names = [f"{grade}" for grade in report.scale]
    rows = tuple((name, *row) for name, row in zip(names, report.confusion, strict=True))
    return Table("Pairs by old grade (row) and new grade (column)", ("old grade", *names), rows)


def _make_agreement_table(row: DriftRow) -> Table:
    columns = ("pairs", "queries", "same grade", "kappa", "quadratic kappa", "mean shift")
    figures = map(_format_figure, (row.kappa, row.quadratic, row.shift))
    cells = (row.pairs, row.queries, _format_share(row.same), *figures)
    return Table("Old and new grades of all pairs", columns, (cells,))


def _format_changed(row: ChangeRow) -> str:
    return f"{row.changed:,} of {row.pairs:,}"


def _make_change_table(rows: Sequence[ChangeRow]) -> Table:
    columns = ("what changed", "pairs", "different grade", "share (95 %)")
    cells = tuple((row.name, row.pairs, row.changed, _format_share(row.share)) for row in rows)
    shown = cells if any(row.pairs for row in rows) else ()
    return Table("Pairs with a different grade, by what changed", columns, shown)


def _make_regraded_table(report: DriftReport, limit: int) -> Table:
    changed = [pair for pair in report.regraded if pair.changed]
    rows = tuple(
        (
            QueryName(pair.query_id, pair.query_id, pair.document_id),
            *(pair.document_id, pair.part, f"{pair.before} → {pair.after}"),
            ", ".join(pair.changes) or "nothing known",
        )
        for pair in changed[:limit]
    )
    shown = f", the first {limit:,} shown" if len(changed) > limit else ""
    columns = ("query id", "document", "part", "grade", "what changed")
    return Table(f"{pluralize(len(changed), 'pair')}{shown}", columns, rows)


def _format_share(estimate: Estimate) -> str:
    if estimate.value is None:
        return estimate.why or "unknown"
    return estimate.percent_text(1)


def _format_figure(estimate: Estimate) -> str:
    return (estimate.why or "unknown") if estimate.value is None else estimate.text()
