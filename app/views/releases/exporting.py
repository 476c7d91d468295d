"""Releases, the export: a format, the parts whose grades are in it, and a zip file to download."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

import streamlit as st

from app import ui
from app.page import PageContext
from app.views.releases.downloads import ADDRESS, export_file
from curation.errors import refuse_problems
from curation.jobs import Job, jobs_of
from curation.jobs.result_files import new_result_folder, remove_result
from curation.jobs.stored import jobs_started
from curation.releases.export.export import graded_parts
from curation.releases.export.formats import FORMATS
from curation.releases.export.gold import ExportOptions
from curation.releases.overview import ShownRelease
from curation.releases.overview import show as show_release
from curation.releases.stored import ReleaseRow

KIND = "export"
"""The kind of job that exports."""


class _ExportChoice(NamedTuple):
    format: str
    parts: list[str]
    options: ExportOptions


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
        chosen = _choose(found, format)
        _ask(context, found, chosen)
        _result(context, release)


def _choose(found: ShownRelease, format: str) -> _ExportChoice:
    """Parts and options of the format."""
    record, usual = FORMATS[format], ExportOptions()
    offered = [part for part in found.queries if not (record.never_sealed and part in found.sealed)]
    header = {"queries": found.queries, "sealed": list(found.sealed)}
    parts = st.multiselect(
        "Parts whose grades are written",
        offered,
        default=[part for part in offered if part in graded_parts(format, header)],
        format_func=lambda part: f"{part} (sealed)" if part in found.sealed else part,
        key=f"parts {found.release_id} {format}",
        help="Queries and documents of all parts are in every export.",
    )
    unjudged, negatives = usual.unjudged, usual.negatives
    if record.takes_unjudged:
        unjudged = st.checkbox("Write candidates without a grade, too, as -1")
    if format in ("triplets", "ntuples"):
        negatives = int(st.number_input("Hard negatives for each positive", 1, 1_000, usual.negatives))
    licence = st.text_input("Licence of the data set", usual.licence, max_chars=80).strip() or usual.licence
    return _ExportChoice(format, parts, ExportOptions(unjudged, negatives, licence))


def _ask(context: PageContext, found: ShownRelease, chosen: _ExportChoice) -> None:
    form = context.acts.form(KIND)
    sealed = [part for part in chosen.parts if part in found.sealed]
    reason = None
    with st.form(f"export {form.key}", border=False):
        if sealed:
            ui.quiet(f"The grades of {', '.join(sealed)} are sealed. Your name and why are logged.")
            reason = st.text_input("Why you take sealed grades", max_chars=500).strip()
        problem = context.problem(KIND) or (
            None if chosen.parts else "Choose a part whose grades are written."
        )
        asked = st.form_submit_button(
            "Prepare the export",
            type="primary",
            key=f"export button {form.key} {context.after}",
            disabled=problem is not None,
        )
    if problem is not None:
        ui.quiet(problem)
    if asked:
        request = {
            "name": found.name,
            "format": chosen.format,
            "parts": chosen.parts,
            "reason": reason or None,
            **chosen.options._asdict(),
        }
        context.acts.do(form, lambda: _start(context, request, bool(sealed)))


def _start(context: PageContext, request: Mapping[str, Any], is_sealed: bool) -> Job:
    missing = is_sealed and request["reason"] is None
    refuse_problems(["Sealed grades would be in the export: say why you take them."] if missing else [])
    before = _own(context, request["name"])
    folder = new_result_folder()
    try:
        asked, by = {**request, "folder": str(folder)}, context.annotator.name
        job = jobs_of(context.store).start(KIND, asked, by, context.after or None)
    except BaseException:
        remove_result(folder)
        raise
    if before is not None:
        remove_result(before.parameters["folder"])
    return job


def _own(context: PageContext, name: str) -> Job | None:
    """The last export of a release that this person asked for."""
    with context.store.reading() as cursor:
        asked = jobs_started(cursor, KIND, context.annotator.name)
    return next((job for job in reversed(asked) if job.parameters["name"] == name), None)


def _result(context: PageContext, release: ReleaseRow) -> None:
    """How one's own last export of this release went, and its file."""
    job = _own(context, release.name)
    if job is None or job.job_id == context.at_work:
        return
    context._replace(jobs={KIND: job}).ending(KIND)
    file = export_file(job)
    if file is not None:
        size = file.stat().st_size / 1_000_000
        st.html(
            f'<p class="gs-download"><a href="{ADDRESS}/{job.job_id}" download="{escape(file.name)}">'
            f"Download {escape(file.name)}</a><span>{size:,.1f} MB, kept for an hour</span></p>"
        )
    elif job.outcome == "done":
        ui.quiet("Its file is no longer here: prepare it again.")
