"""Settings, Backup: the page part on which leads back up the project."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import MAX_TEXT_FIELD_LENGTH, Form
from app.context import backup_folder
from app.page_context import PageContext
from app.views.releases.downloads import show_result
from curation.core.errors import InputError
from curation.operations import backup_schedule
from curation.operations.backup_age import check_backups
from curation.operations.jobs import Job

SCHEDULE = "schedule backups"


def show(context: PageContext) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        _ask_snapshot(context)
    with right:
        _ask_schedule(context)
        ui.heading("State")
        ui.sentences(*(finding.sentence for finding in check_backups(context.store)))
        ui.note("Stop the app before you restore a backup. The previous project file is kept.")
        st.code("goldgrade restore FILE --replace", language=None)


def _ask_snapshot(context: PageContext) -> None:
    """Show a form that requests a snapshot, and offer the person's last snapshot as a download."""
    ui.heading("Snapshot")
    ui.note(
        "A snapshot is a copy of the whole project. Store it off this server, where only you can read "
        "it: it contains sealed grades, password hashes and the key that signs sign-ins. Your name and "
        "reason are logged. People can keep grading."
    )
    with st.form(f"snapshot {context.form.key}", border=False):
        reason = st.text_input("Reason", max_chars=MAX_TEXT_FIELD_LENGTH, key=f"reason {context.form.key}")
        submitted = context.submit_button("Prepare a snapshot", backup_schedule.JOB_KIND)
    if submitted:
        context.do(lambda: _start_snapshot(context, reason))
    show_result(context, context.read_own_job(backup_schedule.JOB_KIND))


def _start_snapshot(context: PageContext, reason: str) -> Job:
    if not reason.strip():
        raise InputError("Give a reason: the snapshot contains sealed grades.")
    return context.start_job_with_folder(
        backup_schedule.JOB_KIND,
        backup_schedule.BackupRequest(reason=reason.strip()),
        context.read_own_job(backup_schedule.JOB_KIND),
    )


def _ask_schedule(context: PageContext) -> None:
    """Ask for the schedule of backups, and show the result of the last scheduled backup."""
    ui.heading("Schedule")
    with context.store.reading() as cursor:
        schedule, last = (
            backup_schedule.read_schedule(cursor),
            backup_schedule.find_last_scheduled_job(cursor),
        )
    if backup_folder() is None:
        ui.note(
            "Scheduled backups need a folder on the server. Start the app with the option that names the "
            "folder."
        )
        st.code("goldgrade app --backup-to FOLDER", language=None)
        return
    form = context.acts.form(SCHEDULE)
    schedule_form = Form(backup_schedule.BackupSchedule, schedule, form.key)
    with st.form(f"schedule {form.key}", border=False):
        for column, name in zip(st.columns(3), ("days", "hour", "keep"), strict=True):
            with column:
                schedule_form.ask(name)
        with st.container(horizontal=True):
            saving = st.form_submit_button(
                "Change the schedule" if schedule else "Take backups on a schedule"
            )
            ending = schedule is not None and st.form_submit_button("End the schedule")
    if saving or ending:
        new_schedule = schedule_form.request() if saving else None
        context.acts.do(
            form, lambda: backup_schedule.set_schedule(context.store, new_schedule, context.acts.by)
        )
    ui.note(
        "Backups are stored on the server. Copy them to another machine."
        if schedule
        else "No backups are scheduled."
    )
    if last is not None:
        context._replace(jobs={backup_schedule.JOB_KIND: last}).show_result(backup_schedule.JOB_KIND)
