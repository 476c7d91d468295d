"""Releases, the split: ask for parts, preview them, and store what was previewed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from app.views.releases import preview
from app.views.releases.split_rules import SplitChoices, ask_options, ask_rules
from curation.core.operation import read_request
from curation.core.text import amount
from curation.guides.guide import current_guide
from curation.operations.jobs import Job
from curation.operations.jobs.figures import figures_of
from curation.releases.release_rows import list_releases
from curation.splits.operations import PREVIEW
from curation.splits.preview import SplitPreview, parsed_preview
from curation.splits.request import NewSplit, PreviewRequest, part_problems
from curation.splits.state import SplitState, split_state
from curation.splits.ties.same_key import known_keys
from curation.store import Store

PREVIEWING, STORING = "split preview", "split"
"""The kinds of job."""
NOTHING = "No query has a grade yet, so there is nothing to split. Judge first."


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
    graded = amount(state.graded, "graded query", "graded queries")
    if not state.graded:
        st.info(NOTHING, icon=":material/info:")
    elif state.split_id is None:
        st.info(f"There is no split yet. {graded} can get a part.", icon=":material/info:")
    elif state.waiting:
        waiting = amount(state.waiting, "graded query has", "graded queries have")
        st.info(
            f"{waiting} no part yet. Preview the split again with the same settings: released queries keep "
            "their parts, and new ones get one.",
            icon=":material/info:",
        )
    else:
        ui.quiet(f"The split {state.split_id[:12]} is the current one. All {graded} have a part.")


def _start(job: Job | None, state: SplitState) -> tuple[NewSplit, str]:
    """The request that the form begins with, and a text that tells it from another.

    It is that of the last preview if there is one, else of the split in force, else the usual.
    """
    if job is not None:
        return read_request(NewSplit, job.parameters), job.job_id[:12]
    if state.request is not None:
        return read_request(NewSplit, state.request), str(state.split_id)[:12]
    return NewSplit(), "usual"


def _form(
    context: PageContext, start: tuple[NewSplit, str], shown: SplitPreview | None
) -> tuple[NewSplit, list[str]]:
    """What is asked for, and what is wrong with it."""
    asked, key = start
    choices = _choices(context.store, shown)
    ui.heading("Parts")
    parts, problems = _parts(asked.parts, key)
    names = [name for name, _ in parts]
    keys = list(dict.fromkeys([*choices.keys, *asked.rules.keys]))
    offered = {"keys": keys, "relevant_grade": choices.scale[1:], "undated": names}
    form = Form(NewSplit, asked, key, offered)
    form.ask("seed")
    by_hand: dict[str, Any] = {"parts": parts, "expected": None}
    with st.expander("Which queries stay together"):
        by_hand |= ask_rules(form, asked.rules, choices.cuts, key)
    with st.expander("How groups go to the parts"):
        by_hand |= ask_options(form, asked.options, choices.releases, key)
    return form.request(**by_hand), problems


def _parts(asked: Sequence[tuple[str, float]], key: str) -> tuple[tuple[tuple[str, float], ...], list[str]]:
    """Rows with a name and a share, which can be added and removed; and what is wrong with them."""
    kept = f"rows of parts {key}"
    rows: list[int] = st.session_state.setdefault(kept, list(range(len(asked))))
    found: list[tuple[str, float]] = []
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
        found.append((words.strip(), round(percent / 100, 6)))
    st.button(
        "Add a part",
        key=f"add {key}",
        icon=":material/add:",
        on_click=_set_rows,
        args=(kept, [*rows, max(rows) + 1]),
    )
    names = [name for name, _ in found]
    problems = part_problems(dict(found)) if len(set(names)) == len(names) else ["two parts have one name"]
    return tuple(found), [f"{problem[0].upper()}{problem[1:]}." for problem in problems]


def _set_rows(kept: str, rows: list[int]) -> None:
    st.session_state[kept] = rows


def _choices(store: Store, shown: SplitPreview | None) -> SplitChoices:
    with store.reading() as cursor:
        keys, scale = known_keys(cursor), current_guide(cursor).values
        releases = [row.name for row in reversed(list_releases(cursor))]
    return SplitChoices(keys, scale, list(dict.fromkeys(releases)), preview.cuts(shown) if shown else {})


def _preview_button(context: PageContext, request: NewSplit, problems: Sequence[str], graded: int) -> None:
    form = context.acts.form(PREVIEWING)
    reason = "\n".join(problems) or ("" if graded else NOTHING) or context.problem(PREVIEWING, request) or ""
    asked = st.button(
        "Preview the split", type="primary", key=f"preview {form.key} {context.after}", disabled=bool(reason)
    )
    ui.sentences(reason or "A preview stores nothing of the split.")
    if asked:
        context.acts.do(form, lambda: _start_preview(context, request))


def _start_preview(context: PageContext, request: NewSplit) -> None:
    asked = PreviewRequest(**vars(request), folder="")
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
    previewed: NewSplit,
    request: NewSplit,
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
