"""Report, answers of systems: how right they are.

Exact match and F1 are computed from reference answers, scores of citations from people's marks; correctness,
support of nuggets and faithfulness are what people graded.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from curation.core.reports.page import Section, Table
from curation.core.reports.plots import MAX_SERIES, DotRow, dot_plot
from curation.core.text import pluralize
from curation.evaluation.answers.answer_files import CITATION_SCORES
from curation.evaluation.answers.graded_answers import CORRECTNESS, FAITHFULNESS, SUPPORT
from curation.evaluation.answers.nuggets import NUGGET_SCORES, WEIGHTED
from curation.evaluation.evaluation import AnswerEvaluation, AnsweringSystem
from curation.evaluation.report.judged import judge_sections
from curation.evaluation.report.section import mark, with_interval, with_own_n

_COMPARED_WITH = {"f1": "reference answers", WEIGHTED: "nuggets", CITATION_SCORES[0]: "evidence"}
"""Measure → what an answer is compared with for it."""
SUPPORTED = (
    "Support of nuggets with a judge",
    "all nuggets of the answers to",
    " The estimates are of all queries: one without an answer counts 0, and is not in n.",
)
"""Heading, what was graded, and what more there is to say."""
MAX_DRAWN = 12
"""Systems that are drawn; the table has all."""
_MEANINGS = {
    "f1": "Exact match and F1 are computed as in SQuAD: the best over all reference answers.",
    WEIGHTED: f"{WEIGHTED} is the share of the nuggets that answers support, okay ones with half a weight.",
    CITATION_SCORES[0]: "Citation precision is the share of what an answer cites that holds evidence of its "
    "query. Citation recall is the share of the documents with evidence from which it cites some.",
    CORRECTNESS: "Correctness is people's grade, as a share of the scale.",
    FAITHFULNESS: "Faithfulness is people's grade, as a share of the scale.",
}


def support_findings(evaluation: AnswerEvaluation) -> list[str]:
    """Systems whose means of support are too low, and the first systems' scores with a corrected judge.

    Means have the zeros of all queries without an answer, and values of graded answers alone.
    """
    low = [
        system.name
        for system in evaluation.systems
        if system.ungraded.get(SUPPORT) and system.missing + system.empty
    ]
    why = "not all answers are graded for support, and queries without an answer count 0"
    figures = (
        [(run.name, run.overall.get(WEIGHTED)) for run in evaluation.judged.runs[:5]]
        if evaluation.judged
        else []
    )
    return [f"{', '.join(low)}: {why}, so means of nuggets are too low."] * bool(low) + [
        f"{name}: {WEIGHTED} {with_interval(judged_system.estimate)} where people correct the judge's "
        f"grades, {judged_system.sampled:,} of {pluralize(judged_system.everything, 'answer')} by people."
        for name, judged_system in figures
        if judged_system is not None
    ]


def answer_sections(evaluation: AnswerEvaluation | None) -> list[Section]:
    """Exact match, F1 and people's grades by system; none where no answers were named."""
    if evaluation is None:
        return []
    measures = shown_measures(evaluation)
    sentence = (
        f"{compared_with(evaluation)} A query that a system did not answer counts 0. {meanings(measures)}"
    )
    counts = ["answered", "missing", "empty"]
    if evaluation.unanswerable:
        sentence += (
            f"\n{pluralize(evaluation.unanswerable, 'query is', 'queries are')} unanswerable: silence is the "
            "share "
            "of all of them with an empty answer. One without a row counts as not silent, and is counted."
        )
        counts += ["silent on unanswerable", "unanswerable without a row"]
    for system in evaluation.systems:
        left = [f"{count:,} not graded for {name}" for name, count in system.ungraded.items() if count]
        left += [f"{pluralize(count, 'row')} left out: {reason}" for reason, count in system.left_out.items()]
        sentence += f"\n{system.source}: {'; '.join(left)}." if left else ""
    overall = Table(
        f"Means over {pluralize(evaluation.queries, 'query', 'queries')}",
        ("system", *measures, *counts),
        tuple(_row(system, measures, evaluation) for system in evaluation.systems),
    )
    count = evaluation.sealed_count.sentence if evaluation.sealed_count else ""
    answers = Section(
        "Answers", sentence, (_drawing(evaluation),), (overall, *_strata(evaluation, measures)), count
    )
    return [answers, *judge_sections(evaluation.judged, *SUPPORTED)]


def shown_measures(evaluation: AnswerEvaluation) -> list[str]:
    """The measures that a system has a value of."""
    every = list(evaluation.systems[0].overall)
    return [
        measure
        for measure in every
        if any(system.overall[measure].value is not None for system in evaluation.systems)
    ] or every


def compared_with(evaluation: AnswerEvaluation) -> str:
    """How many queries have something that answers are compared with, in a sentence."""
    shown = shown_measures(evaluation)
    have = [name for measure, name in _COMPARED_WITH.items() if measure in shown] or ["reference answers"]
    return (
        f"{evaluation.with_references:,} of {pluralize(evaluation.queries, 'query', 'queries')} have "
        f"{' or '.join(have)}."
    )


def meanings(measures: Sequence[str]) -> str:
    """What these measures of answers are, in sentences."""
    return " ".join(text for name, text in _MEANINGS.items() if name in measures)


def _row(
    system: AnsweringSystem, measures: Sequence[str], evaluation: AnswerEvaluation
) -> tuple[object, ...]:
    figures = (with_own_n(system.overall[name], evaluation.queries) for name in measures)
    silence = (
        (with_own_n(system.refused, evaluation.unanswerable), system.unsent)
        if evaluation.unanswerable
        else ()
    )
    return (system.name, *figures, system.answered, system.missing, system.empty, *silence)


def _strata(evaluation: AnswerEvaluation, measures: Sequence[str]) -> list[Table]:
    tables = []
    for system in evaluation.systems:
        for facet, values in system.strata.items():
            rows = []
            for value, figures in values.items():
                known = map(figures.figures.get, measures)
                means = ["–" if mean is None else with_own_n(mean, figures.queries) for mean in known]
                rows.append((value, figures.queries, *means, figures.left_out or ""))
            columns = (facet, "queries", *measures, "note")
            tables.append(Table(f"{system.name} by {facet}", columns, tuple(rows)))
    return tables


def _drawing(evaluation: AnswerEvaluation) -> Markup:
    """The measures that are known of the first systems; of the scores of nuggets the weighted one."""
    measures = [
        measure
        for measure in shown_measures(evaluation)
        if measure != "exact_match" and (measure == WEIGHTED or measure not in NUGGET_SCORES)
    ][:MAX_SERIES]
    rows = [
        DotRow(system.name, "", [mark("", system.overall[measure], "no figure") for measure in measures])
        for system in evaluation.systems[:MAX_DRAWN]
    ]
    return dot_plot("Answers of each system", measures, rows)
