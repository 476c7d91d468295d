"""The report's section on estimates that use a judge's grades."""

from __future__ import annotations

from collections.abc import Mapping

from curation.core.reports.page import Section
from curation.core.reports.tables import Table
from curation.core.statistics.difference_estimator import DifferenceEstimate
from curation.core.text import describe_left_out, pluralize
from curation.evaluation.llm_judges.estimates import JudgedEvaluation, JudgedSystem
from curation.evaluation.report.cells import format_figure


def make_judge_sections(
    judged: JudgedEvaluation | None, title: str = "With a judge", graded: str = "the pools of", note: str = ""
) -> list[Section]:
    """Show estimates on all queries that the judge graded; no section if no judge was requested."""
    if judged is None:
        return []
    sentence = (
        f"The judge {judged.judge} graded {graded} {pluralize(judged.everything, 'query', 'queries')}, and "
        f"people graded {judged.people:,} of these queries. People's grades correct the judge's grades, so "
        "a poor judge makes intervals wider, not wrong. Do not trust the interval if the judge differs "
        "from people on fewer than 10 of these queries. “Saved” is how many more queries people would have "
        "to grade for an equally narrow interval without the judge. If it is below 0, use the values from "
        f"people's grades alone.{note}"
    )
    if judged.not_drawn:
        sentence += f"\n{explain_undrawn_pairs(judged)}"
    for left_out in describe_left_out(judged.left_out, "queries"):
        sentence += f"\n{left_out}"
    tables = []
    for system in judged.runs:
        sentence += "".join(f"\n{line}" for line in _describe_worth(system)[:1])
        tables.append(_estimates_table(f"{system.name}, each query counts equally", system.overall))
        if system.traffic:
            tables.append(_estimates_table(f"{system.name}, for all searches", system.traffic))
        for measure, count in system.too_few.items():
            sentence += (
                f"\nThere is no estimate of {measure} for {system.name}: people graded {count} of "
                "its answers, "
            )
            sentence += "fewer than 10."
    return [Section(title, sentence, (), tuple(tables))]


def explain_undrawn_pairs(evaluation: JudgedEvaluation) -> str:
    """Explain how the estimates count pairs left out of a sample of the pool, in one sentence."""
    return (
        "Only a random sample of the pool was judged. Estimates that use a judge's grades count the "
        f"{pluralize(evaluation.not_drawn, 'pair')} outside the sample as not relevant."
    )


def _describe_worth(system: JudgedSystem) -> list[str]:
    """Say for each measure how many queries people would have to grade for an equally narrow interval without
    the judge."""
    return [
        f"{system.name}, {measure}: with the judge, people's grades of "
        f"{pluralize(figure.sampled, 'query', 'queries')} are worth as much as people's grades of "
        f"{figure.sampled + figure.saved:,.0f} queries without the judge."
        for measure, figure in system.overall.items()
        if figure.saved is not None
    ]


def _estimates_table(caption: str, figures: Mapping[str, DifferenceEstimate]) -> Table:
    columns = ("measure", "estimate", "people alone", "judge alone", "n", "saved", "note")
    rows = []
    for measure, figure in figures.items():
        estimates = (format_figure(figure.estimate), format_figure(figure.people_alone), figure.judge_alone)
        counts = f"{figure.sampled:,} of {figure.everything:,}"
        saved = "–" if figure.saved is None else f"{figure.saved:+,.0f}"
        rows.append((measure, *estimates, counts, saved, figure.no_interval or figure.doubt or ""))
    return Table(caption, columns, tuple(rows))
