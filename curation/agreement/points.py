"""What is worth a talk with an annotator: each finding a test, all tests of one person taken together.

A point accuses nobody. Looking at ten things would raise ten times as many false points, so the smallest
probabilities must stand out among all that were looked at: of people with whom nothing is the matter at most
one in ten hears of anything. The docs have the measured rates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scipy.special import bdtr

from curation.agreement.drift import SHORTEST
from curation.agreement.intervals import wilson
from curation.agreement.tendency import Pace, Tendency, Week
from curation.agreement.within import MINIMUM_REPEATS, SelfConsistency, Within

WANTED = 0.8
"""The share of identical grades, and of right known answers, that nobody needs to talk about."""

FALSE_SHARE = 0.1
"""Of people with whom nothing is the matter at most so many hear of anything; of all points at most so many
are false on average."""

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


class _Test(NamedTuple):
    """A look at one thing: how probable what it found is, and the points that it would raise, each with its
    own p, no less than that."""

    about: str
    p: float
    points: tuple[tuple[float, TalkingPoint], ...]


def talking_points(
    consistency: Within, repeats: SelfConsistency | None, beside: Tendency | None, known: KnownShare
) -> Iterator[TalkingPoint]:
    """What to talk about with one annotator, the weightiest kind first; nothing where nothing stands out."""
    tests = list(_tests(consistency, repeats, beside, known))
    line = threshold([test.p for test in tests])
    changed = any(test.about == "change" and test.p <= line for test in tests)
    for test in tests:
        if test.p <= line and not (changed and test.about == "control chart"):
            yield from (point for p, point in test.points if p <= line)


def threshold(ps: Sequence[float], share: float = FALSE_SHARE) -> float:
    """The largest p that counts among so many looks at one person; below 0 where none does.

    The step-up rule of Y. Benjamini and Y. Hochberg (1995), Controlling the false discovery rate, Journal of
    the Royal Statistical Society B 57: the k-th smallest p of m counts up to k/m of `share`.
    """
    ordered = sorted(ps)
    counting = [p for k, p in enumerate(ordered, start=1) if p <= k * share / len(ordered)]
    return counting[-1] if counting else -1.0


def known_share(right: int, answered: int) -> KnownShare:
    """The share of known answers that were given right."""
    if not answered:
        return KnownShare(0, 0, None, None, None)
    return KnownShare(answered, right, right / answered, *wilson(right, answered))


def _tests(
    consistency: Within, repeats: SelfConsistency | None, beside: Tendency | None, known: KnownShare
) -> Iterator[_Test]:
    """Everything that was looked at, whatever came of it."""
    yield from _low_shares(consistency, known)
    if beside is not None:
        yield from _beside_others(beside)
    if repeats is not None and repeats.n >= MINIMUM_REPEATS:
        yield from _over_time(repeats)
        yield from _second_time(repeats)


def _low_shares(one: Within, known: KnownShare) -> Iterator[_Test]:
    if one.identical is not None and one.high is not None and not one.too_few:
        yield _test(
            "consistency",
            float(bdtr(round(one.identical * one.n), one.n, WANTED)),
            f"{one.identical:.0%} of {one.n:,} pairs that came again got the same grade (95 % interval up to "
            f"{one.high:.0%}). Which of the grades were hard to tell apart?",
            {"identical": one.identical, "low": one.low, "high": one.high, "n": one.n},
        )
    if known.share is not None and known.high is not None and known.answered >= MINIMUM_REPEATS:
        yield _test(
            "known answers",
            float(bdtr(known.right, known.answered, WANTED)),
            f"{known.right:,} of {known.answered:,} pairs that the reviewer has decided got the decided "
            f"grade (95 % interval up to {known.high:.0%}). Look at those decisions together.",
            known._asdict(),
        )


def _beside_others(one: Tendency) -> Iterator[_Test]:
    if one.bias is not None and one.bias_p is not None:
        where = f"{one.low:+.2f} to {one.high:+.2f}, " if None not in (one.low, one.high) else ""
        yield _test(
            "bias",
            one.bias_p if abs(one.bias) >= REMARKABLE else 1.0,
            f"Grades are {abs(one.bias):.2f} {'higher' if one.bias > 0 else 'lower'} than the others' or the "
            f"reviewer's on the same pairs ({where}{one.grades:,} grades). Where does the guide allow that?",
            {"bias": one.bias, "low": one.low, "high": one.high, "grades": one.grades},
        )
    if one.trend is not None and one.trend_p is not None:
        yield _test(
            "drift",
            one.trend_p,
            f"Beside the others, grades have moved by {one.trend:+.2f} from the first query to the last "
            f"(p {one.trend_p:.3f}). Has a reading of the guide changed?",
            {"trend": one.trend, "queries": one.queries},
        )
    if len(one.weeks) > 1:
        yield _weeks(one.weeks)
    if one.pace is not None:
        yield _pace(one.pace)


def _weeks(weeks: Sequence[Week]) -> _Test:
    """One look at all weeks, each of which counts as often as there are weeks (Bonferroni)."""
    points = []
    for week in weeks:
        p = min(1.0, week.p * len(weeks))
        sentence = (
            f"In the week of {week.monday:%Y-%m-%d} grades lay {week.bias:+.2f} beside the others', "
            f"unlike in the other weeks ({week.grades:,} grades of {week.queries:,} queries, p {p:.3f})."
        )
        evidence = {"monday": week.monday, "bias": week.bias, "weeks": len(weeks), "p": p}
        points.append((p, TalkingPoint("week", sentence, evidence)))
    return _Test("week", min(p for p, _ in points), tuple(points))


def _pace(pace: Pace) -> _Test:
    worse, than = ("faster", "slower") if pace.difference < 0 else ("slower", "faster")
    return _test(
        "pace",
        pace.p,
        f"Of the {worse} answers fewer agree with the others than of the {than} ones: {pace.fast:.0%} of "
        f"{pace.fast_grades:,} fast and {pace.slow:.0%} of {pace.slow_grades:,} slow grades (difference "
        f"{pace.low:+.2f} to {pace.high:+.2f}).",
        pace._asdict(),
    )


def _over_time(one: SelfConsistency) -> Iterator[_Test]:
    changes = []
    for change in one.changes:
        sentence = (
            f"From {change.at:%Y-%m-%d %H:%M} on, {change.after:.0%} of the pairs that came again got the "
            f"same grade, before it {change.before:.0%} (p {change.p:.3f}). What was different then?"
        )
        changes.append((change.p, TalkingPoint("change", sentence, change._asdict())))
    if one.n >= 2 * SHORTEST:
        yield _Test("change", min((p for p, _ in changes), default=1.0), tuple(changes))
    if one.cusum is not None and one.cusum.worst is not None:
        worst = one.cusum.worst
        yield _test(
            "control chart",
            one.cusum.p,
            f"From {worst.begins:%Y-%m-%d %H:%M} to {worst.ends:%Y-%m-%d %H:%M}, {worst.identical:,} of "
            f"{worst.n:,} pairs that came again got the same grade, fewer than chance lets come together "
            f"(p {one.cusum.p:.3f}). What was different in between?",
            worst._asdict(),
        )


def _second_time(one: SelfConsistency) -> Iterator[_Test]:
    near, far, p = one.near, one.far, one.near_far_p
    if near is not None and far is not None and p is not None:
        yield _test(
            "distance",
            p,
            f"Pairs that came again soon got the same grade in {near.share:.0%}, those after {far.nearest:,} "
            f"or more others in {far.share:.0%} (p {p:.3f}): the share owes something to memory.",
            {"near": near._asdict(), "far": far._asdict()},
        )
    yield _test(
        "second time",
        one.shift_p,
        f"The second grade of a pair is {abs(one.shift):.2f} {'higher' if one.shift > 0 else 'lower'} "
        f"than the first on average ({one.shift_low:+.2f} to {one.shift_high:+.2f}, {one.n:,} pairs).",
        {"shift": one.shift, "low": one.shift_low, "high": one.shift_high, "n": one.n},
    )


def _test(about: str, p: float, sentence: str, evidence: dict[str, Any]) -> _Test:
    return _Test(about, p, ((p, TalkingPoint(about, sentence, {**evidence, "p": p})),))
