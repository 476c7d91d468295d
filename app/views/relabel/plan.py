"""Re-label, the plan: how much is judged again, and the round of the quarter."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from app.views.relabel.quarter import show_opening
from curation.core.errors import NotFoundError
from curation.operations.jobs import problem as job_problem
from curation.relabeling.plan.sections import pair_table, plan_sentences, plan_tables, query_table
from curation.relabeling.plan.stored import ShownPlan, show_plan
from curation.relabeling.request import LEAST, MOST, PlanRequest
from curation.relabeling.staleness.staleness import SetStaleness
from curation.relabeling.staleness.tables import expected_table
from curation.store import Store

SHOWN = 50
"""Rows of each table; the command line has all."""
KIND = "plan re-labeling"
"""The kind of job that makes a plan."""


def show(context: PageContext, set_staleness: SetStaleness) -> None:
    problem = job_problem(context.store, KIND)
    left, right = st.columns([2, 3], gap="large")
    with left:
        _form(context, problem)
        ui.tables(expected_table(set_staleness))
    plan = _newest(context.store)
    if plan is None:
        with right:
            st.info("There is no plan yet. A plan changes nothing for annotators until it is opened.")
        return
    with left:
        show_opening(context, plan)
    with right:
        _preview(plan)
    _contents(plan)


def _form(context: PageContext, problem: str | None) -> None:
    form, asks = context.acts.form(KIND), Form(PlanRequest)
    with st.form("plan"):
        percent = st.slider("Share of the pairs (%)", round(100 * LEAST), round(100 * MOST), 15)
        asks.rest("fraction")
        blocked = problem is not None or context.blocked(KIND) is not None
        asked = st.form_submit_button("Plan", key=f"plan {form.key} {context.after}", disabled=blocked)
    if problem is not None:
        ui.quiet(f"No plan can be made now. {problem}")
    context.ending(KIND)
    if asked:
        request = asks.request(fraction=percent / 100)
        context.acts.do(form, lambda: context.begin(KIND, request))


def _newest(store: Store) -> ShownPlan | None:
    try:
        return show_plan(store)
    except NotFoundError:
        return None


def _preview(plan: ShownPlan) -> None:
    report = plan.report
    ui.heading(f"Plan of {plan.quarter}")
    state = f"opened as the round {plan.round}" if plan.round else "not opened"
    ui.quiet(f"Plan {plan.plan_id[:8]}, seed {report['seed']}, {state}.")
    with st.container(horizontal=True, gap="large"):
        st.metric("Pairs", f"{report['pairs']:,} of {report['set_pairs']:,}", width="content")
        st.metric("Judgments", f"{report['judgments']:,}", width="content")
    ui.sentences("\n".join(plan_sentences(report)))
    ui.tables(*plan_tables(report))


def _contents(plan: ShownPlan) -> None:
    with st.expander(f"All pairs of the plan ({len(plan.pairs):,})"):
        ui.tables(pair_table(plan, SHOWN))
    if plan.queries:
        with st.expander(f"Queries that leave or join ({len(plan.queries):,})"):
            ui.tables(query_table(plan, SHOWN))
