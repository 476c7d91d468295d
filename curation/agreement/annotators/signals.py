"""Annotator signals: what in somebody's work is worth a conversation, each with its test and its figures.

A signal accuses nobody. It is a name, what it tests, and a function that gives its p value with a sentence
and the evidence. A new one is a function here, and its place in `FEEDBACK`.

Some of them ask similar questions, and stay apart:

- `agreement` asks whether grades follow the others' at all, `one grade` whether they vary, `bias` whether
  they are higher or lower. Where `one grade` finds something, `agreement` is not raised.
- `speed` asks whether answers came too quickly to have read the text; it needs times and no grades.

Testing five things would raise five times as many false findings, so all tests that are read together are
corrected together by the rule of Benjamini and Hochberg. For feedback these are all tests of one person, at
`FALSE_SHARE`; for early warnings all tests of the people of one round, at `FALSE_ROUNDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scipy.special import bdtrc

from curation.agreement.annotators.agreement_with_others import OthersAgreement
from curation.agreement.annotators.bias import AnnotatorBias
from curation.agreement.annotators.fast_answers import FASTEST, FEWEST_ANSWERS, FastAnswers
from curation.agreement.annotators.intra_annotator import IntraAgreement
from curation.agreement.annotators.modal_grade import ONE_GRADE, ModalGrade
from curation.core.statistics.p_values import threshold
from curation.core.text import amount, decimal, ends, p_text, percent

FALSE_SHARE = 0.1
"""At most so many of the people with whom nothing is the matter get feedback; at most this share of all
points is false on average."""

FALSE_ROUNDS = 0.05
"""At most so many of the rounds in which nothing is the matter get early warnings, however many people
work."""

REMARKABLE = 0.1
"""Grades; a smaller bias needs no conversation, however certain."""

USUAL_FAST = 0.25
"""A share of fast answers that is not yet remarkable: quick readers stay below it."""

NO_OTHERS = "no grades of others to compare with"


class Finding(NamedTuple):
    """Something to talk about: a sentence for people, and the figures that it rests on, `p` among them."""

    about: str
    sentence: str
    evidence: dict[str, Any]


class ControlItemShare(NamedTuple):
    """Planted control items: those answered, and those with the decided grade; Wilson's 95 % interval."""

    answered: int
    right: int
    share: float | None
    low: float | None
    high: float | None


class AnnotatorMetrics(NamedTuple):
    """What is known of one annotator's work; None where it was not read.

    Attributes
    ----------
    agreement: with the others on the same pairs.
    bias: grades against the others'.
    fast, modal: speed, and the most frequent grade, against the others'; sentences where there is too little.
    left_out: why others are not compared with this annotator (see `left_out_of`); None where they are.
    feedback: what to discuss with them.
    """

    annotator: str
    agreement: OthersAgreement | None = None
    bias: AnnotatorBias | None = None
    fast: FastAnswers | str | None = None
    modal: ModalGrade | str | None = None
    consistency: IntraAgreement | None = None
    control_items: ControlItemShare | None = None
    left_out: str | None = None
    feedback: tuple[Finding, ...] = ()


class Signal(NamedTuple):
    """A record of the registry.

    Attributes
    ----------
    label: what it tests, for people.
    test: what it would say of somebody, with how probable that is where nothing is the matter; why there is
        no test, where the data are too few or were not read.
    yields_to: the name of a signal that says more about the same: where that one raises something, this one
        does not.
    """

    name: str
    label: str
    test: Callable[[AnnotatorMetrics], Finding | str]
    yields_to: str | None = None


class SignalResults(NamedTuple):
    """What signals found among people.

    Attributes
    ----------
    findings: annotator and finding, by person and signal in the order given.
    not_checked: signal, annotator and why there was no test.
    tests: how many there were.
    """

    findings: tuple[tuple[str, Finding], ...]
    not_checked: tuple[tuple[str, str, str], ...]
    tests: int = 0


def run_signals(people: Sequence[AnnotatorMetrics], signals: Sequence[Signal], share: float) -> SignalResults:
    """Test everybody by every signal, and raise what counts among all these tests together.

    Parameters
    ----------
    share: `FALSE_SHARE` or `FALSE_ROUNDS`.
    """
    tests: dict[tuple[str, str], Finding] = {}
    not_checked = []
    for person in people:
        for signal in signals:
            tested = signal.test(person)
            if isinstance(tested, Finding):
                tests[person.annotator, signal.name] = tested
            else:
                not_checked.append((signal.name, person.annotator, tested))
    line = threshold([finding.evidence["p"] for finding in tests.values()], share)
    counting = {key: finding for key, finding in tests.items() if finding.evidence["p"] <= line}
    yields = {signal.name: signal.yields_to for signal in signals}
    findings = tuple(
        (annotator, finding)
        for (annotator, name), finding in counting.items()
        if (annotator, yields[name]) not in counting
    )
    return SignalResults(findings, tuple(not_checked), len(tests))


