"""A signal: what it needs, what it finds, and the error control that all signals share.

Looking at ten things would raise ten times as many false findings, so all looks that are read together are
tested together by the rule of Benjamini and Hochberg. For feedback these are all looks at one person, at
`FALSE_SHARE`; for early warnings all looks at the people of one round, at `FALSE_ROUNDS`.

Annotator signals: what in somebody's work is worth a conversation, each with its test and its figures.

A signal accuses nobody. It is a record of a name, what it looks at, what it needs, and a function that gives
its p value with a sentence and the evidence (`signal.Signal`). A new one is a function and a record here, and
its place in `FEEDBACK`.

Some of them ask similar questions, and stay apart:

- `agreement` asks whether grades follow the others' at all, `one grade` whether they vary, `bias` whether
  they are higher or lower. Where `one grade` finds something, `agreement` is not raised.
- `speed` asks whether answers came too quickly to have read the text; it needs times and no grades. `pace`
  asks whether quick answers of one person are wrong more often; it needs grades to compare with, and an
  annotator who is fast and right raises nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scipy.special import bdtr, bdtrc

from curation.agreement.annotators.agreement_with_others import OthersAgreement
from curation.agreement.annotators.bias import AnnotatorBias
from curation.agreement.annotators.fast_answers import (
    FASTEST,
    FEWEST_ANSWERS,
    ONE_GRADE,
    FastAnswers,
    FavouriteGrade,
)
from curation.agreement.annotators.intra_annotator import (
    MINIMUM_REPEATS,
    SHORTEST,
    ChangePoint,
    IntraAgreement,
    SelfConsistency,
)
from curation.statistics.intervals import wilson
from curation.statistics.p_values import threshold
from curation.text import amount, decimal, ends, p_text, percent

FALSE_SHARE = 0.1
"""Of people with whom nothing is the matter, at most so many get feedback; of all points at most so much is
false on average."""

FALSE_ROUNDS = 0.05
"""Of rounds in which nothing is the matter, at most so many get early warnings, however many people work."""


class ControlItemShare(NamedTuple):
    """Planted control items: those answered, and those with the decided grade; Wilson's 95 % interval."""

    answered: int
    right: int
    share: float | None
    low: float | None
    high: float | None


class Evidence(NamedTuple):
    """What is known of one annotator's work; None where a signal's data were not read.

    Attributes
    ----------
    repeats: blind duplicates graded twice.
    changes: change points of these repeats; where only falls are looked for, only falls. They are looked at
        from `fewest_repeats` on.
    agreement: with the others on the same pairs.
    bias: grades against the others'.
    fast, favourite: speed, and the most frequent grade, against the others of a round; or why not known.
    """

    annotator: str
    consistency: IntraAgreement | None = None
    repeats: SelfConsistency | None = None
    repeats_number: int = 0
    changes: tuple[ChangePoint, ...] | None = None
    fewest_repeats: int = 2 * SHORTEST
    agreement: OthersAgreement | None = None
    bias: AnnotatorBias | None = None
    control_items: ControlItemShare | None = None
    fast: FastAnswers | str | None = None
    favourite: FavouriteGrade | str | None = None


class Finding(NamedTuple):
    """Something to talk about: a sentence for people, and the figures that it rests on."""

    about: str
    sentence: str
    evidence: dict[str, Any]


class Look(NamedTuple):
    """One look at one person.

    Attributes
    ----------
    p: how probable what was found is where nothing is the matter.
    findings: what it would raise, each with its own p, which is no less than that of the look.
    """

    p: float
    findings: tuple[tuple[float, Finding], ...]


class Signal(NamedTuple):
    """A record of the registry.

    Attributes
    ----------
    label: what it looks at and tests, for people.
    look: the look at somebody's evidence; why there is none, where the data are too few or were not read.
    yields_to: the name of a signal that says more about the same: where that one raises something, this one
        does not.
    """

    name: str
    label: str
    look: Callable[[Evidence], Look | str]
    yields_to: str | None = None


class Raised(NamedTuple):
    """What signals found among people.

    Attributes
    ----------
    findings: annotator and finding, by person and signal in the order given.
    not_checked: signal, annotator and why there was no look.
    looks: how many there were.
    """

    findings: tuple[tuple[str, Finding], ...]
    not_checked: tuple[tuple[str, str, str], ...]
    looks: int = 0


