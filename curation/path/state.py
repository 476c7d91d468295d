"""The path: all steps of a project in their order, and the one that comes next.

Jobs on the path: the step that the job at work belongs to, and the step whose last job came to nothing.

The step of re-labeling: what is due this quarter, or how far its round is.

Steps on releases: the newest one next to the grades of now, and who scored runs on it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from curation.agreement.gate import ALPHA, Gate, GateCheck, gate_now
from curation.errors import CurationError
from curation.jobs.running import Job, last_jobs
from curation.labeling.rounds.forecast import AnnotatorWork
from curation.path.judging import (
    OpenWork,
    SettledGrades,
    adjudicate_step,
    people_step,
    read_answers,
    read_rounds,
    read_settled,
    round_step,
    split_step,
)
from curation.path.preparing import Prepared, import_step, pool_step, read_prepared, sample_step
from curation.path.step import Action, PathStep, at_work, needs_attention, next_step
from curation.relabeling.staleness.calendar import (
    DONE,
    OPEN,
    PLANNED,
    DueWork,
    QuarterWork,
    present_quarter,
    read_work,
)
from curation.relabeling.staleness.staleness import staleness
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
from curation.settling.votes import MEANING, read_rule
from curation.steps import STEPS
from curation.store import Cursor, Store, utc_now
from curation.text import amount, counted

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
    page, command = "releases", "goldset freeze NAME"
    freeze = Action("Freeze a release", page, command, {"stage": "Freeze"})
    shut = _shut(gate) if grades.judged else ""
    attention = bool(shut) and is_settled
    if found is None:
        line = "The first release keeps the settled grades for good."
        if shut:
            line = shut
        elif gate is not None and grades.graded:
            line = f"The gate is open. {line}"
        action = Action("See the gate", page, "goldset gate", {"stage": "Gate"}) if attention else freeze
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
    return PathStep("freeze", "done", line, Action("See the releases", page, "goldset release list"))


def evaluate_step(found: NewestRelease | None, now: datetime) -> PathStep:
    """Runs that were scored on the newest release."""
    score = Action("Score a run", "evaluate", "goldset evaluate NAME --run FILE")
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
        who = Action("See who evaluated", "releases", f"goldset release show {found.row.name}")
        return PathStep("evaluate", "needs attention", line, who)
    return PathStep("evaluate", "done", line, score)


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


def read_quarter(cursor: Cursor, today: date) -> tuple[str, QuarterWork | None]:
    """The present quarter, and its re-labeling or an earlier one that is still open."""
    quarter, work = present_quarter(cursor, today), read_work(cursor)
    own = [one for one in work if one.quarter == quarter or one.state == OPEN]
    return quarter.name, own[-1] if own else None


def relabel_step(released: bool, quarter: str, work: QuarterWork | None, due: DueWork | None) -> PathStep:
    """What is due.

    Parameters
    ----------
    released: whether there is a release.
    due: None where it was not read.
    """
    look = Action("See what is due", "relabel", "goldset relabel status")
    if not released:
        return PathStep(
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
            return PathStep("re-label", "needs attention", line, look)
        changed = Action("See what changed", "relabel", "goldset relabel report", {"of": "Report"})
        return PathStep("re-label", "at work" if work.state == OPEN else "done", line, changed)
    plan = Action("Plan the quarter", "relabel", "goldset relabel plan", {"of": "Plan"})
    if work is not None:
        line = f"{quarter} is planned: {amount(work.pairs, 'pair')}. Its round is not open yet."
        opens = Action("Open the quarter", "relabel", "goldset relabel open --annotators a,b", {"of": "Plan"})
        return PathStep("re-label", "needs attention", line, opens)
    if due is None:
        return PathStep("re-label", "done", f"{quarter}.", look)
    if due.is_due:
        most = sorted(due.reasons.items(), key=lambda item: -item[1])[:2]
        reasons = ", ".join(counted(count, reason) for reason, count in most)
        return PathStep("re-label", "needs attention", f"Due in {quarter}: {reasons}.", plan)
    line = due.stale_sentence if due.stale else f"Nothing is due in {quarter}."
    return PathStep("re-label", "done", line, look)


def with_jobs(
    steps: Sequence[PathStep], jobs: Sequence[Job], running: Collection[str] | None
) -> list[PathStep]:
    """The steps with the job that was started last, and those that are at work.

    Parameters
    ----------
    jobs: the last of each kind, in the order in which they were started.
    running: ids of the jobs that are known to be at work; None where that is not known.
    """
    of_step = {
        STEPS[job.kind].on_path: job
        for job in jobs
        if job.kind in STEPS and (job is jobs[-1] or job.job_id in (running or ()))
        if job.outcome not in ("done", "stopped")
    }
    return [_with(step, of_step[step.name], running) if step.name in of_step else step for step in steps]


def _with(step: PathStep, job: Job, running: Collection[str] | None) -> PathStep:
    doing = STEPS[job.kind].doing if job.kind in STEPS else f"{job.kind} is at work"
    by = f"started by {job.started_by} at {job.started_at:%H:%M} UTC"
    if job.outcome is not None:
        said = (job.message or "").splitlines()
        return needs_attention(step, f"The last job failed: {said[0] if said else job.outcome}")
    if running is None or job.job_id in running:
        return at_work(step, f"{doing[0].upper()}{doing[1:]}, {by}.")
    return needs_attention(step, f"The server was stopped while {doing.replace(' is ', ' was ')}.")


@dataclass(frozen=True)
class PathFigures:
    """What takes long to compute.

    Attributes
    ----------
    gate: as a freeze of this moment would find it; None where nothing is judged.
    due: what re-labeling has to do; None before the first release, and once the quarter is planned.
    left_out: what could not be computed, and why.
    """

    gate: Gate | None
    due: DueWork | None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProjectPath:
    """All steps, and the name of the one that comes next; None where nothing waits."""

    steps: tuple[PathStep, ...]
    next: str | None

    @property
    def alpha(self) -> GateCheck | None:
        """Ordinal alpha against the gate; None where nothing is judged, or it is not read."""
        return next((step.alpha for step in self.steps if step.alpha), None)


@dataclass(frozen=True)
class PathState:
    """What the steps are made of, as it was at `now`; `answers` is everybody's work in the open rounds."""

    now: datetime
    answers: tuple[AnnotatorWork, ...]
    prepared: Prepared
    rounds: OpenWork
    grades: SettledGrades
    newest: NewestRelease | None
    quarter: str
    work: QuarterWork | None
    jobs: tuple[Job, ...]


