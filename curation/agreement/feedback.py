"""Feedback for each annotator: metrics of their work, with the points to discuss."""

from __future__ import annotations

from collections.abc import Sequence

from curation.agreement.annotator_metrics import AnnotatorMetrics, Finding, compute_metrics
from curation.agreement.bias import read_decisions
from curation.agreement.fast_answers import read_times
from curation.agreement.grades import read_grades
from curation.agreement.intra_annotator import read_repeats, score_repeats
from curation.agreement.signals import FEEDBACK_SIGNALS, run_signals
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.labeling.rounds.control_items import ControlResult, read_control_results
from curation.labeling.rounds.rounds import find_round, list_rounds
from curation.store import Store

FALSE_SHARE = 0.1
"""Accepted share of false findings, and of annotators without a problem who get feedback."""


def find_feedback(metrics: AnnotatorMetrics) -> tuple[Finding, ...]:
    """List the points to discuss with one annotator; the list is empty if no test is significant."""
    return tuple(finding for _, finding in run_signals([metrics], FEEDBACK_SIGNALS, FALSE_SHARE).findings)


def compute_annotator_details(
    store: Store, round_name: str | None = None, seed: int = 0
) -> list[AnnotatorMetrics]:
    """Compute each annotator's metrics and feedback, by name, from the project or from one round.

    Raises
    ------
    NotFoundError: no round has this name.
    """
    with store.reading() as cursor:
        round_id = find_round(cursor, round_name).round_id if round_name else None
        all_rounds = [row.round_id for row in list_rounds(cursor) if row.kind in ("labeling", "audit")]
        repeats = read_repeats(cursor, round_id)
        grades = read_grades(cursor, round_id)
        times = read_times(cursor, round_id)
        decisions = read_decisions(cursor)
        round_ids = [round_id] if round_id else all_rounds
        control_items = [item for name in round_ids for item in read_control_results(cursor, name)]
    annotators = [row.annotator for row in repeats]
    all_metrics = compute_metrics(annotators, grades, times, decisions, seed)
    return [
        metrics._replace(
            consistency=score_repeats(row),
            control_items=compute_control_item_share(control_items, row.annotator),
            feedback=find_feedback(metrics),
        )
        for row, metrics in zip(repeats, all_metrics, strict=True)
    ]


def compute_control_item_share(results: Sequence[ControlResult], annotator: str) -> Estimate:
    """Compute the share of an annotator's control items that got the expected grade."""
    own_results = [result for result in results if result.annotator == annotator]
    right_count = sum(result.right for result in own_results)
    return share_estimate(right_count, sum(result.answered for result in own_results))
