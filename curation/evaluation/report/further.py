"""Report, what was asked for beyond the runs: answers, a judge, candidates, and conditions to fail by.

With runs and answers the report begins with the triple: what each system finds, how right its answers are,
and whether they are faithful. Exact match and F1 are computed from reference answers, scores of citations
from people's marks; correctness, support of nuggets and faithfulness are what people graded. Of the scores of
nuggets the weighted one is in the triple, as it has a value wherever there are nuggets. A run and a file of
answers are of one system where they have the same name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from curation.evaluation.answers.evaluate_answers import AnswerEvaluation, AnsweringSystem
from curation.evaluation.report.section import interval, mark, with_interval, with_own_n
from curation.judges.estimates import JudgedEvaluation
from curation.reports.page import Section, Table
from curation.statistics.difference_estimator import DifferenceEstimate
from curation.text import amount, left_out_sentences

if TYPE_CHECKING:
    from curation.evaluation.fail_if import CheckedCondition
    from curation.evaluation.to_pool import PooledRuns
from markupsafe import Markup

from curation.evaluation.answers.citations import CITATION_SCORES
from curation.evaluation.answers.nugget_scores import NUGGET_SCORES, WEIGHTED
from curation.evaluation.answers.to_grade import CORRECTNESS, FAITHFULNESS, SUPPORT
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.means import Figure, MeasureFigure
from curation.reports.plots import MOST_SERIES, DotRow, dot_plot


def judge_sections(
    found: JudgedEvaluation | None,
    heading: str = "With a judge",
    graded: str = "the pools of",
    more: str = "",
) -> list[Section]:
    """Estimates on all queries that the judge graded; none where no judge was asked for."""
    if found is None:
        return []
    sentence = (
        f"The judge {found.judge} graded {graded} {amount(found.everything, 'query', 'queries')}, people "
        f"those of {found.people:,} of them. People's grades correct the judge's, so a poor judge makes "
        "intervals wide, not wrong. A judge that differs on fewer than 10 of these queries is doubted. Saved "
        "is how many more queries people would have to grade without it. Where it is below 0, the figures of "
        f"people alone are the better ones.{more}"
    )
    if found.not_drawn:
        sentence += f"\n{undrawn_sentence(found)}"
    for left_out in left_out_sentences(found.left_out, "queries"):
        sentence += f"\n{left_out}"
    tables = []
    for system in found.runs:
        tables.append(_estimates(f"{system.name}, all queries alike", system.overall))
        if system.traffic:
            tables.append(_estimates(f"{system.name}, for all searches", system.traffic))
        for measure, count in system.too_few.items():
            sentence += f"\nNo estimate of {measure} of {system.name}: people graded {count} of its answers, "
            sentence += "fewer than 10."
    return [Section(heading, sentence, (), tuple(tables))]


def support_findings(found: AnswerEvaluation) -> list[str]:
    """Of support: whose means are too low, and the first systems' scores by a judge whom people correct.

    Means have the zeros of all queries without an answer, and values of graded answers alone.
    """
    low = [one.name for one in found.systems if one.ungraded.get(SUPPORT) and one.missing + one.empty]
    why = "not all answers are graded for support, and queries without an answer count 0"
    figures = [(one.name, one.overall.get(WEIGHTED)) for one in found.judged.runs[:5]] if found.judged else []
    return [f"{', '.join(low)}: {why}, so means of nuggets are too low."] * bool(low) + [
        f"{name}: {WEIGHTED} {with_interval(one.estimate)} where people correct the judge's grades, "
        f"{one.sampled:,} of {amount(one.everything, 'answer')} by people."
        for name, one in figures
        if one is not None
    ]


def undrawn_sentence(found: JudgedEvaluation) -> str:
    """What these estimates do with the pairs that a sample of the pool left out."""
    return (
        "A random sample of the pool was judged. Estimates with a judge take the "
        f"{amount(found.not_drawn, 'pair')} that it left out for not relevant."
    )


def _estimates(caption: str, figures: Mapping[str, DifferenceEstimate]) -> Table:
    columns = ("measure", "estimate", "people alone", "judge alone", "n", "saved", "note")
    rows = tuple(
        (
            measure,
            with_interval(one.estimate),
            with_interval(one.people_alone),
            one.judge_alone,
            f"{one.sampled:,} of {one.everything:,}",
            "–" if one.saved is None else f"{one.saved:+,.0f}",
            one.no_interval or one.doubt or "",
        )
        for measure, one in figures.items()
    )
    return Table(caption, columns, rows)


def answer_sections(found: AnswerEvaluation | None) -> list[Section]:
    """Exact match, F1 and people's grades by system; none where no answers were named."""
    if found is None:
        return []
    measures = shown_measures(found)
    sentence = f"{compared_with(found)} A query that a system did not answer counts 0. {_meanings(measures)}"
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
        f"Means over {amount(found.queries, 'query', 'queries')}",
        ("system", *measures, *counts),
        tuple(_row(system, measures, found) for system in found.systems),
    )
    drawn = _drawing("Answers of each system", {system.name: system.overall for system in found.systems})
    count = found.sealed_count.sentence if found.sealed_count else ""
    answers = Section("Answers", sentence, (drawn,), (overall, *_strata(found, measures)), count)
    return [answers, *judge_sections(found.judged, *SUPPORTED)]


