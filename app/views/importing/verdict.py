"""Import, the dry run: what the file would do, or what speaks against it; then the import itself."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import streamlit as st

from app import ui
from app.page_context import PageContext
from app.uploads import HeldFile, hand_over, read_now
from app.views.importing.import_form import layout_form
from curation.core.characters import quote_formula
from curation.core.errors import CurationError, InputError
from curation.core.text import counted
from curation.ingest.import_outcome import ImportOutcome
from curation.ingest.requests import ImportRequest
from curation.operations.import_jobs import (
    CHECK,
    IMPORT,
    DryRun,
    dry_run,
    parameters_of,
    read_findings,
    refused,
    write_findings,
)

MAX_SHOWN = 50
"""Problems in the table; the download has all that are kept."""
FORM = "import a file"
NO_PLACE = "–"
_ENCODING = re.compile(r"choose the encoding ([\w-]+)")


def ask(context: PageContext, file: HeldFile, asked: ImportRequest) -> DryRun | None:
    """The buttons; returns the dry run of exactly this request, if there was one."""
    result = file.folder / f"{asked.key}.json"
    findings = read_findings(result)
    form = context.acts.form(FORM)
    with st.container(horizontal=True, vertical_alignment="center"):
        checked = st.button(
            "Check the file",
            type="primary" if findings is None else "secondary",
            key=f"check {form.key}",  # also right after a pick: it is of what is picked by then
            disabled=context.blocked(CHECK) is not None,
        )
        ready = findings is not None and findings.outcome is not None and not context.blocked(IMPORT)
        wanted = st.button(
            "Import",
            type="primary" if findings else "secondary",
            key=f"import {asked.key} {form.key}",
            disabled=not ready,
        )
        if findings is None:
            ui.quiet("This reads the whole file and says what an import would do. It changes nothing.")
    if checked:
        context.acts.do(form, lambda: _check(context, file, asked, result))
    if wanted:
        context.acts.do(form, lambda: _import(context, file, asked))
    return findings


def show(context: PageContext, file: HeldFile, asked: ImportRequest, rehearsal: DryRun | None) -> None:
    """What the dry run found."""
    job = context.jobs.get(CHECK)
    if rehearsal is None and job is not None and job.parameters["request"]["path"] == asked.path:
        context.ending(CHECK)  # it was stopped, or was of another mapping
    elif rehearsal is None:
        pass
    elif rehearsal.outcome is not None:
        _show_outcome(rehearsal.outcome)
    else:
        _show_problems(rehearsal, file, asked)


def show_unreadable(error: CurationError, file: HeldFile, asked: ImportRequest) -> None:
    """Why there is nothing to look at."""
    _show_problems(refused(error, asked), file, asked)


def _check(context: PageContext, file: HeldFile, asked: ImportRequest, result: Path) -> None:
    now = read_now([file.path], lambda: dry_run(context.store, asked, context.annotator.name))
    if now is None:
        context.begin(CHECK, parameters_of(asked, result=str(result)))
    else:
        write_findings(result, now)


def _import(context: PageContext, file: HeldFile, asked: ImportRequest) -> None:
    if read_findings(file.folder / f"{asked.key}.json") is None:
        raise InputError("The file has changed since it was checked. Check it again.")
    context.begin(IMPORT, parameters_of(asked, folder=str(file.folder)))
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
    ui.sentences("\n".join(import_outcome.remarks))


def _show_problems(rehearsal: DryRun, file: HeldFile, asked: ImportRequest) -> None:
    count = len(rehearsal.problems) + rehearsal.more
    noun = "problem" if count == 1 else "problems"
    ui.verdict(f"{count:,}", f"{noun} in {Path(asked.source).name}", "Nothing can be imported from it yet.")
    ui.sentences(rehearsal.way_out)
    for name in _ENCODING.findall(rehearsal.way_out):
        st.button(f"Read it as {name}", on_click=_read_as, args=(file, asked, name))
    rows = [(place or NO_PLACE, sentence) for place, sentence in rehearsal.problems[:MAX_SHOWN]]
    ui.table(
        f"The first {len(rows)} of {count:,}" if count > len(rows) else "Problems",
        ["Where", "What"],
        rows,
        words=True,
    )
    if count > 1:
        st.download_button(
            "Download the problems",
            problems_csv(rehearsal),
            f"{Path(asked.source).name}.problems.csv",
            "text/csv",
        )


def _read_as(file: HeldFile, asked: ImportRequest, encoding: str) -> None:
    st.session_state[layout_form(type(asked), file).key_of("encoding")] = encoding


def problems_csv(rehearsal: DryRun) -> str:
    """All problems that are kept, as a table for a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["where", "what"])
    writer.writerows(
        map(quote_formula, (place or NO_PLACE, sentence)) for place, sentence in rehearsal.problems
    )
    return text.getvalue()
