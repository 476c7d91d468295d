"""Releases, Split: the form in which a lead describes a split, previews it and stores it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from app.views.releases import preview
from curation.core.request import read_request
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.operations.jobs import Job
from curation.operations.jobs.figures import figures_of
from curation.releases.release_rows import list_releases
from curation.splits.operations import PREVIEW
from curation.splits.preview import SplitPreview, parse_preview
from curation.splits.query_keys import list_key_kinds
from curation.splits.request import SplitRequest, find_part_problems
from curation.splits.rules import Rules
from curation.splits.stored_split import SplitState, read_split_state

PREVIEWING, STORING = "split preview", "split"
"""The kinds of background jobs that preview and store a split."""
NO_GRADES = "No query has a grade yet, so there is nothing to split. Judge first."
ASSIGNMENT_FIELDS = ("parts", "by_time", "largest_group", "fresh")
"""The fields of the form that decide how groups of queries are assigned to parts."""


def show(context: PageContext) -> None:
    state = figures_of(context.store).now(read_split_state)
    split_preview = _read_preview(context)
    job = context.jobs.get(PREVIEWING)
    start = _choose_start(job if split_preview else None, state)
    _show_state(state)
    left, right = st.columns([2, 3], gap="large")
    with left:
        request, problems = _ask_split(context, start, split_preview)
        _offer_preview(context, request, problems, state.graded)
    with right:
        context.show_result(STORING)
        if split_preview is None:
            _explain_missing_preview(context, job)
        else:
            preview.show(split_preview)
            _offer_storing(context, split_preview, start[0], request, state)
            preview.show_details(split_preview)


def _show_state(state: SplitState) -> None:
    """Show how many graded queries have a part of the split, and how many wait for a part."""
    graded = pluralize(state.graded, "graded query", "graded queries")
    if not state.graded:
        st.info(NO_GRADES, icon=":material/info:")
    elif state.split_id is None:
        st.info(f"There is no split yet. {graded} can be assigned to parts.", icon=":material/info:")
    elif state.waiting:
        waiting = pluralize(state.waiting, "graded query has", "graded queries have")
        st.info(
            f"{waiting} no part yet. Preview the split again with the same settings: released queries keep "
            "their parts, and new queries get a part.",
            icon=":material/info:",
        )
    else:
        ui.quiet(f"The split {state.split_id[:12]} is the current split. All {graded} are in a part.")


def _choose_start(job: Job | None, state: SplitState) -> tuple[SplitRequest, str]:
    """Return the initial request of the form, and a text that distinguishes this request from other requests.

    The initial request is the request of the last preview, or else of the current split, or else the default
    request.
    """
    if job is not None:
        return read_request(SplitRequest, job.parameters), job.job_id[:12]
    if state.request is not None:
        return read_request(SplitRequest, state.request), str(state.split_id)[:12]
    return SplitRequest(), "usual"


def _ask_split(
    context: PageContext, start: tuple[SplitRequest, str], split_preview: SplitPreview | None
) -> tuple[SplitRequest, list[str]]:
    """Ask for the settings of a split; return the request and the problems of the entries."""
    start_request, key = start
    with context.store.reading() as cursor:
        stored_keys, scale = list_key_kinds(cursor), current_guide(cursor).values
        has_releases = bool(list_releases(cursor))
    ui.heading("Parts")
    parts, problems = _ask_parts(start_request.parts, key)
    keys = list(dict.fromkeys([*stored_keys, *start_request.rules.keys]))
    choices = {"keys": keys, "relevant_grade": scale[1:]}
    form = Form(SplitRequest, start_request, key, choices)
    form.ask("seed")
    values: dict[str, Any] = {"parts": parts, "expected": None}
    with st.expander("Which queries stay together"):
        cuts = preview.list_cuts(split_preview) if split_preview else {}
        values |= _ask_rules(form, start_request.rules, cuts, key)
    with st.expander("Assignment of groups to parts"):
        values |= _ask_assignment(form, start_request, has_releases, key)
    return form.request(**values), problems


def _ask_parts(
    start_parts: Sequence[tuple[str, float]], key: str
) -> tuple[tuple[tuple[str, float], ...], list[str]]:
    """Ask for the names and shares of parts in rows that people can add and remove; return parts and
    problems.
    """
    rows_key = f"rows of parts {key}"
    rows: list[int] = st.session_state.setdefault(rows_key, list(range(len(start_parts))))
    parts: list[tuple[str, float]] = []
    for number, row in enumerate(rows, 1):
        name, share = start_parts[row] if row < len(start_parts) else ("", 0.0)
        initial_percent = round(100 * share, 4)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            new_name = st.text_input(
                f"Name of part {number}", name, max_chars=31, width=150, key=f"part {row} {key}"
            )
            percent = st.number_input(
                f"Part {number}, % of queries",
                0.0,
                100.0,
                initial_percent,
                5.0,
                width=150,
                key=f"percent {row} {key}",
            )
            st.button(
                f"Remove part {number}",
                key=f"remove {row} {key}",
                type="tertiary",
                disabled=len(rows) == 1,
                on_click=st.session_state.update,
                args=({rows_key: [other_row for other_row in rows if other_row != row]},),
            )
        parts.append((new_name.strip(), round(percent / 100, 6)))
    st.button(
        "Add a part",
        key=f"add {key}",
        icon=":material/add:",
        on_click=st.session_state.update,
        args=({rows_key: [*rows, max(rows) + 1]},),
    )
    shares = dict(parts)
    problems = find_part_problems(shares) if len(shares) == len(parts) else ["two parts have the same name"]
    return tuple(parts), [f"{problem[0].upper()}{problem[1:]}." for problem in problems]


def _offer_preview(context: PageContext, request: SplitRequest, problems: Sequence[str], graded: int) -> None:
    reason = " ".join(problems) or ("" if graded else NO_GRADES) or context.find_problem(PREVIEWING, request)
    if context.button("Preview the split", PREVIEWING, reason, "A preview does not store the split."):
        context.do(lambda: context.begin_with_result(PREVIEWING, request, context.jobs.get(PREVIEWING)))


def _read_preview(context: PageContext) -> SplitPreview | None:
    """Read the last preview; None if its job is running or has failed, or if its file is deleted."""
    job = context.jobs.get(PREVIEWING)
    if job is None or context.is_running(job):
        return None
    try:
        return parse_preview((Path(job.parameters["folder"]) / PREVIEW).read_bytes())
    except (OSError, ValueError):
        return None


def _explain_missing_preview(context: PageContext, job: Job | None) -> None:
    """Show the reason why there is no preview of a split."""
    if job is not None and job.outcome not in (None, "done"):
        context.show_result(PREVIEWING)
    elif not context.is_running(job):
        ui.quiet(
            "The preview shows the parts as bars, the groups of tied queries with their ties, and the "
            "findings of the certificate."
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
        problem = "The settings have changed since this preview. Preview again first."
    if context.button("Use this split", STORING, problem, "Frozen releases keep their own split."):
        context.start(STORING, replace(previewed, expected=split_preview.split_id))


def _ask_rules(
    form: Form[SplitRequest], rules: Rules, cuts: Mapping[tuple[str, str], str], key: str
) -> dict[str, Any]:
    """Ask for the rules that keep queries together; return the fields that have no widgets in the form."""
    form.ask("query", "paraphrase")
    if form.value("paraphrase") is not None:
        form.ask("model")
    form.ask_rest("model", "cut", *ASSIGNMENT_FIELDS)
    return _ask_cuts(rules, cuts, key)


def _ask_cuts(rules: Rules, cuts: Mapping[tuple[str, str], str], key: str) -> dict[str, Any]:
    """Ask which ties do not count as leakage, if there are ties to choose from."""
    pairs = list(dict.fromkeys([*rules.cut, *cuts]))
    if not pairs:
        return {}
    ties = st.multiselect(
        "Ties to cut",
        pairs,
        default=list(rules.cut),
        key=f"cut {key}",
        format_func=lambda pair: cuts.get(pair, " ~ ".join(pair)),
        help="Ties that you do not count as leakage. The certificate reports them as residual leakage.",
    )
    return {"cut": tuple(ties)}


def _ask_assignment(
    form: Form[SplitRequest], start_request: SplitRequest, has_releases: bool, key: str
) -> dict[str, Any]:
    """Ask how groups of queries are assigned to parts; return the fields that have no widgets in the form."""
    form.ask("by_time")
    is_limited = st.checkbox(
        "Limit the largest group",
        start_request.largest_group is not None,
        key=f"limited {key}",
        help="Without a limit, a group that is too large for the parts is refused.",
    )
    largest = None
    if is_limited:
        percent = st.number_input(
            "Largest group, % of the queries",
            1.0,
            100.0,
            100 * (start_request.largest_group or 0.05),
            1.0,
            key=f"largest {key}",
        )
        largest = round(percent / 100, 6)
    if has_releases:
        form.ask("fresh")
        if form.value("fresh"):
            ui.quiet("A released test query can then move to a part on which systems are tuned.")
    return {"largest_group": largest}
