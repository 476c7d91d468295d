"""A page's background jobs, which the page starts, follows and stops, and whose results it shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from app import ui
from app.acts import Acts, FormState, submit_button
from app.context import project_store
from curation.core.errors import CurationError
from curation.core.request import dump_request
from curation.operations.jobs import Job, can_stop, find_problem, jobs_of, read_last_job, read_last_jobs
from curation.operations.jobs.files import new_result_folder, remove_result
from curation.operations.jobs.stored import find_last_job
from curation.operations.registry import OPERATIONS
from curation.store import COMMAND_LINE, Annotator, Store

PROGRESS_UPDATE_SECONDS = 1.0
_FORM = "job"


class PageContext(NamedTuple):
    """The background jobs that concern a page, as they are when a run of the page begins.

    jobs: kind → the last job of this kind that the person may see.
    last_job_id: the id of the last job of the project; '' before the first job.
    running: the ids of running jobs.
    """

    store: Store
    annotator: Annotator
    acts: Acts
    jobs: Mapping[str, Job]
    last_job_id: str
    running: frozenset[str]

    @property
    def form(self) -> FormState:
        """Return the state shared by all forms on the page that start jobs."""
        return self.acts.form(_FORM)

    def request_job(self, kind: str, request: Any) -> None:
        """Start a background job and rerun the page; show a refusal next to the form."""
        self.do(lambda: self.start_job(kind, request))

    def do(self, action: Callable[[], object]) -> None:
        """Run a form's action, such as starting a job, and rerun the page."""
        self.acts.do(self.form, action)

    def start_job(self, kind: str, request: Any) -> Job:
        """Start a background job as part of a form's action."""
        parameters = request if isinstance(request, dict) else dump_request(request)
        return jobs_of(self.store).start(kind, parameters, self.annotator.name, self.last_job_id or None)

    def start_job_with_folder(self, kind: str, request: Any, previous: Job | None) -> Job:
        """Start a job that writes files to a new folder, and remove the previous job's folder."""
        folder = new_result_folder()
        try:
            job = self.start_job(kind, replace(request, folder=str(folder)))
        except BaseException:
            remove_result(folder)
            raise
        if previous is not None:
            remove_result(previous.parameters["folder"])
        return job

    def read_own_job(self, kind: str, **parameters: object) -> Job | None:
        """Return the last job of a kind, with these parameters, that this person started."""
        with self.store.reading() as cursor:
            return find_last_job(cursor, kind, self.annotator.name, **parameters)

    def submit_button(self, label: str, kind: str, problem: str | None = None, remark: str = "") -> bool:
        """Show the button for a form that starts a job of this kind.

        If the job would fail, the button is disabled and the reason stands below: `problem`, or else a reason
            that applies to every job of this kind. Otherwise the remark stands below the button.
        """
        reason = problem or self.find_problem(kind)
        clicked = submit_button(label, kind, self.form, self.last_job_id, reason is not None)
        self._show_remark(reason or remark)
        return clicked

    def button(self, label: str, kind: str, problem: str | None = None, remark: str = "") -> bool:
        """Show a button outside a form that starts a job of this kind, under the same rules as
        `submit_button`."""
        reason = problem or self.find_wait(kind)
        key = f"{label} {self.form.key} {self.last_job_id}"
        clicked = st.button(label, type="primary", key=key, disabled=reason is not None)
        self._show_remark(reason or remark)
        return clicked

    def _show_remark(self, remark: str) -> None:
        if remark:
            ui.note(remark)

    def find_problem(self, kind: str, request: Any = None) -> str | None:
        """Return the reason why a job of this kind cannot start now; None if it can start."""
        parameters = request if request is None or isinstance(request, dict) else dump_request(request)
        return self.find_wait(kind) or find_problem(self.store, kind, parameters)

    def find_wait(self, kind: str) -> str | None:
        """Return the reason why a job of this kind must wait for running jobs; None if it need not wait."""
        return jobs_of(self.store).find_blocker(kind, self.annotator)

    def is_running(self, job: Job | None) -> bool:
        """Return whether a background job is running."""
        return job is not None and job.job_id in self.running

    def show_result(self, kind: str) -> None:
        """Show the result of the last job of this kind, unless the job is still running."""
        job = self.jobs.get(kind)
        if job is not None and not self.is_running(job):
            _show_result(job)


def read_context(annotator: Annotator, kinds: Collection[str] = OPERATIONS) -> PageContext:
    """Read the background jobs, and show the progress of running jobs.

    Leads see all jobs, and other people see only the jobs that they started.

    Parameters
    ----------
    kinds: the kinds of background jobs that the page shows.
    """
    acts, store = Acts(annotator), project_store()
    jobs_of(store).start_spare_process()
    running = jobs_of(store).running_jobs()  # before the endings are read, so that none is missed
    with store.reading() as cursor:
        starter = None if annotator.role == "lead" else annotator.name
        jobs, last = read_last_jobs(cursor, starter), read_last_job(cursor)
    jobs = {kind: job for kind, job in jobs.items() if kind in kinds}
    area = st.empty()  # with and without a job, so that the widgets below keep their position and state
    followed = [job for job, _ in running.values() if job.kind in kinds and can_stop(job, annotator)]
    if followed:
        with area.container(border=True):
            for job in followed:
                st.fragment(_follow_job, run_every=PROGRESS_UPDATE_SECONDS)(store, annotator, job.job_id)
    return PageContext(store, annotator, acts, jobs, last.job_id if last else "", frozenset(running))


def _follow_job(store: Store, annotator: Annotator, job_id: str) -> None:
    """Show the progress of a running job, and a button that stops it; rerun the page when it ends."""
    running = jobs_of(store).running_jobs().get(job_id)
    if running is None:
        st.rerun()
    job, (_, done, total, words) = running
    doing = OPERATIONS[job.kind].in_progress
    with st.container(horizontal=True, vertical_alignment="center"):
        text = ui.literal(f"{doing[0].upper()}{doing[1:]}: {words or 'starting'}")
        st.progress(min(1.0, done / total) if total else 0.0, text=text)
        if can_stop(job, annotator) and st.button("Stop", key=f"stop {job_id}"):
            _stop_job(store, annotator, job_id)
    ui.note(
        f"Started by {job.started_by} at {job.started_at:%H:%M} UTC. "
        "The job continues when you leave or reload the page."
    )


def _stop_job(store: Store, annotator: Annotator, job_id: str) -> None:
    try:
        jobs_of(store).stop(job_id, annotator.name)
    except CurationError as error:
        ui.problem(error)
    else:
        st.rerun()


def _show_result(job: Job) -> None:
    if job.outcome == "done":
        by = "by schedule" if job.started_by == COMMAND_LINE else job.started_by
        ui.sentences(f"{job.message}\n{by}, {job.started_at:%d %b %Y %H:%M} UTC")
    elif job.outcome is None:
        kind = OPERATIONS[job.kind]
        st.warning(
            f"The server stopped while {kind.in_progress}. {kind.on_interrupt}", icon=":material/warning:"
        )
    elif job.outcome == "stopped":  # a person stopped the job, so this is not an error
        ui.note(str(job.message))
    else:
        text = "\n\n".join(map(ui.literal, str(job.message).splitlines()))
        st.error(text, icon=":material/error:")
