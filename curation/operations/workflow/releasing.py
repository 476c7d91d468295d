"""Steps on releases: the newest one next to the grades of now, and who scored runs on it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from curation.agreement.gate import Gate
from curation.core.text import amount
from curation.operations.workflow.deciding import SettledGrades
from curation.operations.workflow.stage import Action, Stage
from curation.releases.release_rows import (
    ReleaseRow,
    graded_pairs,
    half_judged,
    half_judged_sentence,
    list_releases,
    marked,
    release_marks,
    shortfall,
)
from curation.releases.sealed_evaluations import SealedEvaluation, sealed_evaluations
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
    what = "altered since" if count is None else amount(count, "grade")
    line = (
        f"{newest_release.name}: {what}, frozen on {newest_release.row.frozen_at:%d %b %Y} by "
        f"{newest_release.row.frozen_by}."
    )
    if newest_release.since:
        line += f" {amount(newest_release.since, 'answer or decision', 'answers and decisions')} came since."
        if is_settled:
            line = f"{line} {shut}".rstrip()
            return Stage(
                "freeze", "needs attention", line, Action("Freeze again", page, command, {"stage": "Freeze"})
            )
    for lacking in half_judged_sentence(half_judged(newest_release.row)):
        return Stage("freeze", "needs attention", f"{line} {lacking}", freeze)
    return Stage("freeze", "done", line, Action("See the releases", page, "goldgrade release list"))


def evaluate_step(newest_release: NewestRelease | None, now: datetime) -> Stage:
    """Runs that were scored on the newest release."""
    score = Action("Score a run", "evaluate", "goldgrade evaluate NAME --run FILE")
    if newest_release is None:
        return Stage("evaluate", "not begun", "Scores systems on a release, with intervals.", score)
    name = newest_release.name
    if not (newest_release.evaluations or newest_release.sealed):
        return Stage("evaluate", "not begun", f"No run was scored on {name} in the browser yet.", score)
    made = f"{amount(newest_release.evaluations, 'evaluation')} of {amount(newest_release.systems, 'system')}"
    sealed = amount(newest_release.sealed, "sealed evaluation")
    said = [made if newest_release.evaluations else "", sealed if newest_release.sealed else ""]
    line = f"{name}: {' · '.join(filter(None, said))}."
    recent = [other for other in newest_release.others if now - other.evaluated_at <= RECENT]
    if recent:
        last = recent[-1]
        did = "was refused to evaluate" if last.refused else "evaluated"
        when = f"{last.evaluated_at:%d %b}"
        line += f" {last.evaluated_by} {did} {last.system} on {', '.join(last.parts)} on {when}."
        who = Action("See who evaluated", "releases", f"goldgrade release show {newest_release.row.name}")
        return Stage("evaluate", "needs attention", line, who)
    return Stage("evaluate", "done", line, score)


def shut_by(gate: Gate | None) -> str:
    """What the gate is shut by; nothing where it is open or not known."""
    if gate is None or gate.open:
        return ""
    against = (shortfall(check.figure, check.state) for check in gate.against)
    return f"The gate is shut: {' and '.join(against)}."