def shown_measures(found: AnswerEvaluation) -> list[str]:
    """The measures that a system has a value of."""
    every = list(found.systems[0].overall)
    return [one for one in every if any(own.overall[one].value is not None for own in found.systems)] or every


def compared_with(found: AnswerEvaluation) -> str:
    """How many queries have something that answers are compared with, in a sentence."""
    shown = shown_measures(found)
    have = [name for measure, name in _COMPARED_WITH.items() if measure in shown] or ["reference answers"]
    return (
        f"{found.with_references:,} of {amount(found.queries, 'query', 'queries')} have {' or '.join(have)}."
    )


_COMPARED_WITH = {"f1": "reference answers", WEIGHTED: "nuggets", CITATION_SCORES[0]: "evidence"}
"""Measure → what an answer is compared with for it."""
_MEANINGS = {
    "f1": "Exact match and F1 are those of SQuAD, the best over all reference answers.",
    WEIGHTED: f"{WEIGHTED} is the share of the nuggets that answers support, okay ones with half a weight.",
    CITATION_SCORES[0]: "Citation precision is the share of what an answer cites that holds evidence of its "
    "query. Citation recall is the share of the documents with evidence from which it cites some.",
    CORRECTNESS: "Correctness is people's grade, as a share of the scale.",
    FAITHFULNESS: "Faithfulness is people's grade, as a share of the scale.",
}


def _meanings(measures: Sequence[str]) -> str:
    """What these measures of answers are, in sentences."""
    return " ".join(text for name, text in _MEANINGS.items() if name in measures)


def _row(system: AnsweringSystem, measures: Sequence[str], found: AnswerEvaluation) -> tuple[object, ...]:
    figures = (with_own_n(system.overall[name], found.queries) for name in measures)
    silence = (with_own_n(system.refused, found.unanswerable), system.unsent) if found.unanswerable else ()
    return (system.name, *figures, system.answered, system.missing, system.empty, *silence)


def _strata(found: AnswerEvaluation, measures: Sequence[str]) -> list[Table]:
    tables = []
    for system in found.systems:
        for facet, values in system.strata.items():
            rows = []
            for value, one in values.items():
                means = [_mean(one.figures.get(name), one.queries) for name in measures]
                rows.append((value, one.queries, *means, one.left_out or ""))
            columns = (facet, "queries", *measures, "note")
            tables.append(Table(f"{system.name} by {facet}", columns, tuple(rows)))
    return tables


def _mean(figure: Figure | None, queries: int) -> str:
    return "–" if figure is None else with_own_n(figure, queries)


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


def condition_sections(conditions: Sequence[CheckedCondition]) -> list[Section]:
    """What came of the conditions to fail by, with the figures that meet one; none where there was none."""
    if not conditions:
        return []
    sentences, tables = [], []
    for one in conditions:
        if one.outcome == "not checked":
            sentences.append(f"Not checked: {one.condition}: {one.failed[0].sentence}")
        elif one.failed:
            columns = ("system", "where", "n", "value", "against", "change", "95 % interval", "corrected p")
            rows = tuple(
                (row.system, row.where, row.n, row.value, row.reference, row.change, interval(row), row.p)
                for row in one.failed
            )
            tables.append(Table(f"Failed: {one.condition}", columns, rows))
    if not sentences and not tables:
        sentences.append("No condition of --fail-if holds.")
    return [Section("Conditions", "\n".join(sentences), (), tuple(tables))]


