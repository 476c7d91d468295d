"""Report, other means: for all searches, over strata alike, the median and the worst stratum."""

from __future__ import annotations

from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.report.section import ReportSection, told
from curation.reports.page import Section, Table


def write(found: Evaluation) -> list[Section]:
    headline = found.measures[0]
    columns = ("system", "mean", "for all searches", "over strata alike", "median", "worst stratum")
    rows = tuple(_row(system, headline) for system in found.runs)
    drawn = any(system.traffic[headline].value is not None for system in found.runs if system.traffic)
    sentence = "The plain mean counts each query the same. "
    sentence += (
        "For all searches, a query counts as often as it was asked, by how it was drawn."
        if drawn
        else "No evaluated query was drawn from the traffic, so there is no estimate for all searches."
    )
    if found.sealed:
        sentence += "\nA median is the value of a query, so there is none of a sealed part."
    return [Section("Other means", sentence, (), (Table(f"{headline}, by what counts", columns, rows),))]


def _row(system: EvaluatedSystem, headline: str) -> tuple[str, ...]:
    others, traffic = system.others[headline], system.traffic.get(headline)
    worst = f"{others.worst.stratum}: {told(others.worst)}" if others.worst else "–"
    searches = told(traffic) if traffic else "–"
    cells = (told(system.overall[headline]), searches, told(others.macro), told(others.median), worst)
    return (system.name, *cells)


SECTION = ReportSection(40, write)
