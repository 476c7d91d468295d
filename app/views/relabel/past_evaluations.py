"""Re-label, past evaluations: the same runs on the release before and on the one after, order kept or not."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from app.views.evaluate.uploads import UploadedFile, choose_runs, new_folder, write_uploads
from curation.core.errors import refuse_problems
from curation.operations.jobs import Job
from curation.operations.jobs.uploads import discard
from curation.relabeling.request import PastRunsRequest
from curation.releases.release_rows import list_releases

KIND = "past evaluations"
"""The kind of job that compares runs on two releases."""


def show(context: PageContext, plan_id: str) -> None:
    """Compare for a plan; what comes of it is a section of its report."""
    ui.heading("Compare past evaluations")
    job = context.jobs.get(KIND)
    if job is not None and not context.is_running(job):
        context.ending(KIND)
    with context.store.reading() as cursor:
        names = [row.name for row in list_releases(cursor)]
    if len(names) < 2:
        ui.quiet("This takes two releases. Freeze the next one on the page Releases, then come back.")
        return
    ui.quiet(
        "Upload runs of the past. They are evaluated on both releases, to see whether their order holds."
    )
    form = context.acts.form(KIND)
    asks = Form(PastRunsRequest, key=form.key, offered={"new": names[::-1]})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        asks.ask("new")
        asks.offer("old", [name for name in names[::-1] if name != asks.value("new")])
        asks.ask("old", "part")
    if asks.value("part") is not None:
        ui.quiet("Scoring sealed parts is logged with your name, why, and the figures.")
        asks.ask("reason")
    runs = choose_runs(f"past {form.key}")
    blocked = context.blocked(KIND) is not None
    if st.button("Compare", type="primary", key=f"compare {form.key} {context.after}", disabled=blocked):
        context.acts.do(form, lambda: _start(context, asks.request(plan=plan_id), runs))


def _start(context: PageContext, request: PastRunsRequest, runs: list[UploadedFile]) -> Job:
    problems = [] if runs else ["There is no file yet: upload at least one run."]
    problems += [f"The system in {run.file.name} has no name." for run in runs if not run.name]
    if request.part is not None and not request.reason:
        problems.append("Sealed parts are scored: say why.")
    refuse_problems(problems)
    folder = new_folder(context.store.path)
    try:
        runs_here = write_uploads(folder, runs)
        return context.begin(KIND, replace(request, runs=runs_here, folder=str(folder)))
    except BaseException:
        discard(context.store.path, str(folder))
        raise
