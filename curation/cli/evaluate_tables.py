"""Tables of `goldset evaluate` beside the figures of each measure: refusal, seconds, reranking and others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from curation.cli.output import say, table
from curation.text import amount, percent

if TYPE_CHECKING:
    from curation.evaluation.evaluation import Evaluation, RunFacts
    from curation.evaluation.fail_if import FailedFigure
    from curation.evaluation.figures.means import MeasureFigure
    from curation.evaluation.to_pool import PooledRuns

SHOWN_DOCUMENTS = 20
"""Rows of a table of documents; --json has all."""
MUCH_UNJUDGED = 0.2
"""Share of the pooled pairs without a grade from which on it is said why nothing is inferred of them."""


def show_other_means(found: Evaluation) -> None:
    """What the headline says beside the plain mean: each stratum the same, the median, the worst stratum."""
    headline = found.measures[0]
    rows: list[tuple[Any, ...]] = []
    for system in found.runs:
        macro, median, worst = system.others[headline]
        lowest = (None,) * 4 if worst is None else (worst.stratum, worst.value, worst.low, worst.high)
        rows.append((system.name, *macro[:3], *median[:3], *lowest))
    columns = [
        "system",
        "macro",
        "low",
        "high",
        "median",
        "low",
        "high",
        "worst stratum",
        "mean",
        "low",
        "high",
    ]
    table(f"{headline}: mean of strata, median and worst stratum", columns, rows)


def show_summaries(found: Evaluation) -> None:
    """What clusters and cells of the grid say together, and which of two systems is above under each."""
    from curation.evaluation.comparison.aggregations import about
    from curation.evaluation.inputs.facets import GRID
    from curation.releases.coverage import about_grid, about_map

    if found.summaries and found.coverage is not None:
        say(about_map(found.coverage))
    for one in found.summaries:
        rows = [
            (system, name, figure.value, figure.low, figure.high, figure.strata)
            for system, figures in one.figures.items()
            for name, figure in figures.items()
        ]
        if rows:
            columns = ["system", "by", "figure", "low", "high", "strata"]
            table(f"{one.measure} over {one.facet}: mean over queries, and over strata", columns, rows)
        say(about(one))
        if one.facet == GRID and found.coverage is not None:
            say(about_grid(found.coverage))
        if one.win_rates:
            columns = ["systems", "by", "above", "level", "below"]
            pairs = [
                (f"{r.system} against {r.other}", r.aggregation, r.wins, r.ties, r.losses)
                for r in one.win_rates
            ]
            table(f"{one.measure} over {one.facet}: share of {one.resamples:,} resamples", columns, pairs)


def show_refusal(found: Evaluation) -> None:
    """What each run does with unanswerable queries; a sentence where nothing can be said."""
    facts = list(_facts(found))
    first = facts[0][1].refusal
    if not first.unanswerable:
        return
    say(
        f"Unanswerable: {amount(first.unanswerable, 'query', 'queries')} without a relevant document, "
        f"{first.tagged:,} of them "
        f"tagged so; answerable: {first.answerable:,}. Confidence: {first.confidence}."
    )
    if first.contradictory:
        one = "query is tagged unanswerable and has"
        many = "queries are tagged unanswerable and have"
        say(f"{amount(first.contradictory, one, many)} a relevant document: left out.")
    rows = [
        (
            name,
            *(one.refusal.area, one.refusal.low, one.refusal.high),
            *(one.refusal.refused.value, one.refusal.refused.low, one.refusal.refused.high),
            one.refusal.empty_unanswerable.value,
            one.refusal.note,
        )
        for name, one in facts
    ]
    columns = ["run", "ROC area", "low", "high", "refused", "low", "high", "no row", "note"]
    table("Refusal of unanswerable queries, with 95 % of the answerable ones kept", columns, rows)


def show_seconds(found: Evaluation) -> None:
    """How long a query took, for runs whose file beside says so."""
    rows: list[tuple[Any, ...]] = []
    for name, one in _facts(found):
        if one.seconds is not None:
            times = [None if value is None else 1000 * value for value in one.seconds[:3]]
            rows.append((name, *times, one.seconds.n, one.seconds.left_out or ""))
    if rows:
        table("Milliseconds a query", ["run", "mean", "median", "p95", "n", "note"], rows)


def show_reranking(found: Evaluation) -> None:
    """The headline of each reranker on the same candidates, and what a perfect one would reach."""
    from curation.evaluation.report.section import left_out_depths

    headline = found.measures[0]
    for one in found.reranking:
        rows = [
            (f"{found.first_stage} (first stage)", *_interval(one.first_stage[headline]), None, None),
            *(
                (name, *_interval(reranker.figures[headline]), reranker.dropped, reranker.missing)
                for name, reranker in one.rerankers.items()
            ),
            ("perfect reranker", *_interval(one.oracle[headline]), None, None),
        ]
        recall = "unknown" if one.recall.value is None else f"{one.recall.value:.3f}"
        table(
            f"Reranking the first {one.depth:,} of {found.first_stage}: {headline}; share of the relevant "
            f"documents among them: {recall}",
            ["system", "mean", "low", "high", "n", "dropped", "missing"],
            rows,
        )
    if left_out := left_out_depths(found):
        say(left_out)


def show_hard_negatives(found: Evaluation) -> None:
    """What the judged hard negatives cost each system."""
    effect = found.hard_negatives
    if effect is None:
        return
    say(effect.sentence)
    if not effect.hard:
        say("There is no judged hard negative, so both lists are the same.")
        return
    if hidden := [system.name for system in found.runs if system.name not in effect.systems]:
        say(f"{', '.join(hidden)}: left out, as of a sealed part nothing is shown of fewer than ten queries.")
    for name, one in effect.systems.items():
        rows = [
            (
                measure,
                *_interval(one.without_hard[measure])[:3],
                *_interval(one.with_hard[measure])[:3],
                *one.drop[measure],
            )
            for measure in found.measures
        ]
        table(
            f"{name} on judged documents alone ({percent(one.returned)} of them returned): without hard "
            "negatives, with them, and the difference",
            ["measure", "without", "low", "high", "with", "low", "high", "difference", "low", "high"],
            rows,
        )


def show_inferred(found: Evaluation) -> None:
    """Estimates from a random sample of the pool; why there are none, where much of it is unjudged."""
    from curation.evaluation.report.sections.inferred import sentences

    inferred = found.inferred
    if inferred is None:
        if found.not_inferred and (found.pool_unjudged or 0) >= MUCH_UNJUDGED:
            say(found.not_inferred)
        return
    say(*sentences(inferred))
    rows = [
        (name, measure, *(one.value, one.low, one.high, one.n, one.if_none, one.if_all))
        for name, figures in inferred.systems.items()
        for measure, one in figures.items()
    ]
    columns = ["run", "measure", "estimate", "low", "high", "n", "if none", "if all"]
    table("Inferred for the whole pool", columns, rows)


def show_pooled(pooled: PooledRuns) -> None:
    """What became of the runs' unjudged documents."""
    for name, count in pooled.unjudged.items():
        say(
            f"{name}: {count:,} of the {amount(pooled.returned[name], 'document')} in its first "
            f"{pooled.depth:,} "
            "places have no grade in the release."
        )
    say(
        f"{pooled.pairs:,} unjudged pairs in all. The pool {pooled.pool.pool_id[:8]} added "
        f"{amount(pooled.pool.added, 'candidate')}; `goldset round open` shows those that nobody judged."
    )
    if pooled.sealed:
        say(f"Queries of {', '.join(pooled.sealed)}, which is sealed and was evaluated, are pooled as well.")
    if pooled.sealed_left_out:
        say(
            f"left out: {amount(pooled.sealed_left_out, 'query', 'queries')} of sealed parts that were "
            "not evaluated."
        )
    for one in pooled.pool.systems:
        for reason, count in one.no_hit.items():
            say(f"{one.system} found nothing for {amount(count, 'query', 'queries')}: {reason}.")
    for reason, count in pooled.pool.left_out.items():
        say(f"{count:,} {reason}.")


