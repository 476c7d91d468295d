"""Report, comparison of systems and kinds of queries: leaderboard, differences, figures by facet."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from curation.core.reports.charts import Mark
from curation.core.reports.page import Section, Table
from curation.core.reports.plots import MAX_SERIES, DotRow, dot_plot
from curation.core.statistics.estimate import Estimate
from curation.core.text import p_cell, pluralize
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.figures.aggregations import AGGREGATIONS, StrataSummary, about
from curation.evaluation.figures.comparison import (
    HOLM_COLUMN,
    TESTS,
    WANTED_DIFFERENCE,
    Comparison,
    what_decides,
)
from curation.evaluation.figures.means import listed_values
from curation.evaluation.report.section import interval, mark, with_interval, with_own_n
from curation.evaluation.scoring.facets import CLUSTER, GRID
from curation.evaluation.scoring.measure_names import measures_named
from curation.evaluation.scoring.release import MIN_QUERIES
from curation.evaluation.scoring.run_chunks import said_of_texts
from curation.releases.coverage import about_grid, about_map

MAX_ROWS = 30
"""Differences that are drawn; the tables have all."""
AGGREGATED = (
    "Overall is the mean over queries. Macro and median are over the strata's means, worst is the lowest of "
    "those with ten queries or more. Few queries in a stratum make its mean, and so the worst, uncertain."
)


def write_comparison(evaluation: Evaluation) -> list[Section]:
    if not evaluation.comparisons:
        return []
    measure = evaluation.comparisons[0].measure
    of_measure = [comparison for comparison in evaluation.comparisons if comparison.measure == measure]
    overall = [comparison for comparison in of_measure if comparison.stratum is None]
    strata = [
        comparison
        for comparison in of_measure
        if comparison.stratum is not None and comparison.no_verdict is None
    ]
    sections = [_overall(evaluation, measure, overall)]
    if strata:
        sections.append(_strata(measure, strata))
    return sections


def _overall(evaluation: Evaluation, measure: str, compared: Sequence[Comparison]) -> Section:
    deciding = compared[0].deciding
    differences = _differences(f"{measure}: differences", compared)
    tables = [differences, _reach(compared)]
    if board := evaluation.leaderboards.get(measure):
        rows = tuple(
            (row.system, row.value, row.letters, f"{row.best_rank}–{row.worst_rank}", row.better_than)
            for row in board
        )
        columns = ("system", measure, "group", "possible ranks", "better than")
        tables.insert(0, Table("Systems with a common letter cannot be distinguished", columns, rows))
    sentence = (
        f"Differences are of the same queries. {about_p(deciding, len(compared))} “Detects” is the "
        "smallest difference that this many queries would find 80 % of the time."
    )
    if measures_named([measure])[0].of_chunks and (unsure := said_of_texts(_by_text(evaluation))):
        sentence += f"\n{unsure}"
    note = "A small p says that a difference is more than noise. The interval says how large it may be."
    return Section(
        "Comparison", sentence, _drawings(f"{measure}: differences", compared), tuple(tables), note
    )


def _by_text(evaluation: Evaluation) -> dict[str, bool]:
    """System → whether it has chunks by texts that their documents have several times."""
    return {
        run.name: any(facts.chunks and facts.chunks.twice for facts in run.files) for run in evaluation.runs
    }


def _strata(measure: str, compared: Sequence[Comparison]) -> Section:
    tested, apart = len(compared), [comparison for comparison in compared if comparison.distinguished]
    sentence = (
        f"{tested:,} comparisons of {measure} were tested together; in {len(apart):,} of them the systems "
        "can be distinguished."
    )
    title = f"{measure}: differences by kind of query"
    drawn = apart if len(compared) > MAX_ROWS else compared
    return Section(
        "Comparison by kind of query", sentence, _drawings(title, drawn), (_differences(title, compared),)
    )


def _drawings(title: str, compared: Sequence[Comparison]) -> tuple[Markup, ...]:
    rows = [
        DotRow(
            _pair(comparison),
            "",
            [Mark("", Estimate(comparison.difference, comparison.low, comparison.high))],
        )
        for comparison in compared[:MAX_ROWS]
        if comparison.difference is not None
    ]
    return (dot_plot(title, [""], rows, line=0.0),) if rows else ()


def _pair(comparison: Comparison) -> str:
    stratum = "" if comparison.stratum is None else f", {comparison.stratum.value}"
    return f"{comparison.system} − {comparison.other}{stratum}"


def _differences(caption: str, compared: Sequence[Comparison]) -> Table:
    deciding = compared[0].deciding
    columns = ("systems", "difference", "95 %", "p", HOLM_COLUMN, "queries", "note")
    rows = tuple(
        (
            _pair(comparison),
            comparison.difference,
            interval(comparison),
            p_cell(comparison.p),
            p_cell(comparison.p_corrected),
            comparison.n,
            comparison.note,
        )
        for comparison in compared
    )
    return Table(f"{caption}; {what_decides(deciding)}", columns, rows)


def about_p(deciding: str, pairs: int) -> str:
    """What p is, in a sentence."""
    return f"p is from {TESTS[deciding][1]}, with Holm's correction for {pluralize(pairs, 'pair')}."


def _reach(compared: Sequence[Comparison]) -> Table:
    rows = tuple(
        (
            _pair(comparison),
            "–"
            if comparison.wins is None
            else f"{comparison.wins}\u00a0/\u00a0{comparison.ties}\u00a0/\u00a0{comparison.losses}",
            *(comparison.effect, comparison.detectable, comparison.queries_needed),
        )
        for comparison in compared
    )
    columns = ("systems", "win / tie / loss", "effect", "detects", f"needs for {WANTED_DIFFERENCE:g}")
    return Table("What these queries can detect", columns, rows)


def write_strata(evaluation: Evaluation) -> list[Section]:
    return [_section(evaluation, facet) for facet in evaluation.runs[0].strata]


def _section(evaluation: Evaluation, facet: str) -> Section:
    headline = evaluation.measures[0]
    sentence = f"{headline} of each kind of query. A figure of few queries is uncertain; see its interval."
    if evaluation.sealed:
        sentence += f"\nKinds with fewer than {MIN_QUERIES} sealed queries are counted only."
    if len(evaluation.runs) > MAX_SERIES:
        sentence += f"\nThe drawing has the first {MAX_SERIES} systems, the table has all."
    values, rest = listed_values([system.strata[facet] for system in evaluation.runs])
    sentence += f"\n{rest}" if rest else ""
    sentence += "\nA query is in every region that it is about." if facet == CLUSTER else ""
    if facet == GRID and evaluation.coverage is not None:
        sentence += f"\n{about_grid(evaluation.coverage)}"
    drawing = _drawing(evaluation, facet, headline, values)
    drawings = () if drawing is None else (drawing,)
    return Section(f"By {facet}", sentence, drawings, (_table(evaluation, facet, headline, values),))


def _drawing(evaluation: Evaluation, facet: str, headline: str, values: Sequence[str]) -> Markup | None:
    systems = evaluation.runs[:MAX_SERIES]
    rows = []
    for value in values:
        stratum = systems[0].strata[facet][value]
        marks = [
            mark(
                system.name,
                system.strata[facet][value].figures.get(headline),
                "not shown" if system.strata[facet][value].left_out else "",
            )
            for system in systems
        ]
        if any(drawn_mark.estimate.value is not None for drawn_mark in marks):
            rows.append(DotRow(value, pluralize(stratum.queries, "query", "queries"), marks))
    if not rows:
        return None
    return dot_plot(f"{headline} by {facet}", [system.name for system in systems], rows)


def _table(evaluation: Evaluation, facet: str, headline: str, values: Sequence[str]) -> Table:
    rows = []
    for value in values:
        stratum = evaluation.runs[0].strata[facet][value]
        strata_of_value = [system.strata[facet][value] for system in evaluation.runs]
        figures = [stratum.figures.get(headline) for stratum in strata_of_value]
        cells = ["–" if figure is None else with_own_n(figure, stratum.queries) for figure in figures]
        rows.append(
            (
                value,
                stratum.queries,
                *cells,
                next((stratum.left_out for stratum in strata_of_value if stratum.left_out), ""),
            )
        )
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
        sentence += "\nA median is the value of a query, so it is not shown for a sealed part."
    means = Section("Weighted averages", sentence, (), (Table(f"{headline}, by what counts", columns, rows),))
    return [means, *(_summary(evaluation, summary) for summary in evaluation.summaries)]


def _summary(evaluation: Evaluation, strata_summary: StrataSummary) -> Section:
    sentences = [about(strata_summary)]
    if evaluation.coverage is not None:
        sentences = [about_map(evaluation.coverage), *sentences]
    figures = tuple(
        (system, *(with_interval(means[name]) for name in AGGREGATIONS))
        for system, means in strata_summary.figures.items()
    )
    tables = (
        [Table(f"{strata_summary.measure} over {strata_summary.facet}", ("system", *AGGREGATIONS), figures)]
        if figures
        else []
    )
    rows = tuple(
        (f"{system} against {other}", *map(_shares, rates.values()))
        for system, others in strata_summary.win_rates.items()
        for other, rates in others.items()
    )
    if rows:
        caption = f"Win rates: shares of {strata_summary.resamples:,} resamples above / level / below"
        tables.append(Table(caption, ("systems", *AGGREGATIONS), rows))
    return Section(
        f"Over {strata_summary.facet}", "\n".join(sentences), (), tuple(tables), AGGREGATED if figures else ""
    )


def _shares(shares: Sequence[float | None]) -> str:
    return "\u00a0/\u00a0".join("–" if share is None else f"{share:.2f}" for share in shares)


def _row(system: EvaluatedSystem, headline: str) -> tuple[str, ...]:
    others, traffic = system.others[headline], system.traffic.get(headline)
    worst = f"{others.worst_stratum}: {with_interval(others.worst)}" if others.worst else "–"
    searches = with_interval(traffic) if traffic else "–"
    cells = (
        with_interval(system.overall[headline]),
        searches,
        with_interval(others.macro),
        with_interval(others.median),
        worst,
    )
    return (system.name, *cells)
