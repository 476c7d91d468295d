"""The report's sections on averages besides the plain mean: for all searches, and over strata."""

from __future__ import annotations

from collections.abc import Sequence

from curation.core.reports.page import Section
from curation.core.reports.tables import Table
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.aggregations import AGGREGATIONS, StrataSummary, describe_summary
from curation.evaluation.report.cells import format_figure
from curation.releases.coverage import describe_map

AGGREGATION_REMARK = (
    "Overall is the mean over queries. Macro and median summarize the means of the strata; worst is the "
    "lowest mean of any stratum with ten or more queries. A stratum with few queries has an uncertain mean, "
    "so the worst mean is uncertain, too."
)


def write_averages(evaluation: Evaluation) -> list[Section]:
    """Show systems' scores weighted to all searches, and summaries over strata of the corpus."""
    return [
        *_write_traffic(evaluation),
        *(_write_summary(evaluation, summary) for summary in evaluation.summaries),
    ]


def _write_traffic(evaluation: Evaluation) -> list[Section]:
    """Show systems' scores weighted to all searches; no section if no query was drawn from traffic."""
    headline = evaluation.measures[0]
    rows = tuple(
        (system.name, format_figure(system.overall[headline]), format_figure(system.traffic[headline]))
        for system in evaluation.runs
        if headline in system.traffic
    )
    if not rows:
        return []
    sentence = (
        "The plain mean counts each query equally. The estimate for all searches weights each query by the "
        "number of searches that the query represents."
    )
    table = Table(f"{headline}, by weighting", ("system", "mean", "for all searches"), rows)
    return [Section("All searches", sentence, (), (table,))]


def _write_summary(evaluation: Evaluation, summary: StrataSummary) -> Section:
    sentences = [describe_map(evaluation.coverage)] if evaluation.coverage is not None else []
    sentences.append(describe_summary(summary))
    means_of = {system: [means[name] for name in AGGREGATIONS] for system, means in summary.figures.items()}
    figures = tuple((system, *map(format_figure, means)) for system, means in means_of.items())
    rates = tuple(
        (f"{system} against {other}", *map(_format_win_rates, rates.values()))
        for system, others in summary.win_rates.items()
        for other, rates in others.items()
    )
    caption = f"Win rates: shares of {summary.resamples:,} resamples above / level / below"
    means_table = Table(f"{summary.measure} over {summary.facet}", ("system", *AGGREGATIONS), figures)
    rates_table = Table(caption, ("systems", *AGGREGATIONS), rates)
    tables_with_rows = tuple(table for table in (means_table, rates_table) if table.rows)
    remark = AGGREGATION_REMARK if figures else ""
    return Section(f"Over {summary.facet}", "\n".join(sentences), (), tables_with_rows, remark)


def _format_win_rates(shares: Sequence[float | None]) -> str:
    return "\u00a0/\u00a0".join("–" if share is None else f"{share:.2f}" for share in shares)
