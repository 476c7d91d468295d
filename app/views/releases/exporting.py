"""Releases, the export: a format, the parts whose grades are in it, and a zip file to download."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from app.views.releases.downloads import show_result
from curation.core.errors import refuse_problems
from curation.operations.jobs import Job
from curation.releases.export.export import graded_parts
from curation.releases.export.formats import FORMATS
from curation.releases.export.request import ExportRequest
from curation.releases.overview import ShownRelease
from curation.releases.overview import show as show_release
from curation.releases.release_rows import ReleaseRow

KIND = "export"
"""The kind of job that exports."""


def show(context: PageContext, release: ReleaseRow) -> None:
    found = show_release(context.store, release.name)
    left, right = st.columns([2, 3], gap="large")
    with left:
        format = st.radio(
            "Format",
            list(FORMATS),
            captions=[f"{one.readers}." for one in FORMATS.values()],
            key="format",
        )
    with right:
        _ask(context, found, format)
        show_result(context, context.own(KIND, name=release.name))


def _form(shown_release: ShownRelease, format: str) -> Form[ExportRequest]:
    """Parts and options of the format."""
    record = FORMATS[format]
    offered = [
        part for part in shown_release.queries if not (record.never_sealed and part in shown_release.sealed)
    ]
    header = {"queries": shown_release.queries, "sealed": list(shown_release.sealed)}
    usual = tuple(part for part in offered if part in graded_parts(format, header))
    start = ExportRequest(shown_release.name, format=format, parts=usual)
    return Form(ExportRequest, start, f"{shown_release.release_id} {format}", {"parts": offered})


def _ask(context: PageContext, shown_release: ShownRelease, format: str) -> None:
    form, asks = context.acts.form(KIND), _form(shown_release, format)
    asks.ask("parts")
    if FORMATS[format].takes_unjudged:
        asks.ask("unjudged")
    if FORMATS[format].takes_negatives:
        asks.ask("negatives")
    asks.ask("licence")
    sealed = [part for part in asks.request().parts if part in shown_release.sealed]
    with st.form(f"export {form.key}", border=False):
        if sealed:
            ui.quiet(f"The grades of {', '.join(sealed)} are sealed. Your name and why are logged.")
            asks.ask("reason")
        request = asks.request()
        problem = context.problem(KIND) or (None if request.parts else "Choose a part to include.")
        asked = st.form_submit_button(
            "Prepare the export",
            type="primary",
            key=f"export button {form.key} {context.after}",
            disabled=problem is not None,
        )
    if problem is not None:
        ui.quiet(problem)
    if asked:
        context.acts.do(form, lambda: _start(context, request, bool(sealed)))


def _start(context: PageContext, request: ExportRequest, is_sealed: bool) -> Job:
    missing = is_sealed and request.reason is None
    refuse_problems(["Sealed grades would be in the export: say why you take them."] if missing else [])
    return context.begin_with_result(KIND, request, context.own(KIND, name=request.name))
