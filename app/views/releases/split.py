"""Releases, Split: the page part on which a lead previews and stores a split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import streamlit as st

from app import ui
from app.page_context import PageContext
from app.views.releases import preview
from app.views.releases.split_form import ask_split
from curation.core.request import read_request
from curation.core.text import pluralize
from curation.operations.jobs import Job
from curation.operations.jobs.figures import figures_of
from curation.splits.operations import PREVIEW
from curation.splits.preview import SplitPreview, parse_preview
from curation.splits.request import SplitRequest
from curation.splits.stored_split import SplitState, read_split_state

PREVIEW_JOB, SPLIT_JOB = "split preview", "split"
NO_GRADES = "No query has a grade yet, so there is nothing to split. First judge some pairs."


def show(context: PageContext) -> None:
    state = figures_of(context.store).now(read_split_state)
    split_preview = _read_preview(context)
    job = context.jobs.get(PREVIEW_JOB)
    start = _choose_start(job if split_preview else None, state)
    _show_state(state)
    left, right = st.columns([2, 3], gap="large")
    with left:
        request, problems = ask_split(context, start, split_preview)
        _offer_preview(context, request, problems, state.graded)
    with right:
        context.show_result(SPLIT_JOB)
        if split_preview is None:
            _explain_missing_preview(context, job)
        else:
            preview.show(split_preview)
            _offer_storing(context, split_preview, start[0], request, state)
            preview.show_details(split_preview)


def _show_state(state: SplitState) -> None:
    """Show how many graded queries are assigned to a part of the split, and how many are not yet."""
    graded = pluralize(state.graded, "graded query", "graded queries")
    if not state.graded:
        st.info(NO_GRADES, icon=":material/info:")
    elif state.split_id is None:
        st.info(f"There is no split yet. {graded} can be divided into parts.", icon=":material/info:")
    elif state.waiting:
        waiting = pluralize(state.waiting, "graded query has", "graded queries have")
        st.info(
            f"{waiting} no part yet. Preview the split again with the same settings. Released queries keep "
            "their parts, and new queries get a part.",
            icon=":material/info:",
        )
    else:
        ui.note(f"All {graded} are in a part of the current split.")


def _choose_start(job: Job | None, state: SplitState) -> tuple[SplitRequest, str]:
    """Return the form's initial request, and a text that distinguishes it from other requests.

    The initial request is the request of the last preview, or else of the current split, or else the default
    request.
    """
    if job is not None:
        return read_request(SplitRequest, job.parameters), job.job_id[:12]
    if state.request is not None:
        return read_request(SplitRequest, state.request), str(state.split_id)[:12]
    return SplitRequest(), "usual"


def _offer_preview(context: PageContext, request: SplitRequest, problems: Sequence[str], graded: int) -> None:
    reason = " ".join(problems) or ("" if graded else NO_GRADES) or context.find_problem(PREVIEW_JOB, request)
    remark = "A preview does not store the split."
    if request.rules.paraphrase is not None:
        remark += " The preview loads the embedding model, which takes about a minute."
    if context.button("Preview the split", PREVIEW_JOB, reason, remark):
        context.do(lambda: context.start_job_with_folder(PREVIEW_JOB, request, context.jobs.get(PREVIEW_JOB)))


def _read_preview(context: PageContext) -> SplitPreview | None:
    """Read the last preview; None if its job is running or has failed, or if its file was deleted."""
    job = context.jobs.get(PREVIEW_JOB)
    if job is None or context.is_running(job):
        return None
    try:
        return parse_preview((Path(job.parameters["folder"]) / PREVIEW).read_bytes())
    except (OSError, ValueError):
        return None


def _explain_missing_preview(context: PageContext, job: Job | None) -> None:
    """Show the reason why there is no preview of a split."""
    if job is not None and job.outcome not in (None, "done"):
        context.show_result(PREVIEW_JOB)
    elif not context.is_running(job):
        ui.note(
            "The preview shows the size of each part, the groups of queries that stay together and "
            "why, and what the certificate found."
        )


def _offer_storing(
    context: PageContext,
    split_preview: SplitPreview,
    previewed: SplitRequest,
    request: SplitRequest,
    state: SplitState,
) -> None:
    problem = ""
    if split_preview.refused:
        problem = "This split cannot be stored, for the reason above."
    elif split_preview.split_id == state.split_id:
        problem = "This is the current split."
    elif request != previewed:
        problem = "The settings have changed since this preview. Preview the split again."
    if context.button(
        "Use this split", SPLIT_JOB, problem, "Frozen releases keep the split that they were frozen with."
    ):
        context.request_job(SPLIT_JOB, replace(previewed, expected=split_preview.split_id))
