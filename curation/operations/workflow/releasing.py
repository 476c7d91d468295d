"""The stages of releases: freezing the next release, evaluations on the newest release, and re-labeling."""

from __future__ import annotations

from dataclasses import replace
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
from curation.releases.sealed_log import SealedEvaluation, sealed_evaluations
from curation.store import Cursor

PART = {"stage": "Re-label"}
"""The parameters that open re-labeling on the page Releases."""
RECENT = timedelta(days=7)
"""The time for which a sealed evaluation by a person who is no lead asks for attention."""
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
    since: number of answers and decisions after the freeze.
    evaluations, systems: numbers of evaluations on the page Evaluate and of their systems.
    sealed: number of sealed evaluations. others: the sealed evaluations by people who are no leads.
    mark: a warning if the release was frozen despite the agreement gate.
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
        """The name of the release with its mark."""
        return with_gate_override(self.row.name, self.mark)


def read_newest(cursor: Cursor) -> NewestRelease | None:
    """Read the newest release; None before the first release."""
    rows = list_releases(cursor)
    if not rows:
        return None
    row = rows[-1]
    values = {"at": row.frozen_at, "release": row.release_id}
    [(since, evaluations, systems)] = cursor.execute(_SINCE, values).fetchall()
    leads = {name for (name,) in cursor.execute("SELECT name FROM annotators WHERE role = 'lead'").fetchall()}
    every = sealed_evaluations(cursor, row.release_id)
    others = tuple(evaluation for evaluation in every if evaluation.evaluated_by not in leads)
    mark = gate_overrides(cursor).get(row.name)
    return NewestRelease(row, since, evaluations, systems, len(every), others, mark)


def freeze_stage(
    newest_release: NewestRelease | None, grades: SettledGrades, gate: Gate | None, is_settled: bool
) -> Stage:
    """Make the stage of the freeze: the newest release, and the answers since.

    Parameters
    ----------
    is_settled: whether all pairs are judged and decided, and all graded queries are in parts.
    """
    page, command = "releases", "goldgrade freeze NAME"
    freeze = Action("Freeze a release", page, command, {"stage": "Freeze"})
    shut = shut_by(gate) if grades.judged else ""
    attention = bool(shut) and is_settled
    if newest_release is None:
        line = "The first release fixes the settled grades."
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
        came = pluralize(newest_release.since, "answer or decision", "answers and decisions")
        line += f" {came} came since."
        if is_settled:
            again = replace(freeze, label="Freeze again")
            return Stage("freeze", "needs attention", f"{line} {shut}".rstrip(), again)
    for lacking in half_judged_sentence(half_judged(newest_release.row)):
        return Stage("freeze", "needs attention", f"{line} {lacking}", freeze)
    return Stage("freeze", "done", line, Action("See the releases", page, "goldgrade releases"))


def evaluate_stage(newest_release: NewestRelease | None, now: datetime) -> Stage:
    """Make the stage of evaluations on the newest release."""
    score = Action("Score a run", "evaluate", "goldgrade evaluate NAME --run FILE")
    if newest_release is None:
        about = "An evaluation scores systems on a release, with intervals."
        return Stage("evaluate", "not begun", about, score)
    name = newest_release.name
    if not (newest_release.evaluations or newest_release.sealed):
        return Stage("evaluate", "not begun", f"No run was scored on {name} in the browser yet.", score)
    counts = []
    if newest_release.evaluations:
        systems = pluralize(newest_release.systems, "system")
        counts.append(f"{pluralize(newest_release.evaluations, 'evaluation')} of {systems}")
    if newest_release.sealed:
        counts.append(pluralize(newest_release.sealed, "sealed evaluation"))
    line = f"{name}: {' · '.join(counts)}."
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
    """Say which figures shut the gate; '' if the gate is open or not known."""
    if gate is None or gate.open:
        return ""
    against = (shortfall(check.figure, check.state) for check in gate.against)
    return f"The gate is shut: {' and '.join(against)}."


def read_quarter(cursor: Cursor, today: date) -> tuple[str, QuarterWork | None]:
    """Read the present quarter, and its re-labeling or an earlier re-labeling that is still open."""
    quarter, work = present_quarter(cursor, today), read_work(cursor)
    of_quarter = [row for row in work if row.quarter == quarter or row.state == OPEN]
    return quarter, of_quarter[-1] if of_quarter else None


def relabel_stage(
    released: bool, quarter: str, work: QuarterWork | None, due: RelabelingCalendar | None
) -> Stage:
    """Make the stage of re-labeling.

    Parameters
    ----------
    released: whether the project has a release.
    due: the re-labeling that is due; None if it was not read.
    """
    look = Action("See what is due", "releases", "goldgrade relabel plan --due", PART)
    if not released:
        begins = "Re-labeling begins with the first release: people judge a part again each quarter."
        return Stage("re-label", "not begun", begins, look)
    if work is not None and work.state != PLANNED:
        name = work.quarter
        line = f"{name}: {work.whole:,} of {pluralize(work.pairs, 'pair')} judged again."
        if work.state not in (OPEN, DONE):
            line = f"{line} The round {work.round!r} was closed before: reopen it."
            return Stage("re-label", "needs attention", line, look)
        report = {**PART, "quarter": "Report"}
        changed = Action("See what changed", "releases", "goldgrade relabel report", report)
        return Stage("re-label", "at work" if work.state == OPEN else "done", line, changed)
    plan = Action("Plan the quarter", "releases", "goldgrade relabel plan", {**PART, "quarter": "Plan"})
    if work is not None:
        line = f"{quarter} is planned: {pluralize(work.pairs, 'pair')}. Its round is not open yet."
        command = "goldgrade relabel open --annotators a,b"
        return Stage(
            "re-label", "needs attention", line, replace(plan, label="Open the quarter", command=command)
        )
    if due is None:
        return Stage("re-label", "done", f"{quarter}.", look)
    if due.is_due:
        most = sorted(due.reasons.items(), key=lambda item: -item[1])[:2]
        reasons = ", ".join(counted(count, reason) for reason, count in most)
        return Stage("re-label", "needs attention", f"Due in {quarter}: {reasons}.", plan)
    line = due.stale_sentence if due.stale else f"Nothing is due in {quarter}."
    return Stage("re-label", "done", line, look)
