"""Import, the dry run: the effect of an import or the problems of the file, and the start of the import."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st

from app import ui
from app.page_context import PageContext
from app.uploads import HeldFile, hand_over, read_now
from app.views.importing.import_form import layout_form
from curation.core.errors import CurationError, InputError
from curation.core.reports.page import Table, csv_table
from curation.core.text import counted
from curation.ingest.import_outcome import ImportOutcome
from curation.ingest.requests import ImportRequest
from curation.operations.import_jobs import (
    CHECK,
    IMPORT,
    dry_run,
    read_dry_run,
    write_dry_run,
    write_parameters,
)
from curation.operations.import_wording import DryRun, describe_refusal

MAX_SHOWN = 50
"""Maximum number of problems in the table; the download contains all stored problems."""
FORM = "import a file"
NO_PLACE = "–"
_ENCODING = re.compile(r"choose the encoding ([\w-]+)")


def ask(context: PageContext, file: HeldFile, asked: ImportRequest) -> DryRun | None:
    """Show the buttons that check and import; return the dry run of exactly this request, or None."""
    result = file.folder / f"{asked.key}.json"
    findings = read_dry_run(result)
    form = context.acts.form(FORM)
    with st.container(horizontal=True, vertical_alignment="center"):
        checked = st.button(
            "Check the file",
            type="primary" if findings is None else "secondary",
            key=f"check {form.key}",  # the same after a new pick: the check is of the picks at that time
            disabled=context.find_wait(CHECK) is not None,
        )
        ready = findings is not None and findings.outcome is not None and not context.find_wait(IMPORT)
        wanted = st.button(
            "Import",
            type="primary" if findings else "secondary",
            key=f"import {asked.key} {form.key}",
            disabled=not ready,
        )
        if findings is None:
            ui.quiet("The check reads the whole file and shows the effect of an import. It changes nothing.")
    if checked:
        context.acts.do(form, lambda: _check(context, file, asked, result))
    if wanted:
        context.acts.do(form, lambda: _import(context, file, asked))
    return findings


def show(context: PageContext, file: HeldFile, asked: ImportRequest, rehearsal: DryRun | None) -> None:
    """Show the result of the dry run of an import."""
    job = context.jobs.get(CHECK)
    if rehearsal is None:
        if job is not None and job.parameters["request"]["path"] == asked.path:
            context.show_result(CHECK)  # the check was stopped, or was of a different request
    elif rehearsal.outcome is not None:
        _show_outcome(rehearsal.outcome)
    else:
        _show_problems(rehearsal, file, asked)


def show_unreadable(error: CurationError, file: HeldFile, asked: ImportRequest) -> None:
    """Show the reason why the file cannot be read."""
    _show_problems(describe_refusal(error, asked), file, asked)


def _check(context: PageContext, file: HeldFile, asked: ImportRequest, result: Path) -> None:
    now = read_now([file.path], lambda: dry_run(context.store, asked, context.annotator.name))
    if now is None:
        context.begin(CHECK, write_parameters(asked, result=str(result)))
    else:
        write_dry_run(result, now)


def _import(context: PageContext, file: HeldFile, asked: ImportRequest) -> None:
    if read_dry_run(file.folder / f"{asked.key}.json") is None:
        raise InputError("The file has changed since it was checked. Check it again.")
    context.begin(IMPORT, write_parameters(asked, folder=str(file.folder)))
    hand_over(context.store.path, context.annotator.name)


def _show_outcome(import_outcome: ImportOutcome) -> None:
    (what, count), *others = import_outcome.figures.items()
    rest = ", ".join(counted(number, name) for name, number in others)
    shown, _, what = counted(count, what).partition(" ")
    state = f"{what} would be there" if import_outcome.changes else f"{what}: nothing would change"
    ui.verdict(shown, state, f"{rest[:1].upper()}{rest[1:]}." if rest else "")
    if import_outcome.left_out:
        rows = [(f"{number:,}", why) for why, number in import_outcome.left_out.items()]
        ui.table(f"Left out: {import_outcome.unit}", ["How many", "Why"], rows, words=True)
    ui.sentences(*import_outcome.remarks)


def _show_problems(rehearsal: DryRun, file: HeldFile, asked: ImportRequest) -> None:
    count = len(rehearsal.problems) + rehearsal.more
    noun = "problem" if count == 1 else "problems"
    ui.verdict(f"{count:,}", f"{noun} in {Path(asked.source).name}", "This file cannot be imported yet.")
    ui.sentences(rehearsal.way_out)
    for name in _ENCODING.findall(rehearsal.way_out):
        reading = {layout_form(type(asked), file).widget_key("encoding"): name}
        st.button(f"Read it as {name}", on_click=st.session_state.update, args=(reading,))
    rows = tuple((place or NO_PLACE, sentence) for place, sentence in rehearsal.problems)
    shown = rows[:MAX_SHOWN]
    caption = f"The first {len(shown)} of {count:,}" if count > len(shown) else "Problems"
    ui.table(caption, ["Where", "What"], shown, words=True)
    if count > 1:
        name = f"{Path(asked.source).name}.problems.csv"
        ui.download("Download the problems", csv_table(Table(caption, ("where", "what"), rows)), name)
