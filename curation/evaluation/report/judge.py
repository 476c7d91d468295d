"""Report, estimates with a judge: what its grades say, corrected by people's."""

from __future__ import annotations

from collections.abc import Mapping

from curation.core.reports.page import Section, Table
from curation.core.statistics.difference_estimator import DifferenceEstimate
from curation.core.text import amount, left_out_sentences
from curation.evaluation.llm_judges.estimates import JudgedEvaluation
from curation.evaluation.report.section import with_interval


def judge_sections(
    evaluation: JudgedEvaluation | None,
    heading: str = "With a judge",
    graded: str = "the pools of",
    more: str = "",
) -> list[Section]:
    """Estimates on all queries that the judge graded; none where no judge was asked for."""
    if evaluation is None:
        return []
    sentence = (
        f"The judge {evaluation.judge} graded {graded} {amount(evaluation.everything, 'query', 'queries')}, "
        "people "
        f"those of {evaluation.people:,} of them. People's grades correct the judge's, so a poor judge makes "
        "intervals wide, not wrong. A judge that differs on fewer than 10 of these queries is doubted. Saved "
        "is how many more queries people would have to grade without it. Where it is below 0, the figures of "
        f"people alone are the better ones.{more}"
    )
    if evaluation.not_drawn:
        sentence += f"\n{undrawn_sentence(evaluation)}"
    for left_out in left_out_sentences(evaluation.left_out, "queries"):
        sentence += f"\n{left_out}"
    tables = []
    for system in evaluation.runs:
        tables.append(_estimates(f"{system.name}, all queries alike", system.overall))
        if system.traffic:
            tables.append(_estimates(f"{system.name}, for all searches", system.traffic))
        for measure, count in system.too_few.items():
            sentence += f"\nNo estimate of {measure} of {system.name}: people graded {count} of its answers, "
            sentence += "fewer than 10."
    return [Section(heading, sentence, (), tuple(tables))]


def undrawn_sentence(evaluation: JudgedEvaluation) -> str:
    """What these estimates do with the pairs that a sample of the pool left out."""
    return (
        "A random sample of the pool was judged. Estimates with a judge take the "
        f"{amount(evaluation.not_drawn, 'pair')} that it left out for not relevant."
    )


def _estimates(caption: str, figures: Mapping[str, DifferenceEstimate]) -> Table:
    columns = ("measure", "estimate", "people alone", "judge alone", "n", "saved", "note")
    rows = tuple(
        (
            measure,
            with_interval(figure.estimate),
            with_interval(figure.people_alone),
            figure.judge_alone,
            f"{figure.sampled:,} of {figure.everything:,}",
            "–" if figure.saved is None else f"{figure.saved:+,.0f}",
            figure.no_interval or figure.doubt or "",
        )
        for measure, figure in figures.items()
    )
    return Table(caption, columns, rows)
