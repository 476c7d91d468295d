"""Report, kinds of queries: the headline measure by stratum and other facets."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.strata import LEAST, listed_values
from curation.evaluation.inputs.facets import CLUSTER, GRID
from curation.evaluation.report.section import ReportSection, mark, told
from curation.releases.coverage import about_grid
from curation.reports.page import Section, Table
from curation.reports.plots import MOST_SERIES, DotRow, dot_plot
from curation.text import amount


def write(found: Evaluation) -> list[Section]:
    return [_section(found, facet) for facet in found.runs[0].strata]


def _section(found: Evaluation, facet: str) -> Section:
    headline = found.measures[0]
    sentence = f"{headline} of each kind of query. Kinds with fewer than {LEAST} queries are counted only."
    if len(found.runs) > MOST_SERIES:
        sentence += f"\nThe drawing has the first {MOST_SERIES} systems, the table has all."
    values, rest = listed_values([system.strata[facet] for system in found.runs])
    sentence += f"\n{rest}" if rest else ""
    sentence += "\nA query is in every region that it is about." if facet == CLUSTER else ""
    if facet == GRID and found.coverage is not None:
        sentence += f"\n{about_grid(found.coverage)}"
    drawing = _drawing(found, facet, headline, values)
    drawings = () if drawing is None else (drawing,)
    return Section(f"By {facet}", sentence, drawings, (_table(found, facet, headline, values),))


def _drawing(found: Evaluation, facet: str, headline: str, values: Sequence[str]) -> Markup | None:
    systems = found.runs[:MOST_SERIES]
    rows = []
    for value in values:
        stratum = systems[0].strata[facet][value]
        marks = [
            mark(
                system.name,
                system.strata[facet][value].figures.get(headline),
                _why(system.strata[facet][value].left_out),
            )
            for system in systems
        ]
        if any(one.value is not None for one in marks):
            rows.append(DotRow(value, amount(stratum.queries, "query", "queries"), marks))
    if not rows:
        return None
    return dot_plot(f"{headline} by {facet}", [system.name for system in systems], rows)


def _why(left_out: str | None) -> str:
    return "not shown" if left_out else ""


def _table(found: Evaluation, facet: str, headline: str, values: Sequence[str]) -> Table:
    rows = []
    for value in values:
        stratum = found.runs[0].strata[facet][value]
        own = [system.strata[facet][value] for system in found.runs]
        cells = [told(one.figures[headline]) if headline in one.figures else "–" for one in own]
        rows.append((value, stratum.queries, *cells, next((one.left_out for one in own if one.left_out), "")))
    columns = (facet, "queries", *(system.name for system in found.runs), "note")
    return Table(f"{headline} by {facet}", columns, tuple(rows))


SECTION = ReportSection(30, write)
