"""The background jobs of the Curate page: start one, follow its progress, stop it, and read how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import streamlit as st

from app import ui
from app.context import project_store
from curation.errors import CurationError
from curation.jobs import KINDS, Job, jobs_of, last_job, last_jobs
from curation.store import Store
from curation.store.rows import Annotator

EVERY = 1.0
"""Seconds between two reads of a running job's progress."""
_STARTED = "jobs started here"


class CurateContext(NamedTuple):
    """What the steps need: who is signed in, the last job of each kind, and the kind's job that runs now.

    after: the id of the job that ran last, '' before the first. It is part of the keys of buttons that start
    something: a second click on one whose work has begun then belongs to no button, and does nothing.
    """

    store: Store
    annotator: Annotator
    jobs: Mapping[str, Job]
    after: str
    at_work: str | None

    def start(self, kind: str, parameters: Mapping[str, Any]) -> None:
        """Start a job and run the page again; a refusal is shown beside the form."""
        started = done_here(_STARTED)
        try:
            started["state"] = (
                jobs_of(self.store).start(kind, parameters, self.annotator.name, self.after or None).job_id
            )
        except CurationError as error:
            ui.problem(error)
        else:
            st.rerun()

    def submit(self, label: str, name: str) -> bool:
        """The button of a form that starts a job."""
        own = done_here(_STARTED).get("state")
        return submit(label, name, self.after, own, disabled=self.at_work is not None)

    def ending(self, kind: str) -> None:
        """Show how the last job of this kind ended, unless it runs now."""
        job = self.jobs.get(kind)
        if job is not None and job.job_id != self.at_work:
            _ending(job)


def look(annotator: Annotator) -> CurateContext:
    """Read the jobs; shows the one that runs, if any, and follows it."""
    store = project_store()
    found = jobs_of(store).at_work()  # read before the endings: a job that ends now then counts as ended
    with store.reading() as cursor:
        jobs, last = last_jobs(cursor), last_job(cursor)
    place = st.empty()  # with and without a job: what is below keeps its place and its state
    if found is not None:
        with place.container(border=True):
            st.fragment(_follow, run_every=EVERY)(store, annotator, found[0].job_id)
    return CurateContext(
        store, annotator, jobs, last.job_id if last else "", found[0].job_id if found else None
    )


def done_here(what: str) -> dict[str, Any]:
    """What this session did, for writing to right after it was done.

    On a second click Streamlit may stop a run wherever it touches the session state. Get this plain
    dictionary before you act: writing to it cannot be interrupted.
    """
    done: dict[str, Any] = st.session_state.setdefault(what, {})
    return done


def submit(label: str, name: str, state: str, own: str | None, disabled: bool = False) -> bool:
    """The button of a form, with a state of the project in its key: a click on an older page does nothing.

    The page then says so, unless it was a second click in the session that made this state (`own`).
    """
    asked = st.form_submit_button(label, type="primary", key=f"{name} {state}", disabled=disabled)
    before = st.session_state.get(f"state of {name}", state)
    st.session_state[f"state of {name}"] = state
    if state not in (before, own) and st.session_state.get(f"{name} {before}"):
        st.warning(
            "Nothing was done by this click: the page was older than what was done meanwhile, perhaps by a "
            "click before it. It is up to date now. Look at it, then ask again.",
            icon=":material/update:",
        )
    return asked


def _follow(store: Store, annotator: Annotator, job_id: str) -> None:
    found = jobs_of(store).at_work()
    if found is None or found[0].job_id != job_id:
        st.rerun()
    job, (step, done, total) = found
    doing = KINDS[job.kind].doing
    words = f"{step}: {done:,} of {total:,}" if total else f"{step}: {done:,}" if done else step
    with st.container(horizontal=True, vertical_alignment="center"):
        text = ui.plain(f"{doing[0].upper()}{doing[1:]}: {words or 'starting'}")
        st.progress(min(1.0, done / total) if total else 0.0, text=text)
        if st.button("Stop", key=f"stop {job_id}"):
            _stop(store, annotator, job_id)
    ui.quiet(
        f"Started by {job.started_by} at {job.started_at:%H:%M} UTC. "
        "It goes on when you leave or reload the page."
    )


def _stop(store: Store, annotator: Annotator, job_id: str) -> None:
    try:
        jobs_of(store).stop(job_id, annotator.name)
    except CurationError as error:
        ui.problem(error)
    else:
        st.rerun()


def _ending(job: Job) -> None:
    if job.outcome == "done":
        ui.sentences(f"{job.message}\n{job.started_by}, {job.started_at:%d %b %Y %H:%M} UTC")
    elif job.outcome is None:
        kind = KINDS[job.kind]
        doing = kind.doing.replace(" is ", " was ").replace(" are ", " were ")
        st.warning(f"The server was stopped while {doing}. {kind.kept}", icon=":material/warning:")
    else:
        text = "\n\n".join(map(ui.plain, str(job.message).splitlines()))
        show = st.warning if job.outcome == "stopped" else st.error
        show(text, icon=":material/error:")
