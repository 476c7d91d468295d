"""Evaluate, the form: which release and part, which files, what the systems are called, and why."""

from __future__ import annotations

from shutil import rmtree
from typing import NamedTuple

import streamlit as st

from app import ui
from app.views.curate.jobs import CurateContext
from app.views.evaluate.uploads import AT_ONCE, UploadedRun, choose_runs, write_uploads
from curation.errors import InputError
from curation.evaluation.submission import RunSubmission, Submitted, submit
from curation.jobs import jobs_of

USUAL_FACETS = ("stratum", "tag")
FORM = "evaluate"


class ChosenPart(NamedTuple):
    """What is evaluated; `measures` are the default ones, by the first of which the leaderboard is."""

    release: str
    release_id: str
    part: str
    sealed: bool
    measures: tuple[str, ...]
    facets: tuple[str, ...]


def show(context: CurateContext, chosen: ChosenPart) -> None:
    form = context.acts.form(FORM)
    runs = choose_runs(form.key)
    asked = _asked(chosen, form.key)
    if st.button("Evaluate", type="primary", key=f"evaluate {form.key} {context.after}"):
        context.acts.do(form, lambda: _evaluate(context, asked, runs, chosen.sealed))
    if form.result and form.result.evaluation_id is None:
        ui.sentences(form.result.sentences)


def _asked(chosen: ChosenPart, key: str) -> RunSubmission:
    """What is asked about the runs; measures and kinds stay from one submission to the next."""
    with st.popover("Measures and kinds of queries"):
        measures = st.multiselect(
            "Measures",
            chosen.measures,
            default=chosen.measures,
            accept_new_options=True,
            key=f"measures {chosen.release_id}",
            help="Others such as recall@100 can be typed. The first one is the headline. The leaderboard has "
            f"the runs whose first measure is {chosen.measures[0]}.",
        )
        usual = [name for name in USUAL_FACETS if name in chosen.facets]
        by = st.multiselect("Kinds of queries", chosen.facets, default=usual, key=f"by {chosen.release_id}")
    asked = RunSubmission(chosen.release, chosen.part, measures, by)
    return _about_sealed(chosen, asked, key) if chosen.sealed else asked


def _about_sealed(chosen: ChosenPart, asked: RunSubmission, key: str) -> RunSubmission:
    """Why somebody looks, and whether only an improvement is shown."""
    ladder = st.toggle(
        "Show only an improvement beyond noise (Ladder)",
        key=f"ladder {chosen.release_id} {chosen.part}",
        help="The first measure is shown where it beats the best figure so far by more than noise, and "
        "nothing else. So the part stays a test for longer.",
    )
    ui.quiet(
        f"{chosen.part} is sealed. This look is logged with your name, why, and its figures. There are "
        "figures of all queries and of kinds with ten or more, none of single queries."
    )
    reason = st.text_input("Why you look at a sealed part", max_chars=500, key=f"reason {key}")
    return asked._replace(reason=reason, ladder=ladder)


def _evaluate(
    context: CurateContext, asked: RunSubmission, runs: list[UploadedRun], sealed: bool
) -> Submitted | None:
    """Evaluate now, or start a job, which returns none yet."""
    _refuse_unready(asked, runs, sealed)
    by, store = context.annotator.name, context.store
    folder, sources = write_uploads(runs)
    named = [[source.name, str(source.path)] for source in sources]
    parameters = asked._asdict() | {"runs": named, "folder": str(folder)}
    handed_over = False
    try:
        if sum(run.file.size for run in runs) > AT_ONCE:
            jobs_of(store).start(FORM, parameters, by, context.after or None)
            handed_over = True
            return None
        return submit(store, asked, sources, by)
    finally:
        if not handed_over:
            rmtree(folder, ignore_errors=True)


def _refuse_unready(asked: RunSubmission, runs: list[UploadedRun], sealed: bool) -> None:
    problems = []
    if not runs:
        problems.append("There is no file yet: upload at least one run.")
    problems += [f"The system in {run.file.name} has no name." for run in runs if not run.name]
    if not asked.measures:
        problems.append("No measure is chosen: choose at least one.")
    if sealed and not (asked.reason or "").strip():
        problems.append(f"{asked.part} is sealed: say why you look at it.")
    if problems:
        raise InputError("\n".join(problems))
