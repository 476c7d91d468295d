"""Signal `known answers`: fewer than 80 % of planted control items got the decided grade."""

from __future__ import annotations

from scipy.special import bdtr

from curation.agreement.annotators.intra_annotator import MINIMUM_REPEATS
from curation.agreement.annotators.signals.consistency import WANTED
from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single
from curation.text import amount, percent


def look(person: Evidence) -> Look | str:
    """An exact binomial test, one-sided, against `WANTED`."""
    known = person.control_items
    if known is None or known.share is None or known.high is None or known.answered < MINIMUM_REPEATS:
        return f"fewer than {MINIMUM_REPEATS} known answers given"
    return single(
        "known answers",
        float(bdtr(known.right, known.answered, WANTED)),
        f"{known.right:,} of {amount(known.answered, 'pair')} that the reviewer has decided got the decided "
        f"grade (95 % interval up to {percent(known.high)}). Look at those decisions together.",
        known._asdict(),
    )


KNOWN_ANSWERS = Signal(
    "known answers",
    f"share of at least {MINIMUM_REPEATS} known answers given right: significantly below {percent(WANTED)}",
    look,
)
