"""The report's section that shows retrieval, answers and faithfulness of each system in one row.

A run and a file of answers belong to one system where they have the same name. The weighted score of nuggets
represents all scores of nuggets, because it has a value wherever a query has nuggets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.core.reports.page import Section
from curation.core.reports.tables import Table
from curation.core.statistics.estimate import Estimate
from curation.evaluation.answers.graded_answers import CORRECTNESS, FAITHFULNESS
from curation.evaluation.answers.nugget_scores import WEIGHTED
from curation.evaluation.evaluation import AnswerEvaluation, Evaluation
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.report.answer_sections import (
    choose_shown_measures,
    define_measures,
    keep_weighted_score,
    write_support_findings,
)
from curation.evaluation.report.cells import format_figure

SystemFigures = Mapping[str, MeasureFigure | Estimate | None]
"""Measure → figure of a system; None if the system has no such figure."""
TRIPLE = "Retrieval, answers, faithfulness"
GRADED_MEASURES = (CORRECTNESS, FAITHFULNESS)


def write_triples(evaluation: Evaluation, answers: AnswerEvaluation) -> list[Section]:
    """Show retrieval, answer quality and faithfulness of each system in one row."""
    systems = _collect_triples(evaluation, answers)
    rows = tuple((name, *(_show_cell(cells, column) for column in cells)) for name, cells in systems.items())
    definitions = define_measures(choose_shown_measures(answers))
    sentence = f"Retrieval is {evaluation.measures[0]} of the runs. {definitions}"
    table = Table("Means over queries", ("system", *next(iter(systems.values()))), rows, words=True)
    return [Section(TRIPLE, sentence, (), (table,), _triple_remark(evaluation, answers))]


def write_triple_findings(evaluation: Evaluation, answers: AnswerEvaluation) -> list[str]:
    """Give retrieval, answer quality and faithfulness of each of the first systems in a sentence."""
    first = list(_collect_triples(evaluation, answers).items())[:5]
    sentences = [
        f"{name}: {'; '.join(f'{measure} {_show_cell(triple, measure)}' for measure in triple)}."
        for name, triple in first
    ]
    return [*sentences, *write_support_findings(answers)]


def _collect_triples(evaluation: Evaluation, answers: AnswerEvaluation) -> dict[str, SystemFigures]:
    """Collect the figures of each system; systems with a run come first."""
    retrieval = {system.name: system.overall[evaluation.measures[0]] for system in evaluation.runs}
    answer_figures = {system.name: system.overall for system in answers.systems}
    measures = keep_weighted_score(choose_shown_measures(answers))
    computed_measures = [name for name in measures if name not in GRADED_MEASURES]
    return {
        name: {
            f"retrieval, {evaluation.measures[0]}": retrieval.get(name),
            **{
                measure: answer_figures.get(name, {}).get(measure)
                for measure in (*computed_measures, *_choose_graded_measures(measures))
            },
        }
        for name in dict.fromkeys([*retrieval, *answer_figures])
    }


def _choose_graded_measures(shown: Sequence[str]) -> list[str]:
    """Choose the graded measures with a column; nuggets can replace correctness."""
    replaced = {CORRECTNESS} if WEIGHTED in shown else set()
    return [measure for measure in GRADED_MEASURES if measure in shown or measure not in replaced]


def _show_cell(triple: SystemFigures, name: str) -> str:
    figure = triple[name]
    if figure is None:
        return "not graded" if name in GRADED_MEASURES else "–"
    return format_figure(figure)


def _triple_remark(evaluation: Evaluation, answers: AnswerEvaluation) -> str:
    remarks = []
    runs = {run.name for run in evaluation.runs}
    if runs.isdisjoint(system.name for system in answers.systems):
        remarks.append(
            "No run has the name of a file of answers: give a system's run and its answers the same "
            "name to see the system in one row."
        )
    measures = choose_shown_measures(answers)
    missing_measures = [name for name in _choose_graded_measures(measures) if name not in measures]
    if missing_measures:
        remarks.append(f"No grades of {' and '.join(missing_measures)} were named.")
    if not {"f1", WEIGHTED, CORRECTNESS}.intersection(measures):
        remarks.append("The answers' quality is unknown: there are neither reference answers nor nuggets.")
    return " ".join(remarks)
