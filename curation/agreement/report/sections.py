"""The report in sections: heading, plain sentence, charts and tables, alike on the page, in the app and in a
terminal, which shows the figures of a chart as a table.

The agreement report as one HTML file. The same report gives the same bytes.

The page has one section of its own: feedback for each annotator.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from markupsafe import Markup

from curation.agreement.annotators.intra_annotator import IntraAgreement
from curation.agreement.annotators.signals import FALSE_SHARE, AnnotatorMetrics
from curation.agreement.between.breakdowns import Part
from curation.agreement.between.coefficients import COEFFICIENTS
from curation.agreement.between.disagreement_sources import DisagreementSources, GuideLine
from curation.agreement.between.evidence import EvidenceAgreement
from curation.agreement.between.grade_confusion import GradeConfusion
from curation.agreement.between.inter_annotator import (
    MINIMUM_UNITS,
    READING,
    RELIABLE,
    TENTATIVE,
    AgreementFigure,
)
from curation.agreement.report import findings
from curation.agreement.report.report import (
    AgreementReport,
    Details,
    agreement_findings,
)
from curation.core.reports.charts import HeatCell, Mark, heat_map, intervals, weeks
from curation.core.reports.page import QueryName, Section, Table, html_page
from curation.core.text import amount, ends, isolated, percent

PAIRS = 30
"""Annotator pairs that are shown one by one: those that agree least."""
ANNOTATORS = 40
"""Annotators that are drawn one by one."""


QUERIES = "Queries with the most disagreement"
GRADES = "Grades and their boundaries"
"""The section whose queries a page opens to their pairs."""


class Chart(NamedTuple):
    """A chart, and its figures as a table for a terminal."""

    drawing: Markup
    table: Table


def sections(report: AgreementReport) -> list[Section]:
    """All that a page shows of a report below its verdict, in the order in which it is read."""
    origins, coefficients = layers(report)
    return [*origins, *coefficients]


def layers(report: AgreementReport) -> tuple[list[Section], list[Section]]:
    """The sections below the verdict: where the figure comes from, and all coefficients, which pages fold.

    Where no pair was judged twice, there is nothing to take apart.
    """
    overall, within, consensus = overview(report)
    details = report.details
    evidence = evidence_sections(report.evidence)
    if details is None:
        return evidence, [overall, consensus]
    rest = [within, consensus]
    if report.between.judgeable.cannot_tell:
        rest = [_cannot_tell(report, details), *rest]
    if not report.between.units:
        return evidence, [overall, *rest]
    by, sources = parts(report, details), details.sources
    origins = [
        *evidence,
        by["boundary"],
        by["type"],
        Section(QUERIES, findings.queries(sources), (), _queries(sources)),
        by["pair"],
        *[by["week"]] * (len(details.by.week) > 1),
        Section("Lines of the guide", findings.guide(sources), (), _guide(sources, report)),
    ]
    return origins, [overall, *rest]


def overview(report: AgreementReport) -> tuple[Section, Section, Section]:
    """What needs no details: all coefficients, consistency, and how pairs got their grades."""
    return _overall(report), _within(report.within), _consensus(report)


def evidence_sections(agreement: EvidenceAgreement | None) -> list[Section]:
    """Agreement on marks; nothing where nobody marked anything."""
    if agreement is None:
        return []
    marks = [
        mark("F1 of characters", agreement.f1.value, agreement.f1, amount(agreement.f1.pairs, "comparison")),
    ]
    return [_figured("Evidence", findings.evidence(agreement), "Agreement on evidence", marks)]


def parts(report: AgreementReport, details: Details) -> dict[str, Section]:
    """The section of each thing that agreement is broken down by."""
    whole, by, pairs = report.between.ordinal, details.by, details.annotator_pairs
    return {
        "type": _types(by.type, whole),
        "boundary": _grades(report, details),
        "pair": Section("Pairwise agreement", findings.annotator_pairs(pairs), (), _annotator_pairs(details)),
        "week": _section("By week", findings.weeks(by.week, by.untimed), _weekly(by.week)),
    }


def _section(heading: str, sentence: str, shown: Sequence[Chart], remark: str = "") -> Section:
    drawings, tables = tuple(one.drawing for one in shown), tuple(one.table for one in shown)
    return Section(heading, sentence, drawings, (), remark, charted=tables)


def _chart(title: str, marks: Sequence[Mark], whole: float | None = None) -> Chart:
    return Chart(intervals(title, marks, whole, (TENTATIVE, RELIABLE)), _figures(title, marks))


def _figures(title: str, marks: Sequence[Mark]) -> Table:
    rows = tuple((one.name, one.value, one.low, one.high, one.size, one.note) for one in marks)
    return Table(title, ("Figure", "Value", "Low", "High", "Based on", "Note"), rows)


def mark(name: str, value: float | None, figure: AgreementFigure, size: str = "") -> Mark:
    """A figure as a chart draws it."""
    why = figure.not_shown
    if why:
        return Mark(name, None, None, None, why, size)
    return Mark(name, value, figure.low, figure.high, figure.no_interval or "", size)


def _overall(report: AgreementReport) -> Section:
    between = report.between
    figures = [(one.label, between.figures[one.name]) for one in COEFFICIENTS]
    marks = [mark(label, figure.value, figure, _pairs(figure.units)) for label, figure in figures]
    remark = (
        f"{amount(between.judgments, 'grade')} of {amount(between.annotators, 'annotator')}. Pairs with one "
        "grade only say "
        f"nothing here: {between.single:,}. {READING}"
        f"{f' {between.small_set}' if between.small_set else ''}"
    )
    title = "Agreement between annotators"
    return _figured("All coefficients", findings.levels(between), title, marks, remark=remark)


def _figured(
    heading: str,
    sentence: str,
    title: str,
    marks: Sequence[Mark],
    whole: float | None = None,
    remark: str = "",
) -> Section:
    """A section that draws the marks with a figure, and has of the others one remark a reason."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for one in marks:
        if one.value is None:
            reasons[one.note].append(one.name)
    missing = [f"Not shown: {', '.join(names)} ({why})." for why, names in reasons.items()]
    drawn = [one for one in marks if one.value is not None]
    shown = [_chart(title, drawn, whole)] * bool(drawn)
    return _section(heading, sentence, shown, " ".join(filter(None, [remark, *missing])))