def read_figures(store: Store, now: datetime | None = None) -> PathFigures:
    """Compute what takes long: about a second for 50,000 judgments."""
    with store.reading() as cursor:
        judged = bool(cursor.execute("SELECT 1 FROM judgment_events LIMIT 1").fetchall())
        _, work = read_quarter(cursor, (now or utc_now()).date())
        asked = work is None and bool(list_releases(cursor))
    gate, due, left_out = None, None, []
    try:
        gate = gate_now(store) if judged else None
    except CurationError as error:
        left_out.append(f"Agreement: {error.found}")
    try:
        due = staleness(store, (now or utc_now()).date()).calendar.due if asked else None
    except CurationError as error:
        left_out.append(f"Re-labeling: {error.found}")
    return PathFigures(gate, due, tuple(left_out))


def read_path(
    store: Store,
    figures: PathFigures | None = None,
    running: Collection[str] | None = None,
    now: datetime | None = None,
) -> ProjectPath:
    """The steps as they are now.

    Parameters
    ----------
    figures: of `read_figures`; without them the gate, alpha and what is due are not told.
    running: ids of the jobs that are at work; None where that is not known.
    """
    return path_of(read_state(store, now), figures, running)


def read_state(store: Store, now: datetime | None = None) -> PathState:
    """Read what is quick, from which `path_of` makes the path with figures and without."""
    now = now or utc_now()
    with store.reading() as cursor:
        quarter, work = read_quarter(cursor, now.date())
        rounds = read_rounds(cursor)
        prepared, grades = read_prepared(cursor), read_settled(cursor)
        newest, jobs = read_newest(cursor), tuple(last_jobs(cursor).values())
    answers = tuple(read_answers(store, rounds.open))
    return PathState(now, answers, prepared, rounds, grades, newest, quarter, work, jobs)


def path_of(
    found: PathState, figures: PathFigures | None = None, running: Collection[str] | None = None
) -> ProjectPath:
    """The steps of a state; see `read_path`."""
    steps = with_jobs(_steps(found, figures), found.jobs, running)
    return ProjectPath(tuple(steps), next_step(steps))


def _steps(found: PathState, figures: PathFigures | None) -> list[PathStep]:
    gate = figures.gate if figures else None
    judging = round_step(found.rounds, found.answers, found.prepared, found.now)
    deciding = adjudicate_step(found.grades, _alpha(gate))
    is_settled = judging.state == deciding.state == "done"
    split = split_step(found.grades, is_settled)
    return [
        import_step(found.prepared),
        sample_step(found.prepared),
        pool_step(found.prepared),
        people_step(found.rounds),
        judging,
        deciding,
        split,
        freeze_step(found.newest, found.grades, gate, is_settled and split.state == "done"),
        evaluate_step(found.newest, found.now),
        relabel_step(
            *(found.newest is not None, found.quarter, found.work, figures.due if figures else None)
        ),
    ]


def release_steps(store: Store, state: PathState, gate: Gate) -> list[PathStep]:
    """The steps to the next release: rule, gate, and split and freeze as the path has them."""
    with store.reading() as cursor:
        rule = read_rule(cursor).name
    found = {step.name: step for step in path_of(state, PathFigures(gate, None)).steps}
    is_open = f"The gate is open{', with one judge: nobody knows the agreement' * gate.without_agreement}."
    see = Action("See the gate", "releases", "goldset gate", {"stage": "Gate"})
    return [
        PathStep("rule", "done", MEANING[rule], see),
        PathStep("gate", "done" if gate.open else "needs attention", _shut(gate) or is_open, see),
        found["split"],
        found["freeze"],
    ]


def _shut(gate: Gate | None) -> str:
    """What the gate is shut by; nothing where it is open or not known."""
    if gate is None or gate.open:
        return ""
    against = (shortfall(check.figure, check.state) for check in gate.against)
    return f"The gate is shut: {' and '.join(against)}."


def _alpha(gate: Gate | None) -> GateCheck | None:
    return next((check for check in gate.checks if check.figure == ALPHA), None) if gate else None
