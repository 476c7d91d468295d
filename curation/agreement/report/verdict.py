"""The verdict: what ordinal alpha says about the labels, in a word and a sentence.

Agreement is near chance where the whole interval is below 0.2, or holds 0 and ends below what allows
tentative conclusions: then the grades may as well have been drawn. Without an interval, or with one that
holds 0 and reaches beyond that, nothing is said: of professional raters a quarter would be near chance on two
queries by the figure alone. Nobody is accused: of two people nobody can say whose the disagreement is, and it
may be the guide that is unclear.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from curation.agreement.between.inter_annotator import (
    RELIABLE,
    TENTATIVE,
    AgreementFigure,
    InterAgreement,
)
from curation.core.text import amount, decimal, ends

SLIGHT = 0.2
"""Landis and Koch (1977), Biometrics 33: agreement up to 0.20 is slight."""

State = Literal[
    "reliable",
    "tentative",
    "undecided",
    "too low",
    "near chance",
    "worse than chance",
    "no interval",
    "no figure",
]


_LOOK_FIRST = "Look first at what was graded and how fast, then at the guide"


class Verdict(NamedTuple):
    """What ordinal alpha says: a state, and a sentence with the figure and what it rests on.

    `figure` is alpha as it is shown, a dash where it is not.
    """

    state: State
    sentence: str
    figure: str = "–"


def near_chance(alpha: AgreementFigure) -> bool:
    """Whether the agreement is close to that of grades drawn at random; False where that is unknown."""
    if chance_unknown(alpha) or alpha.low is None or alpha.high is None:
        return False
    return alpha.high < SLIGHT or alpha.low <= 0


def chance_unknown(alpha: AgreementFigure) -> str | None:
    """Why nothing can be said about chance, or None where something can."""
    why = alpha.not_shown or alpha.no_interval
    if why or alpha.low is None or alpha.high is None:
        return why or "no interval"
    if alpha.low <= 0 and alpha.high >= TENTATIVE:
        return f"the interval of ordinal alpha, {ends(alpha.low, alpha.high)}, allows chance and more"
    return None


def verdict_of(result: InterAgreement) -> Verdict:
    """The verdict on what annotators said."""
    alpha = result.ordinal
    why = alpha.not_shown
    if why or alpha.value is None:
        return Verdict("no figure", f"Agreement between annotators has no figure: {why}.")
    if alpha.low is None or alpha.high is None:
        found = (
            f"Ordinal alpha is {decimal(alpha.value)} on {amount(alpha.units, 'pair')}; {alpha.no_interval}."
        )
        return Verdict("no interval", found, decimal(alpha.value))
    state, words = _judged(alpha, alpha.low, alpha.high)
    return Verdict(
        state,
        f"Ordinal alpha is {decimal(alpha.value)} (95 % interval {ends(alpha.low, alpha.high)}) on "
        f"{amount(alpha.units, 'pair')} of {amount(result.queries, 'query', 'queries')}: {words}.",
        decimal(alpha.value),
    )


def _judged(alpha: AgreementFigure, low: float, high: float) -> tuple[State, str]:
    if alpha.value is not None and alpha.value < 0 and (high < 0 or not near_chance(alpha)):
        reach = ", though the interval reaches above 0" if high > 0 else ""
        return "worse than chance", f"grades drawn at random would agree better{reach}. {_LOOK_FIRST}"
    if near_chance(alpha):
        how = "grades drawn at random would agree about as well" if low <= 0 else "agreement is slight"
        return "near chance", f"near chance, {how}. {_LOOK_FIRST}"
    if low >= RELIABLE:
        return "reliable", f"reliable, the whole interval is above {RELIABLE}"
    if low >= TENTATIVE:
        return "tentative", f"good enough for tentative conclusions, the interval begins above {TENTATIVE}"
    if high < TENTATIVE:
        words = f"too low to rely on, the whole interval is below {TENTATIVE}; look at the guide first"
        return "too low", words
    if low <= 0:
        return "undecided", "undecided, grades drawn at random could give this; more doubly judged pairs help"
    words = f"undecided, the interval reaches below {TENTATIVE}; more doubly judged pairs would narrow it"
    return "undecided", words
