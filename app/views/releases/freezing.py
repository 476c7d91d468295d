"""Releases, Freeze: the contents and checks of the next release, and the form that freezes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app import ui
from app.components.forms import Form
from app.components.links import PageLink, page_link
from app.components.stage import draw_stage
from app.next_stage import show_action_link
from app.page_context import PageContext
from app.views.releases.bars import draw_part_bars
from app.views.releases.certificate import show_findings
from curation.agreement.gate import ALPHA, CONSISTENCY
from curation.core.errors import CurationError, refuse_problems
from curation.core.text import describe_left_out, pluralize
from curation.operations.jobs import Job
from curation.operations.jobs.figures import figures_of
from curation.operations.workflow.stage import Action, State
from curation.releases.freeze.checklist import WORDS, FreezeCheck, checklist
from curation.releases.freeze.draft import ReleaseDraft
from curation.releases.freeze.freeze import find_freeze_problem, prepare_draft
from curation.releases.freeze.project_rows import HOW_TO_SPLIT, NO_SPLIT
from curation.releases.freeze.shared_grades import IDENTICAL
from curation.releases.requests import FreezeRequest
from curation.splits.certificate import read_visible_certificate

FREEZE_JOB = "freeze"
STEP_STATES: Mapping[str, State] = {"ok": "done", "unknown": "not begun"}
"""State of a check → the state of a workflow step with the same look; other states need attention."""


LINKS = {
    "opinions": PageLink("See who has open items", "/rounds"),
    "open rounds": PageLink("Continue the rounds", "/rounds"),
    "disputes": PageLink("Decide the disputed pairs", "/adjudicate"),
    "pace": PageLink("See each person's pace", "/agreement"),
    ALPHA: PageLink("See where people disagree", "/agreement"),
    CONSISTENCY: PageLink("See how often people repeat their grades", "/agreement"),
    "unanswerable": PageLink("Tag the queries", "/queries?part=All+queries"),
    "seal": PageLink("Choose the parts", "/releases?stage=Split"),
}
"""Check → the page on which people solve the problem of this check."""


def show(context: PageContext) -> None:
    _show_result(context)
    try:
        names = ("allow_disputed", "allow_changed", "only_complete")
        options = {name: st.session_state.get(_make_form({}).make_key(name), False) for name in names}
        with st.spinner("Reading the contents of the next release…"):
            draft = figures_of(context.store).now(prepare_draft, FreezeRequest(**options))
        with context.store.reading() as cursor:
            certificate = read_visible_certificate(cursor)
    except CurationError as error:
        st.info(ui.literal(error.found), icon=":material/info:")
        ui.note("A release needs grades and a split. Judge pairs and split the queries first.")
        if error.found == NO_SPLIT:
            show_action_link(Action("Split the queries", "releases", HOW_TO_SPLIT, {"stage": "Split"}))
        st.button("Freeze the release", type="primary", disabled=True, key="freeze nothing")
        return
    left, right = st.columns([2, 3], gap="large")
    with right:
        _show_checks(checklist(draft))
        _show_contents(draft)
        ui.heading("Split certificate")
        show_findings(certificate)
        ui.note("When you freeze, the split is checked again with the newest grades.")
    with left:
        ui.heading("The next release")
        _ask_freeze(context, draft)


def _show_result(context: PageContext) -> None:
    """Show the result of the last freeze, with links to the new release and to its evaluation."""
    context.show_result(FREEZE_JOB)
    job = context.jobs.get(FREEZE_JOB)
    if job is not None and job.outcome == "done" and not context.is_running(job):
        name = job.parameters["name"]
        st.button(f"Open {ui.literal(name)}", on_click=_open, args=(name,), icon=":material/arrow_forward:")
        show_action_link(Action(f"Score systems on {name}", "evaluate", ""))


def _open(name: str) -> None:
    st.session_state["release"] = name
    ui.preselect_parts({"stage": "Releases"})


def _show_contents(draft: ReleaseDraft) -> None:
    ui.heading("Contents")
    draw_part_bars("The release's contents by part", list(draft.queries), draft.queries, draft.grades)
    if draft.without_relevant:
        queries_have = pluralize(sum(draft.without_relevant.values()), "query has", "queries have")
        ui.sentences(f"{queries_have} no relevant document.")
    ui.sentences(*describe_left_out(draft.left_out))


def _show_checks(freeze_checks: Sequence[FreezeCheck]) -> None:
    """Show the checklist before a freeze, with a line for each check and its state."""
    ui.heading("Before you freeze")
    rows = ""
    for check in freeze_checks:
        state = STEP_STATES.get(check.state, "needs attention")
        link = LINKS.get(check.name) if state != "done" else None
        way = f'<p class="gs-quiet">{page_link(link)}</p>' if link else ""
        label = WORDS[check.state]
        rows += draw_stage(check.name.capitalize(), state, check.sentence, "?", label=label, figures=way)
    st.html(f'<div class="gs-checks">{rows}</div>')


def _make_form(choices: Mapping[str, Sequence[str]]) -> Form[FreezeRequest]:
    return Form(FreezeRequest, FreezeRequest(""), choices=choices)


def _ask_freeze(context: PageContext, draft: ReleaseDraft) -> None:
    unsealed = [part for part in draft.queries if part not in draft.sealed]
    is_open = draft.gate.open
    form = _make_form({"share": [IDENTICAL], "seal": unsealed})
    form.ask_rest("override", "reason")
    with st.form(f"freeze {context.form.key}", border=False):
        name = st.text_input("Release name", placeholder="such as v2", max_chars=64).strip()
        if not is_open:
            form.ask("override")
        submitted = context.submit_button(
            "Freeze the release",
            FREEZE_JOB,
            find_freeze_problem(draft),
            "A release cannot be changed after it is frozen.",
        )
    if submitted:
        request = form.request(name=name)
        context.do(lambda: _start_freeze(context, request, is_open))


def _start_freeze(context: PageContext, request: FreezeRequest, is_open: bool) -> Job:
    """Start the job that freezes a release, unless the form lacks a name or a reason."""
    problems = [] if request.name else ["Enter a name for the release."]
    if not is_open and request.override is None:
        problems.append("The gate is shut. To freeze anyway, give a reason.")
    refuse_problems(problems)
    return context.start_job(FREEZE_JOB, request)
