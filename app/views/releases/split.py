"""Releases, the split: ask for parts and what keeps queries together, preview them, and store them."""

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
from curation.core.operation import read_request
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.operations.jobs import Job
from curation.operations.jobs.figures import figures_of
from curation.releases.release_rows import list_releases
from curation.splits.current_split import SplitState, split_state
from curation.splits.operations import PREVIEW, SplitPreview, parsed_preview
from curation.splits.request import Rules, SplitRequest, part_problems
from curation.splits.tie_data import known_keys

PREVIEWING, STORING = "split preview", "split"
"""The kinds of job."""
NOTHING = "No query has a grade yet, so there is nothing to split. Judge first."
OF_PARTS = ("parts", "by_time", "largest_group", "fresh")
"""Fields of how groups go to the parts."""


def show(context: PageContext) -> None:
    state = figures_of(context.store).now(split_state)
    shown = _previewed(context)
    job = context.jobs.get(PREVIEWING)
    start = _start(job if shown else None, state)
    _state(state)
    left, right = st.columns([2, 3], gap="large")
    with left:
        request, problems = _form(context, start, shown)
        _preview_button(context, request, problems, state.graded)
    with right:
        context.ending(STORING)
        if shown is None:
            _ending(context, job)
        else:
            preview.show(shown)
            _store_button(context, shown, start[0], request, state)
            preview.details(shown)


def _state(state: SplitState) -> None:
    """Which queries have a part, and which wait for one."""
    graded = pluralize(state.graded, "graded query", "graded queries")
    if not state.graded:
        st.info(NOTHING, icon=":material/info:")
    elif state.split_id is None:
        st.info(f"There is no split yet. {graded} can be assigned to parts.", icon=":material/info:")
    elif state.waiting:
        waiting = pluralize(state.waiting, "graded query has", "graded queries have")
        st.info(
            f"{waiting} no part yet. Preview the split again with the same settings: released queries keep "
            "their parts, and new ones get one.",
            icon=":material/info:",
        )
    else:
        ui.quiet(f"The split {state.split_id[:12]} is the current one. All {graded} are assigned to a part.")


def _start(job: Job | None, state: SplitState) -> tuple[SplitRequest, str]:
    """The request that the form begins with, and a text that tells it from another.

    The form begins with the request of the last preview, else of the split in force, else with the usual one.
    """
    if job is not None:
        return read_request(SplitRequest, job.parameters), job.job_id[:12]
    if state.request is not None:
        return read_request(SplitRequest, state.request), str(state.split_id)[:12]
    return SplitRequest(), "usual"


def _form(
    context: PageContext, start: tuple[SplitRequest, str], shown: SplitPreview | None
) -> tuple[SplitRequest, list[str]]:
    """What is asked for, and what is wrong with it."""
    asked, key = start
    with context.store.reading() as cursor:
        known, scale = known_keys(cursor), current_guide(cursor).values
        released = bool(list_releases(cursor))
    ui.heading("Parts")
    parts, problems = _parts(asked.parts, key)
    keys = list(dict.fromkeys([*known, *asked.rules.keys]))
    offered = {"keys": keys, "relevant_grade": scale[1:]}
    form = Form(SplitRequest, asked, key, offered)
    form.ask("seed")
    by_hand: dict[str, Any] = {"parts": parts, "expected": None}
    with st.expander("Which queries stay together"):
        by_hand |= ask_rules(form, asked.rules, preview.cuts(shown) if shown else {}, key)
    with st.expander("How groups go to the parts"):
        by_hand |= ask_options(form, asked, released, key)
    return form.request(**by_hand), problems


def _parts(asked: Sequence[tuple[str, float]], key: str) -> tuple[tuple[tuple[str, float], ...], list[str]]:
    """Rows with a name and a share, which can be added and removed; and what is wrong with them."""
    kept = f"rows of parts {key}"
    rows: list[int] = st.session_state.setdefault(kept, list(range(len(asked))))
    parts: list[tuple[str, float]] = []
    for number, row in enumerate(rows, 1):
        name, share = asked[row] if row < len(asked) else ("", 0.0)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            words = st.text_input(
                f"Name of part {number}", name, max_chars=31, width=150, key=f"part {row} {key}"
            )
            percent = st.number_input(
                f"Part {number}, % of queries",
                0.0,
                100.0,
                round(100 * share, 4),
                5.0,
                width=150,
                key=f"percent {row} {key}",
            )
            st.button(
                f"Remove part {number}",
                key=f"remove {row} {key}",
                type="tertiary",
                disabled=len(rows) == 1,
                on_click=_set_rows,
                args=(kept, [other for other in rows if other != row]),
            )
        parts.append((words.strip(), round(percent / 100, 6)))
    st.button(
        "Add a part",
        key=f"add {key}",
        icon=":material/add:",
        on_click=_set_rows,
        args=(kept, [*rows, max(rows) + 1]),
    )
    names = [name for name, _ in parts]
    problems = part_problems(dict(parts)) if len(set(names)) == len(names) else ["two parts have one name"]
    return tuple(parts), [f"{problem[0].upper()}{problem[1:]}." for problem in problems]


