"""Adjudicate, other actions on a pair: postpone it, ask for an opinion, note that the guide is unclear."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.context import project_store
from curation.adjudication.disputes import Case
from curation.adjudication.second_opinions import ask_opinion
from curation.errors import CurationError
from curation.guides.questions import ask_guide
from curation.store.rows import Annotator

LATER, OPINION, UNCLEAR = "l", "n", "g"
"""Keys that no guide's grade can have."""


def show(case: Case, pair: str, annotator: Annotator) -> bool:
    """The buttons beside deciding; whether the question about the guide is open."""
    item, state = case.dispute, st.session_state
    with st.container(horizontal=True, gap="xsmall"):
        later = st.button(
            "Later" if item.decision is None else "Leave it",
            key=f"later {pair}",
            shortcut=LATER,
            help="Come back to this pair after the others",
        )
        send = st.button(
            "Another opinion",
            key=f"opinion {pair}",
            shortcut=OPINION,
            help="Somebody who has not had the pair judges it, too; then it returns here",
            disabled=item.decision is not None,
        )
        if st.button(
            "Guide unclear",
            key=f"unclear {pair}",
            shortcut=UNCLEAR,
            help="Note for the guide's next version what it leaves open here",
        ):
            state["asking"] = pair
    if later:
        here = (item.query_id, item.document_id)
        state["skipped"] = [*(other for other in state["skipped"] if other != here), here]
        leave("Put off. It comes again after the others.")
    if send:
        try:
            ask_opinion(project_store(), item.query_id, item.document_id, annotator.name)
        except CurationError as error:
            ui.problem(error)
        else:
            leave("Sent back for one more opinion. The pair returns here with it.")
    asking = state.get("asking") == pair
    if asking:
        _unclear(case, pair, annotator)
    return asking


def _unclear(case: Case, pair: str, annotator: Annotator) -> None:
    with st.form(f"unclear {pair}"):
        with st.container(key="unclear"):
            words = st.text_area(
                "What does the guide leave open here?",
                height=90,
                key=f"words {pair}",
                placeholder="Collected for whoever writes its next version",
            )
        with st.container(horizontal=True):
            noted = st.form_submit_button("Note it `Ctrl Enter`", type="primary", key=f"noted {pair}")
            left = st.form_submit_button("Close", key=f"closed {pair}")
    if noted:
        try:
            ask_guide(project_store(), case.dispute.query_id, case.dispute.document_id, words, annotator.name)
        except CurationError as error:
            ui.problem(error)
            return
        st.session_state["done"] = "Noted for the guide's next version. The pair still waits for a decision."
    if noted or left:
        st.session_state["asking"] = None
        st.rerun()


def leave(done: str) -> None:
    """Go on to the next pair."""
    st.session_state.update(at=None, asking=None, picked=(None, None), done=done)
    st.rerun()
