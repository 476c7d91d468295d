"""Backup: a copy to download, the schedule by which the app takes backups, and notices."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import LEADS, SETTINGS, AppPage
from app.components.forms import LONGEST, Form
from app.context import backup_folder
from app.page_context import PageContext, read_context
from app.views.releases.downloads import show_result
from curation.core.errors import InputError
from curation.operations.backups.request import BackupRequest
from curation.operations.doctor.project_checks import look_at_backups
from curation.operations.doctor.schedule import (
    KIND,
    BackupSchedule,
    last_scheduled,
    read_schedule,
    set_schedule,
)
from curation.operations.jobs import Job
from curation.operations.notices.notices import (
    NoticeKinds,
    SentNotice,
    last_attempts,
    read_kinds,
    send_test,
    set_kinds,
)
from curation.operations.notices.webhook import webhook
from curation.store import Annotator

SNAPSHOT, SCHEDULE, NOTICES = "take a snapshot", "schedule backups", "notices"


def show(annotator: Annotator) -> None:
    ui.lead("A copy of the whole project, to keep in another place than this server.")
    context = read_context(annotator, [KIND])
    left, right = st.columns(2, gap="large")
    with left:
        _snapshot(context)
    with right:
        _schedule(context)
        ui.heading("State")
        ui.sentences("\n".join(at_backup.sentence for at_backup in look_at_backups(context.store)))
        ui.quiet("To restore one, stop the app. The project that was there is kept.")
        st.code("goldgrade restore FILE --replace", language=None)
        ui.quiet("A restore drill changes nothing: it restores the newest one to a temporary place.")
        st.code("goldgrade backup FOLDER --rehearse", language=None)
    _notices(context)


PAGE = AppPage(54, "Backup", "backup", LEADS, show, group=SETTINGS)


def _snapshot(context: PageContext) -> None:
    """Ask for a copy, and hand out one's own last one."""
    ui.heading("Snapshot")
    ui.quiet(
        "It holds everything, also sealed grades, hashes of passwords and the key that signs sign-ins: keep "
        "it where only you can read it. Your name and why are logged. People can grade meanwhile."
    )
    form, blocked = context.acts.form(SNAPSHOT), context.blocked(KIND)
    with st.form(f"snapshot {form.key}", border=False):
        reason = st.text_input("Why you take it", max_chars=LONGEST, key=f"reason {form.key}")
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


def _notices(context: PageContext) -> None:
    """What is sent to the webhook, and how the last notices went."""
    ui.heading("Notices")
    has_webhook = webhook() is not None
    ui.quiet(
        "Notices go to the webhook. A notice holds only names of rounds and counts."
        if has_webhook
        else "No webhook is set up: see Operations in the manual."
    )
    form = context.acts.form(NOTICES)
    with context.store.reading() as cursor:
        asks = Form(NoticeKinds, read_kinds(cursor), form.key)
        attempts = last_attempts(cursor)
    with st.form(f"notices {form.key}", border=False):
        asks.rest()
        with st.container(horizontal=True):
            saved = st.form_submit_button("Save")
            tested = has_webhook and st.form_submit_button("Send a test")
    if saved:
        context.acts.do(form, lambda: set_kinds(context.store, asks.request(), context.annotator.name))
    if tested:
        context.acts.do(form, send_test)
    if isinstance(form.result, str):
        ui.sentences(f"The test was not sent: {form.result}." if form.result else "The test was sent.")
    rows = [(notice.text, f"{notice.tried_at:%d %b %H:%M}", _outcome(notice)) for notice in attempts]
    if rows:
        ui.table("The last notices", ["Notice", "When (UTC)", "Outcome"], rows, words=True)


def _outcome(notice: SentNotice) -> str:
    if notice.problem is None:
        return "unknown: the app ended meanwhile"
    return f"attempt {notice.attempts} failed: {notice.problem}" if notice.problem else "sent"
