"""Signal `control chart`: a stretch of repeats in which fewer than usual got the same grade."""

from __future__ import annotations

from curation.agreement.annotators.signals.change import CHANGE
from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single
from curation.text import amount, p_text


def look(person: Evidence) -> Look | str:
    """The highest point of the CUSUM beside those of random orders."""
    chart = person.repeats.cusum if person.repeats is not None else None
    if chart is None or chart.worst is None:
        return "too few blind duplicates judged twice, or no variation"
    worst = chart.worst
    return single(
        "control chart",
        chart.p,
        f"From {worst.begins:%Y-%m-%d %H:%M} to {worst.ends:%Y-%m-%d %H:%M}, {worst.identical:,} of "
        f"{amount(worst.n, 'pair')} that came again got the same grade, fewer than chance lets come together "
        f"(p {p_text(chart.p)}). What was different in between?",
        worst._asdict(),
    )


CONTROL_CHART = Signal(
    "control chart", "CUSUM of blind duplicates graded alike: above its limit", look, yields_to=CHANGE.name
)
