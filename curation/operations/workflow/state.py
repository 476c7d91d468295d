"""The path: all steps of a project in their order, and the one that comes next."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from curation.agreement.gate import ALPHA, Gate, GateCheck, gate_now
from curation.core.errors import CurationError
from curation.labeling.consensus.rule import MEANING, read_rule
from curation.labeling.rounds.forecast import AnnotatorWork
from curation.operations.jobs.stored import Job, last_jobs
from curation.operations.workflow.deciding import SettledGrades, adjudicate_step, read_settled, split_step
from curation.operations.workflow.jobs_at_steps import with_jobs
from curation.operations.workflow.judging import OpenWork, people_step, read_answers, read_rounds, round_step
from curation.operations.workflow.preparing import (
    Prepared,
    import_step,
    pool_step,
    read_prepared,
    sample_step,
)
from curation.operations.workflow.relabeling import read_quarter, relabel_step
from curation.operations.workflow.releasing import (
    NewestRelease,
    evaluate_step,
    freeze_step,
    read_newest,
    shut_by,
)
from curation.operations.workflow.stage import Action, Stage, next_step
from curation.relabeling.staleness.calendar import DueWork, QuarterWork
from curation.relabeling.staleness.staleness import staleness
from curation.releases.release_rows import list_releases
from curation.store import Store, utc_now


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

    steps: tuple[Stage, ...]
    next: str | None

    @property
    def alpha(self) -> GateCheck | None:
        """Ordinal alpha against the gate; None where nothing is judged, or it is not read."""
        return next((step.alpha for step in self.steps if step.alpha), None)


@dataclass(frozen=True)
class WorkflowState:
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


def read_workflow(
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


def read_state(store: Store, now: datetime | None = None) -> WorkflowState:
    """Read what is quick, from which `path_of` makes the path with figures and without."""
    now = now or utc_now()
    with store.reading() as cursor:
        quarter, work = read_quarter(cursor, now.date())
        rounds = read_rounds(cursor)
        prepared, grades = read_prepared(cursor), read_settled(cursor)
        newest, jobs = read_newest(cursor), tuple(last_jobs(cursor).values())
    answers = tuple(read_answers(store, rounds.open))
    return WorkflowState(now, answers, prepared, rounds, grades, newest, quarter, work, jobs)


def path_of(
    path_state: WorkflowState, figures: PathFigures | None = None, running: Collection[str] | None = None
) -> ProjectPath:
    """The steps of a state; see `read_workflow`."""
    steps = with_jobs(_steps(path_state, figures), path_state.jobs, running)
    return ProjectPath(tuple(steps), next_step(steps))


def _steps(path_state: WorkflowState, figures: PathFigures | None) -> list[Stage]:
    gate = figures.gate if figures else None
    judging = round_step(path_state.rounds, path_state.answers, path_state.prepared, path_state.now)
    deciding = adjudicate_step(path_state.grades, _alpha(gate))
    is_settled = judging.state == deciding.state == "done"
    split = split_step(path_state.grades, is_settled)
    return [
        import_step(path_state.prepared),
        sample_step(path_state.prepared),
        pool_step(path_state.prepared),
        people_step(path_state.rounds),
        judging,
        deciding,
        split,
        freeze_step(path_state.newest, path_state.grades, gate, is_settled and split.state == "done"),
        evaluate_step(path_state.newest, path_state.now),
        relabel_step(
            *(
                path_state.newest is not None,
                path_state.quarter,
                path_state.work,
                figures.due if figures else None,
            )
        ),
    ]


def release_steps(store: Store, state: WorkflowState, gate: Gate) -> list[Stage]:
    """The steps to the next release: rule, gate, and split and freeze as the path has them."""
    with store.reading() as cursor:
        rule = read_rule(cursor).name
    found = {step.name: step for step in path_of(state, PathFigures(gate, None)).steps}
    is_open = f"The gate is open{', with one judge: nobody knows the agreement' * gate.without_agreement}."
    see = Action("See the gate", "releases", "goldgrade gate", {"stage": "Gate"})
    return [
        Stage("rule", "done", MEANING[rule], see),
        Stage("gate", "done" if gate.open else "needs attention", shut_by(gate) or is_open, see),
        found["split"],
        found["freeze"],
    ]


def _alpha(gate: Gate | None) -> GateCheck | None:
    return next((check for check in gate.checks if check.figure == ALPHA), None) if gate else None
