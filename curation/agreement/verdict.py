"""The verdict on ordinal alpha: how far the labels can be relied on.

Agreement is near chance if random grades could give the interval of alpha: all of it is below 0.2, or it
contains 0 and ends below the level for tentative conclusions. If it contains 0 and ends above that level, or
is undefined, chance stays open: on two queries, a quarter of professional raters would look near chance. The
verdict accuses nobody, because two annotators cannot show who causes the disagreement, and the guide may be
unclear.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from curation.agreement.inter_annotator import InterAgreement, why_not_shown
from curation.core.statistics.estimate import Estimate
from curation.core.text import decimal, interval_text, pluralize

RELIABLE, TENTATIVE = 0.8, 0.667
"""Krippendorff (2004), Content Analysis, 2nd ed., p. 241: rely on 0.800, conclude tentatively from 0.667."""
SLIGHT = 0.2
"""Landis and Koch (1977), Biometrics 33: agreement up to 0.20 is slight."""
READING = (
    f"Labels are reliable if the whole interval of ordinal alpha is above {RELIABLE}. Above {TENTATIVE} "
    "labels allow tentative conclusions (Krippendorff 2004)."
)
"""Interpretation of alpha, for reports, pages and commands."""
_Chance = Literal["near chance", "worse than chance"]
State = Literal["reliable", "tentative", "undecided", "too low", "no interval", "no figure", _Chance]
_LOOK_FIRST = "First check what was graded and how fast, then check the guide."
_MORE_PAIRS = "Have two annotators grade more of the same pairs."


class Verdict(NamedTuple):
    """The verdict on ordinal alpha: a state, and sentences with alpha, the number of pairs and what to do.

    `figure` is alpha as shown to people, or a dash.
    """

    state: State
    sentence: str
    figure: str = "–"


def judge_alpha(result: InterAgreement) -> Verdict:
    """Give the verdict on ordinal alpha: how reliable the labels are, and what to do next."""
    alpha = result.ordinal
    why = why_not_shown(alpha)
    if why or alpha.value is None:
        return Verdict("no figure", f"Agreement between annotators could not be computed: {why}.")
    if alpha.low is None or alpha.high is None:
        sentence = f"Ordinal alpha is {decimal(alpha.value)} on {pluralize(alpha.n, 'pair')}; {alpha.why}."
        return Verdict("no interval", f"{sentence} {_MORE_PAIRS}", decimal(alpha.value))
    state, words = _judge_interval(alpha, alpha.low, alpha.high)
    sentence = (
        f"Ordinal alpha is {decimal(alpha.value)} (95 % interval {interval_text(alpha.low, alpha.high)}) on "
        f"{pluralize(alpha.n, 'pair')} of {pluralize(result.queries, 'query', 'queries')}: {words}."
    )
    return Verdict(state, f"{sentence} {advise(alpha, result.confused)}".rstrip(), decimal(alpha.value))


def advise(alpha: Estimate, confused: tuple[int, int] | None, minimum: float = TENTATIVE) -> str:
    """Say what to do next about ordinal alpha; '' if its interval is above the minimum.

    Every page and command takes its advice here. More pairs narrow an interval, but do not raise a low alpha.

    Parameters
    ----------
    confused: the two grades that people confuse most often.
    """
    if why_not_shown(alpha) or alpha.value is None or alpha.low is None:
        return _MORE_PAIRS
    if alpha.low >= minimum:
        return ""
    if near_chance(alpha) or alpha.value < 0:
        return _LOOK_FIRST
    if alpha.value >= minimum or chance_unknown(alpha) or confused is None:
        return _MORE_PAIRS
    return f"Change the guide: people confuse {confused[0]} and {confused[1]}."


def near_chance(alpha: Estimate) -> bool:
    """Return whether random grades would agree about as well; False if that is unknown."""
    if chance_unknown(alpha) or alpha.low is None or alpha.high is None:
        return False
    return alpha.high < SLIGHT or alpha.low <= 0


def chance_unknown(alpha: Estimate) -> str | None:
    """Return the reason why alpha cannot be compared with chance; None if it can be compared."""
    why = why_not_shown(alpha) or alpha.why
    if why or alpha.low is None or alpha.high is None:
        return why or "no interval"
    if alpha.low <= 0 and alpha.high >= TENTATIVE:
        interval = interval_text(alpha.low, alpha.high)
        return f"the interval of ordinal alpha, {interval}, includes chance"
    return None


def _judge_interval(alpha: Estimate, low: float, high: float) -> tuple[State, str]:
    if alpha.value is not None and alpha.value < 0 and (high < 0 or not near_chance(alpha)):
        reach = ", although the interval reaches above 0" if high > 0 else ""
        return "worse than chance", f"random grades would agree better{reach}"
    if near_chance(alpha):
        how = "random grades would agree about as well" if low <= 0 else "agreement is slight"
        return "near chance", f"near chance, {how}"
    if low >= RELIABLE:
        return "reliable", f"reliable, because the whole interval is above {RELIABLE}"
    if low >= TENTATIVE:
        return (
            "tentative",
            f"good enough for tentative conclusions, because the interval starts above {TENTATIVE}",
        )
    if low <= 0:
        return "undecided", "undecided, because random grades could give this value"
    if alpha.value is not None and alpha.value < TENTATIVE:
        reach = "although the interval reaches above" if high >= TENTATIVE else "the whole interval is below"
        return "too low", f"too low to rely on, {reach} {TENTATIVE}"
    return "undecided", f"undecided, because the interval reaches below {TENTATIVE}"
