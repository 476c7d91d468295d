"""All that is known about each annotator's work, read in one turn and computed outside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curation.agreement.annotators.agreement_with_others import (
    OthersAgreement,
    agreement_with_others,
    reference_of,
)
from curation.agreement.annotators.bias import (
    AnnotatorBias,
    Comparable,
    annotator_bias,
    differences_of,
    read_comparable,
)
from curation.agreement.annotators.fast_answers import (
    AnswerTimes,
    FastAnswers,
    FavouriteGrade,
    RoundGrades,
    fast_answers,
    favourite_grades,
    read_given,
    read_times,
)
from curation.agreement.annotators.intra_annotator import (
    IntraAgreement,
    Repeats,
    SelfConsistency,
    Showings,
    intra_agreement,
    read_repeats,
    read_showings,
    self_consistency,
)
from curation.agreement.annotators.signals import (
    ControlItemShare,
    Evidence,
    Finding,
    control_item_share,
    feedback,
)
from curation.agreement.between.grades import Grades, read_grades
from curation.guides.guide import current_guide, guide_by_hash
from curation.labeling.rounds.control_items import ControlItemResult, control_item_results
from curation.labeling.rounds.rounds import find_round, list_rounds
from curation.store import Cursor, Store


@dataclass(frozen=True)
class AnnotatorDetails:
    """All that is known about one annotator's work; `repeats` is None where nothing was judged twice.

    `fast` and `favourite` are sentences where there is too little; `left_out` says why others are not
    compared with this annotator (see `Reference`), and is None where they are.
    """

    annotator: str
    consistency: IntraAgreement
    repeats: SelfConsistency | None
    agreement: OthersAgreement | None
    bias: AnnotatorBias | None
    fast: FastAnswers | str | None
    favourite: FavouriteGrade | str | None
    control_items: ControlItemShare
    left_out: str | None
    feedback: tuple[Finding, ...]


class WorkRecords(NamedTuple):
    """What details are computed from, as it was read.

    `times` and `given` are those of one round, or of the project; `control_items` are of everybody.
    """

    scale: Sequence[int]
    repeats: Sequence[Repeats]
    showings: Sequence[Showings]
    comparable: Comparable
    grades: Grades
    times: AnswerTimes
    given: RoundGrades
    control_items: Sequence[ControlItemResult]


def annotator_details(store: Store, round_name: str | None = None, seed: int = 0) -> list[AnnotatorDetails]:
    """Everyone's work in detail, by name: of the project, or of one round.

    Raises
    ------
    NotFoundError: no round has this name.
    """
    with store.reading() as cursor:
        records = _read(cursor, round_name)
    return work_details(records, seed)


def _read(cursor: Cursor, round_name: str | None) -> WorkRecords:
    found = find_round(cursor, round_name) if round_name else None
    round_id = found.round_id if found else None
    guide = guide_by_hash(cursor, found.guide_hash) if found else current_guide(cursor)
    rounds = [round_id] if round_id else [row.round_id for row in list_rounds(cursor) if _plants(row.kind)]
    return WorkRecords(
        guide.values,
        read_repeats(cursor, round_id),
        read_showings(cursor, round_id),
        read_comparable(cursor, round_id),
        read_grades(cursor, round_id),
        read_times(cursor, round_id),
        read_given(cursor, round_id),
        [result for each in rounds for result in control_item_results(cursor, each)],
    )


def work_details(records: WorkRecords, seed: int = 0) -> list[AnnotatorDetails]:
    """Everyone's details, by name, each with the feedback that comes of them."""
    people = [row.annotator for row in records.repeats]
    left_out = reference_of(records.grades).left_out
    agreement = agreement_with_others(records.grades, left_out, seed)
    bias = {row.annotator: annotator_bias(row, seed) for row in differences_of(records.comparable, left_out)}
    fast = fast_answers(people, records.times, left_out)
    favourite = favourite_grades(people, records.given, left_out)
    repeats = {row.annotator: self_consistency(row, records.scale, seed) for row in records.showings}
    return [
        details_of(
            intra_agreement(row),
            repeats.get(row.annotator),
            bias.get(row.annotator),
            _known(records.control_items, row.annotator),
            agreement=agreement.get(row.annotator),
            fast=fast[row.annotator],
            favourite=favourite[row.annotator],
            left_out=left_out.get(row.annotator),
        )
        for row in records.repeats
    ]


def details_of(
    consistency: IntraAgreement,
    repeats: SelfConsistency | None,
    bias: AnnotatorBias | None,
    control_items: ControlItemShare,
    *,
    agreement: OthersAgreement | None = None,
    fast: FastAnswers | str | None = None,
    favourite: FavouriteGrade | str | None = None,
    left_out: str | None = None,
) -> AnnotatorDetails:
    """One annotator's details, with the feedback that comes of them."""
    name = consistency.annotator
    evidence = Evidence(
        name,
        consistency,
        repeats,
        repeats_number=repeats.n if repeats is not None else 0,
        changes=repeats.changes if repeats is not None else None,
        agreement=agreement,
        bias=bias,
        control_items=control_items,
        fast=fast,
        favourite=favourite,
    )
    found = feedback(evidence)
    return AnnotatorDetails(
        name, consistency, repeats, agreement, bias, fast, favourite, control_items, left_out, found
    )


def _known(results: Sequence[ControlItemResult], name: str) -> ControlItemShare:
    own = [result for result in results if result.annotator == name]
    return control_item_share(sum(row.right for row in own), sum(row.answered for row in own))


def _plants(kind: str) -> bool:
    return kind in ("labeling", "audit")
