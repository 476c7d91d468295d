"""The stages of a release's life: freeze, evaluate and re-label."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import NamedTuple

from curation.agreement.gate import Gate
from curation.core.text import pluralize
from curation.operations.workflow.adjudicating import GradeCounts
from curation.operations.workflow.stage import Action, Stage
from curation.relabeling.calendar import DONE, OPEN, PLANNED, QuarterWork, find_present_quarter, read_work
from curation.relabeling.due_list import DueList
from curation.releases import release_rows
from curation.releases.gate_override import describe_shortfall, mark_name, read_overrides
from curation.releases.release_rows import ReleaseRow
from curation.releases.sealed_log import SealedEvaluation, read_sealed_evaluations
from curation.store import Cursor

RELABEL_PAGE = {"stage": "Re-label"}
"""The parameters that open re-labeling on the page Releases."""
RECENT = timedelta(days=7)
"""The time for which a sealed evaluation by a person who is not a lead asks for attention."""
_ACTIVITY = """
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
    answers_since: number of answers and decisions after the freeze.
    evaluations, systems: numbers of evaluations on the page Evaluate and of their systems.
    sealed: number of sealed evaluations.
    by_others: the sealed evaluations by people who are not leads.
    gate_override: a warning if the release was frozen despite the agreement gate.
    """

    row: ReleaseRow
    answers_since: int
    evaluations: int
    systems: int
    sealed: int
    by_others: tuple[SealedEvaluation, ...]
    gate_override: str | None = None

    @property
    def name(self) -> str:
        """Return the name of the release, with a warning if it was frozen despite the gate."""
        return mark_name(self.row.name, self.gate_override)


def read_newest(cursor: Cursor) -> NewestRelease | None:
    """Read the newest release; None before the first release."""
    rows = release_rows.list_releases(cursor)
    if not rows:
        return None
    row = rows[-1]
    values = {"at": row.frozen_at, "release": row.release_id}
    [(answers_since, evaluations, systems)] = cursor.execute(_ACTIVITY, values).fetchall()
    leads = {name for (name,) in cursor.execute("SELECT name FROM annotators WHERE role = 'lead'").fetchall()}
    sealed = read_sealed_evaluations(cursor, row.release_id)
    by_others = tuple(evaluation for evaluation in sealed if evaluation.evaluated_by not in leads)
    gate_override = read_overrides(cursor).get(row.name)
    return NewestRelease(row, answers_since, evaluations, systems, len(sealed), by_others, gate_override)


def make_freeze_stage(
    newest: NewestRelease | None, grades: GradeCounts, gate: Gate | None, is_settled: bool
) -> Stage:
    """Make the freeze stage: the newest release, and the answers since its freeze.

    Parameters
    ----------
    is_settled: whether all pairs are judged and decided, and all graded queries are in parts.
    """
    page, command = "releases", "goldgrade freeze NAME"
    freeze = Action("Freeze a release", page, command, {"stage": "Freeze"})
    shut_gate = describe_shut_gate(gate) if grades.judged else ""
    if newest is None:
        line = "Freeze the grades into the first release."
        if shut_gate:
            line = shut_gate
        elif gate is not None and grades.graded:
            line = f"The gate is open. {line}"
        if shut_gate and is_settled:
            see_gate = Action("See the gate", page, "goldgrade gate", {"stage": "Gate"})
            return Stage("freeze", "needs attention", line, see_gate)
        return Stage("freeze", "not begun", line, freeze)
    count = release_rows.count_graded_pairs(newest.row)
    size = "altered since" if count is None else pluralize(count, "grade")
    line = f"{newest.name}: {size}, frozen on {newest.row.frozen_at:%d %b %Y} by {newest.row.frozen_by}."
    if newest.answers_since:
        answers = pluralize(newest.answers_since, "answer or decision", "answers and decisions")
        line += f" {answers} arrived after the freeze."
        if is_settled:
            line = f"{line} {shut_gate}".rstrip()
            return Stage("freeze", "needs attention", line, replace(freeze, label="Freeze again"))
    for sentence in release_rows.say_half_judged(release_rows.count_half_judged(newest.row)):
        return Stage("freeze", "needs attention", f"{line} {sentence}", freeze)
    return Stage("freeze", "done", line, Action("See the releases", page, "goldgrade releases"))


def make_evaluate_stage(newest: NewestRelease | None, now: datetime) -> Stage:
    """Make the evaluate stage: evaluations on the newest release."""
    score = Action("Score a run", "evaluate", "goldgrade evaluate NAME --run FILE")
    if newest is None:
        line = "Score systems on a release, with intervals."
        return Stage("evaluate", "not begun", line, score)
    name = newest.name
    if not (newest.evaluations or newest.sealed):
        return Stage("evaluate", "not begun", f"Nobody has scored a run on {name} in the browser yet.", score)
    counts = []
    if newest.evaluations:
        evaluations = pluralize(newest.evaluations, "evaluation")
        counts.append(f"{evaluations} of {pluralize(newest.systems, 'system')}")
    if newest.sealed:
        counts.append(pluralize(newest.sealed, "sealed evaluation"))
    line = f"{name}: {' · '.join(counts)}."
    recent = [row for row in newest.by_others if now - row.evaluated_at <= RECENT]
    for last in recent[-1:]:
        verb = "was not allowed to evaluate" if last.refused else "evaluated"
        parts, day = ", ".join(last.parts), f"{last.evaluated_at:%d %b}"
        line += f" {last.evaluated_by} {verb} {last.system} on {parts} on {day}."
        see_who = Action("See who evaluated", "releases", f"goldgrade releases {newest.row.name}")
        return Stage("evaluate", "needs attention", line, see_who)
    return Stage("evaluate", "done", line, score)


def describe_shut_gate(gate: Gate | None) -> str:
    """Return a sentence about the figures that keep the gate shut; '' if the gate is open or unknown."""
    if gate is None or gate.open:
        return ""
    shortfalls = (describe_shortfall(check.figure, check.state) for check in gate.against)
    return f"The gate is shut: {' and '.join(shortfalls)}. {gate.advice}"


def read_quarter(cursor: Cursor, today: date) -> tuple[str, QuarterWork | None]:
    """Read the present quarter, and its re-labeling or an earlier re-labeling that is still open."""
    quarter, work = find_present_quarter(cursor, today), read_work(cursor)
    open_or_present = [row for row in work if row.quarter == quarter or row.state == OPEN]
    return quarter, open_or_present[-1] if open_or_present else None


def make_relabel_stage(
    has_release: bool, quarter: str, work: QuarterWork | None, due: DueList | None
) -> Stage:
    """Make the re-label stage: the quarter's re-labeling, and whether it is due.

    Parameters
    ----------
    has_release: whether the project has a release.
    due: the pairs that are due; None if they were not read.
    """
    see_due = Action("See what is due", "releases", "goldgrade relabel plan --due", RELABEL_PAGE)
    if not has_release:
        line = "After the first release, people judge some pairs again each quarter."
        return Stage("re-label", "not begun", line, see_due)
    if work is not None and work.state != PLANNED:
        line = f"{work.quarter}: {work.whole:,} of {pluralize(work.pairs, 'pair')} judged again."
        if work.state not in (OPEN, DONE):
            line = f"{line} The round {work.round!r} was closed before all pairs were judged: reopen it."
            return Stage("re-label", "needs attention", line, see_due)
        parameters = {**RELABEL_PAGE, "quarter": "Report"}
        see_report = Action("See what changed", "releases", "goldgrade relabel report", parameters)
        return Stage("re-label", "at work" if work.state == OPEN else "done", line, see_report)
    command = "goldgrade relabel open --annotators a,b"
    open_round = Action("Open the round", "releases", command, RELABEL_PAGE)
    if work is not None:
        planned = f"{quarter} is planned: {pluralize(work.pairs, 'pair')}. Its round is not open yet."
        return Stage("re-label", "needs attention", due.sentence if due else planned, open_round)
    if due is None:
        return Stage("re-label", "done", f"{quarter}.", see_due)
    if due.is_due:
        return Stage("re-label", "needs attention", due.sentence, open_round)
    return Stage("re-label", "done", due.sentence, see_due)
