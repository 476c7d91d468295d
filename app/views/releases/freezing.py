"""Releases, gate and freezing: the agreement thresholds, the contents of the next release, and its freeze."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app import ui
from app.components.forms import Form
from app.components.state import stage_row
from app.next_stage import stage_link
from app.page_context import PageContext
from app.views.releases.bars import measure, part_stacks
from app.views.releases.certificate import show_certificate
from curation.agreement.gate import ALPHA, CONSISTENCY, Demand, GateCheck, gate_now, read_demand, set_demand
from curation.agreement.inter_annotator import READING
from curation.core.errors import CurationError, refuse_problems
from curation.core.text import decimal, left_out_sentences, pluralize
from curation.operations.jobs import Job
from curation.operations.jobs.figures import figures_of
from curation.operations.workflow.stage import Action, State
from curation.releases.freeze.checklist import WORDS, FreezeCheck, checklist
from curation.releases.freeze.draft import ReleaseDraft
from curation.releases.freeze.freeze import freeze_problem, readiness
from curation.releases.freeze.reading import HOW_TO_SPLIT, NO_SPLIT
from curation.releases.freeze.sharing import IDENTICAL
from curation.releases.requests import FreezeRequest
from curation.splits.certificate import read_visible_certificate

KIND = "freeze"
"""The kind of background job that freezes a release."""
KINDS: Mapping[str, State] = {"ok": "done", "unknown": "not begun"}
"""State of a check → the state of a workflow step with the same look; other states need attention."""
STATES = {
    "met": "Met",
    "missed": "Not met",
    "undefined": "Could not be checked",
    "not asked for": "Not asked for",
}
NAMES = {
    ALPHA: "Agreement between annotators (ordinal alpha)",
    CONSISTENCY: "Consistency of annotators with themselves",
}
OVERRIDE = (
    "If a threshold is missed or could not be checked, freezing a release needs a reason. The release keeps "
    "the reason, the author of the reason and the missed figures. Its card and its page show all three."
)
SINGLE = "With one annotator there is no agreement. The gate then requires none, and releases say so."
GATE_FORM = "gate"


def show(context: PageContext) -> None:
    _ending(context)
    try:
        asked = {
            name: st.session_state.get(_form({}).key_of(name), False)
            for name in ("allow_disputed", "allow_changed", "only_complete")
        }
        with st.spinner("Reading the contents of the next release…"):
            draft = figures_of(context.store).now(readiness, FreezeRequest(**asked))
        with context.store.reading() as cursor:
            certificate = read_visible_certificate(cursor)
    except CurationError as error:
        st.info(ui.plain(error.found), icon=":material/info:")
        ui.quiet("A release needs grades and a split. Both come from earlier stages.")
        if error.found == NO_SPLIT:
            stage_link(Action("Split the queries", "releases", HOW_TO_SPLIT, {"stage": "Split"}))
        st.button("Freeze the release", type="primary", disabled=True, key="freeze nothing")
        return
    left, right = st.columns([2, 3], gap="large")
    with right:
        checks(checklist(draft))
        _contents(draft)
        ui.heading("Certificate of the split")
        show_certificate(certificate)
        ui.quiet("Freezing checks the split again with the grades at that time.")
    with left:
        ui.heading("The next release")
        _freeze(context, draft)


def _ending(context: PageContext) -> None:
    """Show the result of the last freeze, with a button that opens the new release."""
    context.ending(KIND)
    job = context.jobs.get(KIND)
    if job is not None and job.outcome == "done" and not context.is_running(job):
        name = job.parameters["name"]
        st.button(f"Open {ui.plain(name)}", on_click=_open, args=(name,), icon=":material/arrow_forward:")


def _open(name: str) -> None:
    st.session_state["release"] = name
    ui.choose_parts({"stage": "Releases"})


def _contents(draft: ReleaseDraft) -> None:
    ui.heading("Contents")
    part_stacks("Contents of the release by part", list(draft.queries), draft.queries, draft.grades)
    if draft.without_relevant:
        lacking = pluralize(sum(draft.without_relevant.values()), "query has", "queries have")
        ui.sentences(f"{lacking} no relevant document.")
    ui.sentences(*left_out_sentences(draft.left_out))


def checks(freeze_checks: Sequence[FreezeCheck]) -> None:
    """Show the checklist before a freeze, with a line for each check and its state."""
    ui.heading("Before you freeze")
    rows = ""
    for check in freeze_checks:
        state = KINDS.get(check.state, "needs attention")
        rows += stage_row(check.name.capitalize(), state, check.sentence, "?", said=WORDS[check.state])
    st.html(f'<div class="gs-checks">{rows}</div>')


def _form(offered: Mapping[str, Sequence[str]]) -> Form[FreezeRequest]:
    return Form(FreezeRequest, FreezeRequest(""), offered=offered)


def _freeze(context: PageContext, draft: ReleaseDraft) -> None:
    others = [part for part in draft.queries if part not in draft.sealed]
    is_open = draft.gate.open
    asks = _form({"share": [IDENTICAL], "seal": others})
    asks.rest("override", "reason")
    with st.form(f"freeze {context.form.key}", border=False):
        name = st.text_input("Name of the release", placeholder="such as v2", max_chars=64).strip()
        if not is_open:
            asks.ask("override")
        asked = context.submit(
            "Freeze the release", KIND, freeze_problem(draft), "A frozen release never changes."
        )
    if asked:
        request = asks.request(name=name)
        context.act(lambda: _start(context, request, is_open))


def _start(context: PageContext, request: FreezeRequest, is_open: bool) -> Job:
    """Start the job that freezes a release, unless the form lacks a name or a reason."""
    problems = [] if request.name else ["The release has no name: enter a name."]
    if not is_open and request.override is None:
        problems.append("The gate is shut: say why you freeze against the gate.")
    refuse_problems(problems)
    return context.begin(KIND, request)


def show_gate(context: PageContext) -> None:
    gate = figures_of(context.store).now(gate_now)
    left, right = st.columns(2, gap="large")
    for column, check in zip((left, right), gate.checks, strict=True):
        with column:
            _gate_check(check)
    if gate.note:
        ui.quiet(gate.note)
    ui.quiet(OVERRIDE)
    _change_gate(context)


def _gate_check(check: GateCheck) -> None:
    known = check.value is not None and check.state in ("met", "missed")
    ui.heading(NAMES[check.figure])
    ui.verdict(decimal(check.value) if known else "–", STATES[check.state], _gate_sentence(check))
    if known:
        measure(_gate_sentence(check), check.value, check.low, check.high, check.wanted)


def _gate_sentence(check: GateCheck) -> str:
    text = check.sentence.partition(": ")[2].partition(": ")[2]
    return f"{text[:1].upper()}{text[1:]}."


def _change_gate(context: PageContext) -> None:
    form = context.acts.form(GATE_FORM)
    with context.store.reading() as cursor:
        now = read_demand(cursor)
    with st.expander("Change the thresholds"), st.form(f"gate {form.key} {now}", width=640, border=False):
        alpha = st.number_input(
            "Lower end of alpha's interval must reach", -1.0, 1.0, now.alpha, 0.01, format="%.3f"
        )
        consistency = st.number_input(
            "Lower end of consistency's interval must reach", 0.0, 1.0, now.consistency, 0.01, format="%.3f"
        )
        single = st.checkbox("One person judges this project", now.single_judge, help=SINGLE)
        ui.quiet(READING)
        asked = st.form_submit_button("Set the gate", type="primary", key=f"set gate {form.key}")
    if asked:
        demand = Demand(round(alpha, 4), round(consistency, 4), single)
        context.acts.do(form, lambda: set_demand(context.store, demand, context.acts.by))
    elif form.number:
        ui.confirmation("The gate is set.")
