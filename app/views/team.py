"""Team: a page with the people of the project, forms to change an account, and a form to invite people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import streamlit as st

from app import ui
from app.acts import Acts, FormState
from app.app_page import LEADS, SETTINGS, AppPage
from app.components.links import PageLink, page_link
from app.context import project_store
from app.signin.auth_settings import auth_settings
from app.signin.current_user import accounts
from curation.core.text import percent, pluralize
from curation.labeling.rounds.leaving import ReturnedWork, change_role, deactivate_annotator
from curation.labeling.rounds.practice import (
    PracticeStatus,
    practise_again,
    read_practice_statuses,
    waive_practice,
)
from curation.labeling.rounds.status import count_workloads
from curation.people.accounts import (
    LINK_DAYS,
    Account,
    Invitation,
    activate,
    add_identity,
    end_sign_ins,
    invite,
    link_of,
    list_accounts,
    remove_identity,
    withdraw,
)
from curation.people.annotators import ROLES, add_annotator
from curation.people.sign_ins import list_sign_ins
from curation.store import Annotator, Store

COLUMNS = ["Name", "Role", "Signs in", "Judged", "Open items", "Since"]
ADDRESS = "/team"
CHOSEN = "person"
"""The parameter of the page's address that names the account shown."""
MEANING = {
    "annotator": "annotator: grades documents",
    "reviewer": "reviewer: grades, and decides disputes",
    "lead": "lead: has all rights, also over the project",
    "evaluator": "evaluator: scores systems, and sees no labeling",
}


def show(annotator: Annotator) -> None:
    acts, store = Acts(annotator), project_store()
    with store.reading() as cursor:
        accounts = list_accounts(cursor)
        loads = count_workloads(cursor)
    chosen = next((account for account in accounts if account.name == st.query_params.get(CHOSEN)), None)
    left, right = st.columns([2, 1], gap="medium")
    with left:
        ui.table(
            "Everybody", COLUMNS, [_row(account, loads.get(account.name, (0, 0))) for account in accounts]
        )
        ui.quiet("Choose a name to change the account. The judgments of deactivated people stay.")
    with right:
        _done(forms(acts).result)
        if chosen is None:
            invite_somebody(store, acts)
        else:
            ui.heading(chosen.name)
            show_account(store, acts, chosen, loads.get(chosen.name, (0, 0))[1])
            st.html(f'<p class="gs-quiet">{page_link(PageLink("Invite somebody", ADDRESS))}</p>')


PAGE = AppPage(50, "Team", "team", LEADS, show, group=SETTINGS)


def _done(last: Done | None) -> None:
    """Show the result of the last action next to the forms, because the top of the page may be out of
    view.
    """
    if last:
        ui.success(last.said)
        if last.link:
            st.code(last.link, language=None, wrap_lines=True)


def _row(account: Account, load: tuple[int, int]) -> tuple[object, ...]:
    return (
        PageLink(account.name, f"{ADDRESS}?{urlencode({CHOSEN: account.name})}"),
        account.role,
        account.ways,
        *load,
        f"{account.added_at:%d %b %Y}",
    )


class Done(NamedTuple):
    """A sentence about the last action, and the invitation link that the action made, if any."""

    said: str
    link: str = ""


def forms(acts: Acts) -> FormState:
    """Return the state that all forms of an account share, so that each action renews all fields and
    buttons.
    """
    return acts.form(f"people {st.query_params.get(CHOSEN)}")


def show_account(store: Store, acts: Acts, chosen: Account, open_items: int) -> None:
    """Show an account with the forms by which a lead changes it."""
    if chosen.imported:
        ui.quiet("Imported judgments name this person. An invitation by this name transfers the judgments.")
        return
    if chosen.name == acts.by:
        ui.quiet("This is you. Another lead can change your role. Your password is under Account.")
    elif not chosen.active:
        if _clicked(acts, "Activate", type="primary"):
            said = f"{chosen.name} can sign in again. Items taken over by other people stay with them."
            act_and_tell(acts, said, activate, store, chosen.name)
    else:
        _role(store, acts, chosen, open_items)
        if auth_settings().passwords:
            _link(store, acts, chosen)
    if auth_settings().providers or chosen.emails:
        _addresses(store, acts, chosen)
    _sign_ins(store, acts, chosen)
    _practice(store, acts, chosen)
    if chosen.active and chosen.name != acts.by:
        _deactivate(store, acts, chosen, open_items)


def invite_somebody(store: Store, acts: Acts) -> None:
    ui.heading("Invite somebody")
    by_provider, by_password = auth_settings().providers, auth_settings().passwords
    with st.form(f"invite {forms(acts).key}"):
        name = st.text_input("Name", max_chars=63, help="Letters, digits and . @ + - _, no spaces.").strip()
        role = st.selectbox("Role", ROLES, format_func=MEANING.__getitem__, key="new role")
        help_ = "A person with an address signs in through the identity provider, and gets no link."
        email = st.text_input("E-mail address", help=help_).strip() if by_provider else ""
        asked = st.form_submit_button("Invite", type="primary")
    ui.quiet(f"You get a link to send, which works once, for {LINK_DAYS} days. They choose a password.")
    if asked and (email or not by_password):
        act_and_tell(acts, f"{name} is {role} now.", add_annotator, store, name, role, None, email or None)
    elif asked:
        act_and_tell(acts, _with_link(), invite, store, name, role)


def act_and_tell(
    acts: Acts, said: str | Callable[[Any], Done], action: Callable[..., Any], *given: object
) -> None:
    """Run the action of a form of the page; changes take effect in open sessions at once.

    Parameters
    ----------
    said: the sentence about the action, or a function that makes this sentence from the result of `action`.
    action: a function that is called with the given arguments and with the name of the lead.
    """

    def and_tell() -> Done:
        result = action(*given, acts.by)
        accounts().expire()
        return Done(said) if isinstance(said, str) else said(result)

    acts.do(forms(acts), and_tell)


