"""The report of an evaluation as one HTML file. The same evaluation gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from markupsafe import Markup

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report import sections
from curation.evaluation.report.section import ReportSection, told
from curation.releases.card.limits import synthetic_sentence
from curation.reports.page import Section, Table, html_page


@dataclass(frozen=True)
class EvaluationReport:
    """A report as the page and the app show it."""

    title: str
    lead: str
    findings: tuple[str, ...]
    sections: tuple[Section, ...]
    remark: str

    @property
    def html(self) -> str:
        """The whole page."""
        return html_page(self.title, self.findings, self.sections, self.remark, self.lead)


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
    if found.synthetic:
        sentences.append(synthetic_sentence(found.synthetic, found.queries))
    sentences += [look.sentence for look in found.looks]
    if found.sealed:
        sentences.append(f"{', '.join(found.sealed)} is sealed: nothing is shown of fewer than ten queries.")
    return sentences


def evaluation_report(found: Evaluation, further: Sequence[Section] = ()) -> EvaluationReport:
    """The report of an evaluation; `further` sections come before the others (`report.further`)."""
    return EvaluationReport(
        title=f"Evaluation on {found.release}, {', '.join(found.parts)}",
        lead=(
            f"{found.queries:,} queries; relevant is grade {found.relevant_grade} and above of "
            f"{', '.join(map(str, found.scale))}."
        ),
        findings=tuple(report_findings(found)),
        sections=(*further, *report_sections(found)),
        remark=(
            f"Intervals: 95 %, {found.resamples:,} resamples of queries, seed {found.seed}. "
            f"Release id: {found.release_id}."
        ),
    )


def evaluation_page(found: Evaluation, further: Sequence[Section] = ()) -> str:
    """A whole HTML page about an evaluation."""
    return evaluation_report(found, further).html


def stored_report(text: str) -> EvaluationReport:
    """The report that was stored as JSON of its fields; its drawings are those of our templates."""
    values = json.loads(text)
    return EvaluationReport(
        title=values["title"],
        lead=values["lead"],
        findings=tuple(values["findings"]),
        sections=tuple(map(_section, values["sections"])),
        remark=values["remark"],
    )


def _section(values: Mapping[str, Any]) -> Section:
    return Section(
        values["heading"],
        values["sentence"],
        tuple(map(Markup, values["drawings"])),
        tuple(
            Table(one["caption"], tuple(one["columns"]), tuple(map(tuple, one["rows"])), one["words"])
            for one in values["tables"]
        ),
        values["remark"],
    )
