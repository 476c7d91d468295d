"""Re-label, opening: who judges the quarter, and which systems may bring new documents."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import ui
from app.page import PageContext
from app.views.relabel.kept import kept_problem
from curation.jobs import jobs_of
from curation.people.annotators import able_to_judge
from curation.pooling.request import SYSTEMS
from curation.relabeling.opening import SAME_SHARE, annotators_problem
from curation.relabeling.plan.stored import ShownPlan
from curation.retrieval import RUN_PREFIX
from curation.sources.runs import stored_runs

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
    annotators = st.multiselect("Annotators", [one.name for one in people], default=usual)
    name = st.text_input("Name of the round", plan.quarter, max_chars=80).strip()
    with st.expander("New documents, blind duplicates, same people"):
        request = _more([*SYSTEMS, *runs])
    problem = kept_problem(context.store, plan.plan_id) or annotators_problem(
        context.store, annotators, plan.plan_id, name, context.annotator.name
    )
    if problem is not None:
        ui.quiet(f"It cannot be opened now. {problem}")
    form = context.acts.form(KIND)
    blocked = problem is not None or context.at_work is not None
    key = f"open quarter {form.key} {context.after}"
    if st.button(f"Open {plan.quarter}", type="primary", key=key, disabled=blocked):
        asked = {"annotators": annotators, "plan": plan.plan_id, "name": name or None, **request}
        by, after = context.annotator.name, context.after or None
        context.acts.do(form, lambda: jobs_of(context.store).start(KIND, asked, by, after))


def _more(systems: list[str]) -> dict[str, Any]:
    chosen = st.multiselect(
        "Systems whose new documents are judged, too",
        systems,
        help="New queries get documents only from these.",
    )
    depth = st.number_input("Depth", min_value=1, value=10, help="Documents from the top of each system.")
    duplicates = st.number_input("Share of blind duplicates", 0.0, 0.5, 0.08, 0.01)
    same = st.number_input(
        "Share of queries for the people of then",
        0.0,
        1.0,
        SAME_SHARE,
        0.1,
        help='So that "people changed" and "the text changed" can be distinguished.',
    )
    return {
        "systems": chosen,
        "depth": int(depth),
        "duplicates": float(duplicates),
        "same": float(same),
    }