def feedback(person: AnnotatorMetrics) -> tuple[Finding, ...]:
    """What to discuss with one annotator; empty where no test of them is significant among all."""
    return tuple(finding for _, finding in run_signals([person], FEEDBACK, FALSE_SHARE).findings)


def _agreement(person: AnnotatorMetrics) -> Finding | str:
    """Student's t over queries, one-sided; see `OthersAgreement.p`."""
    agreement = person.agreement
    if agreement is None or agreement.p is None or agreement.kappa is None:
        return (agreement and agreement.undefined) or NO_OTHERS
    interval = ""
    if agreement.low is not None and agreement.high is not None:
        interval = f"95 % interval {ends(agreement.low, agreement.high, 2)}, "
    how_far = "far less than theirs with each other"
    if agreement.high is not None and agreement.high < 0:
        how_far = "less than chance would"
    elif agreement.low is None or agreement.low <= 0:
        how_far = "no better than chance would"
    return Finding(
        "agreement",
        f"Grades agree with the others' on the same pairs {how_far}: weighted kappa "
        f"{decimal(agreement.kappa, 2)} "
        f"({interval}{amount(agreement.pairs, 'pair')} of {amount(agreement.queries, 'query', 'queries')}), "
        "among the "
        f"others {decimal(agreement.others, 2)}. Grade some of these pairs together, with the guide open. A "
        "scale "
        "read upside down, or a task that was misunderstood, can do that, too.",
        agreement._asdict(),
    )


def _one_grade(person: AnnotatorMetrics) -> Finding | str:
    """An exact test: whose grade is whose does not matter; see `ModalGrade.p`.

    An annotator who follows the others' grades is only more careful than they are, where nearly all pairs
    have one grade.
    """
    modal = person.modal
    if not isinstance(modal, ModalGrade):
        return modal or "no grades were read"
    follows = person.agreement is not None and person.agreement.follows
    return Finding(
        "one grade",
        f"Look at these together: {person.annotator} gave grade {modal.grade} to {modal.times:,} of "
        f"{amount(modal.pairs, 'pair')}; on these others gave it {modal.others_times:,} times of "
        f"{modal.others_grades:,}. A part of the guide that was read differently can do that, too.",
        modal._asdict() | {"p": 1.0 if follows else modal.p},
    )


def _speed(person: AnnotatorMetrics) -> Finding | str:
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
    return Finding(
        "speed",
        f"Look at these together: {fast.fast:,} of {amount(fast.answers, 'answer')} of {person.annotator} "
        f"came in {limit}. {excuse}",
        fast._asdict() | {"p": float(bdtrc(fast.fast - 1, fast.answers, USUAL_FAST))},
    )


def _bias(person: AnnotatorMetrics) -> Finding | str:
    """Student's t over queries; see `mean_p`."""
    bias = person.bias
    if bias is None or bias.bias is None or bias.bias_p is None:
        return (bias and bias.undefined) or NO_OTHERS
    interval = ""
    if bias.low is not None and bias.high is not None:
        interval = f"{ends(bias.low, bias.high, 2, '+')}, "
    p = bias.bias_p if abs(bias.bias) >= REMARKABLE else 1.0
    return Finding(
        "bias",
        f"Grades are {abs(bias.bias):.2f} {'higher' if bias.bias > 0 else 'lower'} than the others' or the "
        f"reviewer's on the same pairs ({interval}{amount(bias.grades, 'grade')}). Where does the guide "
        "allow that?",
        {"bias": bias.bias, "low": bias.low, "high": bias.high, "grades": bias.grades, "p": p},
    )


def _drift(person: AnnotatorMetrics) -> Finding | str:
    """A permutation test of the slope over the order of queries."""
    bias = person.bias
    if bias is None or bias.trend is None or bias.trend_p is None:
        return (bias and bias.no_trend) or NO_OTHERS
    return Finding(
        "drift",
        f"Compared with the others, grades have moved by {decimal(bias.trend, 2, '+')} from the first query "
        f"to the last (p {p_text(bias.trend_p)}). Has a reading of the guide changed?",
        {"trend": bias.trend, "queries": bias.queries, "p": bias.trend_p},
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
DURING_ROUND = (AGREEMENT, ONE_GRADE_THROUGHOUT, SPEED)
"""Tested while a round is open, among everybody in it: what can be corrected in time."""

FEEDBACK = (
    *DURING_ROUND,
    Signal("bias", f"own less others' grades: {REMARKABLE:g} of a grade or more, and not 0", _bias),
    Signal("drift", "slope of the bias over the order of queries: not 0", _drift),
)
"""Tested over all of somebody's work, the weightiest kind first."""
