"""Signal `week`: the bias of one week differs from that of the other weeks."""

from __future__ import annotations

from curation.agreement.annotators.signals.signal import Evidence, Finding, Look, Signal
from curation.text import amount, decimal, p_text


def look(person: Evidence) -> Look | str:
    """One look at all weeks: each week's p is multiplied by the number of weeks (Bonferroni)."""
    weeks = person.bias.weeks if person.bias is not None else ()
    if len(weeks) < 2:
        return "grades of fewer than two weeks"
    findings = []
    for week in weeks:
        p = min(1.0, week.p * len(weeks))
        sentence = (
            f"In the week of {week.monday:%Y-%m-%d} grades lay {decimal(week.bias, 2, '+')} beside the "
            f"others', unlike in the other weeks ({amount(week.grades, 'grade')} of "
            f"{amount(week.queries, 'query', 'queries')}, p "
            f"{p_text(p)})."
        )
        evidence = {"monday": week.monday, "bias": week.bias, "weeks": len(weeks), "p": p}
        findings.append((p, Finding("week", sentence, evidence)))
    return Look(min(p for p, _ in findings), tuple(findings))


WEEK = Signal("week", "bias of one week: unlike that of the other weeks", look)