def _set_rows(kept: str, rows: list[int]) -> None:
    st.session_state[kept] = rows


def _preview_button(
    context: PageContext, request: SplitRequest, problems: Sequence[str], graded: int
) -> None:
    form = context.acts.form(PREVIEWING)
    reason = "\n".join(problems) or ("" if graded else NOTHING) or context.problem(PREVIEWING, request) or ""
    asked = st.button(
        "Preview the split", type="primary", key=f"preview {form.key} {context.after}", disabled=bool(reason)
    )
    ui.sentences(reason or "A preview stores nothing of the split.")
    if asked:
        context.acts.do(form, lambda: _start_preview(context, request))


def _start_preview(context: PageContext, request: SplitRequest) -> None:
    asked = request
    context.begin_with_result(PREVIEWING, asked, context.jobs.get(PREVIEWING))


def _previewed(context: PageContext) -> SplitPreview | None:
    """The last preview, if there is one that has not ended otherwise and is still there."""
    job = context.jobs.get(PREVIEWING)
    if job is None or context.is_running(job):
        return None
    try:
        return parsed_preview((Path(job.parameters["folder"]) / PREVIEW).read_bytes())
    except (OSError, ValueError):
        return None


def _ending(context: PageContext, job: Job | None) -> None:
    """Why there is no preview."""
    if job is not None and job.outcome not in (None, "done"):
        context.ending(PREVIEWING)
    elif not context.is_running(job):
        ui.quiet(
            "The preview shows the parts as bars, the groups of tied queries and why they are tied, and what "
            "the certificate finds."
        )


def _store_button(
    context: PageContext,
    shown: SplitPreview,
    previewed: SplitRequest,
    request: SplitRequest,
    state: SplitState,
) -> None:
    form = context.acts.form(STORING)
    why = ""
    if shown.refused:
        why = "This split cannot be stored, for the reason above."
    elif shown.split_id == state.split_id:
        why = "This is the current split."
    elif request != previewed:
        why = "The settings have changed since this preview. Preview again first."
    blocked = bool(why) or context.blocked(STORING) is not None
    if st.button("Use this split", type="primary", key=f"store {form.key} {context.after}", disabled=blocked):
        asked = replace(previewed, expected=shown.split_id)
        context.acts.do(form, lambda: context.begin(STORING, asked))
    ui.quiet(why or "Frozen releases keep their own split.")


def ask_rules(
    form: Form[SplitRequest], rules: Rules, cuts: Mapping[tuple[str, str], str], key: str
) -> dict[str, Any]:
    """What keeps queries together; returns what has widgets of its own."""
    form.ask("query", "paraphrase")
    if form.value("paraphrase") is not None:
        form.ask("model")
    form.rest("model", "cut", *OF_PARTS)
    return _ask_cuts(rules, cuts, key)


def _ask_cuts(rules: Rules, cuts: Mapping[tuple[str, str], str], key: str) -> dict[str, Any]:
    """The ties that are no leak, where there are any to choose from."""
    pairs = list(dict.fromkeys([*rules.cut, *cuts]))
    if not pairs:
        return {}
    cut = st.multiselect(
        "Ties to cut",
        pairs,
        default=list(rules.cut),
        key=f"cut {key}",
        format_func=lambda pair: cuts.get(pair, " ~ ".join(pair)),
        help="Ties that are no leak. They are reported as residual leakage.",
    )
    return {"cut": tuple(cut)}


def ask_options(form: Form[SplitRequest], asked: SplitRequest, released: bool, key: str) -> dict[str, Any]:
    """How groups go to the parts; returns what has widgets of its own."""
    form.ask("by_time")
    limited = st.checkbox(
        "Limit the largest group",
        asked.largest_group is not None,
        key=f"limited {key}",
        help="Without a limit, a group that is too large for the parts is refused.",
    )
    largest = None
    if limited:
        percent = st.number_input(
            "Largest group, % of the queries",
            1.0,
            100.0,
            100 * (asked.largest_group or 0.05),
            1.0,
            key=f"largest {key}",
        )
        largest = round(percent / 100, 6)
    if released:
        form.ask("fresh")
        if form.value("fresh"):
            ui.quiet("A released test query can then become one that systems are tuned on.")
    return {"largest_group": largest}