def raise_findings(people: Sequence[Evidence], signals: Sequence[Signal], share: float) -> Raised:
    """Look at everybody by every signal, and raise what counts among all these looks together.

    Parameters
    ----------
    share: `FALSE_SHARE` or `FALSE_ROUNDS`.
    """
    looks: dict[tuple[str, str], Look] = {}
    not_checked = []
    for person in people:
        for signal in signals:
            look = signal.look(person)
            if isinstance(look, Look):
                looks[person.annotator, signal.name] = look
            else:
                not_checked.append((signal.name, person.annotator, look))
    line = threshold([look.p for look in looks.values()], share)
    counting = {key: look for key, look in looks.items() if look.p <= line}
    yields = {signal.name: signal.yields_to for signal in signals}
    findings = tuple(
        (annotator, finding)
        for (annotator, name), look in counting.items()
        if (annotator, yields[name]) not in counting
        for p, finding in look.findings
        if p <= line
    )
    return Raised(findings, tuple(not_checked), len(looks))


def control_item_share(right: int, answered: int) -> ControlItemShare:
    """The share of control items that were given right."""
    if not answered:
        return ControlItemShare(0, 0, None, None, None)
    return ControlItemShare(answered, right, right / answered, *wilson(right, answered))


def single(about: str, p: float, sentence: str, evidence: dict[str, Any]) -> Look:
    """A look that raises at most one finding; its p is added to the evidence."""
    return Look(p, ((p, Finding(about, sentence, {**evidence, "p": p})),))


WANTED = 0.8
"""The share of identical grades, and of right control items, that needs no conversation."""

REMARKABLE = 0.1
"""Grades; a smaller bias needs no conversation, however certain."""

USUAL_FAST = 0.25
"""A share of fast answers that is not yet remarkable: quick readers stay below it."""

NO_OTHERS = "no grades of others to compare with"
FEW_REPEATS = f"fewer than {MINIMUM_REPEATS} blind duplicates judged twice"


def _agreement(person: Evidence) -> Look | str:
    """Student's t over queries, one-sided; see `OthersAgreement.p`."""
    one = person.agreement
    if one is None or one.p is None or one.kappa is None:
        return (one and one.undefined) or NO_OTHERS
    span = ""
    if one.low is not None and one.high is not None:
        span = f"95 % interval {ends(one.low, one.high, 2)}, "
    return single(
        "agreement",
        one.p,
        f"Grades agree with the others' on the same pairs {_how_far(one)}: weighted kappa "
        f"{decimal(one.kappa, 2)} ({span}{amount(one.pairs, 'pair')} of "
        f"{amount(one.queries, 'query', 'queries')}), among the others {decimal(one.others, 2)}. Grade some "
        "of these pairs together, with the guide open. A scale read upside down, or a task that was "
        "misunderstood, can do that, too.",
        one._asdict(),
    )


def _how_far(one: OthersAgreement) -> str:
    if one.high is not None and one.high < 0:
        return "less than chance would"
    if one.low is None or one.low <= 0:
        return "no better than chance would"
    return "far less than theirs with each other"


def _one_grade(person: Evidence) -> Look | str:
    """An exact test: whose grade is whose does not matter; see `FavouriteGrade.p`.

    Who follows the others' grades is only more careful than they are, where nearly all pairs have one grade.
    Grades without a time are in no run.
    """
    one = person.favourite
    if not isinstance(one, FavouriteGrade):
        return one or "no grades were read"
    runs = f"The longest run of one grade is {one.longest_run:,}, among the others {one.others_run:,}. "
    return single(
        "one grade",
        1.0 if person.agreement is not None and person.agreement.follows else one.p,
        f"Look at these together: {person.annotator} gave grade {one.grade} to {one.times:,} of "
        f"{amount(one.pairs, 'pair')}; on these others gave it {one.others_times:,} times of "
        f"{one.others_grades:,}. {runs * bool(one.longest_run)}A part of the guide that was read differently "
        "can do that, too.",
        one._asdict(),
    )


def _speed(person: Evidence) -> Look | str:
    """An exact binomial test, one-sided, against `USUAL_FAST`."""
    fast = person.fast
    if not isinstance(fast, FastAnswers):
        return fast or "no times were read"
    limit = f"less than {FASTEST:g} second; there are too few others to compare with"
    if fast.compared:
        limit = (
            f"less than a third of the time that others take over texts as long, {fast.below_second:,} of "
            f"them in less than {FASTEST:g} second; of the others' own, {fast.others_fast:,} of "
            f"{fast.others_answers:,} did"
        )
    excuse = "Practice or easy pairs can do that, too."
    if fast.median < FASTEST:
        excuse = f"Half of all took {fast.median:.1f} seconds or less: nobody reads at this pace."
    return single(
        "speed",
        float(bdtrc(fast.fast - 1, fast.answers, USUAL_FAST)),
        f"Look at these together: {fast.fast:,} of {amount(fast.answers, 'answer')} of {person.annotator} "
        f"came in {limit}. {excuse}",
        fast._asdict(),
    )


