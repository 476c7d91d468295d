"""Evaluate: score runs on a release, read the report, and compare with everybody's on the leaderboard."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.next_step import missing_step
from app.page import RELEASE, AppPage, PageContext, read_context
from app.views.evaluate import leaderboard, report, submit
from app.views.evaluate.further import ChosenPart
from app.views.evaluate.submit import FORM
from curation.evaluation.submission import Submitted
from curation.evaluation.submitted import evaluable_release, submitted_evaluations
from curation.people.annotators import EVALUATING
from curation.releases.stored import ReleaseRow, list_releases
from curation.store import Annotator, Store


def show(annotator: Annotator) -> None:
    ui.lead("What systems reach on a release, with the size and the interval of each figure.")
    context = read_context(annotator, (FORM,))
    with context.store.reading() as cursor:
        releases = list_releases(cursor)
        found = submitted_evaluations(cursor, annotator)
    if not releases:
        st.info("Nothing is frozen yet. Once there is a release, runs are scored on it here.")
        missing_step(context.store, annotator, "freeze")
        return
    left, right = st.columns([1, 2], gap="large")
    with left:
        chosen = _chosen(context.store, releases)
        submit.show(context, chosen)
        _ending(context)
    with right:
        leaderboard.show(context.store, chosen, annotator.role == "lead")
    if found:
        result: Submitted | None = context.acts.form(FORM).result
        report.show(context.store, annotator, found, result.evaluation_id if result else None)


PAGE = AppPage(75, "Evaluate", "evaluate", EVALUATING, show, group=RELEASE)


def _chosen(store: Store, releases: list[ReleaseRow]) -> ChosenPart:
    by_name = {row.name: row for row in reversed(releases)}
    name = st.selectbox("Release", list(by_name))
    with store.reading() as cursor:
        offered = evaluable_release(cursor, by_name[name].release_id)
    parts = offered.parts
    part = st.selectbox("Part", list(parts), format_func=lambda one: f"{one} (sealed)" if parts[one] else one)
    return ChosenPart(
        *(name, by_name[name].release_id, part, parts[part]),
        *(offered.measures, offered.facets, offered.scale, offered.pool_sample),
    )


def _ending(context: PageContext) -> None:
    """How this person's last job ended."""
    job = context.jobs.get(FORM)
    if job is None or job.job_id == context.at_work:
        return
    if job.started_by == context.annotator.name:
        context.ending(FORM)
