"""Rounds, Manage: forms to pause, resume, close, reopen and delete a round, to reassign items, and to add
annotators.

A change of a round needs two clicks: after the first click the page says what will happen, and the second
    click makes the change.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

import streamlit as st

from app import ui
from app.acts import Acts
from curation.core.operation import Result
from curation.labeling.requests import MoveRequest
from curation.labeling.rounds.moving import move_work
from curation.labeling.rounds.rounds import (
    DeletedRound,
    delete_round,
    explain_undeletable,
    read_round_state,
    set_round_state,
)
from curation.labeling.rounds.status import RoundStatus
from curation.labeling.rounds.upcoming import ShownRound, read_rounds
from curation.people.annotators import able_to_judge, usual_names
from curation.relabeling.fixed_reports import close_round
from curation.store import Store, utc_now

ACTIONS = {
    "Pause": ("paused", "Annotators see no items of “{}” until the round is resumed."),
    "Resume": ("open", "Annotators see items of “{}” again."),
    "Close": ("closed", "Annotators see no more items of “{}”. Late answers are kept and marked."),
    "Delete": (
        "deleted",
        "“{}” and its assignments are deleted. Nobody has answered its items; queries and pools stay.",
    ),
    "Reopen": ("open", "“{}” opens again with its unanswered items."),
}
"""Button → the state of the round after the click, and a sentence about the effect."""
SOMEBODY = "Choose a person"
MANAGE = "manage"
"""The name of the form state that all forms of the part Manage share, so that each action renews all fields
and buttons.
"""


class LastAct(NamedTuple):
    """The last action of this session in the part Manage: the round, the time and the result."""

    round: str
    at: datetime
    result: Result


def show(store: Store, status: RoundStatus, acts: Acts) -> None:
    last: LastAct | None = acts.form(MANAGE).result
    if last is not None and (last.round == status.round or isinstance(last.result, DeletedRound)):
        ui.success(f"{last.at:%H:%M} UTC: {' '.join(last.result.sentences)}")
    offered = ["Reopen"] if status.closed else ["Resume" if status.paused else "Pause", "Close"]
    with store.reading() as cursor:
        if not explain_undeletable(cursor, read_round_state(cursor, status.round)):
            offered.append("Delete")
    place = f"{acts.form(MANAGE).key} {status.round} {status.paused} {status.closed}"
    ui.quiet("Changes to a round are recorded with your name. No answer is lost.")
    for name in offered:
        with st.container(horizontal=True, vertical_alignment="center"):
            wish = {"sure": (name, place)}
            st.button(name, key=f"{name} {place}", on_click=st.session_state.update, args=(wish,))
            ui.quiet(ACTIONS[name][1].format(status.round))
    asked = st.session_state.get("sure")
    if asked and asked[1] == place and asked[0] in offered:
        _confirm(store, status, acts, asked[0])
    if not status.closed and status.kind in ("labeling", "audit", "pilot"):
        with store.reading() as cursor:
            rounds = read_rounds(cursor).values()
        ui.quiet(next(_describe(round_) for round_ in rounds if round_.name == status.round))
        show_people(store, status, acts)


def _describe(round_: ShownRound) -> str:
    as_lists = " The documents of a query come as a list." if round_.lists else ""
    if not round_.ask_from:
        return f"This round does not ask whether the corpus answers a query.{as_lists}"
    of = "any query" if round_.ask_from == 1 else f"a query with {round_.ask_from} documents or more"
    return f"After the last document of {of}, annotators say whether the corpus answers the query.{as_lists}"


def _confirm(store: Store, status: RoundStatus, acts: Acts, name: str) -> None:
    state, words = ACTIONS[name]
    with st.form(f"sure {acts.form(MANAGE).key} {name} {status.round}", width=640):
        st.markdown(ui.plain(words.format(status.round)))
        reason = st.text_input("Reason (optional)", max_chars=500).strip()
        with st.container(horizontal=True):
            sure = st.form_submit_button(f"{name} “{ui.plain(status.round)}”", type="primary")
            back = st.form_submit_button("Leave it as it is")
    if sure:
        _act(acts, status, lambda: _change(store, status.round, state, acts.by, reason))
    if back:
        st.session_state["sure"] = None
        st.rerun()


def _act(acts: Acts, status: RoundStatus, action: Callable[[], Result]) -> None:
    """Run the action of a form of the part Manage, and keep the result for the next run of the page."""
    acts.do(acts.form(MANAGE), lambda: LastAct(status.round, utc_now(), action()))


def _change(store: Store, name: str, state: str, by: str, reason: str) -> Result:
    if state == "deleted":
        return delete_round(store, name, by, reason)
    if state == "closed":
        return close_round(store, name, by, reason)
    return set_round_state(store, name, state, by, reason)


def show_people(store: Store, status: RoundStatus, acts: Acts) -> None:
    with store.reading() as cursor:
        able = usual_names(able_to_judge(cursor))
    inside = [annotator.annotator for annotator in status.annotators]
    outside = [name for name in able if name not in inside]
    if status.kind != "pilot":
        _hand_over(store, status, acts, outside)
    _extend(store, status, acts, outside)


def _extend(store: Store, status: RoundStatus, acts: Acts, outside: list[str]) -> None:
    ui.heading("Extend")
    labeling = status.kind == "labeling"
    ui.quiet(
        "In a pilot, new annotators get the same pairs as everybody."
        if status.kind == "pilot"
        else "New annotators take unstarted items from other annotators until everybody has equally many."
    )
    if not (outside or labeling):
        ui.quiet("Every annotator is in this round.")
        return
    given = sum(annotator.presentations for annotator in status.annotators)
    place = f"{acts.form(MANAGE).key} {status.round} {given}"
    with st.form(f"extend {place}", width=640):
        joining = st.multiselect(
            "New members",
            outside,
            placeholder=SOMEBODY if outside else "every annotator is in the round",
            disabled=not outside,
        )
        new = labeling and st.checkbox("Add the candidates that no round has shown yet")
        asked = st.form_submit_button("Extend", type="primary", key=f"extend button {place}")
    if not asked:
        return
    if not (joining or new):
        st.error("Choose new annotators, or tick the box.", icon=":material/error:")
        return
    request = MoveRequest(status.round, join=joining, new=new)
    _act(acts, status, lambda: move_work(store, request, acts.by))


def _hand_over(store: Store, status: RoundStatus, acts: Acts, outside: list[str]) -> None:
    people = [one.annotator for one in status.annotators if one.answered < one.presentations]
    if not people:
        return
    ui.heading("Reassign unstarted items")
    from_ = st.selectbox(
        "From", people, index=None, width=320, key=f"from {status.round}", placeholder=SOMEBODY
    )
    if from_ is None:
        return
    inside = [annotator.annotator for annotator in status.annotators if annotator.annotator != from_]
    with st.form(f"hand over {acts.form(MANAGE).key} {status.round} {from_}", width=640):
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
    request = MoveRequest(status.round, from_, to)
    _act(acts, status, lambda: move_work(store, request, acts.by))
