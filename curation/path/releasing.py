"""Steps on releases: the newest one next to the grades of now, and who scored runs on it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from curation.agreement.gate import Gate
from curation.path.settling import SettledGrades
from curation.path.step import Action, PathStep
from curation.releases.looks import SealedLook, looks
from curation.releases.stored import ReleaseRow, graded_pairs, list_releases
from curation.store import Cursor
from curation.text import amount

RECENT_LOOK = timedelta(days=7)
"""For so long a look at a sealed part by somebody who is no lead asks for attention."""


class NewestRelease(NamedTuple):
    """The release that was frozen last.

    Attributes
    ----------
    since: answers and decisions after it was frozen.
    evaluations, systems: made on the page Evaluate.
    looks: at its sealed parts; `others` those by somebody who is no lead.
    """

    row: ReleaseRow
    since: int
    evaluations: int
    systems: int
    looks: int
    others: tuple[SealedLook, ...]


def read_newest(cursor: Cursor) -> NewestRelease | None:
    """Read it; None before the first."""
    rows = list_releases(cursor)
    if not rows:
        return None
    row = rows[-1]
    values = {"at": row.frozen_at, "release": row.release_id}
    since, evaluations, systems = cursor.execute(_SINCE, values).fetchall()[0]
    leads = {name for (name,) in cursor.execute("SELECT name FROM annotators WHERE role = 'lead'").fetchall()}
    taken = looks(cursor, row.release_id)
    others = tuple(one for one in taken if one.looked_by not in leads)
    return NewestRelease(row, since, evaluations, systems, len(taken), others)


def freeze_step(
    found: NewestRelease | None, grades: SettledGrades, gate: Gate | None, is_settled: bool
) -> PathStep:
    """The newest release.

    Parameters
    ----------
    is_settled: whether people are done judging and deciding, and queries are in parts.
    """
    page, command = "releases", "goldset freeze NAME"
    freeze = Action("Freeze a release", page, command, {"stage": "Freeze"})
    if gate is None or not grades.judged:
        shut = ""
    else:
        shut = " and ".join(f"{check.figure} {_missed(check.state)}" for check in gate.against)
    attention = bool(shut) and is_settled
    if found is None:
        line = "The first release keeps the settled grades for good."
        if shut:
            line = f"The gate is shut: {shut}."
        elif gate is not None and grades.graded:
            line = f"The gate is open. {line}"
        action = Action("See the gate", page, "goldset gate", {"stage": "Gate"}) if attention else freeze
        return PathStep("freeze", "needs attention" if attention else "not begun", line, action)
    count = graded_pairs(found.row)
    what = "altered since" if count is None else amount(count, "grade")
    line = f"{found.row.name}: {what}, frozen on {found.row.frozen_at:%d %b %Y} by {found.row.frozen_by}."
    if found.since:
        line += f" {amount(found.since, 'answer or decision', 'answers and decisions')} came since."
        if is_settled:
            line += f" The gate is shut: {shut}." if shut else ""
            return PathStep(
                "freeze", "needs attention", line, Action("Freeze again", page, command, {"stage": "Freeze"})
            )
    return PathStep("freeze", "done", line, Action("See the releases", page, "goldset release list"))


def evaluate_step(found: NewestRelease | None, now: datetime) -> PathStep:
    """Runs that were scored on the newest release."""
    score = Action("Score a run", "evaluate", "goldset evaluate NAME --run FILE")
    if found is None:
        return PathStep("evaluate", "not begun", "Scores systems on a release, with intervals.", score)
    name = found.row.name
    if not (found.evaluations or found.looks):
        return PathStep("evaluate", "not begun", f"No run was scored on {name} in the browser yet.", score)
    made = f"{amount(found.evaluations, 'evaluation')} of {amount(found.systems, 'system')}"
    looks = f"{amount(found.looks, 'look')} at sealed parts"
    said = [made if found.evaluations else "", looks if found.looks else ""]
    line = f"{name}: {' · '.join(filter(None, said))}."
    recent = [one for one in found.others if now - one.looked_at <= RECENT_LOOK]
    if recent:
        last = recent[-1]
        line += (
            f" {last.looked_by} scored {last.system} on {', '.join(last.parts)} on {last.looked_at:%d %b}."
        )
        who = Action("See who looked", "releases", f"goldset release show {name}")
        return PathStep("evaluate", "needs attention", line, who)
    return PathStep("evaluate", "done", line, score)


def _missed(state: str) -> str:
    return "is too low" if state == "missed" else "is not known"


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
