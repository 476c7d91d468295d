"""Report, the triple: what each system finds, how right its answers are, and whether they are faithful.

Exact match and F1 are computed from reference answers; correctness and faithfulness are what people graded.
A run and a file of answers are of one system where they have the same name.
"""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from curation.evaluation.answers.evaluate_answers import AnswerEvaluation, AnswerFigure
from curation.evaluation.answers.grading import CORRECTNESS, FAITHFULNESS
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.report.section import mark, told
from curation.reports.page import Section, Table
from curation.reports.plots import MOST_SERIES, DotRow, dot_plot

HEADING = "Retrieval, answers, faithfulness"
GRADED = (CORRECTNESS, FAITHFULNESS)
MOST_DRAWN = 12
"""Systems that are drawn; the table has all."""
Triple = Mapping[str, MeasureFigure | AnswerFigure | None]
"""What is said of a system → figure; None where there is none."""


def triple_sections(found: Evaluation, answers: AnswerEvaluation) -> list[Section]:
    """Retrieval, answer quality and faithfulness of each system, on one line."""
    systems = _systems(found, answers)
    told_of = list(next(iter(systems.values())))
    rows = tuple((name, *(_cell(triple, one) for one in told_of)) for name, triple in systems.items())
    sentence = (
        f"Retrieval is {found.measures[0]} of the runs. Exact match and F1 compare answers with the "
        "reference answers. Correctness and faithfulness are people's grades of the answers, as shares of "
        "the scale."
    )
    table = Table("Means over queries", ("system", *told_of), rows, words=True)
    return [Section(HEADING, sentence, (_drawn(systems),), (table,), _remark(found, answers))]


def triple_findings(found: Evaluation, answers: AnswerEvaluation) -> list[str]:
    """The same as a sentence for each of the first systems."""
    first = list(_systems(found, answers).items())[:5]
    return [
        f"{name}: {'; '.join(f'{one} {_cell(triple, one)}' for one in triple)}." for name, triple in first
    ]


def _systems(found: Evaluation, answers: AnswerEvaluation) -> dict[str, Triple]:
    """The systems with a run first."""
    retrieval = {system.name: system.overall[found.measures[0]] for system in found.runs}
    answered = {system.name: system.overall for system in answers.systems}
    computed = [name for name in answers.systems[0].overall if name not in GRADED]
    return {
        name: {
            f"retrieval, {found.measures[0]}": retrieval.get(name),
            **{one: answered.get(name, {}).get(one) for one in (*computed, *GRADED)},
        }
        for name in dict.fromkeys([*retrieval, *answered])
    }


def _cell(triple: Triple, name: str) -> str:
    figure = triple[name]
    if figure is None:
        return "not graded" if name in GRADED else "–"
    return told(figure)


def _drawn(systems: Mapping[str, Triple]) -> Markup:
    known = [one for one in next(iter(systems.values())) if any(triple[one] for triple in systems.values())]
    drawn = [one for one in known if one != "exact_match"][:MOST_SERIES]
    rows = [
        DotRow(name, "", [mark("", triple[one], "no figure") for one in drawn])
        for name, triple in list(systems.items())[:MOST_DRAWN]
    ]
    return dot_plot(HEADING, drawn, rows)


def _remark(found: Evaluation, answers: AnswerEvaluation) -> str:
    remarks = []
    runs, answered = {one.name for one in found.runs}, {one.name for one in answers.systems}
    if not runs & answered:
        remarks.append(
            "No run and no file of answers have the same name: name them alike to read a system on one line."
        )
    if missing := [name for name in GRADED if name not in answers.systems[0].overall]:
        remarks.append(f"Nobody's grades of {' and '.join(missing)} were named.")
    return " ".join(remarks)
