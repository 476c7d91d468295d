"""Answers, deciding: the written answers to a query, without names, and a form for the reviewer's reference
answers.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.widgets import Draft, keys
from app.context import image_hosts, project_store
from app.views.write.desk import Desk, desk, draft_name, join_answers, later_button
from curation.core.characters import isolate
from curation.core.digests import digest
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.labeling.presentation.drawing import draw_document
from curation.labeling.written_answers.decisions import (
    AnswerCase,
    AnswerDecision,
    AnswerRuling,
    DistinctAnswer,
    decide_answers,
    describe_answer_overtaking,
    find_answer_disputes,
    read_answer_case,
    read_recent_answer_decisions,
)
from curation.labeling.written_answers.writing import MAX_ANSWER_LENGTH
from curation.people.seal_access import reviewer_access
from curation.store import Store

NOTHING = "The corpus does not answer the query"


def show(store: Store, acts: Acts) -> None:
    state, disputes = desk("decide"), find_answer_disputes(store, acts.by)
    if state.at is None:
        state.at = state.next_of([(dispute.task, dispute.query_id) for dispute in disputes.waiting])
    if state.at is None:
        keys("", "", sent=state.sent)
        state.show_done()
        none = "No answers differ. A query appears here when people's answers differ."
        st.info(none + _waiting_elsewhere(disputes.own))
    else:
        task, query_id = state.at
        case = read_answer_case(
            store, task, query_id, acts.by, access=reviewer_access(store, acts.by, [query_id])
        )
        waiting = pluralize(len(disputes.waiting), "query waits", "queries wait")
        _show_case(case, f"{waiting} for a decision.{_waiting_elsewhere(disputes.own)}", acts, state)
    _show_recent(store, acts, state)


def _waiting_elsewhere(count: int) -> str:
    waiting = pluralize(count, "query waits", "queries wait")
    return f" {waiting} for a reviewer who did not answer the query." if count else ""


def _show_case(case: AnswerCase, where: str, acts: Acts, state: Desk) -> None:
    if state.seen is None:
        state.seen = case.revision
    ui.query(case.query, case.information_need)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _evidence(case, state)
    with right, st.container(key="deciding"):
        state.show_done()
        ui.quiet(where)
        if case.decision is not None and case.revision > state.seen:
            st.warning(ui.plain(describe_answer_overtaking(case.decision)), icon=":material/info:")
        if case.outcome.why:
            ui.quiet(f"Reason for the dispute: {case.outcome.why}.")
        if case.references.answers:
            ui.quiet(f"Current, from {case.references.source}: {join_answers(case.references.answers)}")
        _choice(case, acts, state)


def _evidence(case: AnswerCase, state: Desk) -> None:
    with project_store().reading() as cursor:
        template = current_guide(cursor).presentation
    for index, (document, cited) in enumerate(zip(case.documents, case.cited, strict=True)):
        shown = passage = draw_document(document, case.query, template, image_hosts=image_hosts())
        if index in state.whole:
            shown = draw_document(document, case.query, template, longest=None, image_hosts=image_hosts())
        with st.container(key=f"evidence-{index}"):
            about = (f"Document {index + 1}", f"ticked by {cited or 'nobody'}")
            ui.document(shown.title, shown.passage, about, shown.facts)
            if passage.has_more:
                state.whole_button(index, _key(case))


def _choice(case: AnswerCase, acts: Acts, state: Desk) -> None:
    key, before = _key(case), case.decision
    with st.form(f"decide answers {key}", border=False):
        ruling = _ruling(case, key)
        decided = st.form_submit_button("Decide `Ctrl Enter`", type="primary", key=f"decided {key}")
    later = later_button(before is not None, key)
    # A reason in progress belongs to what was decided before, too.
    name = draft_name(acts, "answers", digest(case.task, case.query_id, case.revision))
    draft = Draft(f"reason-{key.replace(' ', '-')}", name, before.reason if before else "")
    keys("", "", draft, state.sent)
    seen, state.seen = state.seen, case.revision  # from here on it is on screen
    at = (case.task, case.query_id)

    def decide() -> None:
        decide_answers(project_store(), *at, ruling, acts.by, seen)
        state.leave("Decided. You can change the decision at the end of this page.", draft.name)

    if decided:
        acts.do(acts.form("decide answers"), decide)
    if later:
        acts.do(acts.form("decide answers"), lambda: state.leave("") if before else state.put_off(at))


def _ruling(case: AnswerCase, key: str) -> AnswerRuling:
    """Ask for the reviewer's decision (the picked answers, a new answer, or “no answer”) and for its
    reason.
    """
    before = case.decision
    chosen = before.answers if before else ()
    written = [(voice.text, voice) for voice in case.voices if voice.text is not None]
    picked = [
        text
        for number, (text, voice) in enumerate(written)
        if _ask_voice(voice, text in chosen, f"{number} {key}")
    ]
    silent = next((voice.times for voice in case.voices if voice.text is None), 0)
    nothing = st.checkbox(
        f"{NOTHING} (said by {silent:,})" if silent else NOTHING,
        value=before is not None and not chosen,
        key=f"nothing {key}",
    )
    merged = st.text_area(
        "Another answer, in your words",
        value=(before.merged or "") if before else "",
        height=70,
        max_chars=MAX_ANSWER_LENGTH,
        key=f"merged {key}",
        placeholder="If no written answer is good enough",
    )
    reason = st.text_area(
        "Reason",
        value=before.reason if before else "",
        height=70,
        key=f"reason {key}",
        placeholder="One sentence, kept with the decision",
    )
    return AnswerRuling(picked, merged, nothing, reason)


def _ask_voice(voice: DistinctAnswer, chosen: bool, key: str) -> bool:
    """Show a checkbox that picks an answer, with the number of people who gave the answer and the documents
    they cited.
    """
    numbers = ", ".join(str(index + 1) for index in voice.documents)
    with st.container(gap="xxsmall"):
        picked = st.checkbox(ui.plain(voice.text), value=chosen, key=f"voice {key}")
        ui.quiet(f"Writers: {voice.times:,}. Documents: {numbers}")
    return picked


def _key(case: AnswerCase) -> str:
    return f"{digest(case.task, case.query_id)[:12]} {case.revision}"


def _show_recent(store: Store, acts: Acts, state: Desk) -> None:
    mine = read_recent_answer_decisions(store, acts.by)
    if not mine:
        return
    query_ids = [decision.query_id for decision, *_ in mine]
    reviewer_access(store, acts.by, query_ids)  # what is read again is logged
    with st.expander("My last decisions"):
        for decision, task, query in mine:
            _show_decision(decision, task, query, state)


def _show_decision(decision: AnswerDecision, task: str, query: str, state: Desk) -> None:
    words, button = st.columns([9, 1], vertical_alignment="center")
    with words:
        ui.remarks(query, *(decision.answers or (NOTHING,)), f"Why: {isolate(decision.reason)}")
    at = (task, decision.query_id)
    key = f"change {digest(*at)[:12]} {decision.revision}"
    button.button("Change", key=key, on_click=state.open, args=(at,))