def _consistency(person: Evidence) -> Look | str:
    """An exact binomial test, one-sided, against `WANTED`."""
    one = person.consistency
    if one is None or one.identical is None or one.high is None or one.too_few:
        return FEW_REPEATS
    return single(
        "consistency",
        float(bdtr(round(one.identical * one.n), one.n, WANTED)),
        f"{percent(one.identical)} of {amount(one.n, 'pair')} that came again got the same grade (95 % "
        f"interval up to {percent(one.high)}). Which of the grades were hard to tell apart?",
        {"identical": one.identical, "low": one.low, "high": one.high, "n": one.n},
    )


def _control_items(person: Evidence) -> Look | str:
    """An exact binomial test, one-sided, against `WANTED`."""
    known = person.control_items
    if known is None or known.share is None or known.high is None or known.answered < MINIMUM_REPEATS:
        return f"fewer than {MINIMUM_REPEATS} control items given"
    return single(
        "control items",
        float(bdtr(known.right, known.answered, WANTED)),
        f"{known.right:,} of {amount(known.answered, 'pair')} that the reviewer has decided got the decided "
        f"grade (95 % interval up to {percent(known.high)}). Look at those decisions together.",
        known._asdict(),
    )


def _bias(person: Evidence) -> Look | str:
    """Student's t over queries; see `mean_p`."""
    one = person.bias
    if one is None or one.bias is None or one.bias_p is None:
        return (one and one.undefined) or NO_OTHERS
    interval = ""
    if one.low is not None and one.high is not None:
        interval = f"{ends(one.low, one.high, 2, '+')}, "
    return single(
        "bias",
        one.bias_p if abs(one.bias) >= REMARKABLE else 1.0,
        f"Grades are {abs(one.bias):.2f} {'higher' if one.bias > 0 else 'lower'} than the others' or the "
        f"reviewer's on the same pairs ({interval}{amount(one.grades, 'grade')}). Where does the guide "
        "allow that?",
        {"bias": one.bias, "low": one.low, "high": one.high, "grades": one.grades},
    )


def _drift(person: Evidence) -> Look | str:
    """A permutation test of the slope over the order of queries."""
    one = person.bias
    if one is None or one.trend is None or one.trend_p is None:
        return (one and one.no_trend) or NO_OTHERS
    return single(
        "drift",
        one.trend_p,
        f"Compared with the others, grades have moved by {decimal(one.trend, 2, '+')} from the first query "
        f"to the last (p {p_text(one.trend_p)}). Has a reading of the guide changed?",
        {"trend": one.trend, "queries": one.queries},
    )


def _week(person: Evidence) -> Look | str:
    """One look at all weeks: each week's p is multiplied by the number of weeks (Bonferroni)."""
    weeks = person.bias.weeks if person.bias is not None else ()
    if len(weeks) < 2:
        return "grades of fewer than two weeks"
    findings = []
    for week in weeks:
        p = min(1.0, week.p * len(weeks))
        sentence = (
            f"In the week of {week.monday:%Y-%m-%d} grades were {decimal(week.bias, 2, '+')} from the "
            f"others', unlike in the other weeks ({amount(week.grades, 'grade')} of "
            f"{amount(week.queries, 'query', 'queries')}, p {p_text(p)})."
        )
        evidence = {"monday": week.monday, "bias": week.bias, "weeks": len(weeks), "p": p}
        findings.append((p, Finding("week", sentence, evidence)))
    return Look(min(p for p, _ in findings), tuple(findings))


def _pace(person: Evidence) -> Look | str:
    """Student's t over queries, after what the texts' length explains."""
    pace = person.bias.pace if person.bias is not None else None
    if pace is None:
        return (person.bias and person.bias.no_pace) or NO_OTHERS
    worse, than = ("faster", "slower") if pace.difference < 0 else ("slower", "faster")
    return single(
        "pace",
        pace.p,
        f"Of the {worse} answers fewer agree with the others than of the {than} ones: {percent(pace.fast)} "
        f"of {pace.fast_grades:,} fast and {percent(pace.slow)} of {pace.slow_grades:,} slow grades "
        f"(difference {ends(pace.low, pace.high, 2, '+')}).",
        pace._asdict(),
    )


