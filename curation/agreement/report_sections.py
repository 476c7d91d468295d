"""The sections of the agreement report for pages of the app, a terminal and one HTML file.

A section has a heading, a sentence, charts and tables. A terminal shows a table in place of each chart. The
same report gives the same bytes. The HTML file has one more section: the feedback for each annotator.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from curation.agreement import section_sentences
from curation.agreement.breakdowns import Part
from curation.agreement.disagreement_sources import DisagreementSources, GradeConfusion, GuideLine
from curation.agreement.inter_annotator import (
    COEFFICIENTS,
    MINIMUM_UNITS,
    READING,
    RELIABLE,
    TENTATIVE,
    EvidenceAgreement,
    why_not_shown,
)
from curation.agreement.intra_annotator import IntraAgreement
from curation.agreement.report import AgreementReport, Details, agreement_findings
from curation.agreement.signals import FALSE_SHARE, AnnotatorMetrics
from curation.core.reports.charts import HeatCell, Mark, heat_map, intervals
from curation.core.reports.page import QueryName, Section, Table, html_page
from curation.core.statistics.estimate import Estimate
from curation.core.text import interval_text, p_cell, percent, pluralize

PAIRS = 30
"""Maximum number of annotator pairs in the table, which shows the pairs with the lowest agreement."""
ANNOTATORS = 40
"""Maximum number of annotators in the chart of consistency."""
QUERIES = "Queries with the most disagreement"
"""The heading of the section in which a page can open a query to show its pairs."""
GRADES = "Grades and their boundaries"
"""The heading of the section on grade boundaries."""
Chart = tuple[Markup, Table]
"""A chart, and the figures of the chart as a table for a terminal."""


def sections(report: AgreementReport) -> list[Section]:
    """Make all sections below the verdict, in reading order."""
    origins, coefficients = layers(report)
    return [*origins, *coefficients]


def layers(report: AgreementReport) -> tuple[list[Section], list[Section]]:
    """Make the sections below the verdict: sources of disagreement, and coefficients, which pages collapse.

    Without doubly judged pairs there are no sources of disagreement to show.
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
        Section(QUERIES, section_sentences.query_sentence(sources), (), _queries(sources)),
        by["pair"],
        Section("Lines of the guide", section_sentences.guide_sentence(sources), (), _guide(sources, report)),
    ]
    return origins, [overall, *rest]


def overview(report: AgreementReport) -> tuple[Section, Section, Section]:
    """Make the sections that need no details: coefficients, consistency, and how pairs got their grades."""
    return _overall(report), _within(report.within), _consensus(report)


def evidence_sections(agreement: EvidenceAgreement | None) -> list[Section]:
    """Make the section on agreement on evidence; without marks return no section."""
    if agreement is None:
        return []
    marks = [mark("F1 of characters", agreement.f1, pluralize(agreement.comparisons, "comparison"))]
    return [
        _figured("Evidence", section_sentences.evidence_sentence(agreement), "Agreement on evidence", marks)
    ]


def parts(report: AgreementReport, details: Details) -> dict[str, Section]:
    """Make the section of each breakdown: by query type, by boundary, and by pair of annotators."""
    pairs = details.annotator_pairs
    return {
        "type": _types(details.types, report.between.ordinal),
        "boundary": _grades(report, details),
        "pair": Section(
            "Pairwise agreement",
            section_sentences.annotator_pair_sentence(pairs),
            (),
            _annotator_pairs(details),
        ),
    }


def _section(
    heading: str, sentence: str, charts: Sequence[Chart], remark: str = "", tables: tuple[Table, ...] = ()
) -> Section:
    drawings = tuple(drawing for drawing, _ in charts)
    return Section(heading, sentence, drawings, tables, remark, charted=tuple(table for _, table in charts))


def _unless_empty(table: Table) -> tuple[Table, ...]:
    return (table,) if table.rows else ()


def _chart(title: str, marks: Sequence[Mark], whole: float | None = None) -> Chart:
    return intervals(title, marks, whole, (TENTATIVE, RELIABLE)), _figures(title, marks)


def _figures(title: str, marks: Sequence[Mark]) -> Table:
    rows = tuple((mark.name, *mark.estimate[:3], mark.size, mark.estimate.why or "") for mark in marks)
    return Table(title, ("Figure", "Value", "Low", "High", "Based on", "Note"), rows)


def mark(name: str, estimate: Estimate, size: str = "") -> Mark:
    """Make the mark of a figure of doubly judged pairs in a chart."""
    why = why_not_shown(estimate)
    return Mark(name, Estimate(why=why) if why else estimate, size or pluralize(estimate.n, "pair"))


