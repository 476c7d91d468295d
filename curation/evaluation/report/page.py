"""The report of an evaluation as one HTML file. The same evaluation gives the same bytes."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from curation.evaluation.evaluate import Evaluation
from curation.evaluation.report import sections
from curation.evaluation.report.section import ReportSection, told
from curation.reports.page import Section, html_page


@cache
def all_sections() -> tuple[ReportSection, ...]:
    """The record `SECTION` of every module in `sections`, by position."""
    modules = [
        import_module(found.name) for found in iter_modules(sections.__path__, f"{sections.__name__}.")
    ]
    return tuple(sorted((module.SECTION for module in modules), key=lambda section: section.position))


def report_sections(found: Evaluation) -> list[Section]:
    """All that the report shows of this evaluation, in the order in which it is read."""
    return [written for section in all_sections() for written in section.write(found)]


def report_findings(found: Evaluation) -> list[str]:
    """What a reader wants to know first, in sentences."""
    headline = found.measures[0]
    sentences = [
        f"{system.name}: {headline} {told(system.overall[headline])}, {system.overall[headline].n:,} queries."
        for system in found.runs[:5]
    ]
    if len(found.runs) > 5:
        sentences.append(f"{len(found.runs) - 5:,} more systems are in the tables.")
    sentences += [look.sentence for look in found.looks]
    if found.sealed:
        sentences.append(f"{', '.join(found.sealed)} is sealed: nothing is shown of fewer than ten queries.")
    return sentences


def evaluation_page(found: Evaluation) -> str:
    """A whole HTML page about an evaluation."""
    title = f"Evaluation on {found.release}, {', '.join(found.parts)}"
    lead = (
        f"{found.queries:,} queries; relevant is grade {found.relevant_grade} and above of "
        f"{', '.join(map(str, found.scale))}."
    )
    remark = (
        f"Intervals: 95 %, {found.resamples:,} resamples of queries, seed {found.seed}. "
        f"Release id: {found.release_id}."
    )
    return html_page(title, report_findings(found), report_sections(found), remark, lead)
