"""The stages of releases: the newest one next to the grades of now, evaluations on it, and re-labeling."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import NamedTuple

from curation.agreement.gate import Gate
from curation.core.text import counted, pluralize
from curation.operations.workflow.judging import SettledGrades
from curation.operations.workflow.stage import Action, Stage
from curation.relabeling.calendar import DONE, OPEN, PLANNED, QuarterWork, present_quarter, read_work
from curation.relabeling.staleness import RelabelingCalendar
from curation.releases.gate_override import gate_overrides, shortfall, with_gate_override
from curation.releases.release_rows import (
    ReleaseRow,
    graded_pairs,
    half_judged,
    half_judged_sentence,
    list_releases,
)
from curation.releases.seal import SealedEvaluation, sealed_evaluations
from curation.store import Cursor

PART = {"stage": "Re-label"}
"""What opens re-labeling on the page Releases."""
RECENT = timedelta(days=7)
"""For so long a sealed evaluation by somebody who is no lead asks for attention."""
_SINCE = """
SELECT (SELECT count(*) FROM judgment_events e JOIN presentations p USING (presentation_id)
        JOIN rounds r USING (round_id)
        WHERE e.submitted_at > $at AND e.kind IN ('grade', 'cannot_tell')
          AND r.kind NOT IN ('pilot', 'practice'))
     + (SELECT count(*) FROM adjudications WHERE decided_at > $at),
       (SELECT count(*) FROM evaluations WHERE release_id = $release),
       (SELECT count(DISTINCT system) FROM (
            SELECT unnest(systems) AS system FROM evaluations WHERE release_id = $release))