SUPPORTED = (
    "Support of nuggets with a judge",
    "all nuggets of the answers to",
    " The estimates are of all queries: one without an answer counts 0, and is not in n.",
)
"""Heading, what was graded, and what more there is to say."""
TRIPLE = "Retrieval, answers, faithfulness"
GRADED = (CORRECTNESS, FAITHFULNESS)
MOST_DRAWN = 12
"""Systems that are drawn; the table has all."""
Triple = Mapping[str, MeasureFigure | Figure | None]
"""What is said of a system → figure; None where there is none."""


def triple_sections(found: Evaluation, answers: AnswerEvaluation) -> list[Section]:
    """Retrieval, answer quality and faithfulness of each system, on one line."""
    systems = _triples(found, answers)
    told_of = list(next(iter(systems.values())))
    rows = tuple((name, *(_triple_cell(triple, one) for one in told_of)) for name, triple in systems.items())
    sentence = f"Retrieval is {found.measures[0]} of the runs. {_meanings(shown_measures(answers))}"
    table = Table("Means over queries", ("system", *told_of), rows, words=True)
    return [Section(TRIPLE, sentence, (_drawing(TRIPLE, systems),), (table,), _triple_remark(found, answers))]


def triple_findings(found: Evaluation, answers: AnswerEvaluation) -> list[str]:
    """The same as a sentence for each of the first systems."""
    first = list(_triples(found, answers).items())[:5]
    sentences = [
        f"{name}: {'; '.join(f'{one} {_triple_cell(triple, one)}' for one in triple)}."
        for name, triple in first
    ]
    return [*sentences, *support_findings(answers)]


def _triples(found: Evaluation, answers: AnswerEvaluation) -> dict[str, Triple]:
    """The systems with a run first."""
    retrieval = {system.name: system.overall[found.measures[0]] for system in found.runs}
    answered = {system.name: system.overall for system in answers.systems}
    shown = [one for one in shown_measures(answers) if one == WEIGHTED or one not in NUGGET_SCORES]
    computed = [name for name in shown if name not in GRADED]
    return {
        name: {
            f"retrieval, {found.measures[0]}": retrieval.get(name),
            **{one: answered.get(name, {}).get(one) for one in (*computed, *_wanted(shown))},
        }
        for name in dict.fromkeys([*retrieval, *answered])
    }


def _wanted(shown: Sequence[str]) -> list[str]:
    """What people should grade besides: nuggets say how right an answer is, as correctness does."""
    return [one for one in GRADED if one in shown or one != CORRECTNESS or WEIGHTED not in shown]


def _triple_cell(triple: Triple, name: str) -> str:
    figure = triple[name]
    if figure is None:
        return "not graded" if name in GRADED else "–"
    return with_interval(figure)


def _drawing(title: str, systems: Mapping[str, Triple]) -> Markup:
    """What is known of the first systems; of the scores of nuggets the weighted one."""
    told_of = [one for one in next(iter(systems.values())) if one == WEIGHTED or one not in NUGGET_SCORES]
    known = [one for one in told_of if any(_has_value(triple[one]) for triple in systems.values())]
    drawn = [one for one in known if one != "exact_match"][:MOST_SERIES]
    rows = [
        DotRow(name, "", [mark("", triple[one], "no figure") for one in drawn])
        for name, triple in list(systems.items())[:MOST_DRAWN]
    ]
    return dot_plot(title, drawn, rows)


def _has_value(figure: MeasureFigure | Figure | None) -> bool:
    return figure is not None and figure.value is not None


def _triple_remark(found: Evaluation, answers: AnswerEvaluation) -> str:
    remarks = []
    runs, answered = {one.name for one in found.runs}, {one.name for one in answers.systems}
    if not runs & answered:
        remarks.append(
            "No run and no file of answers have the same name: name them alike to read a system on one line."
        )
    shown = shown_measures(answers)
    if missing := [name for name in _wanted(shown) if name not in shown]:
        remarks.append(f"Nobody's grades of {' and '.join(missing)} were named.")
    if not {"f1", WEIGHTED, CORRECTNESS}.intersection(shown):
        remarks.append("How right the answers are is not known: no reference answers, and no graded nuggets.")
    return " ".join(remarks)
