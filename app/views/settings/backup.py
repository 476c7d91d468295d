"""Settings, backup: forms to download a snapshot of the project and to schedule backups."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import MAX_TEXT_LENGTH, Form
from app.context import backup_folder
from app.page_context import PageContext
from app.views.releases.downloads import show_result
from curation.core.errors import InputError
from curation.operations.backup_schedule import (
    JOB_KIND,
    BackupRequest,
    BackupSchedule,
    last_scheduled,
    read_schedule,
    set_schedule,
)
from curation.operations.doctor import check_backups
from curation.operations.jobs import Job

SCHEDULE = "schedule backups"


def show(context: PageContext) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        _snapshot(context)
    with right:
        _schedule(context)
        ui.heading("State")
        ui.sentences(*(at_backup.sentence for at_backup in check_backups(context.store)))
        ui.quiet("Stop the app before you restore a backup. The restore keeps the previous project.")
        st.code("goldgrade restore FILE --replace", language=None)


def _snapshot(context: PageContext) -> None:
    """Show a form that requests a snapshot, and offer the person's last snapshot as a download."""
    ui.heading("Snapshot")
    ui.quiet(
        "A snapshot is a copy of the whole project. Keep it away from this server, where only you can read "
        "it: it also holds sealed grades, hashes of passwords and the key that signs sign-ins. Your name and "
        "your reason are logged. People can grade meanwhile."
    )
    with st.form(f"snapshot {context.form.key}", border=False):
        reason = st.text_input("Reason", max_chars=MAX_TEXT_LENGTH, key=f"reason {context.form.key}")
        asked = context.submit_button("Prepare a snapshot", JOB_KIND)
    if asked:
        context.do(lambda: _start(context, reason))
    show_result(context, context.read_own_job(JOB_KIND))


def _start(context: PageContext, reason: str) -> Job:
    if not reason.strip():
        raise InputError("Say why you take a snapshot: the snapshot holds sealed grades.")
    return context.begin_with_result(
        JOB_KIND, BackupRequest(reason=reason.strip()), context.read_own_job(JOB_KIND)
    )


def _schedule(context: PageContext) -> None:
    """Ask for the schedule of backups, and show the result of the last scheduled backup."""
    ui.heading("Schedule")
    with context.store.reading() as cursor:
        schedule, last = read_schedule(cursor), last_scheduled(cursor)
    if backup_folder() is None:
        ui.quiet("Scheduled backups need a folder on the server. Start the app with this folder.")
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
    ui.quiet(
        "Backups are files on the server. Copy the files to a different machine."
        if schedule
        else "There is no schedule."
    )
    if last is not None:
        context._replace(jobs={JOB_KIND: last}).show_result(JOB_KIND)
