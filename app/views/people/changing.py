"""People, changing: one account's role, password and addresses, and whether it is active.

People, adding: a form for somebody new, who signs in by a password, an address, or both.

People, practising: how somebody does in practice, another attempt for them, and letting them pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from app import ui
from app.acts import Acts
from app.signin.current_user import accounts
from app.signin.providers import auth_settings
from curation.labeling.practice.opening import let_pass, practise_again
from curation.labeling.practice.status import PracticeStatus, practice_statuses
from curation.labeling.transfers.reassignment import AccountChange, change_role, deactivate_annotator
from curation.people.accounts import Account, activate, add_identity, end_sign_ins, remove_identity
from curation.people.annotators import ROLES, SHORTEST_PASSWORD, add_annotator, set_password
from curation.people.sign_ins import list_sign_ins
from curation.store import Store
from curation.text import amount, percent


def show_practice(store: Store, acts: Acts, chosen: Account) -> None:
    with store.reading() as cursor:
        found = practice_statuses(cursor, chosen.name)
    if not found:
        return
    ui.heading("Practice")
    for status in found:
        ui.sentences(f"{status.round}: {_state(status)}")
        if chosen.active and status.state.passed is not True:
            _decide(store, acts, status)


def _decide(store: Store, acts: Acts, status: PracticeStatus) -> None:
    place = f"{acts.form(PEOPLE).key} {status.round_id} {status.annotator}"
    running = status.state.passed is None
    if st.button("Let practise again", disabled=running, key=f"again {place}"):

        def again() -> str:
            new = practise_again(store, status.round, status.annotator, acts.by)
            return f"{status.annotator} has {new.state.total:,} new items to practise on."

        act(acts, again)
    if running:
        ui.quiet("They can practise again once all items are answered.")
    with st.form(f"pass {place}"):
        reason = st.text_input("Why they may begin without having passed", max_chars=500)
        asked = st.form_submit_button("Let pass")

    def passed() -> str:
        let_pass(store, status.round, status.annotator, reason, acts.by)
        return f"{status.annotator} gets real items now."

    if asked and not reason.strip():
        st.error("Letting somebody pass needs a reason.", icon=":material/error:")
    elif asked:
        act(acts, passed)


def _state(status: PracticeStatus) -> str:
    state = status.state
    if status.waived:
        return "let pass."
    answers = amount(state.answered, "answer")
    right = f"{state.right:,} of {answers} as expected, {percent(state.pass_mark)} needed"
    if state.passed is None:
        return f"under way, {state.answered:,} of {state.total:,} answered, {right}."
    return f"{'passed' if state.passed else 'not passed'}, {right}."


PEOPLE = "people"
"""The form state that all forms of the page share: each act brings new fields and buttons."""


def show(store: Store, acts: Acts, chosen: Account, open_items: int) -> None:
    if chosen.imported:
        ui.quiet(
            "Known only from imported judgments. Add them under the same name, and the judgments are theirs."
        )
        return
    if chosen.name == acts.by:
        ui.quiet(
            "This is you. Another lead can change your role; Account, next to Sign out, has your password."
        )
    elif not chosen.active:
        _activate(store, acts, chosen)
    else:
        _role(store, acts, chosen, open_items)
        if auth_settings().passwords:
            _password(store, acts, chosen)
    _addresses(store, acts, chosen)
    _sign_ins(store, acts, chosen)


def end(store: Store, acts: Acts, chosen: Account, open_items: int) -> None:
    """Offer to deactivate the account."""
    if chosen.active and not chosen.imported and chosen.name != acts.by:
        ui.heading("Deactivate")
        _deactivate(store, acts, chosen, open_items)


def act(acts: Acts, action: Callable[[], str]) -> None:
    """Do what a form of the page asks; open sessions hear of it at once."""

    def and_tell() -> str:
        said = action()
        accounts().expire()
        return said

    acts.do(acts.form(PEOPLE), and_tell)


def _role(store: Store, acts: Acts, chosen: Account, open_items: int) -> None:
    place = f"{acts.form(PEOPLE).key} {chosen.name}"
    with st.form(f"role {place}"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            role = st.selectbox("Role", ROLES, index=ROLES.index(chosen.role), width=320)
            asked = st.form_submit_button("Change role")
        if open_items:
            ui.quiet(
                f"An evaluator judges nothing: {open_items:,} open items would go to others in their rounds."
            )
    if asked:
        act(
            acts,
            lambda: _described(
                change_role(store, chosen.name, role, acts.by), f"{chosen.name} is {role} now."
            ),
        )


def _password(store: Store, acts: Acts, chosen: Account) -> None:
    place = f"{acts.form(PEOPLE).key} {chosen.name}"
    row = st.form(f"password {place}").container(horizontal=True, vertical_alignment="bottom")
    with row:
        new = st.text_input(
            "New password",
            type="password",
            autocomplete="new-password",
            width=320,
            help=f"At least {SHORTEST_PASSWORD} characters. Wherever they are signed in, that ends.",
        )
        asked = st.form_submit_button("Set password")

    def action() -> str:
        set_password(store, chosen.name, new, acts.by)
        return f"{chosen.name} has a new password, and is signed out everywhere."

    if asked:
        act(acts, action)


def _addresses(store: Store, acts: Acts, chosen: Account) -> None:
    place = f"{acts.form(PEOPLE).key} {chosen.name}"
    row = st.form(f"address {place}").container(horizontal=True, vertical_alignment="bottom")
    with row:
        new = st.text_input(
            "E-mail address for the identity provider", width=320, placeholder="ada@example.org"
        )
        asked = st.form_submit_button("Add address")
    if asked:
        act(
            acts, lambda: f"{chosen.name} signs in as {add_identity(store, chosen.name, new, acts.by).email}."
        )
    for email in chosen.emails:
        if st.button(f"Remove {ui.plain(email)}", key=f"remove {email} {place}"):
            act(acts, partial(_removed, store, acts, chosen.name, email))


def _sign_ins(store: Store, acts: Acts, chosen: Account) -> None:
    with store.reading() as cursor:
        found = list_sign_ins(cursor, chosen.name)
    if not found:
        return
    ui.heading("Signed in")
    for one in found:
        place = f" at {one.network}" if one.network else ""
        text, button = st.columns([6, 1], vertical_alignment="center")
        with text:
            times = f"since {one.since:%d %b %H:%M}, last used {one.last_used:%d %b %H:%M} UTC"
            ui.quiet(f"{one.device}{place}, {times}")
        if button.button("End", key=f"end {one.sign_in_id}"):
            act(acts, partial(_ended, store, acts, chosen.name, one.sign_in_id))
    if len(found) > 1 and st.button("End all", key=f"end all {acts.form(PEOPLE).key} {chosen.name}"):
        act(acts, partial(_ended, store, acts, chosen.name, ""))


def _ended(store: Store, acts: Acts, name: str, begins: str) -> str:
    return f"{amount(end_sign_ins(store, name, begins, acts.by), 'sign-in')} of {name} ended."


def _removed(store: Store, acts: Acts, name: str, email: str) -> str:
    remove_identity(store, name, email, acts.by)
    return f"{name} no longer signs in as {email}."


def _deactivate(store: Store, acts: Acts, chosen: Account, open_items: int) -> None:
    place = f"{acts.form(PEOPLE).key} {chosen.name}"
    work = f"; {open_items:,} open items go to the others in their rounds" if open_items else ""
    with st.form(f"deactivate {place}"):
        sure = st.checkbox(f"{ui.plain(chosen.name)} cannot sign in any more, also where they are now{work}")
        asked = st.form_submit_button("Deactivate")
    if asked and not sure:
        st.error("Tick the box first.", icon=":material/error:")
    elif asked:
        said = f"{chosen.name} is deactivated. Their judgments remain and count."
        act(acts, lambda: _described(deactivate_annotator(store, chosen.name, acts.by), said))


def _activate(store: Store, acts: Acts, chosen: Account) -> None:
    if not st.button("Activate", type="primary", key=f"activate {acts.form(PEOPLE).key} {chosen.name}"):
        return

    def action() -> str:
        activate(store, chosen.name, acts.by)
        return f"{chosen.name} can sign in again. What others took over stays with them."

    act(acts, action)


def _described(changed: AccountChange, sentence: str) -> str:
    returned: Sequence[str] = [one.sentence for one in changed.returned]
    return "\n".join([sentence, *returned])


MEANING = {
    "annotator": "grades documents",
    "reviewer": "grades, and settles disagreements",
    "lead": "all of this, and the project itself",
    "evaluator": "scores systems, and sees nothing of labeling",
}


def add_somebody(store: Store, acts: Acts) -> None:
    ui.heading("Add somebody")
    with st.form(f"add {acts.form(PEOPLE).key}"):
        name = st.text_input("Name", max_chars=63, help="Letters, digits and . @ + - _, no spaces.")
        role = st.selectbox(
            "Role", ROLES, format_func=lambda role: f"{role}: {MEANING[role]}", key="new role"
        )
        password = ""
        if auth_settings().passwords:
            password = st.text_input(
                "Password",
                type="password",
                autocomplete="new-password",
                help=f"At least {SHORTEST_PASSWORD} characters. They can change it.",
            )
        email = st.text_input("E-mail address", help="For sign-in through an identity provider.")
        asked = st.form_submit_button("Add", type="primary")

    def action() -> str:
        added = add_annotator(store, name.strip(), role, password or None, email.strip() or None, acts.by)
        return f"{added.name} is here as {added.role}."

    if asked:
        act(acts, action)
