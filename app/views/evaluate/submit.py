"""Evaluate, the form: the options for an evaluation, and the button that starts it.

Uploaded files stay in a folder next to the project until a background job has read the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app import ui
from app.components.forms import Form, describe_value
from app.page_context import PageContext
from app.uploads import read_if_small
from app.views.evaluate.run_files import (
    COLUMN_FIELDS,
    Uploads,
    ask_files,
    ask_runs,
    ask_topics,
    refuse_if_disk_full,
    write_uploads,
)
from curation.core.errors import CurationError, InputError, refuse_problems
from curation.core.request import Option, flatten_request
from curation.core.text import pluralize
from curation.evaluation.answers.answers_to_grade import GUIDES
from curation.evaluation.answers.graded_answers import list_neighbor_projects, list_neighbor_releases
from curation.evaluation.evaluable_release import EvaluableRelease
from curation.evaluation.evaluate import RunSubmission, submit
from curation.evaluation.prepare_evaluation import list_chosen_options
from curation.evaluation.project_systems import (
    describe_engine_requests,
    get_system_name,
    list_project_systems,
)
from curation.evaluation.request import ABOUT_RUNS, EvaluateRequest
from curation.evaluation.scoring.measure_names import list_additional_measures
from curation.evaluation.scoring.system_runs import ADD_TOPICS
from curation.operations.jobs.files import discard_upload, uploads_folder
from curation.pooling.operations import forecast_embedding
from curation.releases.export.trec import write_release_topics
from curation.releases.sealed_log import count_remaining
from curation.store import Store, utc_now

DEFAULT_FACETS = ("stratum", "tag")
FORM = "evaluate"
_TOPICS_REFUSAL = "runs without topics"
"""The session key of the refusal of runs that need a table of topics."""
NO_PROJECT = "None"


def show(context: PageContext, release: EvaluableRelease, part: str) -> None:
    form, is_lead = context.acts.form(FORM), context.annotator.role == "lead"
    sealed = release.parts[part]
    left, right = st.columns(2, gap="large")
    with left:
        systems = _ask_systems(context, release, part)
    with right:
        runs, columns = ask_runs(form.key)
        ui.download("Download this release's queries", partial(_read_topics, context, release), "topics.tsv")
        refusal = st.session_state.get(_TOPICS_REFUSAL, {}).get(form.key)
        topics = ask_topics(form.key, refusal) if runs else None
    names = sorted({name for name, _ in runs}.union(map(get_system_name, systems)))
    option_form, is_rounded = _make_form(release, part, names), sealed and not is_lead
    reason = _ask_reason(context, part, form.key) if sealed else None
    _ask_options(option_form, release, sealed, is_lead)
    answers, graded = _ask_answers(context.store, is_lead, form.key)
    request = option_form.request(reason=reason, **graded)
    if is_rounded:
        skip_repeated = option_form.value("skip_repeated")
        request = EvaluateRequest(release.row.name, part, reason=reason, skip_repeated=skip_repeated)
    request = replace(request, systems=systems, columns=columns)
    if options := _describe_options(request):
        ui.note(f"Also: {', '.join(options)}.")
    missing = _list_missing(request, runs, answers)
    ui.sentences(*missing)
    if st.button("Evaluate", type="primary", key=f"evaluate {form.key}", disabled=bool(missing)):
        st.session_state.pop(_TOPICS_REFUSAL, None)
        context.acts.do(
            form,
            lambda: _evaluate_or_start(context, request, runs, answers, topics, sealed),
            partial(_show_refusal, form.key),
        )


def _ask_systems(context: PageContext, release: EvaluableRelease, part: str) -> list[str]:
    """Ask for the project's systems, and show how long a search takes and what data an engine receives."""
    with context.store.reading() as cursor:
        offered = list_project_systems(cursor, context.annotator.role == "lead")
        form = Form(EvaluateRequest, None, release.row.release_id, {"systems": offered})
        form.ask("systems")
        chosen: list[str] = list(form.value("systems"))
        if not {"dense", "hybrid"}.isdisjoint(chosen) and (forecast := forecast_embedding(cursor)):
            ui.note(f"Dense and hybrid first embed the corpus: {forecast}.")
        try:
            ui.sentences(*describe_engine_requests(cursor, chosen, release.queries[part]))
        except CurationError as error:
            ui.problem(error)
    return chosen