def _overall(report: AgreementReport) -> Section:
    between = report.between
    marks = [mark(row.label, between.figures[row.name]) for row in COEFFICIENTS]
    remark = (
        f"{pluralize(between.judgments, 'grade')} of {pluralize(between.annotators, 'annotator')}. Pairs "
        f"with only one grade are not counted here: {between.single:,}. {READING}"
        f"{f' {between.small_set}' if between.small_set else ''}"
    )
    title = "Agreement between annotators"
    return _figured(
        "All coefficients", section_sentences.coefficients_sentence(between), title, marks, remark=remark
    )


def _figured(
    heading: str,
    sentence: str,
    title: str,
    marks: Sequence[Mark],
    whole: float | None = None,
    remark: str = "",
) -> Section:
    """Make a section that draws the marks with a figure, and gives the reason for each missing figure."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for mark_drawn in marks:
        if mark_drawn.estimate.value is None:
            reasons[mark_drawn.estimate.why or ""].append(mark_drawn.name)
    missing = [f"Not shown: {', '.join(names)} ({why})." for why, names in reasons.items()]
    drawn = [mark_drawn for mark_drawn in marks if mark_drawn.estimate.value is not None]
    charts = [_chart(title, drawn, whole)] if drawn else []
    return _section(heading, sentence, charts, " ".join(filter(None, [remark, *missing])))


def _grades(report: AgreementReport, details: Details) -> Section:
    names = [f"{value} {name}" for value, name in zip(report.scale, report.steps, strict=True)]
    charts = _confusion(details.confusion, names)
    marks = [mark(part.name, part.alpha) for part in details.boundaries]
    if any(boundary.estimate.value is not None for boundary in marks):
        charts.insert(0, _chart("Alpha of the two sides of each boundary", marks))
    sentence = section_sentences.boundary_sentence(details.boundaries)
    return _section(GRADES, sentence, charts, section_sentences.confusion_sentence(details.sources))


def _confusion(table: GradeConfusion, names: Sequence[str]) -> list[Chart]:
    """Draw the confusion table: a row has the others' grades on pairs to which one annotator gave the row's
    grade.
    """
    if not any(map(any, table.pairs)):
        return []
    title, heading = "Which grades met", "Another annotator said"
    rows = [[_cell(table, names, row, column) for column in range(len(names))] for row in range(len(names))]
    counts = tuple((name, *pairs) for name, pairs in zip(names, table.pairs, strict=True))
    return [(heat_map(title, heading, names, rows), Table(title, (heading, *names), counts))]


def _cell(table: GradeConfusion, names: Sequence[str], row: int, column: int) -> HeatCell:
    shares, pairs = table.shares[row], table.pairs[row][column]
    share = shares[column] if shares is not None else None
    of = f"{names[row]} and {names[column]}: {pluralize(pairs, 'pair')} of grades"
    return HeatCell(share, pairs, f"{of}; where one said {names[row]}, {percent(share)}")


def _types(parts: Sequence[Part], whole: Estimate) -> Section:
    marks = [
        mark(f"stratum {part.name}" if part.kind == "stratum" else part.name, part.alpha) for part in parts
    ]
    title = "Ordinal alpha by query type"
    return _figured(
        "By query type", section_sentences.query_type_sentence(parts, whole), title, marks, whole.value
    )


def _annotator_pairs(details: Details) -> tuple[Table, ...]:
    columns = ("First", "Second", "Pairs", "Same grade", "Kappa", "95 % interval", "Second higher by")
    ordered = sorted(
        details.annotator_pairs, key=lambda pair: (pair.kappa.value or 0.0, pair.first, pair.second)
    )
    rows = tuple(
        (
            *(pair.first, pair.second, pair.raw.n, pair.raw.value, pair.kappa.value),
            *(interval_text(pair.kappa.low, pair.kappa.high), pair.difference.value),
        )
        for pair in ordered[:PAIRS]
    )
    caption = "Least agreement first"
    if len(ordered) > PAIRS:
        caption += f", {len(ordered) - PAIRS:,} more not shown"
    if details.few_shared:
        caption += f"; {details.few_shared:,} with fewer than {MINIMUM_UNITS} shared pairs left out"
    return _unless_empty(Table(caption, columns, rows))


def _queries(sources: DisagreementSources) -> tuple[Table, ...]:
    columns = ("Query", "Share of disagreement", "Share of pairs", "Pairs", "With different grades")
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
    caption = f"{len(rows)} of {pluralize(sources.disagreeing, 'query', 'queries')} with disagreement"
    return _unless_empty(Table(caption, columns, rows, words=True))


def _guide(sources: DisagreementSources, report: AgreementReport) -> tuple[Table, ...]:
    names = dict(zip(report.scale, report.steps, strict=True))
    columns = ("Told apart", "Share of disagreement", "Times", "Pairs", "Decided")
    rows = tuple(
        (
            f"{line.lower} {names[line.lower]} – {line.upper} {names[line.upper]}",
            percent(line.disagreement, 1),
            line.met,
            line.units,
            _decided(line),
        )
        for line in sources.lines
    )
    caption = "By the two grades that annotators confused"
    return _unless_empty(Table(caption, columns, rows, words=True))


def _decided(line: GuideLine) -> str:
    if not line.decided:
        return "none"
    other = line.decided - line.towards_lower - line.towards_upper
    more = f", {other:,} for another grade" if other else ""
    return (
        f"{line.decided:,}: {line.towards_lower:,} for grade {line.lower}, {line.towards_upper:,} for grade "
        f"{line.upper}{more}"
    )


def _cannot_tell(report: AgreementReport, details: Details) -> Section:
    judged, reasons = report.between.judgeable, details.sources.unjudged
    marks = [
        mark("share of judgments", judged.share, pluralize(judged.judgments, "judgment")),
        mark("alpha, can be judged", judged.nominal),
        mark("same answer", judged.raw),
    ]
    table = Table("Reasons for cannot-tell", ("Why", "Times", "Pairs that others graded"), reasons)
    return _section(
        "Cannot tell",
        section_sentences.cannot_tell_sentence(report.between),
        [_chart("Whether a pair can be judged", marks)],
        tables=_unless_empty(table),
    )


def _within(people: Iterable[IntraAgreement]) -> Section:
    marks, everybody = [], list(people)
    for person in everybody[:ANNOTATORS]:
        estimate = (
            Estimate(why=person.why) if person.why else Estimate(person.identical, person.low, person.high)
        )
        marks.append(Mark(person.annotator, estimate, f"{person.n:,} repeats"))
    sentence = (
        "How often each annotator gave the same grade again when a pair was repeated, unmarked and far apart."
    )
    more = len(everybody) - len(marks)
    remark = f"{more:,} more by name are not drawn; the JSON has all." if more else ""
    charts = [_chart("Same grade again", marks)] if marks else []
    return _section("Within each annotator", sentence, charts, remark)


def _consensus(report: AgreementReport) -> Section:
    counts = report.consensus
    columns = ("Pairs judged", "Adjudicated", "Majority", "One judgment", "Disputed", "Unjudgeable")
    by_rule = (counts.adjudicated, counts.majority, counts.single, counts.disputed, counts.unjudgeable)
    table = Table(f"Rule: {counts.rule}", columns, ((counts.pairs, *by_rule),))
    sentence = "Sources of the pairs' grades, and pairs without a grade before a decision."
    return Section("How pairs got their grades", sentence, (), (table,))


def annotators_section(people: Sequence[AnnotatorMetrics]) -> Section:
    """Make the table of each annotator's consistency, agreement with the others, bias and drift."""
    columns = (
        *("annotator", "identical", "repeats", "control items correct", "control items", "agreement"),
        *("others'", "bias", "low", "high", "compared", "drift p", "feedback"),
    )
    table = Table("Annotators", columns, tuple(map(_annotator_row, people)))
    alone = ", ".join(f"{person.annotator} ({person.left_out})" for person in people if person.left_out)
    sentence = f"Nobody is compared with {alone}, for the reason in parentheses." if alone else ""
    return Section("", sentence, (), (table,))


