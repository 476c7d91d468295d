"""Report, unanswerable queries: how well a system's confidence tells them from others."""

from __future__ import annotations

from curation.evaluation.evaluation import Evaluation, RunFacts
from curation.evaluation.report.section import ReportSection, interval, told
from curation.reports.page import Section, Table
from curation.reports.plots import MOST_SERIES, PlotCurve, curves
from curation.text import amount


def write(found: Evaluation) -> list[Section]:
    files = [(system.name, system.files[0]) for system in found.runs]
    if not any(facts.refusal.unanswerable for _, facts in files):
        return []
    one = files[0][1].refusal
    sentence = (
        f"{amount(one.unanswerable, 'query has', 'queries have')} no relevant document among those "
        f"judged, {one.answerable:,} have "
        f"one. {one.tagged:,} of the former were tagged unanswerable.\n"
        f"The confidence is the {one.confidence}. "
        "The area is the probability that an answerable query has more of it than an unanswerable one. "
        "0.5 is chance."
    )
    if one.contradictory:
        single = "query is tagged unanswerable and has"
        many = "queries are tagged unanswerable and have"
        sentence += f"\n{amount(one.contradictory, single, many)} a relevant document: left out."
    columns = (
        "system",
        "area",
        "95 %",
        "refused at 95 % kept",
        "no row, unanswerable",
        "no row, answerable",
        "note",
    )
    rows = tuple(_row(name, facts) for name, facts in files)
    drawn = [_curve(name, facts) for name, facts in files if facts.refusal.curve][:MOST_SERIES]
    titles = (
        "What a threshold keeps and lets through",
        "share of unanswerable that are answered",
        "share of answerable kept",
    )
    return [
        Section(
            "Unanswerable queries",
            sentence,
            (curves(*titles, drawn),) if drawn else (),
            (Table("By system", columns, rows),),
            "The shape on a line is the threshold that keeps 95 % of the answerable queries."
            if drawn
            else "",
        )
    ]


def _row(name: str, facts: RunFacts) -> tuple[object, ...]:
    one = facts.refusal
    shares = (told(one.refused), told(one.empty_unanswerable), told(one.empty_answerable))
    return (name, one.area, interval(_Area(one.area, one.low, one.high)), *shares, one.note)


class _Area:
    """The area with its interval, as other figures are."""

    def __init__(self, value: float | None, low: float | None, high: float | None) -> None:
        self.value, self.low, self.high = value, low, high


def _curve(name: str, facts: RunFacts) -> PlotCurve:
    one = facts.refusal
    points = [(1 - point.refused, point.kept) for point in one.curve]
    known = one.kept is not None and one.refused.value is not None
    return PlotCurve(name, points, (1 - (one.refused.value or 0.0), one.kept or 0.0) if known else None)


SECTION = ReportSection(60, write)
