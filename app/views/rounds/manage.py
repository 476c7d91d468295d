"""Rounds, steering: pause, resume, close and reopen a round; below, transfers of work.

These four need a second click: the first button says what will happen, the second one does it.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views.rounds import people
from curation.errors import CurationError
from curation.labeling.rounds.lifecycle import close_round, pause_round, reopen_round, resume_round
from curation.labeling.rounds.status import RoundStatus
from curation.store import Store
from curation.store.rows import Annotator

ACTIONS = {
    "Pause": (pause_round, "Nobody is shown items of “{}” until it is resumed.", "is paused"),
    "Resume": (resume_round, "“{}” comes back into the queues.", "goes on"),
    "Close": (
        close_round,
        "Nobody is shown more of “{}”. What still arrives is kept and marked late.",
        "is closed",
    ),
    "Reopen": (reopen_round, "“{}” comes back, with what is still open in it.", "is open again"),
}


def show(store: Store, status: RoundStatus, annotator: Annotator) -> None:
    offered = ["Reopen"] if status.closed else ["Resume" if status.paused else "Pause", "Close"]
    place = f"{status.round} {status.paused} {status.closed}"
    ui.quiet("What you do here is recorded with your name. No answer is lost.")
    for name in offered:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(name, key=f"{name} {place}", on_click=_ask, args=(name, place))
            ui.quiet(ACTIONS[name][1].format(status.round))
    asked = st.session_state.get("sure")
    if asked and asked[1] == place and asked[0] in offered:
        _confirm(store, status, annotator, asked[0])
    if not status.closed and status.kind in ("labeling", "audit", "pilot"):
        people.show(store, status, annotator)


def _ask(name: str, place: str) -> None:
    st.session_state["sure"] = (name, place)


def _confirm(store: Store, status: RoundStatus, annotator: Annotator, name: str) -> None:
    act, words, done = ACTIONS[name]
    with st.form(f"sure {name} {status.round}", width=640):
        st.markdown(ui.plain(words.format(status.round)))
        reason = st.text_input("Why, if you like to say", max_chars=500)
        with st.container(horizontal=True):
            sure = st.form_submit_button(f"{name} “{ui.plain(status.round)}”", type="primary")
            back = st.form_submit_button("Leave it as it is")
    if sure:
        try:
            state = act(store, status.round, annotator.name, reason.strip())
        except CurationError as error:
            ui.problem(error)
            return
        still = ", and still paused" if name == "Reopen" and state.paused else ""
        st.session_state["round done"] = f"“{status.round}” {done}{still}."
    if sure or back:
        st.session_state["sure"] = None
        st.rerun()
