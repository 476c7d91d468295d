"""Rounds, Manage: pause, resume, close, reopen and delete a round; below, transfers of work.

These need a second click: the first button says what will happen, the second one does it.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.rounds.transfers import MANAGE, Managed, show_people
from curation.labeling.rounds.lifecycle import (
    against_deleting,
    delete_round,
    pause_round,
    reopen_round,
    resume_round,
    round_state,
)
from curation.labeling.rounds.rounds import shown_as
from curation.labeling.rounds.status import RoundStatus
from curation.relabeling.drift.closing import close_round
from curation.store import Store

ACTIONS: dict[str, tuple[Callable[[Store, str, str, str], object], str, str]] = {
    "Pause": (pause_round, "Nobody is shown items of “{}” until it is resumed.", "is paused"),
    "Resume": (resume_round, "Items of “{}” are shown again.", "goes on"),
    "Close": (
        close_round,
        "“{}” shows no more items. Late answers are kept and marked.",
        "is closed",
    ),
    "Delete": (
        delete_round,
        "“{}” and its assignments are deleted. Nobody has answered it; queries and pools stay.",
        "is deleted",
    ),
    "Reopen": (reopen_round, "“{}” opens again, with the items that are still open.", "is open again"),
}


def show(store: Store, status: RoundStatus, acts: Acts) -> None:
    managed: Managed | None = acts.form(MANAGE).result
    if managed is not None and (managed.round == status.round or managed.deleted):
        st.success(ui.plain(f"{managed.at:%H:%M} UTC: {managed.said}"), icon=":material/check:")
    offered = ["Reopen"] if status.closed else ["Resume" if status.paused else "Pause", "Close"]
    with store.reading() as cursor:
        if not against_deleting(cursor, round_state(cursor, status.round)):
            offered.append("Delete")
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
            ui.quiet(_shown(*shown_as(cursor, status.round)))
        show_people(store, status, acts)


def _shown(ask_from: int, lists: bool) -> str:
    as_lists = " The documents of a query come as a list." if lists else ""
    if not ask_from:
        return f"Nobody is asked whether the corpus answers a query.{as_lists}"
    of = "any query" if ask_from == 1 else f"a query with {ask_from} documents or more"
    return f"After the last document of {of}, annotators say whether the corpus answers it.{as_lists}"


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

    def action() -> Managed:
        state = act(store, status.round, acts.by, reason.strip())
        still = ", and still paused" if name == "Reopen" and getattr(state, "paused", False) else ""
        remark = getattr(state, "remark", "")
        said = f"“{status.round}” {done}{still}.{f' {remark}' if remark else ''}"
        return Managed.now(status.round, said)._replace(deleted=name == "Delete")

    if sure:
        acts.do(form, action)
    if back:
        st.session_state["sure"] = None
        st.rerun()
