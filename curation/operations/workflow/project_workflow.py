"""The workflow: all stages of a project in order, the job at work at each, and the next stage."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from curation.agreement.gate import ALPHA, Gate, gate_now
from curation.core.errors import CurationError
from curation.labeling.consensus.votes import MEANING, read_rule
from curation.labeling.rounds.pace import AnnotatorWork
from curation.operations.jobs.stored import Job, last_jobs
from curation.operations.registry import OPERATIONS
from curation.operations.workflow.judging import (
    OpenWork,
    SettledGrades,
    adjudicate_stage,
    people_stage,
    read_answers,
    read_rounds,
    read_settled,
    round_stage,
    split_stage,
)
from curation.operations.workflow.releasing import (
    NewestRelease,
    evaluate_stage,
    freeze_stage,
    read_newest,
    read_quarter,
    relabel_stage,
    shut_by,
)
from curation.operations.workflow.stage import (
    Action,
    Prepared,
    Stage,
    import_stage,
    pool_stage,
    read_prepared,
    sample_stage,
)
from curation.relabeling.calendar import QuarterWork
from curation.relabeling.staleness import RelabelingCalendar, staleness
from curation.releases.release_rows import list_releases
from curation.store import Store, utc_now


@dataclass(frozen=True)
class WorkflowFigures:
    """What takes long to compute.

    Attributes
    ----------
    gate: as a freeze of this moment would find it; None if nothing is judged.
    due: what re-labeling has to do; None before the first release, and once the quarter is planned.
    left_out: what could not be computed, and why.
    """

    gate: Gate | None
    due: RelabelingCalendar | None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkflowState:
    """What the stages are made of, as it was at `now`; `answers` is everybody's work in the open rounds."""

    now: datetime
    answers: tuple[AnnotatorWork, ...]
    prepared: Prepared
    rounds: OpenWork
    grades: SettledGrades
    newest: NewestRelease | None
    quarter: str
    work: QuarterWork | None
    jobs: tuple[Job, ...]


def read_figures(store: Store, now: datetime | None = None) -> WorkflowFigures:
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
        due = staleness(store, (now or utc_now()).date()).calendar if asked else None
    except CurationError as error:
        left_out.append(f"Re-labeling: {error.found}")
    return WorkflowFigures(gate, due, tuple(left_out))


def read_stages(
    store: Store,
    figures: WorkflowFigures | None = None,
    running: Collection[str] | None = None,
    now: datetime | None = None,
) -> list[Stage]:
    """The stages as they are now, in their order.

    Parameters
    ----------
    figures: of `read_figures`; without them the gate, alpha and what is due are left out.
    running: ids of the jobs that are at work; None if that is not known.
    """
    return build_stages(read_state(store, now), figures, running)


def read_state(store: Store, now: datetime | None = None) -> WorkflowState:
    """Read what is quick, from which `build_stages` makes the workflow with figures and without."""
    now = now or utc_now()
    with store.reading() as cursor:
        quarter, work = read_quarter(cursor, now.date())
        rounds = read_rounds(cursor)
        prepared, grades = read_prepared(cursor), read_settled(cursor)
        newest, jobs = read_newest(cursor), tuple(last_jobs(cursor).values())
    answers = tuple(read_answers(store, rounds.open))
    return WorkflowState(now, answers, prepared, rounds, grades, newest, quarter, work, jobs)


def build_stages(
    state: WorkflowState, figures: WorkflowFigures | None = None, running: Collection[str] | None = None
) -> list[Stage]:
    """The stages of a state; see `read_stages`."""
    gate = figures.gate if figures else None
    judging = round_stage(state.rounds, state.answers, state.prepared, state.now)
    alpha = next((check for check in gate.checks if check.figure == ALPHA), None) if gate else None
    deciding = adjudicate_stage(state.grades, alpha)
    is_settled = judging.state == deciding.state == "done"
    split = split_stage(state.grades, is_settled)
    stages = [
        import_stage(state.prepared),
        sample_stage(state.prepared),
        pool_stage(state.prepared),
        people_stage(state.rounds),
        judging,
        deciding,
        split,
        freeze_stage(state.newest, state.grades, gate, is_settled and split.state == "done"),
        evaluate_stage(state.newest, state.now),
        relabel_stage(state.newest is not None, state.quarter, state.work, figures.due if figures else None),
    ]
    return with_job_states(stages, state.jobs, running)


def release_stages(store: Store, state: WorkflowState, gate: Gate) -> list[Stage]:
    """The stages to the next release: rule, gate, and split and freeze as the workflow has them."""
    with store.reading() as cursor:
        rule = read_rule(cursor).name
    stages = {stage.name: stage for stage in build_stages(state, WorkflowFigures(gate, None))}
    is_open = f"The gate is open{', with one judge: nobody knows the agreement' * gate.without_agreement}."
    see = Action("See the gate", "releases", "goldgrade gate", {"stage": "Gate"})
    return [
        Stage("rule", "done", MEANING[rule], see),
        Stage("gate", "done" if gate.open else "needs attention", shut_by(gate) or is_open, see),
        stages["split"],
        stages["freeze"],
    ]


def with_job_states(
    stages: Sequence[Stage], jobs: Sequence[Job], running: Collection[str] | None
) -> list[Stage]:
    """The stages with the job that was started last, and those that are at work.

    Parameters
    ----------
    jobs: the last of each kind, in the order in which they were started.
    running: ids of the jobs that are known to be at work; None if that is not known.
    """
    of_stage = {
        OPERATIONS[job.kind].stage: job
        for job in jobs
        if job.kind in OPERATIONS and (job is jobs[-1] or job.job_id in (running or ()))
        if job.outcome not in ("done", "stopped")
    }
    return [
        _with(stage, of_stage[stage.name], running) if stage.name in of_stage else stage for stage in stages
    ]


def _with(stage: Stage, job: Job, running: Collection[str] | None) -> Stage:
    doing = OPERATIONS[job.kind].doing
    if job.outcome is not None:
        message = (job.message or "").splitlines()
        why = f"The last job failed: {message[0] if message else job.outcome}"
    elif running is None or job.job_id in running:
        by = f"started by {job.started_by} at {job.started_at:%H:%M} UTC"
        return replace(stage, state="at work", line=f"{doing[0].upper()}{doing[1:]}, {by}.")
    else:
        why = f"The server was stopped while {doing.replace(' is ', ' was ')}."
    return replace(stage, state="needs attention", line=f"{why} {stage.line}")
