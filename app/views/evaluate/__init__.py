"""Evaluate: the page on which people score runs on a release and compare their systems."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.app_page import RELEASE, AppPage
from app.next_stage import show_missing_stage
from app.page_context import read_context
from app.views.evaluate import evaluation, leaderboard, submit
from app.views.evaluate.submit import FORM
from curation.evaluation.evaluable_release import EvaluableRelease, read_choices
from curation.evaluation.evaluate import RunSubmission
from curation.evaluation.stored_evaluations import list_evaluations
from curation.people.annotators import EVALUATING_ROLES
from curation.releases.gate_override import warn_of_override
from curation.releases.release_rows import ReleaseRow, list_releases
from curation.store import Annotator, Store


def show(annotator: Annotator) -> None:
    ui.purpose("Score systems on a release. Each score comes with its interval and number of queries.")
    context = read_context(annotator, (FORM,))
    store = context.store
    with store.reading() as cursor:
        releases, evaluations = list_releases(cursor), list_evaluations(cursor, annotator)
    if not releases:
        st.info("There is no release yet. Freeze a release, then score runs here.")
        show_missing_stage(store, annotator, "freeze")
        return
    release_column, part_column, evaluation_column = st.columns([1, 1, 2])
    with release_column:
        release = _ask_release(store, releases)
    with part_column:
        part = _ask_part(release)
    warnings = warn_of_override(release.row.name, release.mark)
    ui.warnings(warnings)
    if (job := context.jobs.get(FORM)) is not None and job.started_by == annotator.name:
        context.show_result(FORM)
    submission: RunSubmission | None = context.acts.form(FORM).result
    if submission and submission.evaluation_id is None:
        ui.result(submission)
    on_part = [item for item in evaluations if (item.name, item.parts) == (release.row.name, [part])]
    with st.expander("Evaluate systems", expanded=not on_part):
        submit.show(context, release, part)
    if evaluations:
        on_others = [item for item in evaluations if item not in on_part]
        newest_id = submission.evaluation_id if submission else None
        with evaluation_column:
            chosen = evaluation.ask_evaluation(release, part, on_part, on_others, newest_id)
        if chosen is not None:
            peers = [item for item in on_part if item != chosen] if chosen in on_part else []
            evaluation.show(store, annotator, chosen, peers, warnings)
    leaderboard.show(store, annotator, release, part)


PAGE = AppPage(42, "Evaluate", "evaluate", EVALUATING_ROLES, show, menu=RELEASE)


def _ask_release(store: Store, rows: Sequence[ReleaseRow]) -> EvaluableRelease:
    by_name = {row.name: row for row in reversed(rows)}
    name = st.selectbox("Release", [*by_name])
    with store.reading() as cursor:
        return read_choices(cursor, by_name[name])


def _ask_part(release: EvaluableRelease) -> str:
    """Ask for a part of the release; the list marks sealed parts."""
    labels = {name: f"{name} (sealed)" if sealed else name for name, sealed in release.parts.items()}
    part: str = st.selectbox("Part", [*labels], format_func=labels.__getitem__)
    return part