def _grades(report: AgreementReport, details: Details) -> Section:
    names = [f"{value} {name}" for value, name in zip(report.scale, report.steps, strict=True)]
    shown = [
        *_drawn("Alpha of the two sides of each boundary", details.by.boundary, None),
        *_confusion(details.confusion, names),
    ]
    sentence, remark = findings.boundaries(details.by.boundary), findings.confusion(details.sources)
    return _section(GRADES, sentence, shown, remark)


def _confusion(table: GradeConfusion, names: Sequence[str]) -> list[Chart]:
    """A row says what others said where one annotator said this; nothing where no grades met."""
    if not any(map(any, table.pairs)):
        return []
    title, heading = "Which grades met", "Another annotator said"
    rows = [[_cell(table, names, row, column) for column in range(len(names))] for row in range(len(names))]
    counts = tuple((name, *pairs) for name, pairs in zip(names, table.pairs, strict=True))
    return [Chart(heat_map(title, heading, names, rows), Table(title, (heading, *names), counts))]


def _cell(table: GradeConfusion, names: Sequence[str], row: int, column: int) -> HeatCell:
    shares, pairs = table.shares[row], table.pairs[row][column]
    share = shares[column] if shares is not None else None
    words = percent(share)
    description = (
        f"{names[row]} and {names[column]}: {amount(pairs, 'pair')} of grades; where one said "
        f"{names[row]}, {words}"
    )
    return HeatCell(share, pairs, description)


