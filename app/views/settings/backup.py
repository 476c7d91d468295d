"""Settings, backup: a copy to download, and the schedule by which the app takes backups."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import MAX_TEXT_LENGTH, Form
from app.context import backup_folder
from app.page_context import PageContext
from app.views.releases.downloads import show_result
from curation.core.errors import InputError
from curation.operations.backup_schedule import (
    KIND,
    BackupRequest,
    BackupSchedule,
    last_scheduled,
    read_schedule,
    set_schedule,
)
from curation.operations.doctor import look_at_backups
from curation.operations.jobs import Job

SNAPSHOT, SCHEDULE = "take a snapshot", "schedule backups"


def show(context: PageContext) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        _snapshot(context)
    with right:
        _schedule(context)
        ui.heading("State")
        ui.sentences("\n".join(at_backup.sentence for at_backup in look_at_backups(context.store)))
        ui.quiet("Stop the app before you restore a backup. The project that was there is kept.")
        st.code("goldgrade restore FILE --replace", language=None)


def _snapshot(context: PageContext) -> None:
    """Ask for a copy, and hand out one's own last one."""
    ui.heading("Snapshot")
    ui.quiet(
        "A copy of the whole project, to keep in another place than this server. It holds everything, also "
        "sealed grades, hashes of passwords and the key that signs sign-ins: keep it where only you can "
        "read it. Your name and why are logged. People can grade meanwhile."
    )
    form, blocked = context.acts.form(SNAPSHOT), context.blocked(KIND)
    with st.form(f"snapshot {form.key}", border=False):
        reason = st.text_input("Why you take it", max_chars=MAX_TEXT_LENGTH, key=f"reason {form.key}")
        asked = st.form_submit_button("Prepare a snapshot", type="primary", disabled=blocked is not None)
    if blocked is not None:
        ui.quiet(blocked)
    if asked:
        context.acts.do(form, lambda: _start(context, reason))
    show_result(context, context.own(KIND))


def _start(context: PageContext, reason: str) -> Job:
    if not reason.strip():
        raise InputError("Say why you take a snapshot: it holds sealed grades.")
    return context.begin_with_result(KIND, BackupRequest(reason=reason.strip()), context.own(KIND))


def _schedule(context: PageContext) -> None:
    """When the app takes backups by itself, and how the last one went."""
    ui.heading("Schedule")
    with context.store.reading() as cursor:
        schedule, last = read_schedule(cursor), last_scheduled(cursor)
    if backup_folder() is None:
        ui.quiet("It needs a folder on the server, which the app is started with.")
        st.code("goldgrade app --backup-to FOLDER", language=None)
        return
    form = context.acts.form(SCHEDULE)
    asks = Form(BackupSchedule, schedule, form.key)
    with st.form(f"schedule {form.key}", border=False):
        for column, name in zip(st.columns(3), ("days", "hour", "keep"), strict=True):
            with column:
                asks.ask(name)
        with st.container(horizontal=True):
            saved = st.form_submit_button("Change the schedule" if schedule else "Take backups by schedule")
            ended = schedule is not None and st.form_submit_button("End the schedule")
    if saved or ended:
        wanted = asks.request() if saved else None
        context.acts.do(form, lambda: set_schedule(context.store, wanted, context.annotator.name))
    ui.quiet("They are written on the server. Copy them to another machine." if schedule else "No schedule.")
    if last is not None:
        context._replace(jobs={KIND: last}).ending(KIND)
