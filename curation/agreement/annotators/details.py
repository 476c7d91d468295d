"""All that is known about each annotator's work, read in one turn and computed outside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.agreement.annotators.agreement_with_others import agreement_with_others, left_out_of
from curation.agreement.annotators.bias import annotator_biases, read_decisions
from curation.agreement.annotators.fast_answers import AnswerTimes, fast_answers, read_times
from curation.agreement.annotators.intra_annotator import intra_agreement, read_repeats
from curation.agreement.annotators.modal_grade import modal_grades
from curation.agreement.annotators.signals import AnnotatorMetrics, ControlItemShare, feedback
from curation.agreement.between.grades import Grades, read_grades
from curation.core.statistics.intervals import wilson
from curation.labeling.rounds.control_items import ControlItemResult, control_item_results
from curation.labeling.rounds.rounds import find_round, list_rounds
from curation.store import Store


def annotator_details(store: Store, round_name: str | None = None, seed: int = 0) -> list[AnnotatorMetrics]:
    """Everyone's work in detail, by name: of the project, or of what was judged in one round.

    Raises
    ------
    NotFoundError: no round has this name.
    """
    with store.reading() as cursor:
        round_id = find_round(cursor, round_name).round_id if round_name else None
        every = [row.round_id for row in list_rounds(cursor) if row.kind in ("labeling", "audit")]
        repeats, grades = read_repeats(cursor, round_id), read_grades(cursor, round_id)
        times, decisions = read_times(cursor, round_id), read_decisions(cursor)
        rounds = [round_id] if round_id else every
        control = [result for each in rounds for result in control_item_results(cursor, each)]
    people = [row.annotator for row in repeats]
    metrics = annotator_metrics(people, grades, times, decisions, seed)
    return [
        known._replace(
            consistency=intra_agreement(row),
            control_items=control_item_share(control, row.annotator),
            feedback=feedback(known),
        )
        for row, known in zip(repeats, metrics, strict=True)
    ]


def annotator_metrics(
    people: Sequence[str],
    grades: Grades,
    times: AnswerTimes,
    decisions: Mapping[tuple[str, str], int | None] | None = None,
    seed: int = 0,
) -> list[AnnotatorMetrics]:
    """Everyone's metrics against the others who are not left out.

    Parameters
    ----------
    decisions: the reviewers', see `read_decisions`; without any, nothing is said of bias.
    """
    left_out = left_out_of(grades)
    agreement, modal = agreement_with_others(grades, left_out, seed), modal_grades(grades, left_out)
    bias = {} if decisions is None else annotator_biases(grades, decisions, left_out, seed)
    fast = fast_answers(people, times, left_out)
    return [
        AnnotatorMetrics(
            name,
            agreement.get(name),
            bias.get(name),
            fast[name],
            modal.get(name),
            left_out=left_out.get(name),
        )
        for name in people
    ]


def control_item_share(results: Sequence[ControlItemResult], annotator: str) -> ControlItemShare:
    """The share of an annotator's control items that were given right."""
    own = [result for result in results if result.annotator == annotator]
    right, answered = sum(row.right for row in own), sum(row.answered for row in own)
    if not answered:
        return ControlItemShare(0, 0, None, None, None)
    return ControlItemShare(answered, right, right / answered, *wilson(right, answered))
