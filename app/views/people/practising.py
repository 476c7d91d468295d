"""People, practising: how somebody does in practice, another attempt for them, and letting them pass."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.people.changing import PEOPLE, act
from curation.labeling.practice.opening import let_pass, practise_again
from curation.labeling.practice.status import PracticeStatus, practice_statuses
from curation.people.accounts import Account
from curation.store import Store
from curation.text import amount, percent


def show(store: Store, acts: Acts, chosen: Account) -> None:
    with store.reading() as cursor:
        found = practice_statuses(cursor, chosen.name)
    if not found:
        return
    ui.heading("Practice")
    for status in found:
        ui.sentences(f"{status.round}: {_state(status)}")
        if chosen.active and status.state.passed is not True:
            _decide(store, acts, status)


def _decide(store: Store, acts: Acts, status: PracticeStatus) -> None:
    place = f"{acts.form(PEOPLE).key} {status.round_id} {status.annotator}"
    running = status.state.passed is None
    if st.button("Let practise again", disabled=running, key=f"again {place}"):

        def again() -> str:
            new = practise_again(store, status.round, status.annotator, acts.by)
            return f"{status.annotator} has {new.state.total:,} new items to practise on."

        act(acts, again)
    if running:
        ui.quiet("They can practise again once all items are answered.")
    with st.form(f"pass {place}"):
        reason = st.text_input("Why they may begin without having passed", max_chars=500)
        asked = st.form_submit_button("Let pass")

    def passed() -> str:
        let_pass(store, status.round, status.annotator, reason, acts.by)
        return f"{status.annotator} gets real items now."

    if asked and not reason.strip():
        st.error("Letting somebody pass needs a reason.", icon=":material/error:")
    elif asked:
        act(acts, passed)


def _state(status: PracticeStatus) -> str:
    state = status.state
    if status.waived:
        return "let pass."
    answers = amount(state.answered, "answer")
    right = f"{state.right:,} of {answers} as expected, {percent(state.pass_mark)} needed"
    if state.passed is None:
        return f"under way, {state.answered:,} of {state.total:,} answered, {right}."
    return f"{'passed' if state.passed else 'not passed'}, {right}."