def _annotator_row(metrics: AnnotatorMetrics) -> tuple[object, ...]:
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


def feedback_section(people: Sequence[AnnotatorMetrics]) -> Section:
    """Make the section with the feedback for each annotator, by name."""
    rows = tuple((person.annotator, row.about, row.sentence) for person in people for row in person.feedback)
    table = Table("Points to discuss, not verdicts", ("Annotator", "About", "What"), rows, words=True)
    return Section("Feedback", _feedback_sentence(people), (), _unless_empty(table))


def _feedback_sentence(people: Sequence[AnnotatorMetrics]) -> str:
    if not people:
        return "Nobody has items here."
    named = sum(bool(person.feedback) for person in people)
    finding = f"There are points to discuss with {named:,} of" if named else "No findings about the work of"
    by_chance = f"If all annotators work well, at most {percent(FALSE_SHARE)} are named by chance."
    return f"{finding} {pluralize(len(people), 'annotator')}. {by_chance}"


def agreement_page(report: AgreementReport, people: Sequence[AnnotatorMetrics] = ()) -> str:
    """Make the HTML page of a report with details and of the feedback for each annotator."""
    title = f"Agreement in round {report.round_name}" if report.round_name else "Agreement"
    remark = f"Intervals: 95 %, {report.resamples:,} resamples of queries, seed {report.seed}."
    return html_page(title, agreement_findings(report), [*sections(report), feedback_section(people)], remark)
