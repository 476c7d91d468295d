"""The workflow of a project: its stages in their order, made from quick facts and from slow figures.

Which stage comes next is decided by `find_next_stage` in `operations.workflow.stage`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from curation.agreement.gate import ALPHA, Gate, compute_gate
from curation.core.errors import CurationError
from curation.labeling.consensus.rule import DESCRIPTIONS, read_rule
from curation.labeling.rounds.pace import AnnotatorWork
from curation.operations.jobs.stored import Job, read_last_jobs
from curation.operations.registry import OPERATIONS
from curation.operations.workflow import adjudicating, judging, preparing, releasing
from curation.operations.workflow.stage import Action, Stage
from curation.operations.workflow.waiting import read_waiting
from curation.relabeling.calendar import PLANNED, QuarterWork
from curation.relabeling.due_list import DueList, read_due
from curation.releases.release_rows import list_releases
from curation.store import Store, utc_now


@dataclass(frozen=True)
class SlowFigures:
    """The figures of the workflow that take about a second to compute for 50,000 judgments.

    Attributes
    ----------
    gate: the gate as a freeze would find it now; None if nothing is judged.
    due: the pairs that are due; None before the first release, and once the round is open.
    not_computed: a sentence for each figure that could not be computed.
    """

    gate: Gate | None
    due: DueList | None
    not_computed: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkflowState:
    """The quick facts from which the stages are made, as of `now`.

    Attributes
    ----------
    answers: the work of each annotator in the open rounds.
    quarter, work: the present quarter, and the re-labeling of this quarter.
    jobs: the last job of each kind, in the order in which the jobs were started.
    waiting: what waits for a lead besides the stages.
    """

    now: datetime
    answers: tuple[AnnotatorWork, ...]
    preparation: preparing.Preparation
    rounds: judging.RoundProgress
    grades: adjudicating.GradeCounts
    newest: releasing.NewestRelease | None
    quarter: str
    work: QuarterWork | None
    jobs: tuple[Job, ...]
    waiting: tuple[Stage, ...]


def read_figures(store: Store, now: datetime | None = None) -> SlowFigures:
    """Compute the workflow's figures that take long for many judgments, such as alpha."""
    today = (now or utc_now()).date()
    with store.reading() as cursor:
        is_judged = bool(cursor.execute("SELECT 1 FROM judgment_events LIMIT 1").fetchall())
        _, work = releasing.read_quarter(cursor, today)
        needs_due = (work is None or work.state == PLANNED) and bool(list_releases(cursor))
    gate, due, not_computed = None, None, []
    try:
        gate = compute_gate(store) if is_judged else None
    except CurationError as error:
        not_computed.append(f"Agreement: {error.found}")
    try:
        due = read_due(store, today) if needs_due else None
    except CurationError as error:
        not_computed.append(f"Re-labeling: {error.found}")
    return SlowFigures(gate, due, tuple(not_computed))


def read_state(store: Store, now: datetime | None = None) -> WorkflowState:
    """Read the quick facts, from which `build_stages` makes the stages with or without the slow figures."""
    now = now or utc_now()
    with store.reading() as cursor:
        quarter, work = releasing.read_quarter(cursor, now.date())
        rounds = judging.read_rounds(cursor)
        preparation, grades = preparing.read_preparation(cursor), adjudicating.read_grade_counts(cursor)
        newest, jobs = releasing.read_newest(cursor), tuple(read_last_jobs(cursor).values())
        waiting = tuple(read_waiting(cursor))
    answers = tuple(judging.read_annotator_work(store, rounds.open_rounds))
    return WorkflowState(now, answers, preparation, rounds, grades, newest, quarter, work, jobs, waiting)


def build_stages(
    state: WorkflowState, figures: SlowFigures | None = None, running: Collection[str] | None = None
) -> list[Stage]:
    """Make a project's stages, in order.

    Parameters
    ----------
    figures: without them the stages lack the gate, alpha and the re-labeling that is due.
    running: ids of the jobs that are at work; None if that is not known.
    """
    gate, due = (figures.gate, figures.due) if figures else (None, None)
    rounds = judging.make_round_stage(state.rounds, state.answers, state.preparation, state.now)
    alpha = next((check for check in gate.checks if check.figure == ALPHA), None) if gate else None
    adjudication = adjudicating.make_adjudicate_stage(state.grades, alpha)
    is_settled = rounds.state == adjudication.state == "done"
    split = adjudicating.make_split_stage(state.grades, is_settled)
    stages = [
        preparing.make_import_stage(state.preparation),
        preparing.make_sample_stage(state.preparation),
        preparing.make_pool_stage(state.preparation),
        judging.make_people_stage(state.rounds),
        rounds,
        adjudication,
        split,
        releasing.make_freeze_stage(state.newest, state.grades, gate, is_settled and split.state == "done"),
        releasing.make_evaluate_stage(state.newest, state.now),
        releasing.make_relabel_stage(state.newest is not None, state.quarter, state.work, due),
    ]
    return _add_jobs(stages, state.jobs, running)


def build_release_stages(store: Store, state: WorkflowState, gate: Gate) -> list[Stage]:
    """Make the stages that lead to the next release, with split and freeze taken from the workflow."""
    with store.reading() as cursor:
        rule = read_rule(cursor).name
    stages = {stage.name: stage for stage in build_stages(state, SlowFigures(gate, None))}
    single_judge = "; only one person judges, so agreement is unknown" if gate.without_agreement else ""
    see_gate = Action("See the gate", "releases", "goldgrade gate", {"stage": "Gate"})
    line = releasing.describe_shut_gate(gate) or f"The gate is open{single_judge}."
    return [
        Stage("rule", "done", DESCRIPTIONS[rule], see_gate),
        Stage("gate", "done" if gate.open else "needs attention", line, see_gate),
        stages["split"],
        stages["freeze"],
    ]


def _add_jobs(stages: Sequence[Stage], jobs: Sequence[Job], running: Collection[str] | None) -> list[Stage]:
    """Add to the stages their running jobs, and the job that was started last.

    Parameters
    ----------
    jobs: the last job of each kind, in the order in which the jobs were started.
    running: ids of the jobs that are known to be at work; None if that is not known.
    """
    shown = [job for job in jobs if job is jobs[-1] or job.job_id in (running or ())]
    unfinished = [job for job in shown if job.kind in OPERATIONS and job.outcome not in ("done", "stopped")]
    job_of = {OPERATIONS[job.kind].stage: job for job in unfinished}
    return [_add_job(stage, job_of.get(stage.name), running) for stage in stages]


def _add_job(stage: Stage, job: Job | None, running: Collection[str] | None) -> Stage:
    if job is None:
        return stage
    doing = OPERATIONS[job.kind].in_progress
    if job.outcome is not None:
        message = (job.message or "").splitlines()
        why = f"The last job failed: {message[0] if message else job.outcome}"
    elif running is None or job.job_id in running:
        started = f"started by {job.started_by} at {job.started_at:%H:%M} UTC"
        return replace(stage, state="at work", line=f"{doing[0].upper()}{doing[1:]}, {started}.")
    else:
        why = f"The server stopped while {doing}."
    return replace(stage, state="needs attention", line=f"{why} {stage.line}")
