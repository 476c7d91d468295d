"""The sections of the agreement report, for pages of the app, a terminal and one HTML file.

A section has a heading, a sentence, charts and tables; a terminal shows a table in place of each chart. The
HTML file also has a section with feedback for each annotator. The same report gives the same bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from curation.agreement import section_sentences as sentences
from curation.agreement.annotator_metrics import AnnotatorMetrics
from curation.agreement.breakdowns import Breakdown
from curation.agreement.coefficients import COEFFICIENTS
from curation.agreement.disagreement_sources import DisagreementSources, GradeConfusion, GuideLine
from curation.agreement.evidence_agreement import EvidenceAgreement
from curation.agreement.feedback import FALSE_SHARE
from curation.agreement.inter_annotator import MINIMUM_UNITS, why_not_shown
from curation.agreement.intra_annotator import IntraAgreement
from curation.agreement.report import AgreementReport, Details
from curation.agreement.report_findings import list_findings
from curation.agreement.verdict import READING, RELIABLE, TENTATIVE
from curation.core.reports.charts import HeatCell, Mark, draw_heat_map, draw_intervals
from curation.core.reports.page import Section, html_page
from curation.core.reports.tables import QueryName, Table
from curation.core.statistics.estimate import Estimate
from curation.core.text import interval_text, p_cell, percent, pluralize

PAIRS = 30
"""Maximum number of rows in the table of annotator pairs, which keeps the lowest agreement."""
ANNOTATORS = 40
"""Maximum number of annotators in the chart of consistency."""
QUERIES = "Queries with the most disagreement"
"""Heading of the section in which a page can open a query to show its pairs."""
GRADES = "Grades and their boundaries"
"""Heading of the section on grade boundaries."""
Chart = tuple[Markup, Table]
"""A chart, and its values as a table for a terminal."""


def make_sections(report: AgreementReport) -> list[Section]:
    """Make all sections of the agreement report below the verdict, in reading order."""
    origins, coefficients = make_section_layers(report)
    return [*origins, *coefficients]


def make_section_layers(report: AgreementReport) -> tuple[list[Section], list[Section]]:
    """Make the sections below the verdict in two layers: sources of disagreement, and coefficients, which
    pages collapse. If there are no doubly judged pairs, there are no sources to show.
    """
    overall, within, consensus = make_overview(report)
    details = report.details
    evidence = make_evidence_sections(report.evidence)
    if details is None:
        return evidence, [overall, consensus]
    coefficients = [overall, within, consensus]
    if report.between.cannot_tell:
        coefficients.insert(1, _make_cannot_tell(report, details))
    if not report.between.units:
        return evidence, coefficients
    breakdowns, causes = make_breakdown_sections(report, details), details.sources
    sources = [
        *evidence,
        breakdowns["boundary"],
        breakdowns["type"],
        Section(QUERIES, sentences.describe_queries(causes), (), _tabulate_queries(causes)),
        breakdowns["pair"],
        Section("Guide lines", sentences.describe_guide(causes), (), _tabulate_lines(causes, report)),
    ]
    return sources, coefficients


def make_overview(report: AgreementReport) -> tuple[Section, Section, Section]:
    """Make the sections of an agreement report without details: coefficients, consistency, and how pairs got
    their grades."""
    return _make_coefficients(report), _make_consistency(report.within), _make_consensus(report)


def make_evidence_sections(agreement: EvidenceAgreement | None) -> list[Section]:
    """Make the section on agreement about evidence; no section if nobody marked evidence."""
    if agreement is None:
        return []
    marks = [make_mark("Character F1", agreement.f1, pluralize(agreement.comparisons, "comparison"))]
    return [_draw("Evidence", sentences.describe_evidence(agreement), "Agreement on evidence", marks)]


def make_breakdown_sections(report: AgreementReport, details: Details) -> dict[str, Section]:
    """Make the section of each breakdown: by query type, by boundary, and by pair of annotators."""
    pairs = details.annotator_pairs
    return {
        "type": _make_types(details.types, report.between.ordinal),
        "boundary": _make_boundaries(report, details),
        "pair": Section(
            "Pairwise agreement", sentences.describe_annotators(pairs), (), _tabulate_annotator_pairs(details)
        ),
    }


def make_mark(name: str, estimate: Estimate, size: str = "") -> Mark:
    """Make a mark in a chart for an estimate on doubly judged pairs."""
    why = why_not_shown(estimate)
    return Mark(name, Estimate(why=why) if why else estimate, size or pluralize(estimate.n, "pair"))


def make_annotators_section(people: Sequence[AnnotatorMetrics]) -> Section:
    """Make the table of each annotator's consistency, agreement with the others, bias and drift."""
    columns = (
        *("annotator", "identical", "repeats", "control items correct", "control items", "agreement"),
        *("others'", "bias", "low", "high", "compared", "drift p", "feedback"),
    )
    table = Table("Annotators", columns, tuple(map(_make_annotator_row, people)))
    excluded = ", ".join(f"{person.annotator} ({person.left_out})" for person in people if person.left_out)
    sentence = (
        f"The comparison leaves out these annotators, for the reason in parentheses: {excluded}."
        if excluded
        else ""
    )
    return Section("", sentence, (), (table,))


