"""Releases, freezing: the settled grades of this moment become a release that never changes."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views.curate.jobs import CurateContext
from curation.jobs import jobs_of

KIND = "freeze"
"""The kind of job that freezes."""


def show(context: CurateContext) -> None:
    context.ending(KIND)
    form = context.acts.form(KIND)
    with st.form(f"freeze {form.key}", width=640):
        ui.quiet("All settled grades, with queries, split, corpus and guides. What is frozen never changes.")
        name = st.text_input("Name of the release", placeholder="such as v2", max_chars=64).strip()
        disputed = st.checkbox("Leave disputed pairs out")
        changed = st.checkbox("Keep grades of another version of their document, and mark them")
        override = st.text_input(
            "Why, if the agreement is below what the project demands",
            max_chars=500,
            help="The release carries this reason. Without one such labels are not frozen.",
        ).strip()
        blocked = context.at_work is not None
        key = f"freeze button {form.key} {context.after}"
        asked = st.form_submit_button("Freeze the release", type="primary", key=key, disabled=blocked)
    if not asked:
        return
    if not name:
        st.error("The release has no name: give it one.", icon=":material/error:")
        return
    request = {
        "name": name,
        "allow_disputed": disputed,
        "allow_changed": changed,
        "override": override or None,
    }
    by, after = context.annotator.name, context.after or None
    context.acts.do(form, lambda: jobs_of(context.store).start(KIND, request, by, after))
