"""Report, kinds of queries: the headline measure by stratum and other facets, and other means."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from curation.core.reports.page import Section, Table
from curation.core.reports.plots import MOST_SERIES, DotRow, dot_plot
from curation.core.text import amount
from curation.evaluation.comparison.aggregations import AGGREGATIONS, StrataSummary, WinRate, about
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.figures.strata import listed_values
from curation.evaluation.report.section import mark, with_interval, with_own_n
from curation.evaluation.scoring.inputs.facets import CLUSTER, GRID, LEAST
from curation.releases.coverage import about_grid, about_map

AGGREGATED = (
    "Overall is the mean over queries. Macro and median are over the strata's means, worst is the lowest of "
    "those with ten queries or more. Few queries in a stratum make its mean, and so the worst, uncertain."
)


def write_strata(evaluation: Evaluation) -> list[Section]:
    return [_section(evaluation, facet) for facet in evaluation.runs[0].strata]


def _section(evaluation: Evaluation, facet: str) -> Section:
    headline = evaluation.measures[0]
    sentence = f"{headline} of each kind of query. A figure of few queries is uncertain; see its interval."
    if evaluation.sealed:
        sentence += f"\nKinds with fewer than {LEAST} sealed queries are counted only."
    if len(evaluation.runs) > MOST_SERIES:
        sentence += f"\nThe drawing has the first {MOST_SERIES} systems, the table has all."
    values, rest = listed_values([system.strata[facet] for system in evaluation.runs])
    sentence += f"\n{rest}" if rest else ""
    sentence += "\nA query is in every region that it is about." if facet == CLUSTER else ""
    if facet == GRID and evaluation.coverage is not None:
        sentence += f"\n{about_grid(evaluation.coverage)}"
    drawing = _drawing(evaluation, facet, headline, values)
    drawings = () if drawing is None else (drawing,)
    return Section(f"By {facet}", sentence, drawings, (_table(evaluation, facet, headline, values),))


def _drawing(evaluation: Evaluation, facet: str, headline: str, values: Sequence[str]) -> Markup | None:
    systems = evaluation.runs[:MOST_SERIES]
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


def _table(evaluation: Evaluation, facet: str, headline: str, values: Sequence[str]) -> Table:
    rows = []
    for value in values:
        stratum = evaluation.runs[0].strata[facet][value]
        own = [system.strata[facet][value] for system in evaluation.runs]
        figures = [one.figures.get(headline) for one in own]
        cells = ["–" if figure is None else with_own_n(figure, stratum.queries) for figure in figures]
        rows.append((value, stratum.queries, *cells, next((one.left_out for one in own if one.left_out), "")))
    columns = (facet, "queries", *(system.name for system in evaluation.runs), "note")
    return Table(f"{headline} by {facet}", columns, tuple(rows))


def write_other_means(evaluation: Evaluation) -> list[Section]:
    headline = evaluation.measures[0]
    columns = ("system", "mean", "for all searches", "over strata alike", "median", "worst stratum")
    rows = tuple(_row(system, headline) for system in evaluation.runs)
    drawn = any(system.traffic[headline].value is not None for system in evaluation.runs if system.traffic)
    sentence = "The plain mean counts each query the same. "
    sentence += (
        "For all searches, a query counts as often as it was asked, by how it was drawn."
        if drawn
        else "No evaluated query was drawn from the traffic, so there is no estimate for all searches."
    )
    if evaluation.sealed:
        sentence += "\nA median is the value of a query, so there is none of a sealed part."
    means = Section("Other means", sentence, (), (Table(f"{headline}, by what counts", columns, rows),))
    return [means, *(_summary(evaluation, summary) for summary in evaluation.summaries)]


def _summary(evaluation: Evaluation, strata_summary: StrataSummary) -> Section:
    sentences = [about(strata_summary)]
    if evaluation.coverage is not None:
        sentences = [about_map(evaluation.coverage), *sentences]
    figures = tuple(
        (system, *(with_interval(own[name]) for name in AGGREGATIONS))
        for system, own in strata_summary.figures.items()
    )
    tables = (
        [Table(f"{strata_summary.measure} over {strata_summary.facet}", ("system", *AGGREGATIONS), figures)]
        if figures
        else []
    )
    pairs: dict[tuple[str, str], dict[str, str]] = {
        (rate.system, rate.other): {} for rate in strata_summary.win_rates
    }
    for rate in strata_summary.win_rates:
        pairs[rate.system, rate.other][rate.aggregation] = _rates(rate)
    if pairs:
        rows = tuple((f"{system} against {other}", *of.values()) for (system, other), of in pairs.items())
        caption = f"Win rates: shares of {strata_summary.resamples:,} resamples above / level / below"
        tables.append(Table(caption, ("systems", *AGGREGATIONS), rows))
    return Section(
        f"Over {strata_summary.facet}", "\n".join(sentences), (), tuple(tables), AGGREGATED if figures else ""
    )


def _rates(rate: WinRate) -> str:
    shares = (rate.wins, rate.ties, rate.losses)
    return "\u00a0/\u00a0".join("–" if share is None else f"{share:.2f}" for share in shares)


def _row(system: EvaluatedSystem, headline: str) -> tuple[str, ...]:
    others, traffic = system.others[headline], system.traffic.get(headline)
    worst = f"{others.worst.stratum}: {with_interval(others.worst)}" if others.worst else "–"
    searches = with_interval(traffic) if traffic else "–"
    cells = (
        with_interval(system.overall[headline]),
        searches,
        with_interval(others.macro),
        with_interval(others.median),
        worst,
    )
    return (system.name, *cells)
