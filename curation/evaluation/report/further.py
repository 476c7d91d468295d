"""Report, what was asked for besides the runs: answers, a judge, candidates, and conditions to fail by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from curation.evaluation.answers.evaluate_answers import AnswerEvaluation, AnswerFigure, AnsweringSystem
from curation.evaluation.judges.estimates import JudgedEvaluation
from curation.evaluation.report.section import mark, told
from curation.reports.charts import intervals
from curation.reports.page import Section, Table
from curation.statistics.prediction_powered import PredictionPoweredMean
from curation.text import amount

if TYPE_CHECKING:
    from curation.evaluation.fail_if import FailedFigure
    from curation.evaluation.to_pool import PooledRuns


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
    for reason, count in found.left_out.items():
        sentence += f"\nLeft out: {amount(count, 'query', 'queries')}: {reason}."
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
    for system in found.systems:
        left = [f"{count:,} not graded for {name}" for name, count in system.ungraded.items() if count]
        left += [f"{amount(count, 'row')} left out: {reason}" for reason, count in system.left_out.items()]
        sentence += f"\n{system.source}: {'; '.join(left)}." if left else ""
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


def pooled_sections(pooled: PooledRuns | None) -> list[Section]:
    """What became of the runs' unjudged documents; none where nobody asked for candidates."""
    if pooled is None:
        return []
    sentences = [
        f"{pooled.pairs:,} unjudged pairs in all. The pool {pooled.pool.pool_id[:8]} added "
        f"{amount(pooled.pool.added, 'candidate')}; `goldset round open` shows those that nobody judged."
    ]
    if pooled.sealed:
        sentences.append(
            f"Queries of {', '.join(pooled.sealed)}, which is sealed and was evaluated, are pooled as well."
        )
    if pooled.sealed_left_out:
        queries = amount(pooled.sealed_left_out, "query", "queries")
        sentences.append(f"left out: {queries} of sealed parts that were not evaluated.")
    sentences += pooled.pool.gaps
    rows = tuple((name, pooled.returned[name], count) for name, count in pooled.unjudged.items())
    columns = ("run", "documents", "without a grade in the release")
    table = Table(f"In the first {pooled.depth:,} places", columns, rows)
    return [Section("Candidates", "\n".join(sentences), (), (table,))]


def failed_sections(failed: Sequence[FailedFigure] | None) -> list[Section]:
    """The figures that meet a condition to fail by, or that none does; none where there was no condition."""
    if failed is None:
        return []
    if not failed:
        return [Section("Conditions", "No condition of --fail-if holds.")]
    sentences, tables = [], []
    for condition in dict.fromkeys(row.condition for row in failed):
        rows = tuple(
            tuple(row)[1:] for row in failed if row.condition == condition and row.system is not None
        )
        if rows:
            columns = ("system", "where", "n", "value", "against", "change")
            tables.append(Table(f"Failed: {condition}", columns, rows))
        else:
            sentences.append(f"Failed: {condition}: no figure could be checked, so nothing has passed.")
    return [Section("Conditions", "\n".join(sentences), (), tuple(tables))]
