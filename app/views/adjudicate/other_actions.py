"""Adjudicate, other actions on a pair: postpone it, ask for an opinion, note that the guide is unclear."""

from __future__ import annotations

import streamlit as st

from app.acts import Acts
from app.context import project_store
from app.views.adjudicate.reviewing import Reviewing
from curation.adjudication.disputes import Case
from curation.adjudication.second_opinions import ask_opinion
from curation.guides.questions import ask_guide

LATER, OPINION, UNCLEAR = "l", "n", "g"
"""Keys that no guide's grade can have."""


def show(case: Case, pair: str, acts: Acts, state: Reviewing) -> bool:
    """The buttons beside deciding; whether the question about the guide is open."""
    item = case.dispute
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
            state.ask(pair)

    def put_off() -> None:
        here = (item.query_id, item.document_id)
        state.skipped = [*(other for other in state.skipped if other != here), here]
        state.leave("Put off. It comes again after the others.")

    def send_back() -> None:
        ask_opinion(project_store(), item.query_id, item.document_id, acts.by)
        state.leave("Sent back for one more opinion. The pair returns here with it.")

    if later:
        acts.do(acts.form("adjudicate"), put_off)
    if send:
        acts.do(acts.form("adjudicate"), send_back)
    if state.asking == pair:
        _unclear(case, pair, acts, state)
    return state.asking == pair


def _unclear(case: Case, pair: str, acts: Acts, state: Reviewing) -> None:
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

    def note() -> None:
        ask_guide(project_store(), case.dispute.query_id, case.dispute.document_id, words, acts.by)
        state.ask(None, "Noted for the guide's next version. The pair still waits for a decision.")

    if noted:
        acts.do(acts.form("adjudicate"), note)
    if left:
        state.ask(None)
        st.rerun()
