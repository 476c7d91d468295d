"""The agreement report as one HTML file. The same report gives the same bytes.

The page has one section of its own: feedback for each annotator.
"""

from __future__ import annotations

from collections.abc import Sequence

from curation.agreement.annotators.details import AnnotatorDetails
from curation.agreement.annotators.signal import FALSE_SHARE
from curation.agreement.report.report import AgreementReport, findings
from curation.agreement.report.sections import sections
from curation.reports.page import Section, Table, html_page
from curation.text import amount, percent


def feedback_section(people: Sequence[AnnotatorDetails]) -> Section:
    """Everybody's feedback, by name."""
    rows = tuple((one.annotator, row.about, row.sentence) for one in people for row in one.feedback)
    table = Table(
        "Questions to look at together, no verdicts", ("Annotator", "About", "What"), rows, words=True
    )
    return Section("Feedback", _sentence(people), (), (table,) if rows else (), "")


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


def agreement_page(report: AgreementReport, people: Sequence[AnnotatorDetails] = ()) -> str:
    """A whole HTML page about a report, asked for with details, and about everybody's own work."""
    title = f"Agreement in round {report.round_name}" if report.round_name else "Agreement"
    remark = f"Intervals: 95 %, {report.resamples:,} resamples of queries, seed {report.seed}."
    return html_page(title, findings(report), [*sections(report), feedback_section(people)], remark)
