"""What `goldset evaluate --judge` shows beside the evaluation: estimates that people's grades correct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from curation.cli.output import left_out, say, table
from curation.text import amount

if TYPE_CHECKING:
    from curation.evaluation.judges.estimates import JudgedEvaluation
    from curation.statistics.prediction_powered import PredictionPoweredMean


def show_judged(judged: JudgedEvaluation) -> None:
    """Estimates on all queries, and for all searches where queries were drawn."""
    from curation.evaluation.report.further import undrawn_sentence

    what = f"on {amount(judged.everything, 'query', 'queries')}, {judged.people:,} of them graded by people"
    for system in judged.runs:
        _show_estimates(f"{system.name} with the judge {judged.judge}, {what}", system.overall)
        if system.traffic:
            _show_estimates(f"{system.name} with the judge {judged.judge}, for all searches", system.traffic)
    say(
        f"The judge {judged.judge} graded {amount(judged.grades, 'pair')} and could not tell of "
        f"{judged.cannot_tell:,}. People's queries were chosen by {' and '.join(judged.chosen_by)}."
    )
    say(
        "The correlation of the judge's figures with people's, query by query, decides how many queries it "
        "saves people; both have their 95 % intervals."
    )
    if judged.not_drawn:
        say(undrawn_sentence(judged))
    left_out(judged.left_out, "queries")


def _show_estimates(title: str, figures: Mapping[str, PredictionPoweredMean]) -> None:
    from curation.evaluation.report.further import saved_text
    from curation.evaluation.report.section import told

    ends = ["low", "high"]
    columns = [
        "measure",
        "estimate",
        *ends,
        "people",
        *ends,
        "judge",
        "weight",
        "correlation",
        "saved",
        "note",
    ]
    rows = []
    for measure, one in figures.items():
        correlation = None if one.correlation is None else told(one.correlation)
        shown = (*one.estimate[:3], *one.classical[:3], one.judge, one.power, correlation, saved_text(one))
        rows.append((measure, *shown, one.no_interval or one.doubt or ""))
    table(title, columns, rows)
