"""Report, what was judged: the share of judged documents, and the order that equal scores allow."""

from __future__ import annotations

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.metrics.bounds import why_below
from curation.evaluation.report.section import ReportSection, by_measure, figure_text, share
from curation.reports.page import Section, Table
from curation.reports.plots import SharesRow, shares
from curation.text import percent


def write(found: Evaluation) -> list[Section]:
    headline = found.measures[0]
    rows = [_bar(system.name, system.overall[headline].judged) for system in found.runs]
    caption = "Share of judged documents among those that a measure looks at; without a depth the whole list"
    tables = [by_measure(caption, found, lambda figure: share(figure.judged))]
    tables.append(_bounds(found))
    ties = _ties(found, headline)
    tables += [] if ties is None else [ties]
    return [
        Section(
            "What was judged",
            "An unjudged document counts as not relevant. The fewer are judged, the less a figure says. "
            + (found.not_inferred or "A random sample of the pool was judged: see what is inferred from it."),
            (shares(f"Judged documents that {headline} looks at", ("judged", "not judged"), rows),),
            tuple(tables),
        )
    ]


def _bar(name: str, judged: float | None) -> SharesRow:
    return SharesRow(
        name, judged, "no document was returned" if judged is None else f"{percent(judged, 1)} judged"
    )


def _bounds(found: Evaluation) -> Table:
    """Every figure at both ends."""

    def cell(figure: MeasureFigure) -> str:
        if figure.if_none is None or figure.if_all is None:
            return "–"
        return f"{figure_text(figure.if_none)}\u00a0/\u00a0{figure_text(figure.if_all)}"

    caption = "If none / if all of the unjudged documents returned were relevant"
    passes_over = "; bpref passes them over and has neither" if "bpref" in found.measures else ""
    every = (figure for system in found.runs for figure in system.overall.values())
    why = why_below((figure.if_none, figure.if_all) for figure in every)
    return by_measure(f"{caption}{passes_over}{f'. {why}' if why else ''}", found, cell)


def _ties(found: Evaluation, headline: str) -> Table | None:
    """Where equal scores leave the order open; not told of sealed parts."""
    rows = [
        (system.name, figure.worst, figure.value, figure.best)
        for system in found.runs
        if (figure := system.overall[headline]).best is not None and figure.best != figure.worst
    ]
    columns = ("system", "worst order", "by document id", "best order")
    return Table(f"{headline} with equal scores in another order", columns, tuple(rows)) if rows else None


SECTION = ReportSection(70, write, detail=True)
