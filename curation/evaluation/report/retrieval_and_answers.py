"""Report, retrieval and answers: what each system retrieves, how right its answers are, and how faithful.

A run and a file of answers belong to one system where they have the same name. The weighted score of nuggets
stands for all of them, because it has a value wherever there are nuggets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.core.reports.page import Section, Table
from curation.core.statistics.estimate import Estimate
from curation.evaluation.answers.graded_answers import CORRECTNESS, FAITHFULNESS
from curation.evaluation.answers.nuggets import NUGGET_SCORES, WEIGHTED
from curation.evaluation.evaluation import AnswerEvaluation, Evaluation
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.report.answers import meanings, shown_measures, support_findings
from curation.evaluation.report.section import with_interval

SystemFigures = Mapping[str, MeasureFigure | Estimate | None]
"""Measure → figure of a system; None if the system has no such figure."""
TRIPLE = "Retrieval, answers, faithfulness"
GRADED = (CORRECTNESS, FAITHFULNESS)


def triple_sections(evaluation: Evaluation, answers: AnswerEvaluation) -> list[Section]:
    """Retrieval, answer quality and faithfulness of each system, on one line."""
    systems = _triples(evaluation, answers)
    told_of = list(next(iter(systems.values())))
    rows = tuple(
        (name, *(_triple_cell(triple, measure) for measure in told_of)) for name, triple in systems.items()
    )
    sentence = f"Retrieval is {evaluation.measures[0]} of the runs. {meanings(shown_measures(answers))}"
    table = Table("Means over queries", ("system", *told_of), rows, words=True)
    return [Section(TRIPLE, sentence, (), (table,), _triple_remark(evaluation, answers))]


def triple_findings(evaluation: Evaluation, answers: AnswerEvaluation) -> list[str]:
    """The same as a sentence for each of the first systems."""
    first = list(_triples(evaluation, answers).items())[:5]
    sentences = [
        f"{name}: {'; '.join(f'{measure} {_triple_cell(triple, measure)}' for measure in triple)}."
        for name, triple in first
    ]
    return [*sentences, *support_findings(answers)]


def _triples(evaluation: Evaluation, answers: AnswerEvaluation) -> dict[str, SystemFigures]:
    """The systems with a run first."""
    retrieval = {system.name: system.overall[evaluation.measures[0]] for system in evaluation.runs}
    answered = {system.name: system.overall for system in answers.systems}
    shown = [
        shown_measure
        for shown_measure in shown_measures(answers)
        if shown_measure == WEIGHTED or shown_measure not in NUGGET_SCORES
    ]
    computed = [name for name in shown if name not in GRADED]
    return {
        name: {
            f"retrieval, {evaluation.measures[0]}": retrieval.get(name),
            **{measure: answered.get(name, {}).get(measure) for measure in (*computed, *_wanted(shown))},
        }
        for name in dict.fromkeys([*retrieval, *answered])
    }


def _wanted(shown: Sequence[str]) -> list[str]:
    """What people should grade besides: nuggets say how right an answer is, as correctness does."""
    return [
        measure for measure in GRADED if measure in shown or measure != CORRECTNESS or WEIGHTED not in shown
    ]


def _triple_cell(triple: SystemFigures, name: str) -> str:
    figure = triple[name]
    if figure is None:
        return "not graded" if name in GRADED else "–"
    return with_interval(figure)


def _triple_remark(evaluation: Evaluation, answers: AnswerEvaluation) -> str:
    remarks = []
    runs, answered = {run.name for run in evaluation.runs}, {system.name for system in answers.systems}
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
