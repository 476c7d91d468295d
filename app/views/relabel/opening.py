"""Re-label, opening: who judges the quarter, and which systems may bring new documents."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page import PageContext
from app.views.relabel.kept import kept_problem
from curation.jobs import jobs_of
from curation.people.annotators import able_to_judge
from curation.pooling.request import SYSTEMS
from curation.relabeling.opening import annotators_problem
from curation.relabeling.plan.stored import ShownPlan
from curation.relabeling.request import QuarterRequest
from curation.retrieval import RUN_PREFIX
from curation.sources.runs import stored_runs
from curation.step import written

KIND = "relabel"
"""The kind of job that opens a quarter."""


def show(context: PageContext, plan: ShownPlan) -> None:
    ui.heading("Open the round")
    context.ending(KIND)
    if plan.round is not None:
        ui.quiet(
            f"The plan of {plan.quarter} is open as the round {plan.round}. Its progress is under Rounds."
        )
        return
    with context.store.reading() as cursor:
        people = able_to_judge(cursor)
        runs = [f"{RUN_PREFIX}{run.name}" for run in stored_runs(cursor)]
    usual = [one.name for one in people if one.role == "annotator"]
    people_offered = [one.name for one in people]
    start = QuarterRequest(tuple(usual), plan.plan_id, plan.quarter)
    asks = Form(QuarterRequest, start, offered={"annotators": people_offered, "systems": [*SYSTEMS, *runs]})
    asks.ask("annotators", "name")
    with st.expander("New documents, blind duplicates, same people"):
        asks.rest()
    request = asks.request()
    problem = kept_problem(context.store, plan.plan_id) or annotators_problem(
        context.store, request.annotators, plan.plan_id, request.name or "", context.annotator.name
    )
    if problem is not None:
        ui.quiet(f"It cannot be opened now. {problem}")
    form = context.acts.form(KIND)
    blocked = problem is not None or context.at_work is not None
    key = f"open quarter {form.key} {context.after}"
    if st.button(f"Open {plan.quarter}", type="primary", key=key, disabled=blocked):
        by, after = context.annotator.name, context.after or None
        context.acts.do(form, lambda: jobs_of(context.store).start(KIND, written(request), by, after))
