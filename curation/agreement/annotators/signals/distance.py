"""Signal `distance`: repeats close together are graded alike more often, so memory helps."""

from __future__ import annotations

from curation.agreement.annotators.intra_annotator import MINIMUM_REPEATS
from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single
from curation.text import p_text, percent


def look(person: Evidence) -> Look | str:
    """Fisher's exact test, one-sided, of the nearer half against the farther one."""
    one = person.repeats
    if one is None or one.n < MINIMUM_REPEATS:
        return f"fewer than {MINIMUM_REPEATS} blind duplicates judged twice"
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


DISTANCE = Signal("distance", "repeats graded alike: more in the nearer than in the farther half", look)
