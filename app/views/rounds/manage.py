"""Rounds, transfers: hand somebody's untouched work to others, or let others join and share it.

Rounds, Manage: pause, resume, close, reopen and delete a round; below, transfers of work.

These need a second click: the first button says what will happen, the second one does it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

import streamlit as st

from app import ui
from app.acts import Acts
from curation.labeling.rounds.lifecycle import (
    against_deleting,
    delete_round,
    pause_round,
    reopen_round,
    resume_round,
    round_state,
)
from curation.labeling.rounds.rounds import ShownAs, shown_as
from curation.labeling.rounds.status import RoundStatus
from curation.labeling.transfers.extension import extend_round
from curation.labeling.transfers.reassignment import reassign
from curation.people.annotators import able_to_judge, usual_names
from curation.relabeling.drift.closing import close_round
from curation.store import Store, utc_now
from curation.text import amount

SOMEBODY = "Choose a person"
MANAGE = "manage"
"""The form state that all forms of this part share: each act brings new fields and buttons."""


class Managed(NamedTuple):
    """The last act of this session: the round, when, what was done, and whether the round is gone."""

    round: str
    at: datetime
    said: str
    deleted: bool = False

    @classmethod
    def now(cls, name: str, said: str) -> Managed:
        return cls(name, utc_now(), said)


def show_people(store: Store, status: RoundStatus, acts: Acts) -> None:
    with store.reading() as cursor:
        able = usual_names(able_to_judge(cursor))
    inside = [one.annotator for one in status.annotators]
    outside = [name for name in able if name not in inside]
    if status.kind != "pilot":
        _hand_over(store, status, acts, outside)
    _extend(store, status, acts, outside)


def _extend(store: Store, status: RoundStatus, acts: Acts, outside: list[str]) -> None:
    ui.heading("Extend")
    labeling = status.kind == "labeling"
    ui.quiet(
        "In a pilot, new members get the same pairs as everybody."
        if status.kind == "pilot"
        else "New members take unstarted items from the others until loads are equal."
    )
    if not (outside or labeling):
        ui.quiet("Every annotator is in this round.")
        return
    given = sum(one.presentations for one in status.annotators)
    form = acts.form(MANAGE)
    place = f"{form.key} {status.round} {given}"
    with st.form(f"extend {place}", width=640):
        joining = st.multiselect(
            "New members",
            outside,
            placeholder=SOMEBODY if outside else "every annotator is in it",
            disabled=not outside,
        )
        new = labeling and st.checkbox("Add the candidates that no round has shown yet")
        asked = st.form_submit_button("Extend", type="primary", key=f"extend button {place}")
    if not asked:
        return
    if not (joining or new):
        st.error("Choose new members, or tick the box.", icon=":material/error:")
        return

    def action() -> Managed:
        done = extend_round(store, status.round, joining, new, acts.by)
        stays = "".join(f" {count:,}: {why}." for why, count in done.left_out.items())
        added = amount(done.candidates, "candidate")
        said = f"{added} added; {amount(done.moved, 'pair is', 'pairs are')} with those who joined.{stays}"
        return Managed.now(status.round, said)

    acts.do(form, action)


def _hand_over(store: Store, status: RoundStatus, acts: Acts, outside: list[str]) -> None:
    people = [one.annotator for one in status.annotators if one.answered < one.presentations]
    if not people:
        return
    ui.heading("Reassign unstarted items")
    from_ = st.selectbox(
        "Whose work", people, index=None, width=320, key=f"from {status.round}", placeholder=SOMEBODY
    )
    if from_ is None:
        return
    inside = [one.annotator for one in status.annotators if one.annotator != from_]
    form = acts.form(MANAGE)
    with st.form(f"hand over {form.key} {status.round} {from_}", width=640):
        to = st.multiselect("To", [*inside, *outside], default=inside)
        sure = st.checkbox(
            f"{ui.plain(from_)} loses the items that they have not started; the others keep them"
        )
        asked = st.form_submit_button("Reassign", type="primary")
    if not asked:
        return
    if not sure or not to:
        st.error("Choose who takes the items, and tick the box.", icon=":material/error:")
        return

    def action() -> Managed:
        moved = reassign(store, status.round, from_, to, acts.by)
        stays = "".join(f" {count:,} {why}." for why, count in moved.left_out.items())
        pairs = amount(moved.moved, f"pair of {from_} is", f"pairs of {from_} are")
        return Managed.now(status.round, f"{pairs} with others now.{stays}")

    acts.do(form, action)


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
            ui.quiet(_shown(shown_as(cursor, status.round)))
        show_people(store, status, acts)


def _shown(how: ShownAs) -> str:
    lists = " The documents of a query come as a list." if how.lists else ""
    if not how.ask_from:
        return f"Nobody is asked whether the corpus answers a query.{lists}"
    of = "any query" if how.ask_from == 1 else f"a query with {how.ask_from} documents or more"
    return f"After the last document of {of}, annotators say whether the corpus answers it.{lists}"


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
