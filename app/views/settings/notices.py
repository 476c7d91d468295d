"""Settings, Notices: the page part on which leads choose which notices the app sends to a webhook."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from curation.operations.due_notices import NoticeKinds
from curation.operations.notices import read_kinds, set_kinds
from curation.operations.webhook import read_webhook, send_test

NOTICES = "notices"


def show(context: PageContext) -> None:
    """Ask which notices the app sends to the webhook."""
    has_webhook = read_webhook() is not None
    ui.note(
        "The app sends notices to your webhook. A notice contains only round names and counts."
        if has_webhook
        else "No webhook is set up. See Operations in the manual."
    )
    form = context.acts.form(NOTICES)
    with context.store.reading() as cursor:
        kinds_form = Form(NoticeKinds, read_kinds(cursor), form.key)
    with st.form(f"notices {form.key}", border=False):
        kinds_form.ask_rest()
        with st.container(horizontal=True):
            save_clicked = st.form_submit_button("Save")
            test_clicked = has_webhook and st.form_submit_button("Send a test")
    if save_clicked:
        context.acts.do(form, lambda: set_kinds(context.store, kinds_form.request(), context.annotator.name))
    if test_clicked:
        context.acts.do(form, send_test)
    if isinstance(form.result, str):
        ui.sentences(f"The test was not sent: {form.result}." if form.result else "The test was sent.")
