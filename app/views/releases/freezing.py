"""Releases, freezing: what a release of now would hold, what is against it, and the button."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app import ui
from app.components.forms import Form
from app.components.steps import step_row
from app.next_step import step_link
from app.page_context import PageContext
from app.views.releases import preview
from app.views.releases.bars import part_stacks
from curation.core.errors import CurationError, refuse_problems
from curation.core.text import amount, left_out_sentences
from curation.operations.jobs import Job
from curation.operations.jobs.figures import figures_of
from curation.operations.workflow import Action
from curation.operations.workflow.stage import State
from curation.releases.freeze.checklist import WORDS, FreezeCheck
from curation.releases.freeze.content import ReleaseDraft
from curation.releases.freeze.readiness import Readiness, readiness
from curation.releases.freeze.reading import HOW_TO_SPLIT, NO_SPLIT
from curation.releases.freeze.request import FreezeRequest
from curation.releases.freeze.sharing import IDENTICAL
from curation.splits.certificate.certificate import Certificate, shown_certificate
from curation.store import Store

OPENED = "opened release"
"""Where a click leaves the name of a release that the next run of the page shows."""
KIND = "freeze"
"""The kind of job that freezes."""


KINDS: Mapping[str, State] = {"ok": "done", "unknown": "not begun"}
"""State of a check → of a step that looks like it; others need attention."""


def show(context: PageContext) -> None:
    _ending(context)
    try:
        asked = {
            name: st.session_state.get(_form({}).key_of(name), False)
            for name in ("allow_disputed", "allow_changed", "only_complete")
        }
        with st.spinner("Looking at what a release would hold…"):
            found = figures_of(context.store).now(readiness, FreezeRequest(**asked))
        certificate = _certificate(context.store)
    except CurationError as error:
        st.info(ui.plain(error.found), icon=":material/info:")
        ui.quiet("A release takes settled grades and a split. Both come from the stages before this one.")
        if error.found == NO_SPLIT:
            step_link(Action("Split the queries", "releases", HOW_TO_SPLIT, {"stage": "Split"}))
        st.button("Freeze the release", type="primary", disabled=True, key="freeze nothing")
        return
    left, right = st.columns([2, 3], gap="large")
    with right:
        checks(found.checks)
        _contents(found.content, found.without_relevant)
        ui.heading("Certificate of the split")
        preview.show_certificate(certificate)
        ui.quiet("Freezing checks the split again with the labels of that moment.")
    with left:
        ui.heading("The next release")
        _freeze(context, found)


def _ending(context: PageContext) -> None:
    """How the last freeze went; what was frozen is a click away."""
    context.ending(KIND)
    job = context.jobs.get(KIND)
    if job is not None and job.outcome == "done" and not context.is_running(job):
        name = job.parameters["name"]
        st.button(f"Open {ui.plain(name)}", on_click=_open, args=(name,), icon=":material/arrow_forward:")


def _open(name: str) -> None:
    st.session_state[OPENED] = name


def _contents(release_draft: ReleaseDraft, without_relevant: Mapping[str, int]) -> None:
    ui.heading("What it would hold")
    part_stacks(
        "What the release would hold, by part",
        list(release_draft.queries),
        release_draft.queries,
        release_draft.grades,
    )
    lacking = amount(sum(without_relevant.values()), "query has", "queries have")
    lines = [f"{lacking} no relevant document."] * bool(without_relevant)
    lines += left_out_sentences(release_draft.left_out)
    ui.sentences("\n".join(lines))


def checks(found: Sequence[FreezeCheck]) -> None:
    """The checklist: a line for each check, with its state."""
    ui.heading("Before you freeze")
    rows = ""
    for one in found:
        state = KINDS.get(one.state, "needs attention")
        rows += step_row(one.name.capitalize(), state, one.sentence, "?", said=WORDS[one.state])
    st.html(f'<div class="gs-checks">{rows}</div>')


def _form(offered: Mapping[str, Sequence[str]]) -> Form[FreezeRequest]:
    return Form(FreezeRequest, FreezeRequest(""), offered=offered)


def _freeze(context: PageContext, found: Readiness) -> None:
    others = [part for part in found.content.queries if part not in found.sealed]
    is_open = found.content.agreement.gate.open
    asks = _form({"share": [IDENTICAL], "seal": others})
    asks.rest("override", "reason")
    chosen = asks.request()
    form = context.acts.form(KIND)
    problem = found.problem(chosen.allow_disputed) or context.problem(KIND)
    with st.form(f"freeze {form.key}", border=False):
        name = st.text_input("Name of the release", placeholder="such as v2", max_chars=64).strip()
        if not is_open:
            asks.ask("override")
        key = f"freeze button {form.key} {context.after}"
        asked = st.form_submit_button(
            "Freeze the release", type="primary", key=key, disabled=problem is not None
        )
    ui.quiet(problem or "What is frozen never changes.")
    if asked:
        request = asks.request(name=name)
        context.acts.do(form, lambda: _start(context, request, is_open))


def _start(context: PageContext, request: FreezeRequest, is_open: bool) -> Job:
    """Start the job, unless something was not written."""
    problems = [] if request.name else ["The release has no name: give it one."]
    if not is_open and request.override is None:
        problems.append("The gate is shut: say why you freeze against it.")
    refuse_problems(problems)
    return context.begin(KIND, request)


def _certificate(store: Store) -> Certificate:
    with store.reading() as cursor:
        return shown_certificate(cursor)
