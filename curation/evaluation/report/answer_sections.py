"""The report's sections on systems' answers, alone and combined with retrieval.

Exact match and F1 are computed from reference answers, and scores of citations from people's marks. People
graded correctness, support of nuggets and faithfulness. A run and an answer file belong to one system
where they have the same name. The weighted score of nuggets represents all scores of nuggets in that row,
because it has a value wherever a query has nuggets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from curation.core.reports.page import Section
from curation.core.reports.plots import MAX_SERIES, DotRow, draw_dot_plot
from curation.core.reports.tables import Table
from curation.core.statistics.estimate import Estimate
from curation.core.text import pluralize
from curation.evaluation.answers.citations import CITATION_SCORES
from curation.evaluation.answers.graded_answers import CORRECTNESS, FAITHFULNESS, SUPPORT
from curation.evaluation.answers.nugget_scores import NUGGET_SCORES, WEIGHTED
from curation.evaluation.evaluation import AnswerEvaluation, AnsweringSystem, Evaluation
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.report.cells import format_figure, format_with_n, make_mark
from curation.evaluation.report.estimate_sections import make_judge_sections

_COMPARED_WITH = {"f1": "reference answers", WEIGHTED: "nuggets", CITATION_SCORES[0]: "evidence"}
"""Map from each measure of answers to the data that answers are compared with."""
MAX_DRAWN = 12
"""Maximum number of systems in the drawing; the table has all systems."""
_DEFINITIONS = {
    "f1": "Exact match and F1 follow SQuAD: the best value over all reference answers.",
    WEIGHTED: f"{WEIGHTED} is the share of nuggets that answers support; okay nuggets count half.",
    CITATION_SCORES[0]: "Citation precision is the share of an answer's cited chunks that contain evidence "
    "for the query. Citation recall is the share of documents with evidence whose evidence the answer cites.",
    CORRECTNESS: "Correctness is the grade that people gave, as a share of the scale.",
    FAITHFULNESS: "Faithfulness is the grade that people gave, as a share of the scale.",
}
SystemFigures = Mapping[str, MeasureFigure | Estimate | None]
"""Map from measure to a system's value; None if the system has no value."""
TRIPLE = "Retrieval, answers, faithfulness"
GRADED_MEASURES = (CORRECTNESS, FAITHFULNESS)


def write_support_findings(evaluation: AnswerEvaluation) -> list[str]:
    """Warn about implausibly low means of support, and state the first systems' scores from a judge corrected
    by people.

    Means of support count 0 for each query without an answer, and otherwise use only graded answers.
    """
    findings = []
    ungraded = [system for system in evaluation.systems if system.ungraded.get(SUPPORT)]
    incomplete = [system.name for system in ungraded if system.missing + system.empty]
    if incomplete:
        why = "not all answers are graded for support, and queries without an answer count as 0"
        findings.append(f"{', '.join(incomplete)}: {why}, so nugget means are too low.")
    for run in evaluation.judged.runs[:5] if evaluation.judged else ():
        score = run.overall.get(WEIGHTED)
        if score is not None:
            findings.append(
                f"{run.name}: {WEIGHTED} {format_figure(score.estimate)} with the judge's grades, corrected "
                f"by people's grades of {score.sampled:,} of {pluralize(score.everything, 'answer')}."
            )
    return findings


def write_answers(evaluation: AnswerEvaluation | None) -> list[Section]:
    """Show exact match, F1 and people's grades for each system; no section if there are no answers."""
    if evaluation is None:
        return []
    measures = choose_shown_measures(evaluation)
    compared = count_compared_queries(evaluation)
    sentence = f"{compared} A query that a system did not answer counts as 0. {define_measures(measures)}"
    counts = ["answered", "missing", "empty"]
    if evaluation.unanswerable:
        sentence += (
            f"\n{pluralize(evaluation.unanswerable, 'query is', 'queries are')} unanswerable: silence is "
            "the share of unanswerable queries with an empty answer. A query without a row in the file "
            "does not count as silence."
        )
        counts += ["silent on unanswerable", "unanswerable without a row"]
    for system in evaluation.systems:
        remarks = [f"{count:,} not graded for {name}" for name, count in system.ungraded.items() if count]
        remarks += [f"{pluralize(count, 'row')} left out: {why}" for why, count in system.left_out.items()]
        sentence += f"\n{system.source}: {'; '.join(remarks)}." if remarks else ""
    caption = f"Means over {pluralize(evaluation.queries, 'query', 'queries')}"
    rows = tuple(_system_cells(system, measures, evaluation) for system in evaluation.systems)
    overall = Table(caption, ("system", *measures, *counts), rows)
    count = evaluation.sealed_count.sentence if evaluation.sealed_count else ""
    tables = (overall, *_tables_by_facet(evaluation, measures))
    answers = Section("Answers", sentence, (_draw_measures(evaluation),), tables, count)
    title, graded = "Nugget support with a judge", "all nuggets of the answers to"
    note = " The estimates cover all queries: a query without an answer counts as 0, but not in n."
    return [answers, *make_judge_sections(evaluation.judged, title, graded, note)]


def choose_shown_measures(evaluation: AnswerEvaluation) -> list[str]:
    """Choose the measures for which at least one system has a value."""
    measures = list(evaluation.systems[0].overall)
    overall = [system.overall for system in evaluation.systems]
    with_value = [name for name in measures if any(figures[name].value is not None for figures in overall)]
    return with_value or measures


