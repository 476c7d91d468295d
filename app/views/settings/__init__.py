"""Settings: the page on which leads change how the whole project works, such as its labeling guide."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import LEADS, SETTINGS, AppPage
from app.components.forms import Form
from app.page_context import PageContext, read_context
from app.views.settings import backup, guide
from curation.operations.backup_schedule import JOB_KIND
from curation.operations.notices import NoticeKinds, read_kinds, read_webhook, send_test, set_kinds
from curation.store import Annotator

NOTICES = "notices"


def show(annotator: Annotator) -> None:
    context = read_context(annotator, [JOB_KIND])
    PARTS[ui.choose_part("Settings", PARTS, "part")](context)


def _show_notices(context: PageContext) -> None:
    """Ask which notices the app sends to the webhook."""
    has_webhook = read_webhook() is not None
    ui.quiet(
        "The app sends notices to the webhook. A notice contains only names of rounds and counts."
        if has_webhook
        else "No webhook is set up: see Operations in the manual."
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


PARTS = {"Guide": guide.show, "Backup": backup.show, "Notices": _show_notices}
PAGE = AppPage(52, "Settings", "settings", LEADS, show, group=SETTINGS)
