"""Steps on releases: the newest one next to the grades of now, and who scored runs on it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from curation.agreement.gate import Gate
from curation.core.text import amount
from curation.operations.workflow.deciding import SettledGrades
from curation.operations.workflow.step import Action, PathStep
from curation.releases.sealed_evaluations import SealedEvaluation, sealed_evaluations
from curation.releases.stored import (
    ReleaseRow,
    graded_pairs,
    half_judged,
    half_judged_sentence,
    list_releases,
    marked,
    release_marks,
    shortfall,
)
from curation.store import Cursor

RECENT = timedelta(days=7)
"""For so long a sealed evaluation by somebody who is no lead asks for attention."""


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
        return marked(self.row.name, self.mark)


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
    others = tuple(one for one in every if one.evaluated_by not in leads)
    mark = release_marks(cursor).get(row.name)
    return NewestRelease(row, since, evaluations, systems, len(every), others, mark)


def freeze_step(
    found: NewestRelease | None, grades: SettledGrades, gate: Gate | None, is_settled: bool
) -> PathStep:
    """The newest release.

    Parameters
    ----------
    is_settled: whether people are done judging and deciding, and queries are in parts.
    """
    page, command = "releases", "goldgrade freeze NAME"
    freeze = Action("Freeze a release", page, command, {"stage": "Freeze"})
    shut = shut_by(gate) if grades.judged else ""
    attention = bool(shut) and is_settled
    if found is None:
        line = "The first release keeps the settled grades for good."
        if shut:
            line = shut
        elif gate is not None and grades.graded:
            line = f"The gate is open. {line}"
        action = Action("See the gate", page, "goldgrade gate", {"stage": "Gate"}) if attention else freeze
        return PathStep("freeze", "needs attention" if attention else "not begun", line, action)
    count = graded_pairs(found.row)
    what = "altered since" if count is None else amount(count, "grade")
    line = f"{found.name}: {what}, frozen on {found.row.frozen_at:%d %b %Y} by {found.row.frozen_by}."
    if found.since:
        line += f" {amount(found.since, 'answer or decision', 'answers and decisions')} came since."
        if is_settled:
            line = f"{line} {shut}".rstrip()
            return PathStep(
                "freeze", "needs attention", line, Action("Freeze again", page, command, {"stage": "Freeze"})
            )
    for lacking in half_judged_sentence(half_judged(found.row)):
        return PathStep("freeze", "needs attention", f"{line} {lacking}", freeze)
    return PathStep("freeze", "done", line, Action("See the releases", page, "goldgrade release list"))


def evaluate_step(found: NewestRelease | None, now: datetime) -> PathStep:
    """Runs that were scored on the newest release."""
    score = Action("Score a run", "evaluate", "goldgrade evaluate NAME --run FILE")
    if found is None:
        return PathStep("evaluate", "not begun", "Scores systems on a release, with intervals.", score)
    name = found.name
    if not (found.evaluations or found.sealed):
        return PathStep("evaluate", "not begun", f"No run was scored on {name} in the browser yet.", score)
    made = f"{amount(found.evaluations, 'evaluation')} of {amount(found.systems, 'system')}"
    sealed = amount(found.sealed, "sealed evaluation")
    said = [made if found.evaluations else "", sealed if found.sealed else ""]
    line = f"{name}: {' · '.join(filter(None, said))}."
    recent = [one for one in found.others if now - one.evaluated_at <= RECENT]
    if recent:
        last = recent[-1]
        did = "was refused to evaluate" if last.refused else "evaluated"
        when = f"{last.evaluated_at:%d %b}"
        line += f" {last.evaluated_by} {did} {last.system} on {', '.join(last.parts)} on {when}."
        who = Action("See who evaluated", "releases", f"goldgrade release show {found.row.name}")
        return PathStep("evaluate", "needs attention", line, who)
    return PathStep("evaluate", "done", line, score)


def shut_by(gate: Gate | None) -> str:
    """What the gate is shut by; nothing where it is open or not known."""
    if gate is None or gate.open:
        return ""
    against = (shortfall(check.figure, check.state) for check in gate.against)
    return f"The gate is shut: {' and '.join(against)}."