def count_compared_queries(evaluation: AnswerEvaluation) -> str:
    """Say in a sentence how many queries have references, nuggets or evidence to compare answers with."""
    measures = choose_shown_measures(evaluation)
    references = [name for measure, name in _COMPARED_WITH.items() if measure in measures]
    names = " or ".join(references or ["reference answers"])
    queries = pluralize(evaluation.queries, "query", "queries")
    return f"{evaluation.with_references:,} of {queries} have {names}."


def define_measures(measures: Sequence[str]) -> str:
    """Write a sentence that defines each of these answer measures."""
    return " ".join(text for name, text in _DEFINITIONS.items() if name in measures)


def _system_cells(
    system: AnsweringSystem, measures: Sequence[str], evaluation: AnswerEvaluation
) -> tuple[object, ...]:
    figures = [format_with_n(system.overall[name], evaluation.queries) for name in measures]
    cells = (system.name, *figures, system.answered, system.missing, system.empty)
    if not evaluation.unanswerable:
        return cells
    return (*cells, format_with_n(system.refused, evaluation.unanswerable), system.unsent)


def _tables_by_facet(evaluation: AnswerEvaluation, measures: Sequence[str]) -> list[Table]:
    tables = []
    for system in evaluation.systems:
        for facet, values in system.strata.items():
            rows = []
            for value, figures in values.items():
                means = map(figures.figures.get, measures)
                cells = ["–" if mean is None else format_with_n(mean, figures.queries) for mean in means]
                rows.append((value, figures.queries, *cells, figures.left_out or ""))
            columns = (facet, "queries", *measures, "note")
            tables.append(Table(f"{system.name} by {facet}", columns, tuple(rows)))
    return tables


def keep_weighted_score(measures: Sequence[str]) -> list[str]:
    """Keep only the weighted one of the nugget scores, and all measures that are not nugget scores."""
    return [measure for measure in measures if measure == WEIGHTED or measure not in NUGGET_SCORES]


def _draw_measures(evaluation: AnswerEvaluation) -> Markup:
    """Draw the answer measures of the first systems, without exact match."""
    shown = keep_weighted_score(choose_shown_measures(evaluation))
    measures = [measure for measure in shown if measure != "exact_match"][:MAX_SERIES]
    rows = []
    for system in evaluation.systems[:MAX_DRAWN]:
        marks = [make_mark("", system.overall[measure], "no figure") for measure in measures]
        rows.append(DotRow(system.name, "", marks))
    return draw_dot_plot("Each system's answers", measures, rows)


def write_triples(evaluation: Evaluation, answers: AnswerEvaluation) -> list[Section]:
    """Show retrieval, answer quality and faithfulness in one row per system."""
    systems = _collect_triples(evaluation, answers)
    rows = tuple((name, *(_show_cell(cells, column) for column in cells)) for name, cells in systems.items())
    definitions = define_measures(choose_shown_measures(answers))
    sentence = f"The retrieval column has {evaluation.measures[0]} of the runs. {definitions}"
    table = Table("Means over queries", ("system", *next(iter(systems.values()))), rows, words=True)
    return [Section(TRIPLE, sentence, (), (table,), _triple_remark(evaluation, answers))]


def write_triple_findings(evaluation: Evaluation, answers: AnswerEvaluation) -> list[str]:
    """State each of the first systems' retrieval, answer quality and faithfulness in a sentence."""
    sentences = []
    for name, triple in list(_collect_triples(evaluation, answers).items())[:5]:
        cells = [f"{measure} {_show_cell(triple, measure)}" for measure in triple]
        sentences.append(f"{name}: {'; '.join(cells)}.")
    return [*sentences, *write_support_findings(answers)]


def _collect_triples(evaluation: Evaluation, answers: AnswerEvaluation) -> dict[str, SystemFigures]:
    """Collect each system's retrieval, answer quality and faithfulness scores; systems with a run come
    first."""
    retrieval = {system.name: system.overall[evaluation.measures[0]] for system in evaluation.runs}
    answer_figures = {system.name: system.overall for system in answers.systems}
    measures = keep_weighted_score(choose_shown_measures(answers))
    computed_measures = [name for name in measures if name not in GRADED_MEASURES]
    shown_measures = (*computed_measures, *_choose_graded_measures(measures))
    triples: dict[str, SystemFigures] = {}
    for name in dict.fromkeys([*retrieval, *answer_figures]):
        figures = {measure: answer_figures.get(name, {}).get(measure) for measure in shown_measures}
        triples[name] = {f"retrieval, {evaluation.measures[0]}": retrieval.get(name), **figures}
    return triples


def _choose_graded_measures(shown: Sequence[str]) -> list[str]:
    """Choose which measures that people graded get a column; nugget scores can replace correctness."""
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
            "No run has the same name as an answer file: give a system's run and its answers the same "
            "name to see the system in one row."
        )
    measures = choose_shown_measures(answers)
    missing_measures = [name for name in _choose_graded_measures(measures) if name not in measures]
    if missing_measures:
        remarks.append(f"The evaluation has no grades of {' and '.join(missing_measures)}.")
    if not {"f1", WEIGHTED, CORRECTNESS}.intersection(measures):
        remarks.append("The answers' quality is unknown: there are neither reference answers nor nuggets.")
    return " ".join(remarks)
