"""Rounds, steering: pause, resume, close, reopen, and hand somebody's untouched work to others.

Each is asked for twice: the button says what will happen, a second one does it.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from curation.errors import CurationError
from curation.labeling.annotators import list_annotators
from curation.labeling.handover import reassign
from curation.labeling.lifecycle import close_round, pause_round, reopen_round, resume_round
from curation.labeling.rounds import RoundStatus
from curation.store import Store
from curation.store.rows import Annotator

DEEDS = {
    "Pause": (pause_round, "Nobody is shown items of {} until it is resumed. Nothing is lost.", "is paused"),
    "Resume": (resume_round, "{} is in the queues again.", "goes on"),
    "Close": (
        close_round,
        "Nobody is shown more of {}. What still arrives is kept and marked late.",
        "is closed",
    ),
    "Reopen": (reopen_round, "{} is in the queues again, with what is still open in it.", "is open again"),
}


def show(store: Store, status: RoundStatus, annotator: Annotator) -> None:
    offered = ["Reopen"] if status.closed else ["Resume" if status.paused else "Pause", "Close"]
    place = f"{status.round} {status.paused} {status.closed}"
    ui.quiet("Whatever you do here is kept with your name; nothing that was answered is lost.")
    with st.container(horizontal=True):
        for name in offered:
            st.button(name, key=f"{name} {place}", on_click=_ask, args=(name, place))
    asked = st.session_state.get("sure")
    if asked and asked[1] == place and asked[0] in offered:
        _confirm(store, status, annotator, asked[0])
    if not status.closed and status.kind in ("labeling", "audit"):
        _hand_over(store, status, annotator)


def _ask(name: str, place: str) -> None:
    st.session_state["sure"] = (name, place)


def _confirm(store: Store, status: RoundStatus, annotator: Annotator, name: str) -> None:
    deed, words, done = DEEDS[name]
    with st.form(f"sure {name} {status.round}"):
        st.markdown(ui.plain(words.format(status.round)))
        reason = st.text_input("Why, if you like to say", max_chars=500)
        with st.container(horizontal=True):
            sure = st.form_submit_button(f"{name} {ui.plain(status.round)}", type="primary")
            back = st.form_submit_button("Leave it as it is")
    if sure:
        try:
            deed(store, status.round, annotator.name, reason.strip())
        except CurationError as error:
            ui.problem(error)
            return
        st.session_state["round told"] = f"{status.round} {done}."
    if sure or back:
        st.session_state["sure"] = None
        st.rerun()


def _hand_over(store: Store, status: RoundStatus, annotator: Annotator) -> None:
    people = [one.annotator for one in status.annotators if one.answered < one.presentations]
    if not people:
        return
    ui.heading("Hand somebody's untouched work to others")
    from_ = st.selectbox("Whose work", people, index=None, width=320, key=f"from {status.round}")
    if from_ is None:
        return
    with store.reading() as cursor:
        able = [one.name for one in list_annotators(cursor) if one.role == "annotator" and not one.imported]
    inside = [one.annotator for one in status.annotators if one.annotator != from_]
    others = [*inside, *(name for name in able if name not in {from_, *inside})]
    with st.form(f"hand over {status.round} {from_}"):
        to = st.multiselect("To", others, default=inside)
        sure = st.checkbox(f"{ui.plain(from_)} loses what they have not touched; the others get it for good")
        asked = st.form_submit_button("Hand over", type="primary")
    if not asked:
        return
    if not sure or not to:
        st.error("Say to whom, and tick the box.", icon=":material/error:")
        return
    try:
        moved = reassign(store, status.round, from_, to, annotator.name)
    except CurationError as error:
        ui.problem(error)
        return
    stays = "".join(f" {count:,} {why}." for why, count in moved.left_out.items())
    st.session_state["round told"] = f"{moved.moved:,} pairs of {from_} are with others now.{stays}"
    st.rerun()
