"""Report, what was asked for beside the runs: answers of systems, and estimates with a judge."""

from __future__ import annotations

from collections.abc import Mapping

from curation.evaluation.answers.evaluate_answers import AnswerEvaluation, AnswerFigure, AnsweringSystem
from curation.evaluation.judges.estimates import JudgedEvaluation
from curation.evaluation.report.section import mark, told
from curation.reports.charts import intervals
from curation.reports.page import Section, Table
from curation.statistics.prediction_powered import PredictionPoweredMean
from curation.text import amount


def judge_sections(found: JudgedEvaluation | None) -> list[Section]:
    """Estimates on all queries that the judge graded; none where no judge was asked for."""
    if found is None:
        return []
    sentence = (
        f"The judge {found.judge} graded the pools of {amount(found.everything, 'query', 'queries')}, "
        "people those of "
        f"{found.people:,} of them. People's grades correct the judge's, so a poor judge makes intervals "
        "wide, not wrong. A judge that differs on fewer than 10 of these queries is doubted. Saved is how "
        "many more queries people would have to grade without it. The correlation of its figures with "
        "people's, query by query, decides that, and both have their 95 % intervals."
    )
    if found.not_drawn:
        sentence += f"\n{undrawn_sentence(found)}"
    tables = []
    for system in found.runs:
        tables.append(_estimates(f"{system.name}, all queries alike", system.overall))
        if system.traffic:
            tables.append(_estimates(f"{system.name}, for all searches", system.traffic))
    return [Section("With a judge", sentence, (), tuple(tables))]


def undrawn_sentence(found: JudgedEvaluation) -> str:
    """What these estimates do with the pairs that a sample of the pool left out."""
    return (
        "A random sample of the pool was judged. Estimates with a judge take the "
        f"{amount(found.not_drawn, 'pair')} "
        "that it left out for not relevant."
    )


def saved_text(one: PredictionPoweredMean) -> str:
    """The queries of people's that a judge saves, with the interval that its correlation leaves."""
    if one.saved is None:
        return "–"
    if one.saved_low is None or one.saved_high is None:
        return f"{one.saved:+,.0f}"
    return f"{one.saved:+,.0f} ({one.saved_low:+,.0f}\u00a0to\u00a0{one.saved_high:+,.0f})"


def _estimates(caption: str, figures: Mapping[str, PredictionPoweredMean]) -> Table:
    columns = ("measure", "estimate", "people alone", "judge alone", "weight", "correlation", "saved", "note")
    rows = tuple(
        (
            measure,
            told(one.estimate),
            told(one.classical),
            one.judge,
            one.power,
            "–" if one.correlation is None else told(one.correlation),
            saved_text(one),
            one.no_interval or one.doubt or "",
        )
        for measure, one in figures.items()
    )
    return Table(caption, columns, rows)


def answer_sections(found: AnswerEvaluation | None) -> list[Section]:
    """Exact match, F1 and people's grades by system; none where no answers were named."""
    if found is None:
        return []
    sentence = (
        f"{found.with_references:,} of {amount(found.queries, 'query', 'queries')} have reference "
        "answers. A query that a "
        "system did not answer counts 0. Exact match and F1 are those of SQuAD, the best over all "
        "references; what people graded is a share of the scale."
    )
    measures = list(found.systems[0].overall)
    counts = ["answered", "missing", "empty"]
    if found.unanswerable:
        sentence += (
            f"\n{amount(found.unanswerable, 'query is', 'queries are')} unanswerable: silence is the share "
            "of all of them with an empty answer. One without a row counts as not silent, and is counted."
        )
        counts += ["silent on unanswerable", "unanswerable without a row"]
    overall = Table(
        "Means over queries",
        ("system", *measures, *counts),
        tuple(_row(system, bool(found.unanswerable)) for system in found.systems),
    )
    drawn = tuple(
        intervals(
            f"{name} of each system", [mark(system.name, system.overall[name]) for system in found.systems]
        )
        for name in measures
    )
    looks = "\n".join(look.sentence for look in found.looks)
    return [Section("Answers", sentence, drawn, (overall, *_strata(found)), looks)]


def _row(system: AnsweringSystem, unanswerable: bool) -> tuple[object, ...]:
    figures = (told(figure) for figure in system.overall.values())
    silence = (told(system.refused), system.unsent) if unanswerable else ()
    return (system.name, *figures, system.answered, system.missing, system.empty, *silence)


def _strata(found: AnswerEvaluation) -> list[Table]:
    tables = []
    for system in found.systems:
        for facet, values in system.strata.items():
            rows = []
            for value, one in values.items():
                means = [_mean(one.figures.get(name)) for name in system.overall]
                rows.append((value, one.queries, *means, one.left_out or ""))
            columns = (facet, "queries", *system.overall, "note")
            tables.append(Table(f"{system.name} by {facet}", columns, tuple(rows)))
    return tables


def _mean(figure: AnswerFigure | None) -> str:
    return "–" if figure is None else told(figure)
