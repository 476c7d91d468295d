"""Evaluate, the form: which files, what the systems are called, what is asked, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from app import ui
from app.components.forms import Form, word_of
from app.page_context import PageContext
from app.uploads import UploadedBytes, read_now
from app.views.evaluate.further import ChosenPart, ask_about_runs, ask_for_answers
from app.views.evaluate.uploads import (
    UploadedFile,
    choose_runs,
    choose_times,
    choose_topics,
    new_folder,
    unmatched_times,
    write_times,
    write_uploads,
)
from curation.core.errors import CurationError, InputError, refuse_problems
from curation.core.operation import OptionField, flat
from curation.core.text import amount
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.inputs.system_runs import ADD_TOPICS
from curation.evaluation.scoring.metrics.measures import further_measures
from curation.evaluation.submission import Submitted, chosen_options, submit
from curation.operations.jobs.uploads import discard
from curation.releases.export.formats.trec import release_topics
from curation.releases.sealed_evaluations import left_this_month
from curation.store import Store, utc_now

USUAL_FACETS = ("stratum", "tag")
FORM, REFUSED = "evaluate", "runs without topics"


class _Files(NamedTuple):
    runs: list[UploadedFile]
    answers: list[UploadedFile]
    times: list[UploadedBytes]
    topics: UploadedBytes | None = None


def show(context: PageContext, chosen: ChosenPart) -> None:
    form, is_lead = context.acts.form(FORM), context.annotator.role == "lead"
    runs = choose_runs(form.key)
    times = choose_times(form.key) if runs else []
    refusal = st.session_state.get(REFUSED, {}).get(form.key)
    topics = choose_topics(partial(_topics, context.store, chosen.release_id), form.key, refusal)
    asks, rounded = _form(chosen, runs), chosen.sealed and not is_lead
    reason = _ask(asks, context, chosen, form.key)
    if not rounded:
        ask_about_runs(asks, chosen, is_lead)
    answers, graded = ask_for_answers(context.store, is_lead, form.key)
    request = asks.request(reason=reason, **graded)
    if rounded:
        repeated = asks.value("skip_repeated")
        request = EvaluateRequest(chosen.release, chosen.part, reason=reason, skip_repeated=repeated)
    if st.button("Evaluate", type="primary", key=f"evaluate {form.key}"):
        st.session_state.pop(REFUSED, None)
        context.acts.do(
            form,
            lambda: _evaluate(context, request, _Files(runs, answers, times, topics), chosen),
            partial(_refused, form.key),
        )
    if also := _also_asked(request):
        ui.quiet(f"Also: {', '.join(also)}.")


def _refused(key: str, error: CurationError) -> None:
    """Show a refusal; one that a table of topics cures is shown where that is uploaded."""
    if isinstance(error, InputError) and ADD_TOPICS in error.way_out:
        st.session_state[REFUSED] = {key: error}
        st.rerun()
    ui.problem(error)


def _form(chosen: ChosenPart, runs: Sequence[UploadedFile]) -> Form[EvaluateRequest]:
    """The form, with what this release and these runs offer; what is chosen stays for the next submission."""
    systems = sorted({run.name for run in runs})
    usual = tuple(name for name in USUAL_FACETS if name in chosen.facets)
    start = EvaluateRequest(chosen.release, chosen.part, chosen.measures, usual)
    offered = {
        "measures": [*chosen.measures, *further_measures(chosen.scale)],
        "by": chosen.facets,
        "relevant": chosen.scale[1:],
        "baseline": systems,
        "first_stage": systems,
    }
    return Form(EvaluateRequest, start, chosen.release_id, offered)


def _ask(asks: Form[EvaluateRequest], context: PageContext, chosen: ChosenPart, key: str) -> str | None:
    """What is asked of all runs; of a sealed part also why: returned."""
    is_lead = context.annotator.role == "lead"
    if chosen.sealed and not is_lead:
        asks.ask("skip_repeated")
    else:
        with st.popover("Measures and kinds of queries"):
            asks.ask("measures", "by", "relevant", "skip_repeated")
            ui.quiet(f"The leaderboard has the runs whose first measure is {chosen.measures[0]}.")
    if not chosen.sealed:
        return None
    shown = "You see figures of all queries and of kinds with ten or more, and no values of single queries."
    if not is_lead:
        with context.store.reading() as cursor:
            left = left_this_month(cursor, context.annotator.name, [chosen.part], utc_now())
        shown = (
            "You see the headline measure of each system, rounded to its standard error. Only leads see full "
            f"results. You have {amount(left, 'sealed evaluation')} left this month. A refusal counts."
        )
    ui.quiet(f"{chosen.part} is sealed. Each evaluation is logged with your name and reason. {shown}")
    why = Form(EvaluateRequest, key=key)
    why.ask("reason")
    reason: str | None = why.value("reason")
    return reason


def _also_asked(request: EvaluateRequest) -> list[str]:
    """What else is asked for, below the button, so that nothing folded is forgotten."""
    about = replace(EvaluateRequest(), relevant=request.relevant, skip_repeated=request.skip_repeated)
    return [*chosen_options(request.of_runs, _chosen(request)), *chosen_options(about, _chosen(request))]


def _chosen(request: EvaluateRequest) -> Callable[[OptionField], str]:
    """An option with its value."""
    values = flat(request)

    def said(option_field: OptionField) -> str:
        value = values[option_field.name]
        return (
            option_field.option.label
            if value is True
            else f"{option_field.option.label}: {word_of(option_field, value)}"
        )

    return said


def _evaluate(
    context: PageContext, request: EvaluateRequest, files: _Files, chosen: ChosenPart
) -> Submitted | None:
    """Evaluate now, or start a job, which returns none yet."""
    _refuse_unready(request, files, chosen)
    by, store = context.annotator.name, context.store
    folder, submitted, handed_over = new_folder(store.path), None, False
    try:
        runs, answers = write_uploads(folder, files.runs), write_uploads(folder, files.answers)
        write_times(runs, files.times)
        named = write_uploads(folder, [UploadedFile("topics", files.topics)] if files.topics else [])
        topics = Path(named[0][1]) if named else None
        paths = [path for path in Path(folder).rglob("*") if path.is_file()]
        request = replace(request, runs=runs, answers=answers, topics=topics, folder=str(folder))
        if not request.of_runs.to_pool:
            submitted = read_now(paths, lambda: submit(store, request, by))
        if submitted is None:
            context.begin(FORM, request)
            handed_over = True
        return submitted
    finally:
        if not handed_over:
            discard(store.path, str(folder))


def _topics(store: Store, release_id: str) -> str:
    with store.reading() as cursor:
        return release_topics(cursor, release_id)


def _refuse_unready(request: EvaluateRequest, files: _Files, chosen: ChosenPart) -> None:
    named = (*files.runs, *files.answers)
    problems = [] if named else ["There is no file yet: upload at least one run."]
    problems += [f"The system in {one.file.name} has no name." for one in named if not one.name]
    problems += unmatched_times([run.file.name for run in files.runs], files.times)
    if request.measures is not None and not request.measures:
        problems.append("No measure is chosen: choose at least one.")
    if chosen.sealed and not request.reason:
        problems.append(f"{chosen.part} is sealed: say why you evaluate on it.")
    refuse_problems(problems)