def show_failed(failed: Sequence[FailedFigure]) -> None:
    """The figures that meet a condition of --fail-if, or that none does."""
    if not failed:
        say("No condition of --fail-if holds.")
        return
    for condition in dict.fromkeys(row.condition for row in failed):
        rows = [row[1:] for row in failed if row.condition == condition and row.system is not None]
        if rows:
            columns = ["system", "where", "n", "value", "against", "change"]
            table(f"Failed: {condition}", columns, rows)
        else:
            say(f"Failed: {condition}: no figure could be checked, so nothing has passed.")


def show_turning(found: Evaluation) -> None:
    """The unjudged documents that could turn the order of each two systems, the most effective first."""
    for pair in found.turning:
        about = (
            f"{pair.first} is {pair.difference:.3f} above {pair.second} by {pair.measure}; {pair.unjudged:,} "
            "unjudged documents"
        )
        if pair.needed is None:
            say(f"{about} could not turn that, were they all of the highest grade.")
            continue
        say(f"{about}, of which {pair.needed:,} could turn that with the highest grade.")
        columns = ["query", "document", f"rank in {pair.first}", f"rank in {pair.second}", "effect"]
        title = f"First of {len(pair.documents):,} that would help {pair.second}"
        table(title, columns, pair.documents[:SHOWN_DOCUMENTS])


def _facts(found: Evaluation) -> Iterator[tuple[str, RunFacts]]:
    for system in found.runs:
        for one in system.files:
            yield (system.name if len(system.files) == 1 else f"{system.name}: {one.source}"), one


def _interval(figure: MeasureFigure) -> tuple[float | None, float | None, float | None, int]:
    return figure.value, figure.low, figure.high, figure.n
