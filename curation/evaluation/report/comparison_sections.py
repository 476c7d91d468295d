"""The report's sections that compare systems, for all queries and for each kind of query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from curation.core.reports.charts import Mark
from curation.core.reports.page import Section
from curation.core.reports.plots import MAX_SERIES, DotRow, draw_dot_plot
from curation.core.reports.tables import Table
from curation.core.statistics.estimate import Estimate
from curation.core.text import p_cell, pluralize
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures import comparison
from curation.evaluation.figures.comparison import HOLM_COLUMN, TARGET_DIFFERENCE, TESTS, Comparison
from curation.evaluation.figures.means import MeasureFigure, StratumFigures
from curation.evaluation.report.cells import format_interval, format_with_n, make_mark
from curation.evaluation.scoring.facets import CLUSTER, GRID
from curation.evaluation.scoring.measure_names import parse_measures
from curation.evaluation.scoring.release import MIN_QUERIES
from curation.evaluation.scoring.run_chunks import warn_of_unsure_ranges
from curation.releases.coverage import describe_grid

MAX_ROWS = 30
"""Maximum number of differences in a drawing; the tables have all differences."""
MAX_LISTED_VALUES = 50
"""Maximum number of facet values that a table lists."""


def write_comparison(evaluation: Evaluation) -> list[Section]:
    """Compare systems by the first measure: a leaderboard, and the differences overall and by kind of
    query."""
    if not evaluation.comparisons:
        return []
    measure = evaluation.comparisons[0].measure
    verdicts = [row for row in evaluation.comparisons if row.measure == measure and row.no_verdict is None]
    strata = [row for row in verdicts if row.stratum is not None]
    overall = comparison.select_overall(evaluation.comparisons, measure)
    sections = [_compare_overall(evaluation, measure, overall)]
    return [*sections, _compare_strata(measure, strata)] if strata else sections


def _compare_overall(evaluation: Evaluation, measure: str, compared: Sequence[Comparison]) -> Section:
    tables = [_differences_table(f"{measure}: differences", compared), _power_table(compared)]
    if board := evaluation.leaderboards.get(measure):
        rows = tuple(
            (row.system, row.value, row.letters, f"{row.best_rank}–{row.worst_rank}") for row in board
        )
        columns = ("system", measure, "group", "possible ranks")
        tables.insert(0, Table("Systems that share a letter cannot be distinguished", columns, rows))
    sentence = (
        "Differences compare values for the same queries. "
        f"{describe_p(compared[0].deciding_test, len(compared))} “Detects” is the smallest difference that "
        "this many queries would find 80 % of the time."
    )
    runs = evaluation.runs
    by_text = {run.name: any(file.chunks and file.chunks.twice for file in run.files) for run in runs}
    if parse_measures([measure])[0].of_chunks and (warning := warn_of_unsure_ranges(by_text)):
        sentence += f"\n{warning}"
    note = (
        "A small p means that a difference is more than noise. The interval shows how large the difference "
        "may be."
    )
    drawings = _draw_differences(f"{measure}: differences", compared)
    return Section("Comparison", sentence, drawings, tuple(tables), note)


def _compare_strata(measure: str, compared: Sequence[Comparison]) -> Section:
    distinguished = [row for row in compared if row.distinguished]
    sentence = (
        f"{len(compared):,} comparisons of {measure} were tested together; in {len(distinguished):,} of them "
        "the systems can be distinguished."
    )
    title = f"{measure}: differences by kind of query"
    drawings = _draw_differences(title, distinguished if len(compared) > MAX_ROWS else compared)
    return Section("Comparison by kind of query", sentence, drawings, (_differences_table(title, compared),))


def _draw_differences(title: str, compared: Sequence[Comparison]) -> tuple[Markup, ...]:
    rows = []
    for row in compared[:MAX_ROWS]:
        if row.difference is not None:
            difference = Estimate(row.difference, row.low, row.high)
            rows.append(DotRow(_pair_name(row), "", [Mark("", difference)]))
    return (draw_dot_plot(title, [""], rows, line=0.0),) if rows else ()


def _pair_name(pair: Comparison) -> str:
    stratum = "" if pair.stratum is None else f", {pair.stratum.value}"
    return f"{pair.system} − {pair.other}{stratum}"


def _differences_table(caption: str, compared: Sequence[Comparison]) -> Table:
    columns = ("systems", "difference", "95 %", "p", HOLM_COLUMN, "queries", "note")
    rows = []
    for row in compared:
        ps = (p_cell(row.p), p_cell(row.p_corrected))
        rows.append((_pair_name(row), row.difference, format_interval(row), *ps, row.n, row.note))
    deciding_test = comparison.describe_deciding_test(compared[0].deciding_test)
    return Table(f"{caption}; {deciding_test}", columns, tuple(rows))


def describe_p(test: str, pairs: int) -> str:
    """Name the significance test and the correction of its p value in a sentence."""
    return f"The p value is from {TESTS[test]}, with Holm's correction for {pluralize(pairs, 'pair')}."


def _power_table(compared: Sequence[Comparison]) -> Table:
    rows = []
    for row in compared:
        is_known = row.wins is not None
        results = f"{row.wins}\u00a0/\u00a0{row.ties}\u00a0/\u00a0{row.losses}" if is_known else "–"
        rows.append((_pair_name(row), results, row.detectable, row.queries_needed))
    columns = ("systems", "win / tie / loss", "detects", f"needs for {TARGET_DIFFERENCE:g}")
    return Table("Smallest differences that these queries detect", columns, tuple(rows))


def write_strata(evaluation: Evaluation) -> list[Section]:
    """Show the first measure by kind of query, in one section for each facet."""
    return [_write_facet(evaluation, facet) for facet in evaluation.runs[0].strata]


def _write_facet(evaluation: Evaluation, facet: str) -> Section:
    headline = evaluation.measures[0]
    sentence = f"{headline} for each kind of query. A mean over few queries is uncertain; see its interval."
    if evaluation.sealed:
        sentence += f"\nKinds with fewer than {MIN_QUERIES} sealed queries show only the number of queries."
    if len(evaluation.runs) > MAX_SERIES:
        sentence += f"\nThe chart shows the first {MAX_SERIES} systems; the table shows all of them."
    values, remark = _choose_values([system.strata[facet] for system in evaluation.runs])
    sentence += f"\n{remark}" if remark else ""
    sentence += "\nA query counts in every region that it is about." if facet == CLUSTER else ""
    if facet == GRID and evaluation.coverage is not None:
        sentence += f"\n{describe_grid(evaluation.coverage)}"
    title, systems = f"{headline} by {facet}", [system.name for system in evaluation.runs]
    dot_rows, rows = [], []
    for value in values:
        strata = [system.strata[facet][value] for system in evaluation.runs]
        figures = [stratum.figures.get(headline) for stratum in strata]
        queries, left_out = strata[0].queries, [stratum.left_out for stratum in strata]
        marks = [
            make_mark(name, figure, "not shown" if why else "")
            for name, figure, why in zip(systems, figures, left_out, strict=True)
        ][:MAX_SERIES]
        if any(mark.estimate.value is not None for mark in marks):
            dot_rows.append(DotRow(value, pluralize(queries, "query", "queries"), marks))
        cells = ["–" if figure is None else format_with_n(figure, queries) for figure in figures]
        rows.append((value, queries, *cells, next(filter(None, left_out), "")))
    drawings = (draw_dot_plot(title, systems[:MAX_SERIES], dot_rows),) if dot_rows else ()
    table = Table(title, (facet, "queries", *systems, "note"), tuple(rows))
    return Section(f"By {facet}", sentence, drawings, (table,))


def _choose_values(strata: Sequence[Mapping[str, StratumFigures[MeasureFigure]]]) -> tuple[list[str], str]:
    """Choose which values of a facet the tables list, and count the remaining values in a sentence ('' if the
    tables list all).

    If a facet has more than `MAX_LISTED_VALUES` values, the values with the most queries and with figures of
    any run are listed.
    """
    first_strata = strata[0]
    if len(first_strata) <= MAX_LISTED_VALUES:
        return list(first_strata), ""
    values = [value for value in first_strata if any(run_strata[value].figures for run_strata in strata)]
    largest = set(sorted(values, key=lambda value: -first_strata[value].queries)[:MAX_LISTED_VALUES])
    smaller = len(values) - len(largest)
    values = [value for value in values if value in largest]
    reasons = Counter(stratum.left_out for stratum in first_strata.values() if not stratum.figures)
    if smaller:
        reasons[f"fewer queries than the {MAX_LISTED_VALUES} largest"] = smaller
    listed = "; ".join(f"{count:,} ({reason})" for reason, count in sorted(reasons.items()) if reason)
    return values, f"Not listed: {listed}." if listed else ""
