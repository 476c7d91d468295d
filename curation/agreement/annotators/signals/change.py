"""Signal `change`: from one repeat on, another share of repeats gets the same grade, and that lasts."""

from __future__ import annotations

from curation.agreement.annotators.change_points import SHORTEST
from curation.agreement.annotators.signals.signal import Evidence, Finding, Look, Signal
from curation.text import p_text, percent


def look(person: Evidence) -> Look | str:
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


CHANGE = Signal(
    "change",
    f"share of blind duplicates graded alike: another one from some repeat on, with {2 * SHORTEST} or more "
    "judged twice, in one round 20 (largest likelihood ratio beside random orders)",
    look,
)
