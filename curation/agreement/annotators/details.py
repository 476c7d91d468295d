"""All that is known about each annotator's work, read in one turn and computed outside it."""

from __future__ import annotations

from dataclasses import dataclass

from curation.agreement.annotators.bias import AnnotatorBias, annotator_bias
from curation.agreement.annotators.differences import read_differences
from curation.agreement.annotators.intra_annotator import (
    IntraAgreement,
    SelfConsistency,
    intra_agreement,
    read_repeats,
    read_showings,
    self_consistency,
)
from curation.agreement.annotators.signals.registry import feedback
from curation.agreement.annotators.signals.signal import (
    ControlItemShare,
    Evidence,
    Finding,
    control_item_share,
)
from curation.guides.guide import current_guide, guide_by_hash
from curation.labeling.rounds.control_items import control_item_results
from curation.labeling.rounds.rounds import find_round, list_rounds
from curation.store import Store


@dataclass(frozen=True)
class AnnotatorDetails:
    """All that is known about one annotator's work; `repeats` is None where nothing was judged twice."""

    annotator: str
    consistency: IntraAgreement
    repeats: SelfConsistency | None
    bias: AnnotatorBias | None
    control_items: ControlItemShare
    feedback: tuple[Finding, ...]


def annotator_details(
    store: Store, round_name: str | None = None, seed: int = 0, by_week: bool = False
) -> list[AnnotatorDetails]:
    """Everyone's work in detail, by name: of the project, or of one round.

    Raises
    ------
    NotFoundError: no round has this name.
    """
    with store.reading() as cursor:
        found = find_round(cursor, round_name) if round_name else None
        round_id = found.round_id if found else None
        scale = (guide_by_hash(cursor, found.guide_hash) if found else current_guide(cursor)).values
        consistencies = [intra_agreement(row) for row in read_repeats(cursor, round_id)]
        showings = {row.annotator: row for row in read_showings(cursor, round_id)}
        differences = {row.annotator: row for row in read_differences(cursor, round_id)}
        rounds = (
            [round_id] if round_id else [row.round_id for row in list_rounds(cursor) if _plants(row.kind)]
        )
        results = [result for each in rounds for result in control_item_results(cursor, each)]
    details = []
    for consistency in consistencies:
        name = consistency.annotator
        own = [result for result in results if result.annotator == name]
        details.append(
            details_of(
                consistency,
                self_consistency(showings[name], scale, seed, by_week) if name in showings else None,
                annotator_bias(differences[name], seed) if name in differences else None,
                control_item_share(sum(row.right for row in own), sum(row.answered for row in own)),
            )
        )
    return details


def details_of(
    consistency: IntraAgreement,
    repeats: SelfConsistency | None,
    bias: AnnotatorBias | None,
    control_items: ControlItemShare,
) -> AnnotatorDetails:
    """One annotator's details, with the feedback that comes of them."""
    evidence = Evidence(
        consistency.annotator,
        consistency,
        repeats,
        repeats_number=repeats.n if repeats is not None else 0,
        changes=repeats.changes if repeats is not None else None,
        bias=bias,
        control_items=control_items,
    )
    return AnnotatorDetails(
        consistency.annotator, consistency, repeats, bias, control_items, feedback(evidence)
    )


def _plants(kind: str) -> bool:
    return kind in ("labeling", "audit")