def make_feedback_section(people: Sequence[AnnotatorMetrics]) -> Section:
    """Make the section with the feedback for each annotator, by name."""
    rows = tuple((person.annotator, row.about, row.sentence) for person in people for row in person.feedback)
    table = Table("Points to discuss, not verdicts", ("Annotator", "About", "What"), rows, words=True)
    return Section("Feedback", _feedback_sentence(people), (), _drop_empty(table))


def make_agreement_page(report: AgreementReport, people: Sequence[AnnotatorMetrics] = ()) -> str:
    """Make the HTML page of an agreement report with details and with feedback for each annotator."""
    title = f"Agreement in round {report.round_name}" if report.round_name else "Agreement"
    remark = f"Intervals: 95 %, {report.resamples:,} resamples of queries, seed {report.seed}."
    sections = [*make_sections(report), make_feedback_section(people)]
    return html_page(title, list_findings(report), sections, remark)


def _make_section(heading: str, sentence: str, charts: Sequence[Chart], remark: str = "") -> Section:
    drawings = tuple(drawing for drawing, _ in charts)
    return Section(heading, sentence, drawings, (), remark, charted=tuple(table for _, table in charts))


def _drop_empty(table: Table) -> tuple[Table, ...]:
    return (table,) if table.rows else ()


def _draw_chart(title: str, marks: Sequence[Mark], overall: float | None = None) -> Chart:
    return draw_intervals(title, marks, overall, (TENTATIVE, RELIABLE)), _make_figure_table(title, marks)


def _make_figure_table(title: str, marks: Sequence[Mark]) -> Table:
    rows = tuple((mark.name, *mark.estimate[:3], mark.size, mark.estimate.why or "") for mark in marks)
    return Table(title, ("Figure", "Value", "Low", "High", "Based on", "Note"), rows)


def _make_coefficients(report: AgreementReport) -> Section:
    between = report.between
    marks = [make_mark(row.label, between.figures[row.name]) for row in COEFFICIENTS]
    remark = (
        f"{pluralize(between.judgments, 'grade')} of {pluralize(between.annotators, 'annotator')}. The "
        f"coefficients leave out {pluralize(between.single, 'pair')} with only one grade. {READING}"
        f"{f' {between.small_set}' if between.small_set else ''}"
    )
    title = "Agreement between annotators"
    return _draw("All coefficients", sentences.describe_coefficients(between), title, marks, remark=remark)


