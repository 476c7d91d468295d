"""Adjudicate, the reviewer's own last decisions; each can be changed, which is one more decision."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views.adjudicate.decision import NO_GRADE
from app.views.adjudicate.reviewing import reviewing
from curation.adjudication.decisions import DecidedPair, recent_decisions
from curation.store import Annotator, Store
from curation.text import digest


def show(store: Store, annotator: Annotator) -> None:
    mine = recent_decisions(store, annotator.name)
    if not mine:
        return
    with st.expander("My last decisions"):
        for ruled in mine:
            _line(ruled)


def _line(ruled: DecidedPair) -> None:
    decision = ruled.decision
    pair = digest(decision.query_id, decision.document_id)[:12]
    said = "No grade" if decision.grade is None else f"Grade {decision.grade}"
    words, button = st.columns([9, 1], vertical_alignment="center")
    words.markdown(
        f"**{said}** · {ui.plain(ruled.query)} · {ui.plain(ruled.title)}: {ui.plain(decision.reason)}"
    )
    button.button(
        "Change",
        key=f"change {pair} {decision.revision}",
        on_click=_open,
        args=(pair, decision.query_id, decision.document_id, decision.grade, decision.reason),
    )


def _open(pair: str, query_id: str, document_id: str, grade: int | None, reason: str) -> None:
    """Put a decided pair on screen, as it was decided."""
    st.session_state[f"reason {pair}"] = reason
    state = reviewing()
    state.leave("")
    state.at, state.seen, state.picked = (
        (query_id, document_id),
        None,
        (pair, NO_GRADE if grade is None else grade),
    )
