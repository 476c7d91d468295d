"""Report, what rests on judgments.

The share of judged documents and the order that equal scores allow; unanswerable queries; runs on the judged
documents with hard negatives and without; and reranking of the same candidates.
"""

from __future__ import annotations

from curation.core.reports.page import Section, Table
from curation.core.reports.plots import MOST_SERIES, PlotCurve, SharesRow, curves, shares
from curation.core.text import amount, percent
from curation.evaluation.evaluation import Evaluation, RunFacts
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.report.section import (
    by_measure,
    figure_text,
    interval,
    share,
    with_interval,
)
from curation.evaluation.scoring.metrics.bounds import why_below

HARD_COLUMNS = ("system", "measure", "without", "with", "difference", "returned")


def write_judged(evaluation: Evaluation) -> list[Section]:
    headline = evaluation.measures[0]
    rows = [_bar(system.name, system.overall[headline].judged) for system in evaluation.runs]
    caption = "Share of judged documents among those that a measure looks at; without a depth the whole list"
    tables = [by_measure(caption, evaluation, lambda figure: share(figure.judged))]
    tables.append(_bounds(evaluation))
    ties = _ties(evaluation, headline)
    tables += [] if ties is None else [ties]
    return [
        Section(
            "What was judged",
            "An unjudged document counts as not relevant. The fewer are judged, the less a figure says."
            + _pool_sentence(evaluation.pool_unjudged),
            (shares(f"Judged documents that {headline} looks at", ("judged", "not judged"), rows),),
            tuple(tables),
        )
    ]


def _pool_sentence(unjudged: float | None) -> str:
    if unjudged is None:
        return " The release has no pool."
    return f" {percent(unjudged)} of the pairs that systems proposed for the pool have no grade."


def _bar(name: str, judged: float | None) -> SharesRow:
    return SharesRow(
        name, judged, "no document was returned" if judged is None else f"{percent(judged, 1)} judged"
    )


def _bounds(evaluation: Evaluation) -> Table:
    """Every figure at both ends."""

    def cell(figure: MeasureFigure) -> str:
        if figure.if_none is None or figure.if_all is None:
            return "–"
        return f"{figure_text(figure.if_none)}\u00a0/\u00a0{figure_text(figure.if_all)}"

    caption = "If none / if all of the unjudged documents returned were relevant"
    passes_over = "; bpref passes them over and has neither" if "bpref" in evaluation.measures else ""
    every = (figure for system in evaluation.runs for figure in system.overall.values())
    why = why_below((figure.if_none, figure.if_all) for figure in every)
    return by_measure(f"{caption}{passes_over}{f'. {why}' if why else ''}", evaluation, cell)


def _ties(evaluation: Evaluation, headline: str) -> Table | None:
    """Where equal scores leave the order open."""
    rows = [
        (system.name, figure.worst, figure.value, figure.best)
        for system in evaluation.runs
        if (figure := system.overall[headline]).best is not None and figure.best != figure.worst
    ]
    columns = ("system", "worst order", "by document id", "best order")
    return Table(f"{headline} with equal scores in another order", columns, tuple(rows)) if rows else None


def write_hard_negatives(evaluation: Evaluation) -> list[Section]:
    effect = evaluation.hard_negatives
    if effect is None:
        return []
    sentence = f"{effect.sentence} What a run did not return is at the end of its list."
    rows = tuple(
        (
            *(name, measure),
            *(
                with_interval(one.without_hard[measure]),
                with_interval(one.with_hard[measure]),
                with_interval(one.drop[measure]),
            ),
            share(one.returned),
        )
        for name, one in effect.systems.items()
        for measure in evaluation.measures
    )
    tables = (Table("Without hard negatives, and with them", HARD_COLUMNS, rows),) if rows else ()
    hidden = ", ".join(system.name for system in evaluation.runs if system.name not in effect.systems)
    why = "the figures would tell of fewer than ten queries of a sealed part."
    return [Section("Hard negatives", sentence, (), tables, f"Left out: {hidden}; {why}" if hidden else "")]


def write_reranking(evaluation: Evaluation) -> list[Section]:
    if not evaluation.reranking:
        return []
    headline = evaluation.measures[0]
    names = list(evaluation.reranking[0].rerankers)
    columns = (
        "depth",
        "candidates",
        "recall",
        f"{evaluation.first_stage} (first stage)",
        *names,
        "perfect reranker",
    )
    rows = tuple(
        (
            one.depth,
            one.candidates,
            with_interval(one.recall),
            with_interval(one.first_stage[headline]),
            *(with_interval(one.rerankers[name].figures[headline]) for name in names),
            with_interval(one.oracle[headline]),
        )
        for one in evaluation.reranking
    )
    sentence = (
        f"Each system orders the first documents of {evaluation.first_stage}. No reranker can reach more "
        "with "
        "them than the perfect one."
    )
    return [Section("Reranking", sentence, (), (Table(f"{headline} by depth", columns, rows),))]


def write_refusal(evaluation: Evaluation) -> list[Section]:
    files = [(system.name, system.files[0]) for system in evaluation.runs]
    if not any(facts.refusal.unanswerable for _, facts in files):
        return []
    refusal = files[0][1].refusal
    sentence = (
        f"{amount(refusal.unanswerable, 'query has', 'queries have')} no relevant document among those "
        f"judged, {refusal.answerable:,} have "
        f"one. {refusal.tagged:,} of the former were tagged unanswerable.\n"
        f"The confidence is the {refusal.confidence}. "
        "The area is the probability that an answerable query has more of it than an unanswerable one. "
        "0.5 is chance."
    )
    if refusal.contradictory:
        single = "query is tagged unanswerable and has"
        many = "queries are tagged unanswerable and have"
        sentence += f"\n{amount(refusal.contradictory, single, many)} a relevant document: left out."
    columns = (
        "system",
        "area",
        "95 %",
        "refused at 95 % kept",
        "no row, unanswerable",
        "no row, answerable",
        "note",
    )
    rows = tuple(_refusal_row(name, facts) for name, facts in files)
    drawn = [_refusal_curve(name, facts) for name, facts in files if facts.refusal.curve][:MOST_SERIES]
    titles = (
        "What a threshold keeps and lets through",
        "share of unanswerable that are answered",
        "share of answerable kept",
    )
    return [
        Section(
            "Unanswerable queries",
            sentence,
            (curves(*titles, drawn),) if drawn else (),
            (Table("By system", columns, rows),),
            "The shape on a line is the threshold that keeps 95 % of the answerable queries."
            if drawn
            else "",
        )
    ]


def _refusal_row(name: str, facts: RunFacts) -> tuple[object, ...]:
    refusal = facts.refusal
    shares = (
        with_interval(refusal.refused),
        with_interval(refusal.empty_unanswerable),
        with_interval(refusal.empty_answerable),
    )
    return (
        name,
        refusal.area,
        interval(_Area(refusal.area, refusal.low, refusal.high)),
        *shares,
        refusal.note,
    )


class _Area:
    """The area with its interval, as other figures are."""

    def __init__(self, value: float | None, low: float | None, high: float | None) -> None:
        self.value, self.low, self.high = value, low, high


def _refusal_curve(name: str, facts: RunFacts) -> PlotCurve:
    refusal = facts.refusal
    points = [(1 - point.refused, point.kept) for point in refusal.curve]
    known = refusal.kept is not None and refusal.refused.value is not None
    return PlotCurve(
        name, points, (1 - (refusal.refused.value or 0.0), refusal.kept or 0.0) if known else None
    )
