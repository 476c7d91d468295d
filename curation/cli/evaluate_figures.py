"""What `goldset evaluate` prints: the figures of each system, by kind of query, and what goes with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from curation.cli.evaluate_comparison import show_comparisons
from curation.cli.evaluate_judged import show_judged
from curation.cli.evaluate_tables import (
    show_hard_negatives,
    show_inferred,
    show_other_means,
    show_pooled,
    show_refusal,
    show_reranking,
    show_seconds,
    show_summaries,
    show_turning,
)
from curation.cli.output import left_out, say, table
from curation.text import amount

if TYPE_CHECKING:
    from curation.evaluation.evaluation import EvaluatedSystem, Evaluation, RunFacts
    from curation.evaluation.judges.estimates import JudgedEvaluation
    from curation.evaluation.to_pool import PooledRuns

WHOLE_LIST = "judged: of the whole list"


def show_evaluation(
    found: Evaluation,
    judged: JudgedEvaluation | None,
    pooled: PooledRuns | None,
    written: Sequence[Path],
) -> None:
    """All figures of an evaluation and what was asked for besides; `written` are the files that it is in."""
    from curation.evaluation.report.section import gains_sentence

    parts = ", ".join(found.parts)
    say(
        f"{found.release}, {parts}: {amount(found.queries, 'query', 'queries')}. Relevant: grade "
        f"{found.relevant_grade} and "
        f"above of {', '.join(map(str, found.scale))}.",
    )
    if found.without_relevant:
        one = "query has no relevant document and is"
        many = "queries have no relevant document and are"
        say(f"{amount(found.without_relevant, one, many)} in no figure of a measure that needs one.")
    if found.subtopics is not None:
        say(found.subtopics.sentence)
    if found.synthetic:
        from curation.releases.card.limits import synthetic_sentence

        say(synthetic_sentence(found.synthetic, found.queries))
    if gains := gains_sentence(found):
        say(gains)
    for system in found.runs:
        _show_system(system, found)
    show_inferred(found)
    for system in found.runs:
        _show_strata(system, found)
    from curation.evaluation.figures.means import rate_of_few

    few = rate_of_few(figure.n for system in found.runs for figure in system.overall.values())
    say(*([few] if few else []))
    show_other_means(found)
    show_summaries(found)
    show_refusal(found)
    show_seconds(found)
    show_reranking(found)
    if judged is not None:
        show_judged(judged)
    show_hard_negatives(found)
    if pooled is not None:
        show_pooled(pooled)
    show_turning(found)
    if found.comparisons or found.leaderboards:
        show_comparisons(found)
    if found.sealed:
        say(f"{', '.join(found.sealed)} is sealed: there is nothing by query, and looks are logged.")
    for look in found.looks:
        say(look.sentence)
    if written:
        say(f"Wrote {', '.join(map(str, written))}.")
    say(f"release id: {found.release_id}; seed {found.seed}, {found.resamples:,} resamples")


def _show_system(system: EvaluatedSystem, found: Evaluation) -> None:
    from curation.evaluation.metrics.measures import measures_named

    columns = ["measure", "mean", "low", "high", "n", "judged", "traffic", "low", "high", "note"]
    rows: list[tuple[object, ...]] = []
    sampled = any(traffic.value is not None for traffic in system.traffic.values())
    whole = {one.name for one in measures_named(found.measures) if one.of_whole_list}
    for measure in found.measures:
        figure, traffic = system.overall[measure], system.traffic[measure]
        mean = (figure.value, figure.low, figure.high, figure.n, figure.judged)
        notes = [WHOLE_LIST] if measure in whole else []
        notes += [figure.no_interval] if figure.no_interval else []
        notes += [f"traffic: {traffic.no_interval}"] if sampled and traffic.no_interval else []
        rows.append((measure, *mean, traffic.value, traffic.low, traffic.high, "; ".join(notes)))
    if not sampled:
        columns = [*columns[:6], columns[9]]
        rows = [(*row[:6], row[9]) for row in rows]
    table(system.name, columns, rows)
    for facts in system.files:
        _show_facts(facts)
    spread = system.seeds.get(found.measures[0])
    if spread is not None and spread.sd is not None:
        say(
            f"{amount(spread.runs, 'run')} of {system.name}: sd of {found.measures[0]} over them "
            f"{spread.sd:.4f}."
        )


def _show_facts(facts: RunFacts) -> None:
    notes = {
        "queries missing, counted 0": facts.missing,
        "places with documents that the corpus does not have": facts.unknown_documents,
        "queries whose ranks contradict their scores; the scores count": facts.against_scores,
        "documents with equal scores, ordered by id": facts.ties.documents,
        "queries where another order of equal scores would give other figures": getattr(
            facts.ties, "mattering", 0
        ),
    }
    told = "; ".join(f"{count:,} {what}" for what, count in notes.items() if count)
    say(f"{facts.source}: {amount(facts.places, 'place')}{f'; {told}' if told else ''}.")
    left_out(facts.left_out, "lines")


def _show_strata(system: EvaluatedSystem, found: Evaluation) -> None:
    from curation.evaluation.figures.strata import listed_values

    headline = found.measures[0]
    for facet, values in system.strata.items():
        rows = []
        listed, rest = listed_values([values])
        for value in listed:
            stratum = values[value]
            figure = stratum.figures.get(headline)
            shown = (
                (None,) * 5
                if figure is None
                else (figure.value, figure.low, figure.high, figure.n, figure.judged)
            )
            why = stratum.left_out or (figure and figure.no_interval)
            rows.append((value, stratum.queries, *shown, why or ""))
        columns = [facet, "queries", "mean", "low", "high", "n", "judged", "note"]
        table(f"{system.name}: {headline} by {facet}", columns, rows)
        say(*([rest] if rest else []))
