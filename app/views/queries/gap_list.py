"""Coverage, Gaps: the list of regions without a query, with what a lead can do about each of them."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.page_context import PageContext
from curation.core.text import pluralize
from curation.queries.coverage.gaps import CoverageGap, shorten_title
from curation.queries.coverage.state import CoverageState
from curation.queries.coverage.stored_map import MAX_NAME_LENGTH, dismiss_region, rename_cluster
from curation.queries.coverage.writing import task_progress
from curation.queries.coverage.writing.tasks import open_tasks

SHOWN_AT_ONCE, MAX_SHOWN = 10, 50
DISMISS_HELP = "Hides this region from the gaps. Undo it below the list, under No topics."


def show(context: PageContext, state: CoverageState) -> None:
    """List the gaps by searches × documents, and below them the dismissed regions."""
    with context.store.reading() as cursor:
        tasks = task_progress.count_tasks_by_cluster(cursor, state.map.map_id)
    if not state.gaps:
        st.info("Every region has a query.")
    else:
        order = "searches × documents" if state.gaps[0].searches is not None else "documents"
        ui.note(f"Regions without a query, by {order}.")
    form = context.acts.form("gaps")
    if form.result:
        ui.confirmation(form.result.sentences[0])
    everything = len(state.gaps) <= SHOWN_AT_ONCE or st.session_state.get("all gaps", False)
    for gap in state.gaps[: MAX_SHOWN if everything else SHOWN_AT_ONCE]:
        _show_gap(context, gap, tasks.get(gap.number, (0, 0))[0])
    if len(state.gaps) > SHOWN_AT_ONCE:
        st.toggle(f"Show {min(len(state.gaps), MAX_SHOWN):,} of {len(state.gaps):,}", key="all gaps")
    if state.map.dismissed:
        with st.expander(f"No topics ({len(state.map.dismissed):,})"):
            for number in sorted(state.map.dismissed):
                _offer_undo(context, number, state.map.clusters[number].name)


def _show_gap(context: PageContext, gap: CoverageGap, open_tasks_count: int) -> None:
    acts, by = context.acts, context.acts.by
    form = acts.form("gaps")
    searches = "" if gap.searches is None else f" · {pluralize(round(gap.searches), 'search', 'searches')}"
    asked = f" · {pluralize(open_tasks_count, 'query', 'queries')} asked for" if open_tasks_count else ""
    with st.container(border=True):
        st.markdown(f"**{ui.literal(gap.label)}**")
        ui.note(f"{pluralize(len(gap.documents), 'document')}{searches}{asked}")
        st.markdown("\n".join(f"- {ui.literal(shorten_title(title))}" for title in gap.titles))
        with st.container(horizontal=True):
            if st.button("Write a query", key=f"write {gap.number} {form.key}"):
                acts.do(form, lambda: open_tasks(context.store, 1, [by], 0, author=by, region=gap.number))
            if st.button("Not a topic", key=f"dismiss {gap.number} {form.key}", help=DISMISS_HELP):
                acts.do(form, lambda: dismiss_region(context.store, gap.number, author=by))
            with st.popover("Rename"):
                name = st.text_input(
                    "Name", gap.name, max_chars=MAX_NAME_LENGTH, key=f"name {gap.number} {form.key}"
                )
                if st.button("Rename", key=f"rename {gap.number} {form.key}"):
                    acts.do(form, lambda: rename_cluster(context.store, gap.number, name, by))


def _offer_undo(context: PageContext, number: int, name: str) -> None:
    acts, form = context.acts, context.acts.form("gaps")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(ui.literal(name))
        if st.button("Count as a topic again", key=f"undo {number} {form.key}"):
            acts.do(form, lambda: dismiss_region(context.store, number, False, acts.by))
