"""The export of a frozen release: the choice of format and parts, and the background job."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from app.views.releases.downloads import show_result
from curation.core.errors import refuse_problems
from curation.operations.jobs import Job
from curation.releases.export.formats import FORMATS
from curation.releases.overview import ShownRelease, read_overview
from curation.releases.release_rows import ReleaseRow
from curation.releases.requests import ExportRequest

EXPORT_JOB = "export"


def show(context: PageContext, release: ReleaseRow) -> None:
    shown_release = read_overview(context.store, release.name)
    left, right = st.columns([2, 3], gap="large")
    with left:
        format_name = st.radio(
            "Format",
            list(FORMATS),
            captions=[f"{record.readers}." for record in FORMATS.values()],
            key="format",
        )
    with right:
        _ask_export(context, shown_release, format_name)
        show_result(context, context.read_own_job(EXPORT_JOB, name=release.name))


def _ask_export(context: PageContext, shown_release: ShownRelease, format_name: str) -> None:
    form = _make_form(shown_release, format_name)
    form.ask("parts")
    if FORMATS[format_name].takes_unjudged:
        form.ask("unjudged")
    if FORMATS[format_name].takes_negatives:
        form.ask("negatives")
    form.ask("licence")
    sealed = [part for part in form.request().parts if part in shown_release.sealed]
    with st.form(f"export {context.form.key}", border=False):
        if sealed:
            ui.note(
                f"The grades of {', '.join(sealed)} are sealed. If you export them, your name and reason "
                "are logged."
            )
            form.ask("reason")
        request = form.request()
        problem = None if request.parts else "Choose at least one part."
        submitted = context.submit_button("Prepare the export", EXPORT_JOB, problem)
    if submitted:
        context.do(lambda: _start_export(context, request, bool(sealed)))


def _make_form(release: ShownRelease, format_name: str) -> Form[ExportRequest]:
    """Make the export form with the parts and options available for a format."""
    never_sealed = FORMATS[format_name].never_sealed
    offered = [part for part in release.queries if not (never_sealed and part in release.sealed)]
    open_parts = tuple(part for part in offered if part not in release.sealed)
    initial = ExportRequest(release.name, format=format_name, parts=open_parts or tuple(offered))
    return Form(ExportRequest, initial, f"{release.release_id} {format_name}", {"parts": offered})


def _start_export(context: PageContext, request: ExportRequest, is_sealed: bool) -> Job:
    if is_sealed and request.reason is None:
        refuse_problems(["The export would contain sealed grades. Give a reason."])
    return context.start_job_with_folder(
        EXPORT_JOB, request, context.read_own_job(EXPORT_JOB, name=request.name)
    )
