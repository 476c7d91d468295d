"""Rounds, Manage: pause, resume, close and reopen a round; below, transfers of work.

These four need a second click: the first button says what will happen, the second one does it.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.rounds import people
from app.views.rounds.people import MANAGE, Managed
from curation.labeling.rounds.lifecycle import close_round, pause_round, reopen_round, resume_round
from curation.labeling.rounds.rounds import asked_from
from curation.labeling.rounds.status import RoundStatus
from curation.store import Store

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


def show(store: Store, status: RoundStatus, acts: Acts) -> None:
    managed: Managed | None = acts.form(MANAGE).result
    if managed is not None and managed.round == status.round:
        st.success(ui.plain(f"{managed.at:%H:%M} UTC: {managed.said}"), icon=":material/check:")
    offered = ["Reopen"] if status.closed else ["Resume" if status.paused else "Pause", "Close"]
    place = f"{acts.form(MANAGE).key} {status.round} {status.paused} {status.closed}"
    ui.quiet("What you do here is recorded with your name. No answer is lost.")
    for name in offered:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(name, key=f"{name} {place}", on_click=_ask, args=(name, place))
            ui.quiet(ACTIONS[name][1].format(status.round))
    asked = st.session_state.get("sure")
    if asked and asked[1] == place and asked[0] in offered:
        _confirm(store, status, acts, asked[0])
    if not status.closed and status.kind in ("labeling", "audit", "pilot"):
        with store.reading() as cursor:
            ui.quiet(_asked(asked_from(cursor, status.round)))
        people.show(store, status, acts)


def _asked(ask_from: int) -> str:
    if not ask_from:
        return "Nobody is asked whether the corpus answers a query."
    of = "any query" if ask_from == 1 else f"a query with {ask_from} documents or more"
    return f"After the last document of {of}, annotators say whether the corpus answers it."


def _ask(name: str, place: str) -> None:
    st.session_state["sure"] = (name, place)


def _confirm(store: Store, status: RoundStatus, acts: Acts, name: str) -> None:
    act, words, done = ACTIONS[name]
    form = acts.form(MANAGE)
    with st.form(f"sure {form.key} {name} {status.round}", width=640):
        st.markdown(ui.plain(words.format(status.round)))
        reason = st.text_input("Reason (optional)", max_chars=500)
        with st.container(horizontal=True):
            sure = st.form_submit_button(f"{name} “{ui.plain(status.round)}”", type="primary")
            back = st.form_submit_button("Leave it as it is")

    def deed() -> Managed:
        state = act(store, status.round, acts.by, reason.strip())
        still = ", and still paused" if name == "Reopen" and state.paused else ""
        return Managed.now(status.round, f"“{status.round}” {done}{still}.")

    if sure:
        acts.do(form, deed)
    if back:
        st.session_state["sure"] = None
        st.rerun()
