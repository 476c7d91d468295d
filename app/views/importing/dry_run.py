"""Import, the check: a dry run that shows an import's effect before a lead starts it."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st

from app import ui
from app.page_context import PageContext
from app.uploads import StoredUpload, hand_over_upload, read_if_small
from app.views.importing.import_form import make_layout_form
from curation.core.errors import CurationError, InputError
from curation.core.reports.table_files import format_csv
from curation.core.reports.tables import Table
from curation.core.request import dump_request
from curation.core.text import pluralize, pluralize_label
from curation.ingest.outcome import ImportOutcome
from curation.ingest.requests import ImportRequest
from curation.operations.import_jobs import CHECK, IMPORT, dry_run, dump_job, read_dry_run, write_dry_run
from curation.operations.import_wording import DryRun, describe_refusal

MAX_PROBLEMS = 50
"""Maximum number of problems in the table; the download contains all stored problems."""
FORM = "import a file"
NO_LOCATION = "–"
_ENCODING = re.compile(r"choose the encoding ([\w-]+)")


def ask(
    context: PageContext, file: StoredUpload, request: ImportRequest, is_automatic: bool = False
) -> DryRun | None:
    """Show the button that checks the file; return the dry run of exactly this request, or None.

    Parameters
    ----------
    is_automatic: whether the first check begins without a click.
    """
    findings_path = file.folder / f"{request.key}.json"
    findings = read_dry_run(findings_path)
    form = context.acts.form(FORM)
    if findings is not None and findings.outcome is not None:
        return findings
    waits = context.find_wait(CHECK) is not None
    check_clicked = st.button(
        "Check the file",
        type="primary",
        key=f"check {form.key}",  # unchanged by a new choice, because a check belongs to earlier choices
        disabled=waits,
    )
    ui.note("The check shows what an import would do, and changes nothing. You can import the file after it.")
    job = context.jobs.get(CHECK)
    is_checked = job is not None and job.parameters["request"] == dump_request(request)
    if check_clicked or (is_automatic and findings is None and not waits and not is_checked):
        context.acts.do(form, lambda: _start_check(context, file, request, findings_path))
    return findings


def show(context: PageContext, file: StoredUpload, request: ImportRequest, findings: DryRun | None) -> None:
    """Show the result of the dry run of an import, and the button that imports the file."""
    job = context.jobs.get(CHECK)
    if findings is None:
        if job is not None and job.parameters["request"]["path"] == request.path:
            context.show_result(CHECK)  # the check was stopped, or belongs to a different request
    elif findings.outcome is not None:
        _show_outcome(context, file, request, findings.outcome)
    else:
        _show_problems(findings, file, request)


def show_unreadable(error: CurationError, file: StoredUpload, request: ImportRequest) -> None:
    """Show the reason why an uploaded file cannot be read."""
    _show_problems(describe_refusal(error, request), file, request)


def _start_check(
    context: PageContext, file: StoredUpload, request: ImportRequest, findings_path: Path
) -> None:
    findings = read_if_small([file.path], lambda: dry_run(context.store, request, context.annotator.name))
    if findings is None:
        context.start_job(CHECK, dump_job(request, result=str(findings_path)))
    else:
        write_dry_run(findings_path, findings)


def _start_import(context: PageContext, file: StoredUpload, request: ImportRequest) -> None:
    if read_dry_run(file.folder / f"{request.key}.json") is None:
        raise InputError("The file has changed since it was checked. Check it again.")
    context.start_job(IMPORT, dump_job(request, folder=str(file.folder)))
    hand_over_upload(context.store.path, context.annotator.name)


def _show_outcome(
    context: PageContext, file: StoredUpload, request: ImportRequest, import_outcome: ImportOutcome
) -> None:
    (noun, count), *others = import_outcome.figures.items()
    figures = dict(others)
    count = figures.pop("added", count)
    details = ", ".join(pluralize_label(other, name) for name, other in figures.items() if other)
    figure, _, noun = pluralize_label(count, noun).partition(" ")
    label = f"{noun} would be added" if import_outcome.changes else f"{noun}: nothing would change"
    ui.verdict(figure, label, f"{details[:1].upper()}{details[1:]}." if details else "")
    if removed := figures.get("removed"):
        st.warning(
            f"The project has {pluralize(removed, 'document')} that this file lacks. The import removes them "
            "from the corpus, unless you choose to add to the current corpus.",
            icon=":material/warning:",
        )
    form, must_wait = context.acts.form(FORM), context.find_wait(IMPORT) is not None
    key = f"import {request.key} {form.key}"
    if st.button("Import", type="primary", key=key, disabled=must_wait):
        context.acts.do(form, lambda: _start_import(context, file, request))
    if import_outcome.left_out:
        rows = [(f"{count:,}", reason) for reason, count in import_outcome.left_out.items()]
        ui.table(f"Left out: {import_outcome.unit}", ["How many", "Why"], rows, words=True)
    ui.sentences(*import_outcome.remarks)


def _show_problems(findings: DryRun, file: StoredUpload, request: ImportRequest) -> None:
    count = len(findings.problems) + findings.more
    noun = "problem" if count == 1 else "problems"
    ui.verdict(f"{count:,}", f"{noun} in {Path(request.source).name}", "This file cannot be imported yet.")
    ui.sentences(findings.way_out)
    for encoding in _ENCODING.findall(findings.way_out):
        values = {make_layout_form(type(request), file).make_key("encoding"): encoding}
        st.button(f"Read it as {encoding}", on_click=st.session_state.update, args=(values,))
    rows = tuple((location or NO_LOCATION, sentence) for location, sentence in findings.problems)
    shown_rows = rows[:MAX_PROBLEMS]
    caption = f"The first {len(shown_rows)} of {count:,}" if count > len(shown_rows) else "Problems"
    ui.table(caption, ["Where", "What"], shown_rows, words=True)
    if count > 1:
        name = f"{Path(request.source).name}.problems.csv"
        ui.download("Download the problems", format_csv(Table(caption, ("where", "what"), rows)), name)