def _show_refusal(key: str, error: CurationError) -> None:
    """Show a refusal; if a table of topics would help, show the refusal next to the upload field for
    topics."""
    if isinstance(error, InputError) and ADD_TOPICS in error.way_out:
        st.session_state[_TOPICS_REFUSAL] = {key: error}
        st.rerun()
    ui.problem(error)


def _make_form(release: EvaluableRelease, part: str, systems: Sequence[str]) -> Form[EvaluateRequest]:
    """Make the form with the options for this release and these systems; entered values are kept."""
    facets = tuple(name for name in DEFAULT_FACETS if name in release.facets)
    start = EvaluateRequest(release.row.name, part, release.measures, facets)
    choices = {
        "measures": [*release.measures, *list_additional_measures(release.scale)],
        "by": release.facets,
        "relevant": release.scale[1:],
        "baseline": systems,
    }
    return Form(EvaluateRequest, start, release.row.release_id, choices)


def _ask_reason(context: PageContext, part: str, key: str) -> str | None:
    """Ask for the reason for evaluating a sealed part, and show which figures the person will see."""
    visible = (
        "You see scores for all queries and for kinds with ten or more queries, but not for individual "
        "queries."
    )
    if context.annotator.role != "lead":
        with context.store.reading() as cursor:
            remaining = count_remaining(cursor, context.annotator.name, [part], utc_now())
        visible = (
            "You see each system's headline measure, rounded to its standard error. Only leads see "
            f"full results. You have {pluralize(remaining, 'sealed evaluation')} left this month. Refused "
            "requests count, too."
        )
    ui.note(f"{part} is sealed: each evaluation is logged with your name and reason. {visible}")
    reason_form = Form(EvaluateRequest, key=key)
    reason_form.ask("reason")
    reason: str | None = reason_form.value("reason")
    return reason


def _describe_options(request: EvaluateRequest) -> list[str]:
    """Return the chosen options, with their values, that a collapsed section of the form may hide."""
    names = ("relevant", "skip_repeated", *ABOUT_RUNS)
    options = replace(EvaluateRequest(), **{name: getattr(request, name) for name in names})
    values = flatten_request(request)

    def describe_option(option: Option) -> str:
        value = values[option.name]
        return option.label if value is True else f"{option.label}: {describe_value(option, value)}"

    return list_chosen_options(options, describe_option)


def _evaluate_or_start(
    context: PageContext,
    request: EvaluateRequest,
    uploaded_runs: Uploads,
    uploaded_answers: Uploads,
    topics: UploadedFile | None,
    sealed: bool,
) -> RunSubmission | None:
    """Evaluate now and return the result, or start a background job and return None."""
    _refuse_unready(request, uploaded_runs, uploaded_answers, sealed)
    by, store = context.annotator.name, context.store
    result, is_handed_over = None, False
    with refuse_if_disk_full():  # the folder is also removed when the job or the server ends
        folder = Path(mkdtemp(dir=uploads_folder(store.path)))
    try:
        runs, answers = write_uploads(folder, uploaded_runs), write_uploads(folder, uploaded_answers)
        tables = write_uploads(folder, [("topics", topics)] if topics else [])
        table = Path(tables[0][1]) if tables else None
        paths = [path for path in folder.rglob("*") if path.is_file()]
        request = replace(request, runs=runs, answers=answers, topics=table, folder=str(folder))
        if not (request.to_pool or request.systems):
            result = read_if_small(paths, lambda: submit(store, request, by))
        if result is None:
            context.start_job(FORM, request)
            is_handed_over = True
        return result
    finally:
        if not is_handed_over:
            discard_upload(store.path, str(folder))


