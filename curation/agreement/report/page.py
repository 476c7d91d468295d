"""The agreement report as one HTML file. The same report gives the same bytes."""

from __future__ import annotations

from collections.abc import Sequence

from curation.agreement.annotators.details import AnnotatorDetails
from curation.agreement.report.feedback_section import feedback_section
from curation.agreement.report.report import AgreementReport, findings
from curation.agreement.report.sections import sections
from curation.reports.page import html_page


def agreement_page(report: AgreementReport, people: Sequence[AnnotatorDetails] = ()) -> str:
    """A whole HTML page about a report, asked for with details, and about everybody's own work."""
    title = f"Agreement in round {report.round_name}" if report.round_name else "Agreement"
    remark = f"Intervals: 95 %, {report.resamples:,} resamples of queries, seed {report.seed}."
    return html_page(title, findings(report), [*sections(report), feedback_section(people)], remark)