def _draw(
    heading: str, text: str, title: str, marks: Sequence[Mark], overall: float | None = None, remark: str = ""
) -> Section:
    """Make a section with a chart of the estimates, and with the reason for each missing estimate."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for mark in marks:
        if mark.estimate.value is None:
            reasons[mark.estimate.why or ""].append(mark.name)
    missing = [f"Not shown: {', '.join(names)} ({why})." for why, names in reasons.items()]
    shown = [mark for mark in marks if mark.estimate.value is not None]
    charts = [_draw_chart(title, shown, overall)] if shown else []
    return _make_section(heading, text, charts, " ".join(filter(None, [remark, *missing])))


def _make_boundaries(report: AgreementReport, details: Details) -> Section:
    names = [f"{value} {name}" for value, name in zip(report.scale, report.steps, strict=True)]
    charts = _draw_confusion(details.confusion, names)
    marks = [make_mark(slice_.name, slice_.alpha) for slice_ in details.boundaries]
    if any(boundary.estimate.value is not None for boundary in marks):
        charts.insert(0, _draw_chart("Alpha for grades below and above each boundary", marks))
    sentence = sentences.describe_boundary(details.boundaries)
    return _make_section(GRADES, sentence, charts, sentences.describe_confusion(details.sources))


def _draw_confusion(table: GradeConfusion, names: Sequence[str]) -> list[Chart]:
    """Draw the confusion table; a grade's row has the others' grades on pairs to which an annotator gave that
    grade.
    """
    if not any(map(any, table.pairs)):
        return []
    title, heading = "Grades that two annotators gave to the same pair", "Another annotator said"
    rows = [[_cell(table, names, row, column) for column in range(len(names))] for row in range(len(names))]
    counts = tuple((name, *pairs) for name, pairs in zip(names, table.pairs, strict=True))
    return [(draw_heat_map(title, heading, names, rows), Table(title, (heading, *names), counts))]


def _cell(table: GradeConfusion, names: Sequence[str], row: int, column: int) -> HeatCell:
    shares, pairs = table.shares[row], table.pairs[row][column]
    share = shares[column] if shares is not None else None
    label = f"{names[row]} and {names[column]}: {pluralize(pairs, 'pair')} of grades"
    return HeatCell(
        share, pairs, f"{label}: {percent(share)} of the pairs that one annotator graded {names[row]}"
    )


def _name_slice(slice_: Breakdown) -> str:
    return f"stratum {slice_.name}" if slice_.kind == "stratum" else slice_.name


def _make_types(slices: Sequence[Breakdown], overall: Estimate) -> Section:
    marks = [make_mark(_name_slice(slice_), slice_.alpha) for slice_ in slices]
    title = "Ordinal alpha by query type"
    return _draw("By query type", sentences.describe_query_type(slices, overall), title, marks, overall.value)


def _tabulate_annotator_pairs(details: Details) -> tuple[Table, ...]:
    columns = ("First", "Second", "Pairs", "Same grade", "Kappa", "95 % interval", "Second higher by")
    pairs = sorted(details.annotator_pairs, key=lambda row: (row.kappa.value or 0.0, row.first, row.second))
    rows = tuple(
        (
            *(pair.first, pair.second, pair.raw.n, pair.raw.value, pair.kappa.value),
            *(interval_text(pair.kappa.low, pair.kappa.high), pair.difference.value),
        )
        for pair in pairs[:PAIRS]
    )
    caption = "Pairs of annotators, with the least agreement first"
    if len(pairs) > PAIRS:
        caption += f", {len(pairs) - PAIRS:,} more not shown"
    if details.few_shared:
        caption += f"; {details.few_shared:,} with fewer than {MINIMUM_UNITS} shared pairs left out"
    return _drop_empty(Table(caption, columns, rows))


def _tabulate_queries(sources: DisagreementSources) -> tuple[Table, ...]:
    columns = ("Query", "Share of disagreement", "Share of pairs", "Pairs", "With different grades")
    rows = tuple(
        (
            *(QueryName(query.text, query.query_id), percent(query.disagreement, 1)),
            *(percent(query.pairs, 1), query.units, query.disputed),
        )
        for query in sources.queries
    )
    caption = f"{len(rows)} of {pluralize(sources.disagreeing, 'query', 'queries')} with disagreement"
    return _drop_empty(Table(caption, columns, rows, words=True))


def _tabulate_lines(sources: DisagreementSources, report: AgreementReport) -> tuple[Table, ...]:
    names = dict(zip(report.scale, report.steps, strict=True))
    columns = ("Told apart", "Share of disagreement", "Times", "Pairs", "Decided")
    rows = tuple(
        (
            f"{line.lower} {names[line.lower]} – {line.upper} {names[line.upper]}",
            *(percent(line.disagreement, 1), line.met, line.units, _describe_decisions(line)),
        )
        for line in sources.lines
    )
    caption = "Disagreements by pair of confused grades"
    return _drop_empty(Table(caption, columns, rows, words=True))


def _describe_decisions(line: GuideLine) -> str:
    if not line.decided:
        return "none"
    other_grades = line.decided - line.towards_lower - line.towards_upper
    suffix = f", {other_grades:,} for another grade" if other_grades else ""
    return (
        f"{line.decided:,}: {line.towards_lower:,} for grade {line.lower}, {line.towards_upper:,} for grade "
        f"{line.upper}{suffix}"
    )


def _make_cannot_tell(report: AgreementReport, details: Details) -> Section:
    columns = ("Why", "Times", "Pairs that others graded")
    table = Table("Reasons for cannot-tell", columns, details.sources.unjudged)
    return Section("Cannot tell", sentences.describe_cannot_tell(report.between), (), _drop_empty(table))


def _make_consistency(people: Iterable[IntraAgreement]) -> Section:
    marks, annotators = [], list(people)
    for row in annotators[:ANNOTATORS]:
        estimate = (
            Estimate(why=row.unreliable_reason)
            if row.unreliable_reason
            else Estimate(row.identical, row.low, row.high)
        )
        marks.append(Mark(row.annotator, estimate, f"{row.n:,} repeats"))
    sentence = (
        "The chart shows how often annotators gave the same grade when they saw a pair again, "
        "unmarked and much later."
    )
    hidden = len(annotators) - len(marks)
    remark = f"{hidden:,} more annotators are only in the JSON output." if hidden else ""
    charts = [_draw_chart("Same grade again", marks)] if marks else []
    return _make_section("Consistency by annotator", sentence, charts, remark)


def _make_consensus(report: AgreementReport) -> Section:
    counts = report.consensus
    columns = ("Pairs judged", "Adjudicated", "Majority", "One judgment", "Disputed", "Unjudgeable")
    by_rule = (counts.adjudicated, counts.majority, counts.single, counts.disputed, counts.unjudgeable)
    table = Table(f"Rule: {counts.rule}", columns, ((counts.pairs, *by_rule),))
    sentence = "The table shows where the pairs' grades come from, and which pairs need a decision."
    return Section("How pairs got their grades", sentence, (), (table,))


def _make_annotator_row(metrics: AnnotatorMetrics) -> tuple[object, ...]:
    within, control = metrics.consistency, metrics.control_items
    agreement, bias = metrics.agreement, metrics.bias
    assert within is not None
    assert control is not None
    consistency = (None if within.too_few else within.identical, within.n, control.value, control.n)
    others = (agreement.kappa, agreement.others) if agreement is not None else (None, None)
    compared: tuple[object, ...] = (None, None, None, 0, None)
    if bias is not None:
        compared = (bias.bias, bias.low, bias.high, bias.grades, p_cell(bias.trend_p))
    return (metrics.annotator, *consistency, *others, *compared, len(metrics.feedback))


def _feedback_sentence(people: Sequence[AnnotatorMetrics]) -> str:
    if not people:
        return "Nobody has items in this round."
    named = sum(bool(person.feedback) for person in people)
    finding = (
        f"There are points to discuss with {named:,} of" if named else "Nothing stands out in the work of"
    )
    by_chance = (
        f"Even if everyone works well, up to {percent(FALSE_SHARE)} of annotators are listed here by chance "
        "alone."
    )
    return f"{finding} {pluralize(len(people), 'annotator')}. {by_chance}"