def _types(parts: Sequence[Part], whole: AgreementFigure) -> Section:
    marks = [_alpha(_name(part), part) for part in parts]
    title = "Ordinal alpha by query type"
    return _figured("By query type", findings.types(parts, whole), title, marks, whole.value)


def _drawn(title: str, parts: Sequence[Part], whole: float | None) -> list[Chart]:
    """Nothing where no part has a figure: the section's sentence says so."""
    marks = [_alpha(_name(part), part) for part in parts]
    return [_chart(title, marks, whole)] if any(one.value is not None for one in marks) else []


def _name(part: Part) -> str:
    return f"stratum {part.name}" if part.kind == "stratum" else part.name


def _weekly(parts: Sequence[Part]) -> list[Chart]:
    if not parts:
        return []
    same = [mark(part.name, part.raw.value, part.raw, _pairs(part.raw.units)) for part in parts]
    series = [("Ordinal alpha", [_alpha(part.name, part) for part in parts]), ("Same grade", same)]
    for number, boundary in enumerate(parts[0].boundaries):
        alphas = [_alpha(part.name, part.boundaries[number]) for part in parts]
        series.append((f"Alpha, {boundary.name}", alphas))
    title = "Agreement by week, labelled by its Monday"
    named = [one._replace(name=f"{one.name}: {label}") for label, marks in series[:2] for one in marks]
    return [Chart(weeks(title, series), _figures(title, named))]


def _alpha(name: str, part: Part) -> Mark:
    return mark(name, part.alpha.value, part.alpha, _pairs(part.alpha.units))


def _annotator_pairs(details: Details) -> tuple[Table, ...]:
    columns = ("First", "Second", "Pairs", "Same grade", "Kappa", "95 % interval", "Second higher by")
    ordered = sorted(details.annotator_pairs, key=lambda one: (one.kappa.value or 0.0, one.first, one.second))
    rows = tuple(
        (
            *(one.first, one.second, one.raw.units, one.raw.value, one.kappa.value),
            *(ends(one.kappa.low, one.kappa.high), one.difference.value),
        )
        for one in ordered[:PAIRS]
    )
    unshown = len(ordered) - len(rows)
    few = f"; {details.few_shared:,} with fewer than {MINIMUM_UNITS} shared pairs left out"
    caption = f"Least agreement first{f', {unshown:,} more not shown' * bool(unshown)}"
    return (Table(caption + few * bool(details.few_shared), columns, rows),) if rows else ()


def _queries(sources: DisagreementSources) -> tuple[Table, ...]:
    columns = ("Query", "Of the disagreement", "Of the pairs", "Pairs", "With different grades")
    rows = tuple(
        (
            QueryName(query.text, query.query_id),
            percent(query.disagreement, 1),
            percent(query.pairs, 1),
            query.units,
            query.disputed,
        )
        for query in sources.queries
    )
    caption = f"{len(rows)} of {amount(sources.disagreeing, 'query', 'queries')} with disagreement"
    return (Table(caption, columns, rows, words=True),) if rows else ()


def _guide(sources: DisagreementSources, report: AgreementReport) -> tuple[Table, ...]:
    names = dict(zip(report.scale, report.steps, strict=True))
    columns = ("Told apart", "Of the disagreement", "Times", "Pairs", "Decided", "What was said on them")
    rows = tuple(
        (
            f"{line.lower} {names[line.lower]} – {line.upper} {names[line.upper]}",
            percent(line.disagreement, 1),
            line.met,
            line.units,
            _decided(line),
            _said(line),
        )
        for line in sources.lines
    )
    caption = "By the two grades between which opinions went apart"
    return (Table(caption, columns, rows, words=True),) if rows else ()


def _decided(line: GuideLine) -> str:
    if not line.decided:
        return "none"
    other = line.decided - line.towards_lower - line.towards_upper
    parts = ((line.towards_lower, line.lower), (line.towards_upper, line.upper))
    words = [f"{times:,} for grade {grade}" for times, grade in parts] + [
        f"{other:,} for another grade"
    ] * bool(other)
    return f"{line.decided:,}: {', '.join(words)}"


