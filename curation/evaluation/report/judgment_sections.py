"""The report's sections on judged documents: judged shares, unanswerable queries and hard negatives.

The sections show how far results depend on what people judged.
"""

from __future__ import annotations

from curation.core.reports.page import Section
from curation.core.reports.tables import Table
from curation.core.text import percent, pluralize
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.abstention import CONFIDENCE
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.report.cells import format_figure, format_interval, format_value, tabulate_measures
from curation.evaluation.scoring.run_scores import explain_reversed_bounds


def write_judged(evaluation: Evaluation) -> list[Section]:
    """Show the share of judged documents, and bounds for unjudged documents."""
    caption = (
        "Share of judged documents among the documents that a measure uses (the whole list for a measure "
        "without a depth)"
    )
    shares_table = tabulate_measures(caption, evaluation, lambda figure: percent(figure.judged, 1))
    tables = (shares_table, _bounds_table(evaluation))
    unjudged = evaluation.pool_unjudged
    pool = "The release has no pool."
    if unjudged is not None:
        pool = f"{percent(unjudged)} of the pairs that systems proposed for the pool have no grade."
    rule = "Unjudged documents count as not relevant."
    sentence = f"{rule} The fewer documents are judged, the less reliable a value is. {pool}"
    return [Section("Judged share", sentence, (), tables)]


def _bounds_table(evaluation: Evaluation) -> Table:
    """Show every measure as if no unjudged document were relevant, and as if all unjudged documents were."""

    def cell(figure: MeasureFigure) -> str:
        if figure.if_none is None or figure.if_all is None:
            return "–"
        return f"{format_value(figure.if_none)}\u00a0/\u00a0{format_value(figure.if_all)}"

    caption = (
        "Lowest and highest value: no unjudged document is relevant / all unjudged documents are relevant"
    )
    if "bpref" in evaluation.measures:
        caption += "; bpref skips unjudged documents, so it has no such bounds"
    figures = [figure for system in evaluation.runs for figure in system.overall.values()]
    why_reversed = explain_reversed_bounds((figure.if_none, figure.if_all) for figure in figures)
    if why_reversed:
        caption += f". {why_reversed}"
    return tabulate_measures(caption, evaluation, cell)


def write_hard_negatives(evaluation: Evaluation) -> list[Section]:
    """Show the effect of hard negatives; no section if that was not requested."""
    effect = evaluation.hard_negatives
    if effect is None:
        return []
    sentence = (
        f"{effect.sentence} Judged documents that a run did not return are added at the end of its list."
    )
    rows = []
    for name, lists in effect.systems.items():
        for measure in evaluation.measures:
            cells = (format_figure(lists.without_hard[measure]), format_figure(lists.with_hard[measure]))
            drop = format_figure(lists.drop[measure])
            rows.append((name, measure, *cells, drop, percent(lists.returned, 1)))
    columns = ("system", "measure", "without", "with", "difference", "returned")
    tables = (Table("Scores without and with hard negatives", columns, tuple(rows)),) if rows else ()
    hidden = ", ".join(system.name for system in evaluation.runs if system.name not in effect.systems)
    why = "the values would reveal fewer than ten queries in a sealed part."
    return [Section("Hard negatives", sentence, (), tables, f"Left out: {hidden}; {why}" if hidden else "")]


def write_abstention(evaluation: Evaluation) -> list[Section]:
    """Show how well systems abstain on unanswerable queries; no section without unanswerable queries."""
    refusals = [(system.name, system.files[0].refusal) for system in evaluation.runs]
    if not any(refusal.unanswerable for _, refusal in refusals):
        return []
    _, refusal = refusals[0]
    sentence = (
        f"{pluralize(refusal.unanswerable, 'query has', 'queries have')} no relevant document among the "
        f"judged documents, and {refusal.answerable:,} have one. Among the queries without a relevant "
        f"document, {refusal.tagged:,} are tagged unanswerable.\nThe system's confidence in a "
        f"query is the {CONFIDENCE}. The area is the probability that an answerable query has more "
        "confidence than an unanswerable one. An area of 0.5 is chance."
    )
    if refusal.contradictory:
        singular = "query is tagged unanswerable and has"
        plural = "queries are tagged unanswerable and have"
        sentence += (
            f"\n{pluralize(refusal.contradictory, singular, plural)} a relevant document. The "
            "figures leave these out."
        )
    no_row = ("no row, unanswerable", "no row, answerable")
    columns = ("system", "area", "95 %", "refused at 95 % kept", *no_row, "note")
    rows = []
    for name, row in refusals:
        rates = map(format_figure, (row.refused, row.empty_unanswerable, row.empty_answerable))
        rows.append((name, row.area.value, format_interval(row.area), *rates, row.note))
    table = Table("By system", columns, tuple(rows))
    return [Section("Unanswerable queries", sentence, (), (table,))]
