"""Rounds, Manage: the forms with which a lead changes a round and its annotators.

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
from curation.labeling.rounds.delete_round import DeletedRound, delete_round, explain_undeletable
from curation.labeling.rounds.move_request import move_work
from curation.labeling.rounds.round_states import read_round_state, set_round_state
from curation.labeling.rounds.status import RoundStatus
from curation.labeling.rounds.upcoming import ShownRound, read_rounds
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.relabeling.fixed_reports import close_round
from curation.store import Store, utc_now

ACTIONS = {
    "Pause": ("paused", "Annotators see no items of “{}” until you resume it."),
    "Resume": ("open", "Annotators see the items of “{}” again."),
    "Close": (
        "closed",
        "Annotators no longer see the items of “{}”. Late answers are kept and marked as late.",
    ),
    "Delete": (
        "deleted",
        "This removes “{}” and its items, which nobody has answered. Queries and pools stay.",
    ),
    "Reopen": ("open", "Annotators see the unanswered items of “{}” again."),
}
"""Button → the state of the round after the click, and a sentence about the effect."""
PROMPT = "Choose a person"
FORM = "manage"
"""The form state that all forms of this part share, so that each action renews all fields and buttons."""


class LastAct(NamedTuple):
    """This session's last action in the part Manage: the round, the time and the result."""

    round: str
    at: datetime
    result: Result


def show(store: Store, status: RoundStatus, acts: Acts) -> None:
    last: LastAct | None = acts.form(FORM).result
    if last is not None and (last.round == status.round or isinstance(last.result, DeletedRound)):
        ui.success(f"{last.at:%H:%M} UTC: {' '.join(last.result.sentences)}")
    actions = ["Reopen"] if status.closed else ["Resume" if status.paused else "Pause", "Close"]
    with store.reading() as cursor:
        if not explain_undeletable(cursor, read_round_state(cursor, status.round)):
            actions.append("Delete")
    version = f"{acts.form(FORM).key} {status.round} {status.paused} {status.closed}"
    ui.note("Changes to a round are logged with your name. No answer is lost.")
    for name in actions:
        with st.container(horizontal=True, vertical_alignment="center"):
            state_update = {"sure": (name, version)}
            st.button(name, key=f"{name} {version}", on_click=st.session_state.update, args=(state_update,))
            ui.note(ACTIONS[name][1].format(status.round))
    choice = st.session_state.get("sure")
    if choice and choice[1] == version and choice[0] in actions:
        _confirm(store, status, acts, choice[0])
    if not status.closed and status.kind in ("labeling", "audit", "pilot"):
        with store.reading() as cursor:
            rounds = read_rounds(cursor).values()
        ui.note(next(_describe_questions(item) for item in rounds if item.name == status.round))
        _ask_people(store, status, acts)


def _describe_questions(round_: ShownRound) -> str:
    lists_sentence = " Annotators see a query's documents as a list." if round_.shows_lists else ""
    if not round_.ask_from:
        return f"This round does not ask whether the corpus answers a query.{lists_sentence}"
    queries = "any query" if round_.ask_from == 1 else f"a query with {round_.ask_from} documents or more"
    question = f"After the last document of {queries}, annotators say whether the corpus answers the query."
    return f"{question}{lists_sentence}"


def _confirm(store: Store, status: RoundStatus, acts: Acts, name: str) -> None:
    state, effect = ACTIONS[name]
    with st.form(f"sure {acts.form(FORM).key} {name} {status.round}", width=640):
        st.markdown(ui.literal(effect.format(status.round)))
        reason = st.text_input("Reason (optional)", max_chars=500).strip()
        with st.container(horizontal=True):
            confirmed = st.form_submit_button(f"{name} “{ui.literal(status.round)}”", type="primary")
            cancelled = st.form_submit_button("Leave it as it is")
    if confirmed:
        _run_action(acts, status, lambda: _change_round(store, status.round, state, acts.by, reason))
    if cancelled:
        st.session_state["sure"] = None
        st.rerun()


def _run_action(acts: Acts, status: RoundStatus, action: Callable[[], Result]) -> None:
    """Run the action of a form in the part Manage, and keep the result for the page's next run."""
    acts.do(acts.form(FORM), lambda: LastAct(status.round, utc_now(), action()))


def _change_round(store: Store, name: str, state: str, by: str, reason: str) -> Result:
    if state == "deleted":
        return delete_round(store, name, by, reason)
    if state == "closed":
        return close_round(store, name, by, reason)
    return set_round_state(store, name, state, by, reason)


def _ask_people(store: Store, status: RoundStatus, acts: Acts) -> None:
    with store.reading() as cursor:
        names = select_default_names(list_eligible_annotators(cursor))
    members = [annotator.annotator for annotator in status.annotators]
    non_members = [name for name in names if name not in members]
    if status.kind != "pilot":
        _ask_reassignment(store, status, acts, non_members)
    _ask_extension(store, status, acts, non_members)


def _ask_extension(store: Store, status: RoundStatus, acts: Acts, non_members: list[str]) -> None:
    ui.heading("Extend")
    is_labeling = status.kind == "labeling"
    ui.note(
        "In a pilot, new annotators get the same pairs as everyone else."
        if status.kind == "pilot"
        else "New annotators take over unstarted items until everyone has the same number."
    )
    if not (non_members or is_labeling):
        ui.note("Every annotator is in this round.")
        return
    presentations = sum(annotator.presentations for annotator in status.annotators)
    version = f"{acts.form(FORM).key} {status.round} {presentations}"
    with st.form(f"extend {version}", width=640):
        new_members = st.multiselect(
            "New members",
            non_members,
            placeholder=PROMPT if non_members else "every annotator is in the round",
            disabled=not non_members,
        )
        adds_candidates = is_labeling and st.checkbox("Add the candidates that no round has shown yet")
        submitted = st.form_submit_button("Extend", type="primary", key=f"extend button {version}")
    if not submitted:
        return
    if not (new_members or adds_candidates):
        st.error("Choose new annotators, or tick the box to add candidates.", icon=":material/error:")
        return
    request = MoveRequest(status.round, join=new_members, new=adds_candidates)
    _run_action(acts, status, lambda: move_work(store, request, acts.by))


def _ask_reassignment(store: Store, status: RoundStatus, acts: Acts, non_members: list[str]) -> None:
    people = [person.annotator for person in status.annotators if person.answered < person.presentations]
    if not people:
        return
    ui.heading("Reassign unstarted items")
    giver = st.selectbox("From", people, None, width=320, key=f"from {status.round}", placeholder=PROMPT)
    if giver is None:
        return
    colleagues = [annotator.annotator for annotator in status.annotators if annotator.annotator != giver]
    with st.form(f"hand over {acts.form(FORM).key} {status.round} {giver}", width=640):
        takers = st.multiselect("To", [*colleagues, *non_members], default=colleagues)
        confirmed = st.checkbox(f"Move the unstarted items away from {ui.literal(giver)}")
        submitted = st.form_submit_button("Reassign", type="primary")
    if not submitted:
        return
    if not confirmed or not takers:
        st.error("Choose who takes over the items, and tick the box.", icon=":material/error:")
        return
    request = MoveRequest(status.round, giver, takers)
    _run_action(acts, status, lambda: move_work(store, request, acts.by))
