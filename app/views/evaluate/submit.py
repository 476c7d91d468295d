"""Evaluate, the form: which files, what the systems are called, what is asked, and why."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from app import ui
from app.page import PageContext
from app.views.evaluate.further import ChosenPart, also_asked, ask_about_runs, ask_for_answers
from app.views.evaluate.uploads import (
    Uploaded,
    UploadedFile,
    choose_runs,
    choose_times,
    new_folder,
    unmatched_times,
    write_times,
    write_uploads,
)
from curation.errors import refuse_problems
from curation.evaluation.answers.answer_files import AnswerSource
from curation.evaluation.refusals import run_problems
from curation.evaluation.submission import RunSubmission, Submitted, submit
from curation.jobs import jobs_of
from curation.jobs.uploads import AT_ONCE, discard, is_quickly_read
from curation.scoring.inputs.system_runs import RunSource
from curation.scoring.metrics.measures import further_measures

USUAL_FACETS = ("stratum", "tag")
LOWEST = "Every grade above the lowest"
FORM = "evaluate"


class _Files(NamedTuple):
    runs: list[UploadedFile]
    answers: list[UploadedFile]
    times: list[Uploaded]

    @property
    def size(self) -> int:
        return sum(one.file.size for one in (*self.runs, *self.answers))


def show(context: PageContext, chosen: ChosenPart) -> None:
    form, is_lead = context.acts.form(FORM), context.annotator.role == "lead"
    runs = choose_runs(form.key)
    times = choose_times(form.key) if runs else []
    asked = _asked(chosen, form.key, is_lead)
    answers: list[UploadedFile] = []
    if asked.ladder:
        answers = ask_for_answers(context.store, asked, False, form.key)[1]
    else:
        asked = ask_about_runs(chosen, asked, runs, is_lead, form.key)
        asked, answers = ask_for_answers(context.store, asked, is_lead, form.key)
    files = _Files(runs, answers, times)
    if st.button("Evaluate", type="primary", key=f"evaluate {form.key}"):
        context.acts.do(form, lambda: _evaluate(context, asked, files, chosen))
    if also := also_asked(asked):
        ui.quiet(also)
    if form.result and form.result.evaluation_id is None:
        ui.sentences(form.result.sentences)


def _asked(chosen: ChosenPart, key: str, is_lead: bool) -> RunSubmission:
    """What is asked about the runs; measures and kinds stay from one submission to the next."""
    if chosen.sealed and not is_lead:
        repeated = _ask_repeated(chosen)
        asked = RunSubmission(chosen.release, chosen.part, [], [], ladder=True, skip_repeated=repeated)
        return _about_sealed(chosen, asked, key, is_lead)
    with st.popover("Measures and kinds of queries"):
        measures = st.multiselect(
            "Measures",
            [*chosen.measures, *further_measures(chosen.scale, chosen.sealed)],
            default=chosen.measures,
            accept_new_options=True,
            key=f"measures {chosen.release_id}",
            help="Others such as recall@100 can be typed. The first one is the headline. The leaderboard has "
            f"the runs whose first measure is {chosen.measures[0]}.",
        )
        usual = [name for name in USUAL_FACETS if name in chosen.facets]
        by = st.multiselect("Kinds of queries", chosen.facets, default=usual, key=f"by {chosen.release_id}")
        relevant = st.selectbox(
            "Relevant from grade",
            [LOWEST, *chosen.scale[1:]],
            key=f"relevant {chosen.release_id}",
            help="For measures that know only relevant and not relevant.",
        )
        repeated = _ask_repeated(chosen)
    asked = RunSubmission(
        *(chosen.release, chosen.part, measures, by),
        relevant=relevant if isinstance(relevant, int) else None,
        skip_repeated=repeated,
    )
    return _about_sealed(chosen, asked, key, is_lead) if chosen.sealed else asked


def _ask_repeated(chosen: ChosenPart) -> bool:
    return st.toggle(
        "Leave out repeated documents",
        key=f"repeated {chosen.release_id}",
        help="Where a run names a document twice for one query, its best place is kept, and the others "
        "are counted. Without this such a run is refused.",
    )


def _about_sealed(chosen: ChosenPart, asked: RunSubmission, key: str, is_lead: bool) -> RunSubmission:
    """Why somebody looks, and whether only an improvement is shown, as it is to evaluators."""
    logged = f"{chosen.part} is sealed. This look is logged with your name, why, and its figures."
    if is_lead:
        ladder = st.toggle(
            "Only improvements (the Ladder)",
            key=f"ladder {chosen.key}",
            help="The Ladder's measure is shown only where it beats the best figure so far by more than "
            "noise. So the part stays a test for longer.",
        )
        ui.quiet(
            f"{logged} There are figures of all queries and of kinds with ten or more, none of single "
            "queries."
        )
        asked = asked._replace(ladder=ladder, measures=[] if ladder else asked.measures)
    else:
        ui.quiet(
            f"{logged} The figure of a run is shown only where it beats the best one so far by more than "
            "noise (the Ladder). Other figures are for leads."
        )
    reason = st.text_input("Why you look at a sealed part", max_chars=500, key=f"reason {key}")
    return asked._replace(reason=reason)


def _evaluate(
    context: PageContext, asked: RunSubmission, files: _Files, chosen: ChosenPart
) -> Submitted | None:
    """Evaluate now, or start a job, which returns none yet."""
    _refuse_unready(asked, files, chosen)
    by, store = context.annotator.name, context.store
    folder, handed_over = new_folder(store.path), False
    try:
        runs, answers = write_uploads(folder, files.runs), write_uploads(folder, files.answers)
        write_times(runs, files.times)
        written = [Path(path) for _, path in (*runs, *answers)]
        if files.size > AT_ONCE or not all(map(is_quickly_read, written)) or asked.to_pool is not None:
            uploaded = {"runs": runs, "answers": answers, "folder": str(folder)}
            jobs_of(store).start(FORM, asked._asdict() | uploaded, by, context.after or None)
            handed_over = True
            return None
        sources = [RunSource(name, Path(path)) for name, path in runs]
        answered = [AnswerSource(name, Path(path)) for name, path in answers]
        return submit(store, asked, sources, by, answers=answered)
    finally:
        if not handed_over:
            discard(store.path, str(folder))


def _refuse_unready(asked: RunSubmission, files: _Files, chosen: ChosenPart) -> None:
    problems = [] if files.runs or files.answers else ["There is no file yet: upload at least one run."]
    named = (*files.runs, *files.answers)
    problems += [f"The system in {one.file.name} has no name." for one in named if not one.name]
    problems += run_problems([run.name for run in files.runs], asked.first_stage, asked.turning)
    problems += unmatched_times([run.file.name for run in files.runs], files.times)
    if 0 in (asked.pool_sample or ()):
        problems.append("The last ranks of bands are whole numbers from 1 on.")
    answering = Counter(one.name for one in files.answers)
    problems += [f"Two files of answers are of {name}." for name, times in answering.items() if times > 1]
    if not asked.measures and not asked.ladder:
        problems.append("No measure is chosen: choose at least one.")
    if chosen.sealed and not (asked.reason or "").strip():
        problems.append(f"{asked.part} is sealed: say why you look at it.")
    refuse_problems(problems)
