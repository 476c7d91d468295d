"""The step of re-labeling: what is due this quarter, or how far its round is."""

from __future__ import annotations

from datetime import date

from curation.core.text import amount, counted
from curation.operations.workflow.stage import Action, Stage
from curation.relabeling.staleness.calendar import (
    DONE,
    OPEN,
    PLANNED,
    DueWork,
    QuarterWork,
    present_quarter,
    read_work,
)
from curation.store import Cursor


def read_quarter(cursor: Cursor, today: date) -> tuple[str, QuarterWork | None]:
    """The present quarter, and its re-labeling or an earlier one that is still open."""
    quarter, work = present_quarter(cursor, today), read_work(cursor)
    own = [one for one in work if one.quarter == quarter or one.state == OPEN]
    return quarter.name, own[-1] if own else None


def relabel_step(released: bool, quarter: str, work: QuarterWork | None, due: DueWork | None) -> Stage:
    """What is due.

    Parameters
    ----------
    released: whether there is a release.
    due: None where it was not read.
    """
    look = Action("See what is due", "relabel", "goldgrade relabel status")
    if not released:
        return Stage(
            "re-label",
            "not begun",
            "Begins with the first release: a part is judged again each quarter.",
            look,
        )
    if work is not None and work.state != PLANNED:
        name = work.quarter.name
        line = f"{name}: {work.whole:,} of {amount(work.pairs, 'pair')} judged again."
        if work.state not in (OPEN, DONE):
            line = f"{line} The round {work.round!r} was closed before: reopen it."
            return Stage("re-label", "needs attention", line, look)
        changed = Action("See what changed", "relabel", "goldgrade relabel report", {"of": "Report"})
        return Stage("re-label", "at work" if work.state == OPEN else "done", line, changed)
    plan = Action("Plan the quarter", "relabel", "goldgrade relabel plan", {"of": "Plan"})
    if work is not None:
        line = f"{quarter} is planned: {amount(work.pairs, 'pair')}. Its round is not open yet."
        opens = Action(
            "Open the quarter", "relabel", "goldgrade relabel open --annotators a,b", {"of": "Plan"}
        )
        return Stage("re-label", "needs attention", line, opens)
    if due is None:
        return Stage("re-label", "done", f"{quarter}.", look)
    if due.is_due:
        most = sorted(due.reasons.items(), key=lambda item: -item[1])[:2]
        reasons = ", ".join(counted(count, reason) for reason, count in most)
        return Stage("re-label", "needs attention", f"Due in {quarter}: {reasons}.", plan)
    line = due.stale_sentence if due.stale else f"Nothing is due in {quarter}."
    return Stage("re-label", "done", line, look)
