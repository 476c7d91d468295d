"""Report, other means: for all searches, over strata alike, the median and the worst stratum."""

from __future__ import annotations

from curation.evaluation.comparison.aggregations import AGGREGATIONS, StrataSummary, WinRate, about
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.report.section import ReportSection, told
from curation.releases.coverage import about_map
from curation.reports.page import Section, Table

AGGREGATED = (
    "Overall is the mean over queries. Macro and median are over the strata's means, worst is the lowest of "
    "those with ten queries or more. Few queries in a stratum make its mean, and so the worst, uncertain."
)


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
    means = Section("Other means", sentence, (), (Table(f"{headline}, by what counts", columns, rows),))
    return [means, *(_summary(found, one) for one in found.summaries)]


def _summary(found: Evaluation, one: StrataSummary) -> Section:
    sentences = [about(one)]
    if found.coverage is not None:
        sentences = [about_map(found.coverage), *sentences]
    figures = tuple(
        (system, *(told(own[name]) for name in AGGREGATIONS)) for system, own in one.figures.items()
    )
    tables = [Table(f"{one.measure} over {one.facet}", ("system", *AGGREGATIONS), figures)] if figures else []
    pairs: dict[tuple[str, str], dict[str, str]] = {(rate.system, rate.other): {} for rate in one.win_rates}
    for rate in one.win_rates:
        pairs[rate.system, rate.other][rate.aggregation] = _rates(rate)
    if pairs:
        rows = tuple((f"{system} against {other}", *of.values()) for (system, other), of in pairs.items())
        caption = f"Win rates: shares of {one.resamples:,} resamples above / level / below"
        tables.append(Table(caption, ("systems", *AGGREGATIONS), rows))
    return Section(
        f"Over {one.facet}", "\n".join(sentences), (), tuple(tables), AGGREGATED if figures else ""
    )


def _rates(rate: WinRate) -> str:
    shares = (rate.wins, rate.ties, rate.losses)
    return "\u00a0/\u00a0".join("–" if share is None else f"{share:.2f}" for share in shares)


def _row(system: EvaluatedSystem, headline: str) -> tuple[str, ...]:
    others, traffic = system.others[headline], system.traffic.get(headline)
    worst = f"{others.worst.stratum}: {told(others.worst)}" if others.worst else "–"
    searches = told(traffic) if traffic else "–"
    cells = (told(system.overall[headline]), searches, told(others.macro), told(others.median), worst)
    return (system.name, *cells)


SECTION = ReportSection(40, write)
