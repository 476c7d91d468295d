"""All that is known about each annotator's work, read in one turn and computed outside it."""

from __future__ import annotations

from dataclasses import dataclass

from curation.agreement.points import KnownShare, TalkingPoint, known_share, talking_points
from curation.agreement.tendency import Tendency, read_differences, tendency
from curation.agreement.within import (
    SelfConsistency,
    Within,
    read_repeats,
    read_showings,
    self_consistency,
    within,
)
from curation.labeling.guides import current_guide, guide_by_hash
from curation.labeling.known import known_results
from curation.labeling.rounds import find_round, list_rounds
from curation.store import Store


@dataclass(frozen=True)
class AnnotatorDetails:
    """All that is known about one annotator's work; `repeats` is None where nothing was judged twice."""

    annotator: str
    consistency: Within
    repeats: SelfConsistency | None
    tendency: Tendency | None
    known: KnownShare
    points: tuple[TalkingPoint, ...]


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
        consistencies = [within(row) for row in read_repeats(cursor, round_id)]
        showings = {row.annotator: row for row in read_showings(cursor, round_id)}
        differences = {row.annotator: row for row in read_differences(cursor, round_id)}
        rounds = (
            [round_id] if round_id else [row.round_id for row in list_rounds(cursor) if _plants(row.kind)]
        )
        known = [result for each in rounds for result in known_results(cursor, each)]
    details = []
    for one in consistencies:
        name = one.annotator
        repeats = self_consistency(showings[name], scale, seed, by_week) if name in showings else None
        beside = tendency(differences[name], seed) if name in differences else None
        mine = [result for result in known if result.annotator == name]
        share = known_share(sum(row.right for row in mine), sum(row.answered for row in mine))
        points = tuple(talking_points(one, repeats, beside, share))
        details.append(AnnotatorDetails(name, one, repeats, beside, share, points))
    return details


def _plants(kind: str) -> bool:
    return kind in ("labeling", "audit")
