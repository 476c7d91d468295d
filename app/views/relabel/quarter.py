"""Re-label, opening: who judges the quarter, and which systems may bring new documents."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from curation.core.operation import written
from curation.ingest.importers.runs import stored_runs
from curation.operations.jobs import problem as job_problem
from curation.operations.jobs.figures import figures_of
from curation.people.annotators import able_to_judge, usual_names
from curation.pooling.request import SYSTEMS
from curation.relabeling.opening import opening_problem
from curation.relabeling.plan.stored import ShownPlan
from curation.relabeling.request import QuarterRequest
from curation.relabeling.staleness.calendar import DONE, OPEN, UNFINISHED, read_work
from curation.retrieval import RUN_PREFIX

STATES = {
    OPEN: "is open as the round {}. Its progress is under Rounds.",
    DONE: "was judged as the round {}: everything is answered. Its figures are under Report.",
    UNFINISHED: "was closed as the round {} before everything was answered. Its figures are under Report.",
}
"""State of an opened plan → what is said of it."""
OPENING = "relabel"
"""The kind of job that opens a quarter."""


def show_opening(context: PageContext, plan: ShownPlan) -> None:
    ui.heading("Open the round")
    context.ending(OPENING)
    if plan.round is not None:
        with context.store.reading() as cursor:
            (work,) = (one for one in read_work(cursor) if one.plan_id == plan.plan_id)
        ui.quiet(f"The plan of {plan.quarter} {STATES[work.state].format(plan.round)}")
        return
    with context.store.reading() as cursor:
        people = able_to_judge(cursor)
        runs = [f"{RUN_PREFIX}{run.name}" for run in stored_runs(cursor)]
    usual = usual_names(people)
    people_offered = [person.name for person in people]
    start = QuarterRequest(tuple(usual), plan.plan_id, plan.quarter)
    asks = Form(QuarterRequest, start, offered={"annotators": people_offered, "systems": [*SYSTEMS, *runs]})
    asks.ask("annotators", "name")
    with st.expander("More options"):
        asks.rest()
    request = asks.request()
    problem = figures_of(context.store).now(opening_problem, plan.plan_id) or job_problem(
        context.store, OPENING, written(request)
    )
    if problem is not None:
        ui.quiet(f"It cannot be opened now. {problem}")
    form = context.acts.form(OPENING)
    blocked = problem is not None or context.blocked(OPENING) is not None
    key = f"open quarter {form.key} {context.after}"
    label = f"{'Preview' if request.dry_run else 'Open'} {plan.quarter}"
    if st.button(label, type="primary", key=key, disabled=blocked):
        context.acts.do(form, lambda: context.begin(OPENING, request))