def _said(line: GuideLine) -> str:
    words = [
        f"{remark.kind}{f' ×{remark.times:,}' * (remark.times > 1)}: “{isolated(remark.words)}”"
        for remark in line.remarks[:3]
    ]
    more = line.unshown + sum(remark.times for remark in line.remarks[3:])
    return "; ".join([*words, *[f"{more:,} more"] * bool(more)]) or "nothing"


def _cannot_tell(report: AgreementReport, details: Details) -> Section:
    judged, reasons = report.between.judgeable, details.sources.unjudged
    marks = [
        mark("share of judgments", judged.share.value, judged.share, amount(judged.judgments, "judgment")),
        mark("alpha, can be judged", judged.nominal.value, judged.nominal, _pairs(judged.nominal.units)),
        mark("same answer", judged.raw.value, judged.raw, _pairs(judged.raw.units)),
    ]
    drawn = [_chart("Whether a pair can be judged", marks)]
    found = _section("Cannot tell", findings.cannot_tell(report.between), drawn)
    columns = ("Why", "Times", "Pairs that others graded")
    tables = (Table("Reasons for cannot-tell", columns, reasons),) if reasons else ()
    return replace(found, tables=tables)


def _within(people: Iterable[IntraAgreement]) -> Section:
    marks, found = [], list(people)
    for one in found[:ANNOTATORS]:
        figures = (None, None, None) if one.why else (one.identical, one.low, one.high)
        marks.append(Mark(one.annotator, *figures, one.why or "", f"{one.n:,} repeats"))
    sentence = (
        "How often each annotator gave the same grade to a pair that came again, unmarked and far apart."
    )
    more = len(found) - len(marks)
    remark = f"{more:,} more by name are not drawn; the JSON has all." if more else ""
    return _section(
        "Within each annotator", sentence, [_chart("Same grade again", marks)] * bool(marks), remark
    )


def _consensus(report: AgreementReport) -> Section:
    counts = report.consensus
    columns = ("Pairs judged", "Adjudicated", "Majority", "One judgment", "Disputed", "Unjudgeable")
    by_rule = (counts.adjudicated, counts.majority, counts.single, counts.disputed, counts.unjudgeable)
    table = Table(f"Rule: {counts.rule}", columns, ((counts.pairs, *by_rule),))
    sentence = "How each pair came to its grade, and how many have none until somebody decides."
    return Section("How pairs got their grades", sentence, (), (table,))


def _pairs(number: int) -> str:
    return amount(number, "pair")


def feedback_section(people: Sequence[AnnotatorMetrics]) -> Section:
    """Everybody's feedback, by name."""
    rows = tuple((one.annotator, row.about, row.sentence) for one in people for row in one.feedback)
    table = Table("Points to discuss, not verdicts", ("Annotator", "About", "What"), rows, words=True)
    return Section("Feedback", _sentence(people), (), (table,) if rows else (), "")


def _sentence(people: Sequence[AnnotatorMetrics]) -> str:
    if not people:
        return "Nobody has items here."
    named = sum(bool(person.feedback) for person in people)
    if named:
        found = f"There is something to discuss with {named:,} of {amount(len(people), 'annotator')}."
    else:
        found = f"No findings about the work of {amount(len(people), 'annotator')}."
    most = percent(FALSE_SHARE)
    return f"{found} Where all work well, chance alone names at most {most} of them."


def agreement_page(report: AgreementReport, people: Sequence[AnnotatorMetrics] = ()) -> str:
    """A whole HTML page about a report, asked for with details, and about everybody's own work."""
    title = f"Agreement in round {report.round_name}" if report.round_name else "Agreement"
    remark = f"Intervals: 95 %, {report.resamples:,} resamples of queries, seed {report.seed}."
    return html_page(title, agreement_findings(report), [*sections(report), feedback_section(people)], remark)
