"""Signal `agreement`: grades agree with the others' less than half as well as theirs with each other."""

from __future__ import annotations

from curation.agreement.annotators.agreement_with_others import OthersAgreement
from curation.agreement.annotators.signals.one_grade import ONE_GRADE_THROUGHOUT
from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single
from curation.text import amount, decimal


def look(person: Evidence) -> Look | str:
    """Student's t over queries, one-sided; see `OthersAgreement.p`."""
    one = person.agreement
    if one is None or one.p is None or one.kappa is None:
        return (one and one.undefined) or "no grades of others to compare with"
    span = ""
    if one.low is not None and one.high is not None:
        span = f"95 % interval {decimal(one.low, 2)} to {decimal(one.high, 2)}, "
    return single(
        "agreement",
        one.p,
        f"Grades agree with the others' on the same pairs {_how_far(one)}: weighted kappa "
        f"{decimal(one.kappa, 2)} ({span}{amount(one.pairs, 'pair')} of "
        f"{amount(one.queries, 'query', 'queries')}), among the others "
        f"{decimal(one.others, 2)}. Grade some of these pairs together, with the guide open. A scale read "
        "upside down, or a task that was misunderstood, can do that, too.",
        one._asdict(),
    )


def _how_far(one: OthersAgreement) -> str:
    if one.high is not None and one.high < 0:
        return "less than chance would"
    if one.low is None or one.low <= 0:
        return "no better than chance would"
    return "far less than theirs with each other"


AGREEMENT = Signal(
    "agreement",
    "weighted kappa with the others on the same pairs: below half of theirs among themselves",
    look,
    yields_to=ONE_GRADE_THROUGHOUT.name,
)
