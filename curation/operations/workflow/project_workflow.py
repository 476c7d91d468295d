"""The workflow of a project: its stages in their order, made from quick facts and from slow figures."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from curation.agreement.gate import ALPHA, Gate, gate_now
from curation.core.errors import CurationError
from curation.labeling.rounds.pace import AnnotatorWork
from curation.operations.jobs.stored import Job, last_jobs
from curation.operations.workflow import judging, releasing, stage
from curation.operations.workflow.job_states import with_job_states
from curation.relabeling.calendar import QuarterWork
from curation.relabeling.staleness import RelabelingCalendar, staleness
from curation.releases.release_rows import list_releases
from curation.store import Store, utc_now


@dataclass(frozen=True)
class SlowFigures:
    """The figures of the workflow that take about a second to compute for 50,000 judgments.

    Attributes
    ----------
    gate: the gate as a freeze would find it now; None if nothing is judged.
    due: the re-labeling that is due; None before the first release, and once the quarter is planned.
    not_computed: a sentence for each figure that could not be computed.
    """

    gate: Gate | None
    due: RelabelingCalendar | None
    not_computed: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkflowState:
    """The quick facts from which the stages are made, as they were at `now`.

    Attributes
    ----------
    answers: the work of each annotator in the open rounds.
    quarter, work: the present quarter, and the re-labeling of this quarter.
    jobs: the last job of each kind, in the order in which the jobs were started.
    """

    now: datetime
    answers: tuple[AnnotatorWork, ...]
    prepared: stage.Prepared
    rounds: judging.OpenWork
    grades: judging.SettledGrades
    newest: releasing.NewestRelease | None
    quarter: str
    work: QuarterWork | None
    jobs: tuple[Job, ...]


def read_figures(store: Store, now: datetime | None = None) -> SlowFigures:
    """Compute the slow figures of the workflow."""
    today = (now or utc_now()).date()
    with store.reading() as cursor:
        is_judged = bool(cursor.execute("SELECT 1 FROM judgment_events LIMIT 1").fetchall())
        _, work = releasing.read_quarter(cursor, today)
        is_asked = work is None and bool(list_releases(cursor))
    gate, due, not_computed = None, None, []
    try:
        gate = gate_now(store) if is_judged else None
    except CurationError as error:
        not_computed.append(f"Agreement: {error.found}")
    try:
        due = staleness(store, today).calendar if is_asked else None
    except CurationError as error:
        not_computed.append(f"Re-labeling: {error.found}")
    return SlowFigures(gate, due, tuple(not_computed))


def read_state(store: Store, now: datetime | None = None) -> WorkflowState:
    """Read the quick facts, from which `build_stages` makes the stages with or without the slow figures."""
    now = now or utc_now()
    with store.reading() as cursor:
        quarter, work = releasing.read_quarter(cursor, now.date())
        rounds = judging.read_rounds(cursor)
        prepared, grades = stage.read_prepared(cursor), judging.read_settled(cursor)
        newest, jobs = releasing.read_newest(cursor), tuple(last_jobs(cursor).values())
    answers = tuple(judging.read_answers(store, rounds.open))
    return WorkflowState(now, answers, prepared, rounds, grades, newest, quarter, work, jobs)


def build_stages(
    state: WorkflowState, figures: SlowFigures | None = None, running: Collection[str] | None = None
) -> list[stage.Stage]:
    """Make the stages of a project, in their order.

    Parameters
    ----------
    figures: without them the stages lack the gate, alpha and the re-labeling that is due.
    running: ids of the jobs that are at work; None if that is not known.
    """
    gate = figures.gate if figures else None
    rounds = judging.round_stage(state.rounds, state.answers, state.prepared, state.now)
    alpha = next((check for check in gate.checks if check.figure == ALPHA), None) if gate else None
    deciding = judging.adjudicate_stage(state.grades, alpha)
    is_settled = rounds.state == deciding.state == "done"
    split = judging.split_stage(state.grades, is_settled)
    stages = [
        stage.import_stage(state.prepared),
        stage.sample_stage(state.prepared),
        stage.pool_stage(state.prepared),
        judging.people_stage(state.rounds),
        rounds,
        deciding,
        split,
        releasing.freeze_stage(state.newest, state.grades, gate, is_settled and split.state == "done"),
        releasing.evaluate_stage(state.newest, state.now),
        releasing.relabel_stage(
            state.newest is not None, state.quarter, state.work, figures.due if figures else None
        ),
    ]
    return with_job_states(stages, state.jobs, running)