def _clicked(acts: Acts, label: str, key: str = "", **more: Any) -> bool:
    return st.button(label, key=f"{label} {key} {forms(acts).key}", **more)


def _with_link() -> Callable[[Invitation], Done]:
    """Return a function that describes an invitation, with a link to the address of the lead's browser."""
    address = urlsplit(st.context.url or "")._replace(path="", query="", fragment="").geturl()

    def said(made: Invitation) -> Done:
        until = f"{made.expires:%d %b %Y %H:%M} UTC"
        sentence = f"{made.name} is invited as {made.role}. Send this link: it works once, until {until}."
        if address.startswith(("http://localhost", "http://127.0.0.1")):
            sentence += "\nFor people on other machines, replace localhost by this machine's address."
        return Done(sentence, link_of(address, made.token))

    return said


def _role(store: Store, acts: Acts, chosen: Account, open_items: int) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        role = st.selectbox("Role", ROLES, ROLES.index(chosen.role), key=f"role {forms(acts).key}", width=180)
        asked = _clicked(acts, "Change role")
    if open_items:
        ui.quiet(f"An evaluator does not judge: {open_items:,} open items would go to other people.")
    if asked:
        act_and_tell(acts, _described(f"{chosen.name} is {role} now."), change_role, store, chosen.name, role)


def _link(store: Store, acts: Acts, chosen: Account) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if _clicked(acts, "Reset password by a link" if chosen.password else "Make a new link"):
            act_and_tell(acts, _with_link(), invite, store, chosen.name, None)
        if chosen.link_until and _clicked(acts, "Withdraw the link"):
            act_and_tell(acts, f"The link of {chosen.name} no longer works.", withdraw, store, chosen.name)


def _addresses(store: Store, acts: Acts, chosen: Account) -> None:
    with st.form(f"address {forms(acts).key}"):
        new = st.text_input("E-mail address for the identity provider", placeholder="ada@example.org")
        asked = st.form_submit_button("Add address")
    if asked:
        act_and_tell(acts, f"{chosen.name} signs in as {new.strip()}.", add_identity, store, chosen.name, new)
    for email in chosen.emails:
        if _clicked(acts, f"Remove {ui.plain(email)}"):
            said = f"{chosen.name} no longer signs in as {email}."
            act_and_tell(acts, said, remove_identity, store, chosen.name, email)


def _sign_ins(store: Store, acts: Acts, chosen: Account) -> None:
    with store.reading() as cursor:
        sign_ins = list_sign_ins(cursor, chosen.name)
    if sign_ins:
        ui.heading("Signed in")
    ended = ""
    for sign_in in sign_ins:
        text, button = st.columns([4, 1], vertical_alignment="center")
        with text:
            ui.quiet(f"{sign_in.place}, {sign_in.times}")
        if button.button("End", key=f"end {sign_in.sign_in_id}"):
            ended = sign_in.sign_in_id
    if ended or (len(sign_ins) > 1 and _clicked(acts, "End all")):

        def said(number: int) -> Done:
            return Done(f"{pluralize(number, 'sign-in')} of {chosen.name} ended.")

        act_and_tell(acts, said, end_sign_ins, store, chosen.name, ended)


def _practice(store: Store, acts: Acts, chosen: Account) -> None:
    with store.reading() as cursor:
        statuses = read_practice_statuses(cursor, chosen.name)
    if statuses:
        ui.heading("Practice")
    for status in statuses:
        state = status.state
        right = f"{state.right:,} as expected, {percent(state.pass_mark)} needed"
        answered = f"{state.answered:,} of {state.total:,} answered"
        ui.sentences(f"{status.round}: {status.standing}; {answered}, {right}.")
        if chosen.active and status.state.passed is not True:
            _decide(store, acts, status)


def _decide(store: Store, acts: Acts, status: PracticeStatus) -> None:
    running = status.state.passed is None
    if _clicked(acts, "Allow more practice", status.round_id, disabled=running):

        def said(new: PracticeStatus) -> Done:
            return Done(f"{status.annotator} has {new.state.total:,} new items to practise on.")

        act_and_tell(acts, said, practise_again, store, status.round, status.annotator)
    if running:
        ui.quiet("The person can practise again once all items are answered.")
    with st.form(f"pass {forms(acts).key} {status.round_id}"):
        reason = st.text_input("Why the person may begin without having passed", max_chars=500)
        asked = st.form_submit_button("Let pass")
    if asked and not reason.strip():
        st.error("Letting a person pass needs a reason.", icon=":material/error:")
    elif asked:
        said_then = f"{status.annotator} gets real items now."
        act_and_tell(acts, said_then, waive_practice, store, status.round, status.annotator, reason)


def _deactivate(store: Store, acts: Acts, chosen: Account, open_items: int) -> None:
    work = f"; {open_items:,} open items go to the others in their rounds" if open_items else ""
    with st.form(f"deactivate {forms(acts).key}"):
        sure = st.checkbox(f"Sign {ui.plain(chosen.name)} out everywhere and block the account{work}")
        asked = st.form_submit_button("Deactivate")
    if asked and not sure:
        st.error("Tick the box first.", icon=":material/error:")
    elif asked:
        said = _described(f"{chosen.name} is deactivated. Judgments remain and count.")
        act_and_tell(acts, said, deactivate_annotator, store, chosen.name)


def _described(sentence: str) -> Callable[[tuple[Annotator, list[ReturnedWork]]], Done]:
    return lambda changed: Done("\n".join([sentence, *(work.sentence for work in changed[1])]))
