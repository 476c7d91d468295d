"""A signal: what it needs, what it finds, and the error control that all signals share.

Looking at ten things would raise ten times as many false findings, so all looks that are read together are
tested together by the rule of Benjamini and Hochberg. For feedback these are all looks at one person, at
`FALSE_SHARE`; for early warnings all looks at the people of one round, at `FALSE_ROUNDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from curation.agreement.annotators.agreement_with_others import OthersAgreement
from curation.agreement.annotators.bias import AnnotatorBias
from curation.agreement.annotators.change_points import SHORTEST, ChangePoint
from curation.agreement.annotators.fast_answers import FastAnswers
from curation.agreement.annotators.favourite_grade import FavouriteGrade
from curation.agreement.annotators.intra_annotator import IntraAgreement, SelfConsistency
from curation.statistics.intervals import wilson
from curation.statistics.p_values import threshold

FALSE_SHARE = 0.1
"""Of people with whom nothing is the matter, at most so many get feedback; of all points at most so much is
false on average."""

FALSE_ROUNDS = 0.05
"""Of rounds in which nothing is the matter, at most so many get early warnings, however many people work."""


class ControlItemShare(NamedTuple):
    """Planted known answers: those answered, and those with the decided grade; Wilson's 95 % interval."""

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
    """The share of known answers that were given right."""
    if not answered:
        return ControlItemShare(0, 0, None, None, None)
    return ControlItemShare(answered, right, right / answered, *wilson(right, answered))


def single(about: str, p: float, sentence: str, evidence: dict[str, Any]) -> Look:
    """A look that raises at most one finding; its p is added to the evidence."""
    return Look(p, ((p, Finding(about, sentence, {**evidence, "p": p})),))
