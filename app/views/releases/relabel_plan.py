"""Re-label, Plan: the pairs that people judge again in a quarter, until the round for these pairs opens."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from curation.core.errors import NotFoundError
from curation.ingest.stored_runs import read_stored_runs
from curation.operations.jobs.figures import figures_of
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.pooling.request import SYSTEMS
from curation.relabeling import planning_sections
from curation.relabeling.calendar import DONE, OPEN, UNFINISHED, read_work
from curation.relabeling.open_quarter import find_opening_problem
from curation.relabeling.request import MAX_SHARE, MIN_SHARE, PlanRequest, QuarterRequest
from curation.relabeling.stored_plans import StoredPlan, show_plan
from curation.retrieval import RUN_PREFIX
from curation.store import Store

MAX_ROWS = 50
"""Maximum number of rows of each table; the command line shows all rows."""
PLAN_JOB = "plan re-labeling"
STATE_SENTENCES = {
    OPEN: "is open as round {}. Its progress is under Rounds.",
    DONE: "was judged in round {}: every item is answered. The results are under Report.",
    UNFINISHED: "was judged in round {}, which was closed before every item was answered. The "
    "results are under Report.",
}
"""State of an opened plan → the second half of the sentence about the plan."""
OPEN_ROUND_JOB = "relabel"


def show(context: PageContext) -> None:
    left, right = st.columns([2, 3], gap="large")
    with left:
        _ask_plan(context)
    plan = _read_newest_plan(context.store)
    if plan is None:
        with right:
            st.info("There is no plan yet. Annotators do not see a plan until you open it as a round.")
        return
    with left:
        _offer_opening(context, plan)
    with right:
        _show_summary(plan)
    _show_pairs(plan)


def _ask_plan(context: PageContext) -> None:
    form = Form(PlanRequest)
    with st.form("plan"):
        percent = st.slider("Share of the pairs (%)", round(100 * MIN_SHARE), round(100 * MAX_SHARE), 15)
        form.ask("overlap")
        with st.expander("More options"):
            form.ask_rest("fraction")
        submitted = context.submit_button("Plan", PLAN_JOB)
    context.show_result(PLAN_JOB)
    if submitted:
        context.request_job(PLAN_JOB, form.request(fraction=percent / 100))


def _read_newest_plan(store: Store) -> StoredPlan | None:
    try:
        return show_plan(store)
    except NotFoundError:
        return None


def _show_summary(plan: StoredPlan) -> None:
    report = plan.report
    ui.heading(f"Plan for {plan.quarter}")
    state = f"opened as the round {plan.round}" if plan.round else "not opened"
    ui.note(f"The plan is {state}. Its seed is {report['seed']}.")
    pairs = f"{report['pairs']:,} of {report['set_pairs']:,}"
    ui.metrics({"Pairs": pairs, "Judgments": f"{report['judgments']:,}"})
    ui.sentences(*planning_sections.list_plan_facts(report))
    ui.tables(*planning_sections.make_plan_tables(report))


def _show_pairs(plan: StoredPlan) -> None:
    with st.expander(f"All the plan's pairs ({len(plan.pairs):,})"):
        ui.tables(planning_sections.make_plan_pair_table(plan, MAX_ROWS))
    if plan.queries:
        with st.expander(f"Queries that leave or join ({len(plan.queries):,})"):
            ui.tables(planning_sections.make_plan_query_table(plan, MAX_ROWS))


def _offer_opening(context: PageContext, plan: StoredPlan) -> None:
    ui.heading("Open the round")
    context.show_result(OPEN_ROUND_JOB)
    if plan.round is not None:
        with context.store.reading() as cursor:
            (work,) = (row for row in read_work(cursor) if row.plan_id == plan.plan_id)
        ui.note(f"The plan for {plan.quarter} {STATE_SENTENCES[work.state].format(plan.round)}")
        return
    with context.store.reading() as cursor:
        people = list_eligible_annotators(cursor)
        runs = [f"{RUN_PREFIX}{run.name}" for run in read_stored_runs(cursor)]
    start = QuarterRequest(tuple(select_default_names(people)), plan.plan_id, plan.quarter)
    choices = {"annotators": [person.name for person in people], "systems": [*SYSTEMS, *runs]}
    form = Form(QuarterRequest, start, choices=choices)
    form.ask("annotators", "name")
    with st.expander("More options"):
        form.ask_rest()
    request = form.request()
    problem = figures_of(context.store).now(find_opening_problem, plan.plan_id)
    label = f"{'Preview' if request.dry_run else 'Open'} {plan.quarter}"
    if context.button(label, OPEN_ROUND_JOB, problem or context.find_problem(OPEN_ROUND_JOB, request)):
        context.request_job(OPEN_ROUND_JOB, request)
