"""Answers, deciding: what writers said of a query, without names, and which of it becomes a reference."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.widgets import Draft, keys
from app.context import image_hosts, project_store
from app.signin.current_user import sessions
from app.views.write.answers import Desk, desk, joined
from curation.core.characters import isolated
from curation.core.digests import digest
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.labeling.presentation.drawing import draw
from curation.labeling.written_answers.decisions import (
    AnswerCase,
    AnswerDecision,
    AnswerRuling,
    AnswerVoice,
    answer_case,
    answer_disputes,
    answers_overtaken,
    decide_answers,
    recent_answer_decisions,
)
from curation.labeling.written_answers.writing import MAX_ANSWER_LENGTH
from curation.people.seal_access import reviewer_access
from curation.store import Store

LATER = "l"
NOTHING = "The corpus does not answer the query"


def show(store: Store, acts: Acts) -> None:
    state, disputes = desk("decide"), answer_disputes(store, acts.by)
    if state.at is None:
        state.at = state.next_of([(dispute.task, dispute.query_id) for dispute in disputes.waiting])
    if state.at is None:
        keys("", "", sent=state.sent)
        if state.done:
            ui.confirmation(state.done)
        st.info("No answers differ. A query comes here when its answers differ." + _others(disputes.own))
    else:
        task, query_id = state.at
        case = answer_case(store, task, query_id, acts.by, access=reviewer_access(store, acts.by, [query_id]))
        waiting = pluralize(len(disputes.waiting), "query waits", "queries wait")
        _case(case, f"{waiting} for a decision.{_others(disputes.own)}", acts, state)
    _recent(store, acts, state)


def _others(count: int) -> str:
    return f" Waiting for another reviewer, as you were asked to write there: {count:,}." if count else ""


def _case(case: AnswerCase, where: str, acts: Acts, state: Desk) -> None:
    if state.seen is None:
        state.seen = case.revision
    ui.query(case.query, case.information_need)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _evidence(case, state)
    with right, st.container(key="deciding"):
        if state.done:
            ui.confirmation(state.done)
        ui.quiet(where)
        if case.decision is not None and case.revision > state.seen:
            st.warning(ui.plain(answers_overtaken(case.decision)), icon=":material/info:")
        if case.outcome.why:
            ui.quiet(f"Why it is here: {case.outcome.why}.")
        if case.references.answers:
            ui.quiet(f"Current, from {case.references.source}: {joined(case.references.answers)}")
        _choice(case, acts, state)


def _evidence(case: AnswerCase, state: Desk) -> None:
    with project_store().reading() as cursor:
        template = current_guide(cursor).presentation
    for index, (document, cited) in enumerate(zip(case.documents, case.cited, strict=True)):
        whole, hosts = index in state.whole, image_hosts()
        shown = passage = draw(document, case.query, template, image_hosts=hosts)
        if whole:
            shown = draw(document, case.query, template, longest=None, image_hosts=hosts)
        with st.container(key=f"evidence-{index}"):
            about = (f"Document {index + 1}", f"ticked by {cited or 'nobody'}")
            ui.document(shown.title, shown.passage, about, shown.facts)
            if passage.has_more:
                st.button(
                    "Passage only" if whole else "Whole document",
                    key=f"whole {index} {_key(case)}",
                    on_click=state.turn,
                    args=(index,),
                )


def _choice(case: AnswerCase, acts: Acts, state: Desk) -> None:
    key, before = _key(case), case.decision
    with st.form(f"decide answers {key}", border=False):
        ruling = _ruling(case, key)
        decided = st.form_submit_button("Decide `Ctrl Enter`", type="primary", key=f"decided {key}")
    later = st.button(
        "Later" if before is None else "Leave it",
        key=f"later {key}",
        shortcut=LATER,
        help="Come back to this query after the others",
    )
    draft = Draft(f"reason-{key.replace(' ', '-')}", _draft_name(case, acts), before.reason if before else "")
    keys("", "", draft=draft, sent=state.sent)
    seen, state.seen = state.seen, case.revision  # from here on it is on screen
    at = (case.task, case.query_id)

    def decide() -> None:
        decide_answers(project_store(), *at, ruling, acts.by, seen)
        state.leave("Decided. You can change it at the end of this page.", draft.name)

    if decided:
        acts.do(acts.form("decide answers"), decide)
    if later:
        acts.do(acts.form("decide answers"), lambda: state.leave("") if before else state.put_off(at))


def _ruling(case: AnswerCase, key: str) -> AnswerRuling:
    """The ruling in the form: the picked answers, a new answer, or “no answer”; and the reason."""
    before = case.decision
    chosen = before.answers if before else ()
    written = [(voice.text, voice) for voice in case.voices if voice.text is not None]
    picked = [
        text
        for number, (text, voice) in enumerate(written)
        if _voice(voice, text in chosen, f"{number} {key}")
    ]
    silent = next((voice.times for voice in case.voices if voice.text is None), 0)
    nothing = st.checkbox(
        f"{NOTHING} (said by {silent:,})" if silent else NOTHING,
        value=before is not None and not chosen,
        key=f"nothing {key}",
    )
    merged = st.text_area(
        "One more, in your words",
        value=(before.merged or "") if before else "",
        height=70,
        max_chars=MAX_ANSWER_LENGTH,
        key=f"merged {key}",
        placeholder="Where none says it as it should be said",
    )
    reason = st.text_area(
        "Reason",
        value=before.reason if before else "",
        height=70,
        key=f"reason {key}",
        placeholder="One sentence, kept with the decision",
    )
    return AnswerRuling(picked, merged, nothing, reason)


def _voice(voice: AnswerVoice, chosen: bool, key: str) -> bool:
    """An answer that can be picked, with how many gave it and on which documents."""
    numbers = ", ".join(str(index + 1) for index in voice.documents)
    with st.container(gap="xxsmall"):
        picked = st.checkbox(ui.plain(voice.text), value=chosen, key=f"voice {key}")
        ui.quiet(f"Writers: {voice.times:,}. Documents: {numbers}")
    return picked


def _key(case: AnswerCase) -> str:
    return f"{digest(case.task, case.query_id)[:12]} {case.revision}"


def _draft_name(case: AnswerCase, acts: Acts) -> str:
    """A reason in progress belongs to this project, this reviewer, this query and what was decided before."""
    name = digest(case.task, case.query_id, case.revision)
    return f"goldgrade:{sessions().project}:{acts.by}:answers:{name}"


def _recent(store: Store, acts: Acts, state: Desk) -> None:
    mine = recent_answer_decisions(store, acts.by)
    if not mine:
        return
    reviewer_access(
        store, acts.by, [decision.query_id for decision, *_ in mine]
    )  # what is read again is logged
    with st.expander("My last decisions"):
        for decision, task, query in mine:
            _line(decision, task, query, state)


def _line(decision: AnswerDecision, task: str, query: str, state: Desk) -> None:
    words, button = st.columns([9, 1], vertical_alignment="center")
    with words:
        ui.said(query, *(decision.answers or (NOTHING,)), f"Why: {isolated(decision.reason)}")
    at = (task, decision.query_id)
    key = f"change {digest(*at)[:12]} {decision.revision}"
    button.button("Change", key=key, on_click=state.open, args=(at,))