"""


class NewestRelease(NamedTuple):
    """The release that was frozen last.

    Attributes
    ----------
    since: answers and decisions after it was frozen.
    evaluations, systems: made on the page Evaluate.
    sealed: sealed evaluations on it; `others` are those by somebody who is no lead.
    mark: that it was frozen against the gate, where it was.
    """

    row: ReleaseRow
    since: int
    evaluations: int
    systems: int
    sealed: int
    others: tuple[SealedEvaluation, ...]
    mark: str | None = None

    @property
    def name(self) -> str:
        """With its mark."""
        return with_gate_override(self.row.name, self.mark)


def read_newest(cursor: Cursor) -> NewestRelease | None:
    """Read it; None before the first."""
    rows = list_releases(cursor)
    if not rows:
        return None
    row = rows[-1]
    values = {"at": row.frozen_at, "release": row.release_id}
    since, evaluations, systems = cursor.execute(_SINCE, values).fetchall()[0]
    leads = {name for (name,) in cursor.execute("SELECT name FROM annotators WHERE role = 'lead'").fetchall()}
    every = sealed_evaluations(cursor, row.release_id)
    others = tuple(evaluation for evaluation in every if evaluation.evaluated_by not in leads)
    mark = gate_overrides(cursor).get(row.name)
    return NewestRelease(row, since, evaluations, systems, len(every), others, mark)


def freeze_stage(
    newest_release: NewestRelease | None, grades: SettledGrades, gate: Gate | None, is_settled: bool
) -> Stage:
    """The newest release.

    Parameters
    ----------
    is_settled: whether people are done judging and deciding, and queries are in parts.
    """
    page, command = "releases", "goldgrade freeze NAME"
    freeze = Action("Freeze a release", page, command, {"stage": "Freeze"})
    shut = shut_by(gate) if grades.judged else ""
    attention = bool(shut) and is_settled
    if newest_release is None:
        line = "The first release keeps the settled grades for good."
        if shut:
            line = shut
        elif gate is not None and grades.graded:
            line = f"The gate is open. {line}"
        action = Action("See the gate", page, "goldgrade gate", {"stage": "Gate"}) if attention else freeze
        return Stage("freeze", "needs attention" if attention else "not begun", line, action)
    count = graded_pairs(newest_release.row)
    what = "altered since" if count is None else pluralize(count, "grade")
    line = (
        f"{newest_release.name}: {what}, frozen on {newest_release.row.frozen_at:%d %b %Y} by "
        f"{newest_release.row.frozen_by}."
    )
    if newest_release.since:
        line += (
            f" {pluralize(newest_release.since, 'answer or decision', 'answers and decisions')} came since."
        )
        if is_settled:
            line = f"{line} {shut}".rstrip()
            return Stage(
                "freeze", "needs attention", line, Action("Freeze again", page, command, {"stage": "Freeze"})
            )
    for lacking in half_judged_sentence(half_judged(newest_release.row)):
        return Stage("freeze", "needs attention", f"{line} {lacking}", freeze)
    return Stage("freeze", "done", line, Action("See the releases", page, "goldgrade releases"))


def evaluate_stage(newest_release: NewestRelease | None, now: datetime) -> Stage:
    """Runs that were scored on the newest release."""
    score = Action("Score a run", "evaluate", "goldgrade evaluate NAME --run FILE")
    if newest_release is None:
        return Stage("evaluate", "not begun", "Scores systems on a release, with intervals.", score)
    name = newest_release.name
    if not (newest_release.evaluations or newest_release.sealed):
        return Stage("evaluate", "not begun", f"No run was scored on {name} in the browser yet.", score)
    made = (
        f"{pluralize(newest_release.evaluations, 'evaluation')} of "
        f"{pluralize(newest_release.systems, 'system')}"
    )
    sealed = pluralize(newest_release.sealed, "sealed evaluation")
    counts = [made if newest_release.evaluations else "", sealed if newest_release.sealed else ""]
    line = f"{name}: {' · '.join(filter(None, counts))}."
    recent = [other for other in newest_release.others if now - other.evaluated_at <= RECENT]
    if recent:
        last = recent[-1]
        did = "was refused to evaluate" if last.refused else "evaluated"
        when = f"{last.evaluated_at:%d %b}"
        line += f" {last.evaluated_by} {did} {last.system} on {', '.join(last.parts)} on {when}."
        who = Action("See who evaluated", "releases", f"goldgrade releases {newest_release.row.name}")
        return Stage("evaluate", "needs attention", line, who)
    return Stage("evaluate", "done", line, score)


def shut_by(gate: Gate | None) -> str:
    """What the gate is shut by; nothing where it is open or not known."""
    if gate is None or gate.open:
        return ""
    against = (shortfall(check.figure, check.state) for check in gate.against)
    return f"The gate is shut: {' and '.join(against)}."


def read_quarter(cursor: Cursor, today: date) -> tuple[str, QuarterWork | None]:
    """The present quarter, and its re-labeling or an earlier one that is still open."""
    quarter, work = present_quarter(cursor, today), read_work(cursor)
    of_quarter = [row for row in work if row.quarter == quarter or row.state == OPEN]
    return quarter, of_quarter[-1] if of_quarter else None


def relabel_stage(
    released: bool, quarter: str, work: QuarterWork | None, due: RelabelingCalendar | None
) -> Stage:
    """What is due.

    Parameters
    ----------
    released: whether there is a release.
    due: None if it was not read.
    """
    look = Action("See what is due", "releases", "goldgrade relabel plan --due", PART)
    if not released:
        return Stage(
            "re-label",
            "not begun",
            "Begins with the first release: a part is judged again each quarter.",
            look,
        )
    if work is not None and work.state != PLANNED:
        name = work.quarter
        line = f"{name}: {work.whole:,} of {pluralize(work.pairs, 'pair')} judged again."
        if work.state not in (OPEN, DONE):
            line = f"{line} The round {work.round!r} was closed before: reopen it."
            return Stage("re-label", "needs attention", line, look)
        changed = Action(
            "See what changed", "releases", "goldgrade relabel report", {**PART, "quarter": "Report"}
        )
        return Stage("re-label", "at work" if work.state == OPEN else "done", line, changed)
    plan = Action("Plan the quarter", "releases", "goldgrade relabel plan", {**PART, "quarter": "Plan"})
    if work is not None:
        line = f"{quarter} is planned: {pluralize(work.pairs, 'pair')}. Its round is not open yet."
        opens = Action(
            "Open the quarter",
            "releases",
            "goldgrade relabel open --annotators a,b",
            {**PART, "quarter": "Plan"},
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
