"""Coverage, the gaps: how much is covered, regions without a query, and tasks to write some."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import ui
from app.page_context import PageContext, submit
from app.views.coverage import region
from app.views.coverage.measuring import show_measuring
from curation.core.text import amount, percent
from curation.people.annotators import able_to_judge, usual_names
from curation.queries.coverage.state import CoverageState
from curation.queries.coverage.writing.coverage_queries import GAP, UNANSWERABLE
from curation.queries.coverage.writing.progress import TaskCounts, tasks_of_clusters
from curation.queries.coverage.writing.tasks import MOST_AT_ONCE, OpenedTasks, open_tasks

SHOWN = 25
FILL = "Few: regions of 1 to 4 queries, up to 5"
KINDS = {"Gaps: regions without a query": GAP, FILL: GAP, "Unanswerable: what the corpus lacks": UNANSWERABLE}
COLUMNS = ["Region", "Name", "Documents", "Searches", "To write", "Written"]


def show(context: PageContext, state: CoverageState) -> None:
    _figures(state)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _gaps(context, state)
    with right:
        ui.heading("Ask for queries")
        _open(context, state)
        ui.heading("Measure")
        show_measuring(context, state)
    region.show(context, state)


def _figures(state: CoverageState) -> None:
    regions = state.regions
    with st.container(horizontal=True, gap="large"):
        st.metric("Regions with a query", percent(regions.msc), width="content")
        st.metric("Regions without", f"{regions.zqc:,} of {regions.clusters:,}", width="content")
        st.metric("Documents in regions with 5 queries", percent(regions.scc), width="content")
        st.metric("Searches in regions with a query", percent(regions.msc_by_traffic), width="content")
    small = len(state.clusters) - regions.clusters
    ui.quiet(
        f"{amount(regions.documents, 'document')} in {amount(regions.clusters, 'region')}; "
        f"{amount(small, 'cluster')} with fewer than {state.map.parameters['least_documents']:,} documents "
        f"are not counted. {amount(regions.queries, 'query is', 'queries are')} about a region, "
        f"{len(state.nowhere):,} about nothing that the corpus has."
    )
    ui.sentences(state.reach.sentence)
    ui.folded([replace(state.reach, sentence="")])


def _gaps(context: PageContext, state: CoverageState) -> None:
    if not state.gaps:
        st.info("Every region has a query.")
        return
    with context.store.reading() as cursor:
        tasks = tasks_of_clusters(cursor, state.map.map_id)
    none = TaskCounts(0, 0, 0)
    rows = [
        (
            gap.number,
            gap.name,
            len(gap.documents),
            None if gap.searches is None else round(gap.searches),
            tasks.get(gap.number, none).open,
            tasks.get(gap.number, none).written,
        )
        for gap in state.gaps[:SHOWN]
    ]
    order = "searches × documents" if state.gaps[0].searches is not None else "documents"
    more = f"the first {SHOWN} of {len(state.gaps):,}, " if len(state.gaps) > SHOWN else ""
    ui.table(f"Regions without a query, {more}by {order}", COLUMNS, rows, words=True)


def _open(context: PageContext, state: CoverageState) -> None:
    with context.store.reading() as cursor:
        people = able_to_judge(cursor)
    form = context.acts.form("writing tasks")
    with st.form("writing tasks"):
        kind = st.selectbox("For", list(KINDS))
        queries = st.number_input("Queries", 1, MOST_AT_ONCE, min(12, max(1, len(state.gaps))))
        writers = st.multiselect(
            "Writers",
            [person.name for person in people],
            default=usual_names(people),
        )
        seed = st.number_input("Seed of documents and styles", value=0, step=1)
        asked = submit("Open the tasks", "open tasks", form, state.map.map_id)
    result: OpenedTasks | None = form.result
    if asked:
        store, by = context.store, context.annotator.name
        asked_for = (int(queries), writers, int(seed), KINDS[kind], by)
        context.acts.do(form, lambda: open_tasks(store, *asked_for, fill=kind == FILL))
    elif result is not None:
        ui.confirmation(
            f"Opened {result.tasks:,} tasks in {result.regions:,} regions. "
            "They are on the page Write queries."
        )
        ui.sentences("\n".join(f"Left out: {count:,} ({why})." for why, count in result.left_out.items()))
