"""Evaluate, the form: which release and part, which files, what the systems are called, and why."""

from __future__ import annotations

from shutil import rmtree
from typing import Any, NamedTuple

import streamlit as st

from app import ui
from app.views.curate.jobs import CurateContext
from app.views.evaluate.uploads import AT_ONCE, LARGEST, UploadedRun, system_name, write_uploads
from curation.errors import InputError
from curation.evaluation.evaluation import EvaluationOptions
from curation.evaluation.submitted import submit_runs
from curation.jobs import jobs_of

FACETS = ("stratum", "tag")
FORM = "evaluate"


class ChosenPart(NamedTuple):
    """What is evaluated."""

    release: str
    release_id: str
    part: str
    sealed: bool


def show(context: CurateContext, chosen: ChosenPart) -> None:
    form = context.acts.form(FORM)
    files = st.file_uploader(
        "Run files",
        accept_multiple_files=True,
        max_upload_size=LARGEST,
        key=f"files {form.key}",
        help="TREC runs, CSV, TSV, JSON lines or Parquet, also with gzip. One name for several files makes "
        "them runs of one system.",
    )
    runs = []
    for number, file in enumerate(files, 1):
        label = "Name of the system" if len(files) == 1 else f"Name of system {number}"
        name = st.text_input(
            label, system_name(file.name), max_chars=80, key=f"name {form.key} {number} {file.name}"
        )
        runs.append(UploadedRun(name.strip(), file))
    reason = None
    if chosen.sealed:
        ui.quiet(
            f"{chosen.part} is sealed. This look is logged with your name, why, and its figures. There are "
            "figures of all queries and of kinds with ten or more, none of single queries."
        )
        reason = st.text_input("Why you look at a sealed part", max_chars=500, key=f"reason {form.key}")
    if st.button("Evaluate", type="primary", key=f"evaluate {form.key} {context.after}"):
        context.acts.do(form, lambda: _evaluate(context, chosen, runs, reason))


def _evaluate(
    context: CurateContext, chosen: ChosenPart, runs: list[UploadedRun], reason: str | None
) -> str | None:
    """Evaluate now, or start a job; returns the id of an evaluation that is done."""
    _refuse_unready(chosen, runs, reason)
    by, store = context.annotator.name, context.store
    folder, sources = write_uploads(runs)
    parameters: dict[str, Any] = {
        "release": chosen.release,
        "part": chosen.part,
        "by": list(FACETS),
        "reason": reason,
        "runs": [[source.name, str(source.path)] for source in sources],
        "folder": str(folder),
    }
    handed_over = False
    try:
        if sum(run.file.size for run in runs) > AT_ONCE:
            jobs_of(store).start(FORM, parameters, by, context.after or None)
            handed_over = True
            return None
        options = EvaluationOptions(chosen.part, by=FACETS)
        return submit_runs(store, chosen.release, sources, options, reason, by)
    finally:
        if not handed_over:
            rmtree(folder, ignore_errors=True)


def _refuse_unready(chosen: ChosenPart, runs: list[UploadedRun], reason: str | None) -> None:
    problems = []
    if not runs:
        problems.append("There is no file yet: upload at least one run.")
    problems += [f"The system in {run.file.name} has no name." for run in runs if not run.name]
    if chosen.sealed and not (reason or "").strip():
        problems.append(f"{chosen.part} is sealed: say why you look at it.")
    if problems:
        raise InputError("\n".join(problems))
