"""What there is to talk about with an annotator: the findings of `within` and `tendency`, with evidence.

A point accuses nobody. Each rests on an interval or a test at 5 %, so of an annotator with whom nothing is
the matter one point in twenty that could be raised is; the docs have the measured rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.agreement.drift import LEVEL
from curation.agreement.intervals import wilson
from curation.agreement.tendency import Tendency, read_differences, tendency
from curation.agreement.within import (
    MINIMUM_REPEATS,
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

WANTED = 0.8
"""The share of identical grades, and of right known answers, that nobody needs to talk about."""

REMARKABLE = 0.1
"""Grades; a smaller bias is not worth a talk, however certain."""


class KnownShare(NamedTuple):
    """Planted known answers: those answered, and those with the decided grade; Wilson's 95 % interval."""

    answered: int
    right: int
    share: float | None
    low: float | None
    high: float | None


class TalkingPoint(NamedTuple):
    """Something to talk about: a sentence for people, and the figures that it rests on."""

    about: str
    sentence: str
    evidence: dict[str, Any]


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


def known_share(right: int, answered: int) -> KnownShare:
    """The share of known answers that were given right."""
    if not answered:
        return KnownShare(0, 0, None, None, None)
    return KnownShare(answered, right, right / answered, *wilson(right, answered))


def talking_points(
    consistency: Within, repeats: SelfConsistency | None, beside: Tendency | None, known: KnownShare
) -> Iterator[TalkingPoint]:
    """What to talk about with one annotator, the weightiest kind first; nothing where nothing stands out."""
    yield from _low_shares(consistency, known)
    if beside is not None:
        yield from _beside_others(beside)
        yield from _pace(beside)
    if repeats is not None and repeats.n >= MINIMUM_REPEATS:
        yield from _over_time(repeats)
        yield from _second_time(repeats)


def _plants(kind: str) -> bool:
    return kind in ("labeling", "audit")


def _low_shares(one: Within, known: KnownShare) -> Iterator[TalkingPoint]:
    if one.identical is not None and one.high is not None and not one.too_few and one.high < WANTED:
        yield TalkingPoint(
            "consistency",
            f"{one.identical:.0%} of {one.n:,} pairs that came again got the same grade (95 % interval up to "
            f"{one.high:.0%}). Which of the grades were hard to tell apart?",
            {"identical": one.identical, "low": one.low, "high": one.high, "n": one.n},
        )
    if known.share is not None and known.high is not None and known.high < WANTED:
        yield TalkingPoint(
            "known answers",
            f"{known.right:,} of {known.answered:,} pairs that the reviewer has decided got the decided "
            f"grade (95 % interval up to {known.high:.0%}). Look at those decisions together.",
            known._asdict(),
        )


def _beside_others(one: Tendency) -> Iterator[TalkingPoint]:
    if one.bias is not None and one.low is not None and one.high is not None:
        evidence = {"bias": one.bias, "low": one.low, "high": one.high, "grades": one.grades}
        if abs(one.bias) >= REMARKABLE and (one.low > 0 or one.high < 0):
            higher = "higher" if one.bias > 0 else "lower"
            yield TalkingPoint(
                "bias",
                f"Grades are {abs(one.bias):.2f} {higher} than the others' or the reviewer's on the same "
                f"pairs ({one.low:+.2f} to {one.high:+.2f}, {one.grades:,} grades). Where does the guide "
                "allow that?",
                evidence,
            )
    if one.trend is not None and one.trend_p is not None and one.trend_p <= LEVEL:
        yield TalkingPoint(
            "drift",
            f"Beside the others, grades have moved by {one.trend:+.2f} from the first query to the last "
            f"(p {one.trend_p:.3f}). Has a reading of the guide changed?",
            {"trend": one.trend, "p": one.trend_p, "queries": one.queries},
        )
    for week in one.weeks:
        if week.p <= LEVEL / len(one.weeks):
            yield TalkingPoint(
                "week",
                f"In the week of {week.monday:%Y-%m-%d} grades lay {week.bias:+.2f} beside the others', "
                f"unlike in the other weeks ({week.grades:,} grades of {week.queries:,} queries, "
                f"p {week.p:.3f}).",
                {"monday": week.monday, "bias": week.bias, "p": week.p, "weeks": len(one.weeks)},
            )


def _pace(one: Tendency) -> Iterator[TalkingPoint]:
    pace = one.pace
    if pace is not None and (pace.high < 0 or pace.low > 0):
        worse, than = ("faster", "slower") if pace.difference < 0 else ("slower", "faster")
        yield TalkingPoint(
            "pace",
            f"Of the {worse} answers fewer agree with the others than of the {than} ones: {pace.fast:.0%} of "
            f"{pace.fast_grades:,} fast and {pace.slow:.0%} of {pace.slow_grades:,} slow grades (difference "
            f"{pace.low:+.2f} to {pace.high:+.2f}).",
            pace._asdict(),
        )


def _over_time(one: SelfConsistency) -> Iterator[TalkingPoint]:
    for change in one.changes:
        yield TalkingPoint(
            "change",
            f"From {change.at:%Y-%m-%d %H:%M} on, {change.after:.0%} of the pairs that came again got the "
            f"same grade, before it {change.before:.0%} (p {change.p:.3f}). What was different then?",
            change._asdict(),
        )
    outside = [point for point in one.chart if point.outside and point.share < point.centre]
    if outside and not one.changes:
        worst = min(outside, key=lambda point: (point.share, point.begins))
        yield TalkingPoint(
            "control chart",
            f"Around {worst.begins:%Y-%m-%d %H:%M}, {worst.identical:,} of {worst.n:,} repeats got the same "
            f"grade, below the control limit of {worst.lower:.0%}.",
            worst._asdict(),
        )


def _second_time(one: SelfConsistency) -> Iterator[TalkingPoint]:
    near, far, p = one.near, one.far, one.near_far_p
    if near is not None and far is not None and p is not None and p <= LEVEL and near.share > far.share:
        yield TalkingPoint(
            "distance",
            f"Pairs that came again soon got the same grade in {near.share:.0%}, those after {far.nearest:,} "
            f"or more others in {far.share:.0%} (p {p:.3f}): the share owes something to memory.",
            {"near": near._asdict(), "far": far._asdict(), "p": p},
        )
    if one.shift_low > 0 or one.shift_high < 0:
        yield TalkingPoint(
            "second time",
            f"The second grade of a pair is {abs(one.shift):.2f} {'higher' if one.shift > 0 else 'lower'} "
            f"than the first on average ({one.shift_low:+.2f} to {one.shift_high:+.2f}, {one.n:,} pairs).",
            {"shift": one.shift, "low": one.shift_low, "high": one.shift_high, "n": one.n},
        )