def _change(person: Evidence) -> Look | str:
    """One look at all change points; their p values allow for every place that was looked at."""
    if person.changes is None or person.repeats_number < person.fewest_repeats:
        return f"{person.repeats_number:,} blind duplicates judged twice; {person.fewest_repeats} are needed"
    findings = []
    for change in person.changes:
        sentence = (
            f"From {change.at:%Y-%m-%d %H:%M} on, {percent(change.after)} of the pairs that came again got "
            f"the same grade, before it {percent(change.before)} (p {p_text(change.p)}). What was different "
            "then?"
        )
        findings.append((change.p, Finding("change", sentence, change._asdict())))
    return Look(min((p for p, _ in findings), default=1.0), tuple(findings))


def _distance(person: Evidence) -> Look | str:
    """Fisher's exact test, one-sided, of the nearer half against the farther one."""
    one = person.repeats
    if one is None or one.n < MINIMUM_REPEATS:
        return FEW_REPEATS
    near, far, p = one.near, one.far, one.near_far_p
    if near is None or far is None or p is None:
        return "all repeats are equally far apart"
    return single(
        "distance",
        p,
        f"Pairs that came again soon got the same grade in {percent(near.share)}, those after "
        f"{far.nearest:,} or more others in {percent(far.share)} (p {p_text(p)}): the share owes something "
        "to memory.",
        {"near": near._asdict(), "far": far._asdict()},
    )


def _second_time(person: Evidence) -> Look | str:
    """An exact test of signs."""
    one = person.repeats
    if one is None or one.n < MINIMUM_REPEATS:
        return FEW_REPEATS
    return single(
        "second time",
        one.shift_p,
        f"The second grade of a pair is {abs(one.shift):.2f} {'higher' if one.shift > 0 else 'lower'} than "
        f"the first on average ({ends(one.shift_low, one.shift_high, 2, '+')}, {amount(one.n, 'pair')}).",
        {"shift": one.shift, "low": one.shift_low, "high": one.shift_high, "n": one.n},
    )


AGREEMENT = Signal(
    "agreement",
    "weighted kappa with the others on the same pairs: below half of theirs among themselves",
    _agreement,
    yields_to="one grade",
)
ONE_GRADE_THROUGHOUT = Signal(
    "one grade",
    f"one grade on at least {percent(ONE_GRADE)} of at least {FEWEST_ANSWERS} pairs that others graded, "
    "too, more often than theirs explain",
    _one_grade,
)
SPEED = Signal(
    "speed",
    f"answers in less than {FASTEST:g} second, or a third of the others' median time over texts as long: "
    f"more than {percent(USUAL_FAST)} of at least {FEWEST_ANSWERS}",
    _speed,
)
CHANGE = Signal(
    "change",
    f"share of blind duplicates graded alike: another one from some repeat on, with {2 * SHORTEST} or more "
    "judged twice, in one round 20 (largest likelihood ratio among random orders)",
    _change,
)
FEEDBACK = (
    *(AGREEMENT, ONE_GRADE_THROUGHOUT, SPEED),
    Signal(
        "consistency",
        f"share of at least {MINIMUM_REPEATS} blind duplicates graded alike: significantly below "
        f"{percent(WANTED)}",
        _consistency,
    ),
    Signal(
        "control items",
        f"share of at least {MINIMUM_REPEATS} control items given right: significantly below "
        f"{percent(WANTED)}",
        _control_items,
    ),
    Signal("bias", f"own less others' grades: {REMARKABLE:g} of a grade or more, and not 0", _bias),
    Signal("drift", "slope of the bias over the order of queries: not 0", _drift),
    Signal("week", "bias of one week: unlike that of the other weeks", _week),
    Signal("pace", "right grades in the faster and the slower half of own answers: not alike", _pace),
    CHANGE,
    Signal("distance", "repeats graded alike: more in the nearer than in the farther half", _distance),
    Signal("second time", "second less first grade of repeats: not 0", _second_time),
)
"""Looked at in all of somebody's work, the weightiest kind first."""

DURING_ROUND = (AGREEMENT, ONE_GRADE_THROUGHOUT, SPEED, CHANGE)
"""Looked at while a round is open, among everybody in it: what can be corrected in time."""


def feedback(person: Evidence) -> tuple[Finding, ...]:
    """What to discuss with one annotator; empty where no look at them is significant among all."""
    return tuple(finding for _, finding in raise_findings([person], FEEDBACK, FALSE_SHARE).findings)