def _read_topics(context: PageContext, release: EvaluableRelease) -> str:
    with context.store.reading() as cursor:
        return write_release_topics(cursor, release.row.release_id)


def _list_missing(request: EvaluateRequest, runs: Uploads, answers: Uploads) -> list[str]:
    """Return sentences about the systems and columns that a person has not chosen yet."""
    missing = [] if runs or answers or request.systems else ["Choose a system or upload a run."]
    return missing + [
        f"Choose the column in {file.name} for {field.label.lower()}."
        for (_, file), columns in zip(runs, request.columns, strict=True)
        for field in COLUMN_FIELDS
        if field.required_noun and columns.get(field.name) == ""
    ]


def _refuse_unready(request: EvaluateRequest, runs: Uploads, answers: Uploads, sealed: bool) -> None:
    uploads, systems = [*runs, *answers], set(map(get_system_name, request.systems))
    problems = [f"The system in {file.name} has no name." for name, file in uploads if not name]
    problems += [
        f"{name} is the name of a system that you chose: give the system in {file.name} a different name."
        for name, file in runs
        if name in systems
    ]
    if request.measures is not None and not request.measures:
        problems.append("Choose at least one measure.")
    if sealed and not request.reason:
        problems.append(f"{request.part} is sealed. Enter the reason for this evaluation.")
    refuse_problems(problems)


def _ask_options(form: Form[EvaluateRequest], release: EvaluableRelease, sealed: bool, is_lead: bool) -> None:
    """Ask for measures, kinds of queries, comparisons, and how to read the runs."""
    with st.expander("More options"):
        if sealed and not is_lead:
            form.ask("skip_repeated")
            return
        left, right = st.columns(2, gap="large")
        with left:
            form.ask("measures")
            ui.note(
                f"The leaderboard shows only evaluations with {release.measures[0]} as the first measure."
            )
            form.ask("by", "relevant")
        with right:
            form.ask("baseline", *(() if sealed else ("test",)), "hard_negatives", "skip_repeated")
            if is_lead:
                form.ask("to_pool")


def _ask_answers(store: Store, is_lead: bool, key: str) -> tuple[Uploads, dict[str, str | None]]:
    """Ask for answer files; also ask leads for the projects in which the answers were graded."""
    with st.expander("System answers"):
        files = ask_files(
            "Answer files",
            "Name of the answering system",
            key,
            "CSV, TSV or JSON lines with the columns query, answer, contexts and citations. Exact match "
            "and F1 compare with the release's reference answers. Give the answers the same name as the "
            "system's run to see both in one row of the report.",
        )
        if files and is_lead:
            return files, {guide: _ask_graded_release(store, guide, key) for guide in GUIDES}
        if files:
            ui.note(
                "If people have graded these answers in another project, a lead can include the grades for "
                "correctness, faithfulness and nugget support."
            )
        return files, {}


def _ask_graded_release(store: Store, guide: str, key: str) -> str | None:
    """Ask for a project with graded answers and for its release; return PROJECT=RELEASE, or None."""
    label = guide.capitalize()
    project = st.selectbox(
        f"{label}: project with people's grades for the answers",
        [NO_PROJECT, *list_neighbor_projects(store)],
        key=f"{guide} {key}",
        help="Projects in the same folder as this one.",
    )
    if project == NO_PROJECT:
        return None
    try:
        releases = list_neighbor_releases(store, project)
    except CurationError as error:
        ui.problem(error)
        return None
    if not releases:
        ui.note(f"{project} has no release yet.")
        return None
    release = st.selectbox(f"{label}: its release", releases, key=f"{guide} release {key} {project}")
    return f"{project}={release}"
