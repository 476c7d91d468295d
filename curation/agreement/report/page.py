"""The agreement report as one HTML file. The same report gives the same bytes.

The page has one section of its own: feedback for each annotator, with the control charts of repeats.
"""

from __future__ import annotations

from collections.abc import Sequence

from curation.agreement.annotators.details import AnnotatorDetails
from curation.agreement.annotators.signals.signal import FALSE_SHARE
from curation.agreement.report.report import AgreementReport, findings
from curation.agreement.report.sections import ANNOTATORS, sections
from curation.reports.charts import ControlChart, control_charts
from curation.reports.page import Section, Table, html_page
from curation.text import amount, percent

HOW = (
    "The charts add up the evidence that repeats were not graded alike: up with each that was not, down with "
    "each that was, never below zero. The dashed limit is crossed in at most 5 % of random orders."
)


def feedback_section(people: Sequence[AnnotatorDetails]) -> Section:
    """Everybody's feedback, by name; the charts that come nearest to their limit or are above it first."""
    rows = tuple((one.annotator, row.about, row.sentence) for one in people for row in one.feedback)
    charts = _charts(people)
    drawn, left = charts[:ANNOTATORS], len(charts) - ANNOTATORS
    more = f" {left:,} more are not drawn." if left > 0 else ""
    caption = "Questions to look at together, no verdicts"
    return Section(
        "Feedback",
        _sentence(people),
        (control_charts("Control charts of repeats", drawn),) if drawn else (),
        (Table(caption, ("Annotator", "About", "What"), rows, words=True),) if rows else (),
        HOW + more if drawn else "",
    )


def _sentence(people: Sequence[AnnotatorDetails]) -> str:
    if not people:
        return "Nobody has items here."
    named = sum(bool(one.feedback) for one in people)
    if named:
        found = f"There is something to discuss with {named:,} of {amount(len(people), 'annotator')}."
    else:
        found = f"No findings about the work of {amount(len(people), 'annotator')}."
    most = percent(FALSE_SHARE)
    return f"{found} Where nothing is the matter, at most {most} of people are named all the same."


def _charts(people: Sequence[AnnotatorDetails]) -> list[ControlChart]:
    found = [(one.repeats.cusum, one.annotator) for one in people if one.repeats and one.repeats.cusum]
    return [
        ControlChart(name, chart.values, chart.limit, chart.sentence)
        for chart, name in sorted(found, key=lambda item: (item[0].p, item[1]))
    ]


def agreement_page(report: AgreementReport, people: Sequence[AnnotatorDetails] = ()) -> str:
    """A whole HTML page about a report, asked for with details, and about everybody's own work."""
    title = f"Agreement in round {report.round_name}" if report.round_name else "Agreement"
    remark = f"Intervals: 95 %, {report.resamples:,} resamples of queries, seed {report.seed}."
    return html_page(title, findings(report), [*sections(report), feedback_section(people)], remark)
