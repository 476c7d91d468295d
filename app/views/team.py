"""Team: the page on which a lead invites people and changes their accounts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from app import ui
from app.acts import Acts, FormState
from app.app_page import LEADS, SETTINGS, AppPage
from app.components.links import PageLink, page_link
from app.context import BY_PATH, project_store
from app.signin import current_user
from app.signin.auth_settings import auth_settings
from curation.core.text import join_names, percent, pluralize
from curation.labeling.rounds import practice
from curation.labeling.rounds.leaving import ReturnedWork, change_role, deactivate_annotator
from curation.labeling.rounds.status import count_workloads
from curation.people import accounts, addresses, invitations
from curation.people.accounts import add_annotator
from curation.people.annotators import ROLES
from curation.people.invitations import find_invited_annotator
from curation.people.sign_ins import end_sign_ins, list_sign_ins
from curation.store import Annotator, Store

COLUMNS = ["Name", "Role", "Signs in", "Judged", "Open items", "Since"]
ADDRESS = "/team"
PERSON_PARAMETER = "person"
ROLE_DESCRIPTIONS = {
    "annotator": "annotator: grades documents",
    "reviewer": "reviewer: grades, and decides disputes",
    "lead": "lead: has all rights, including over the project",
    "evaluator": "evaluator: scores systems, and cannot see labeling",
}


def show(annotator: Annotator) -> None:
    acts, store = Acts(annotator), project_store()
    with store.reading() as cursor:
        all_accounts = accounts.list_accounts(cursor)
        workload_by_name = count_workloads(cursor)
    account = next(
        (account for account in all_accounts if account.name == st.query_params.get(PERSON_PARAMETER)), None
    )
    left, right = st.columns([2, 1], gap="medium")
    with left:
        ui.table(
            "Everybody",
            COLUMNS,
            [_make_row(row, workload_by_name.get(row.name, (0, 0))) for row in all_accounts],
        )
        ui.note("Choose a name to change the account. Judgments of deactivated people are kept.")
    with right:
        if get_form(acts).result:  # next to the forms, because the top of the page may be out of view
            ui.success(get_form(acts).result)
        _show_links(store, acts, account)
        if account is None:
            ask_invitation(store, acts)
        else:
            ui.heading(account.name)
            show_account(store, acts, account, workload_by_name.get(account.name, (0, 0))[1])
            st.html(f'<p class="gs-quiet">{page_link(PageLink("Invite people", ADDRESS))}</p>')


PAGE = AppPage(50, "Team", "team", LEADS, show, menu=SETTINGS)


@st.cache_resource(show_spinner=False, hash_funcs=BY_PATH)
def _read_kept_links(store: Store) -> dict[tuple[str, str], tuple[invitations.Invitation, str]]:
    """Return the links that leads have made since the server started, by lead and invited person.

    The project stores no link, so only this server can show them again.
    """
    return {}


def _show_links(store: Store, acts: Acts, account: accounts.Account | None) -> None:
    """Show the lead's links, newest first, until they are used, replaced or withdrawn."""
    links = _read_kept_links(store)
    with store.reading() as cursor:
        shown = [
            (invitation, link)
            for (lead, name), (invitation, link) in reversed(list(links.items()))
            if lead == acts.by and (account is None or account.name == name)
            if find_invited_annotator(cursor, invitation.token)
        ]
    if shown:
        ui.heading("Links to send")
        ui.note("Each link works once. You can copy it here until it is used or the server restarts.")
    for invitation, link in shown:
        ui.note(f"{invitation.name}, {invitation.role}, until {invitation.expires:%d %b %Y %H:%M} UTC")
        st.code(link, language=None, wrap_lines=True)
    if any(link.startswith(("http://localhost", "http://127.0.0.1")) for _, link in shown):
        ui.note("For people on other machines, replace localhost with this machine's address.")


def _make_row(account: accounts.Account, workload: tuple[int, int]) -> tuple[object, ...]:
    return (
        PageLink(account.name, f"{ADDRESS}?{urlencode({PERSON_PARAMETER: account.name})}"),
        account.role,
        account.ways,
        *workload,
        f"{account.added_at:%d %b %Y}",
    )


def get_form(acts: Acts) -> FormState:
    """Return the state shared by all forms of an account, so that each action renews them."""
    return acts.form(f"people {st.query_params.get(PERSON_PARAMETER)}")


def show_account(store: Store, acts: Acts, account: accounts.Account, open_items: int) -> None:
    """Show an account with the forms with which a lead changes it."""
    if account.imported:
        ui.note(
            "This person is known from imported judgments. If you invite someone under "
            "this name, the judgments become theirs."
        )
        return
    if account.name == acts.by:
        ui.note("This is you. Another lead can change your role. Your password is under Account.")
    elif not account.active:
        if _show_button(acts, "Activate", type="primary"):
            sentence = f"{account.name} can sign in again. Items that other people took over stay with them."
            run_action(acts, sentence, accounts.activate, store, account.name)
    else:
        _ask_role(store, acts, account, open_items)
        if auth_settings().passwords:
            _offer_link(store, acts, account)
    if auth_settings().providers or account.emails:
        _ask_addresses(store, acts, account)
    _list_sign_ins(store, acts, account)
    _show_practice(store, acts, account)
    if account.active and account.name != acts.by:
        _ask_deactivation(store, acts, account, open_items)


def ask_invitation(store: Store, acts: Acts) -> None:
    ui.heading("Invite people")
    by_provider, by_password = auth_settings().providers, auth_settings().passwords
    with st.form(f"invite {get_form(acts).key}"):
        entered = st.text_area(
            "Names",
            height=88,
            help="Letters, digits and . @ + - _ without spaces. Put each name on its own line, or "
            "separate names with commas.",
        )
        role = st.selectbox("Role", ROLES, format_func=ROLE_DESCRIPTIONS.__getitem__)
        address_help = (
            "A person with an e-mail address signs in through the identity provider and does not need a link."
        )
        email = st.text_input("E-mail address", help=address_help).strip() if by_provider else ""
        submitted = st.form_submit_button("Invite", type="primary")
    ui.note(
        f"You get a link to send to each person. It works once, within {invitations.LINK_DAYS} days. "
        "The link lets the person choose a password."
    )
    if submitted and (email or not by_password):
        name = entered.strip()
        run_action(acts, f"{name} is {role} now.", add_annotator, store, name, role, None, email or None)
    elif submitted:
        names = list(dict.fromkeys(filter(None, map(str.strip, re.split(r"[,\n]", entered))))) or [""]
        run_action(acts, _make_link_outcome(store, acts), invitations.invite_all, store, names, role)


def run_action(
    acts: Acts, outcome: str | Callable[[Any], str], action: Callable[..., Any], *arguments: object
) -> None:
    """Run the action of one of the page's forms; changes take effect in open sessions at once.

    Parameters
    ----------
    outcome: the sentence about the action, or a function that makes it from the result of `action`.
    action: a function that is called with `arguments` and with the name of the lead.
    """

    def act() -> str:
        result = action(*arguments, acts.by)
        current_user.sign_in_cache().expire()
        return outcome if isinstance(outcome, str) else outcome(result)

    acts.do(get_form(acts), act)


def _show_button(acts: Acts, label: str, key: str = "", **options: Any) -> bool:
    return st.button(label, key=f"{label} {key} {get_form(acts).key}", **options)


def _make_link_outcome(store: Store, acts: Acts) -> Callable[[Sequence[invitations.Invitation]], str]:
    """Return a function that keeps invitation links, using the address in the lead's browser."""
    links = _read_kept_links(store)
    address = urlsplit(st.context.url or "")._replace(path="", query="", fragment="").geturl()

    def describe(made: Sequence[invitations.Invitation]) -> str:
        for invitation in made:
            link = invitations.make_invitation_link(address, invitation.token)
            links[acts.by, invitation.name] = invitation, link
        names, role = [invitation.name for invitation in made], made[0].role
        people = f"is invited as {role}" if len(made) == 1 else f"are invited as {role}s"
        return f"{join_names(names, len(names))} {people}."

    return describe


def _ask_role(store: Store, acts: Acts, account: accounts.Account, open_items: int) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        role = st.selectbox(
            "Role", ROLES, ROLES.index(account.role), key=f"role {get_form(acts).key}", width=180
        )
        submitted = _show_button(acts, "Change role")
    if open_items:
        ui.note(f"Evaluators do not judge, so the {open_items:,} open items would move to other people.")
    if submitted:
        run_action(
            acts, _describe_change(f"{account.name} is {role} now."), change_role, store, account.name, role
        )


def _offer_link(store: Store, acts: Acts, account: accounts.Account) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if _show_button(acts, "Reset the password with a link" if account.password else "Make a new link"):
            run_action(
                acts, _make_link_outcome(store, acts), invitations.invite_all, store, [account.name], None
            )
        if account.link_until and _show_button(acts, "Withdraw the link"):
            run_action(
                acts,
                f"{account.name}'s link no longer works.",
                invitations.withdraw_invitation,
                store,
                account.name,
            )


def _ask_addresses(store: Store, acts: Acts, account: accounts.Account) -> None:
    with st.form(f"address {get_form(acts).key}"):
        new_address = st.text_input("E-mail address for the identity provider", placeholder="ada@example.org")
        submitted = st.form_submit_button("Add address")
    if submitted:
        run_action(
            acts,
            f"{account.name} can now sign in with {new_address.strip()}.",
            addresses.add_address,
            store,
            account.name,
            new_address,
        )
    for email in account.emails:
        if _show_button(acts, f"Remove {ui.literal(email)}"):
            sentence = f"{account.name} can no longer sign in with {email}."
            run_action(acts, sentence, addresses.remove_address, store, account.name, email)


def _list_sign_ins(store: Store, acts: Acts, account: accounts.Account) -> None:
    with store.reading() as cursor:
        sign_ins = list_sign_ins(cursor, account.name)
    if sign_ins:
        ui.heading("Signed in")
    ended_id = ""
    for sign_in in sign_ins:
        text, button = st.columns([4, 1], vertical_alignment="center")
        with text:
            ui.note(f"{sign_in.client_text}, {sign_in.times_text}")
        if button.button("End", key=f"end {sign_in.sign_in_id}"):
            ended_id = sign_in.sign_in_id
    if ended_id or (len(sign_ins) > 1 and _show_button(acts, "End all")):

        def describe(count: int) -> str:
            return f"{account.name}: {pluralize(count, 'sign-in')} ended."

        run_action(acts, describe, end_sign_ins, store, account.name, ended_id)


def _show_practice(store: Store, acts: Acts, account: accounts.Account) -> None:
    with store.reading() as cursor:
        statuses = practice.read_practice_statuses(cursor, account.name)
    if statuses:
        ui.heading("Practice")
    for status in statuses:
        state = status.state
        expected = f"{state.right:,} expected grades, {percent(state.pass_mark)} needed to pass"
        answered = f"{state.answered:,} of {state.total:,} answered"
        ui.sentences(f"{status.round}: {status.standing}; {answered}, {expected}.")
        if account.active and status.state.passed is not True:
            _offer_practice_decision(store, acts, status)


def _offer_practice_decision(store: Store, acts: Acts, status: practice.PracticeStatus) -> None:
    is_running = status.state.passed is None
    if _show_button(acts, "Allow more practice", status.round_id, disabled=is_running):

        def describe(new_status: practice.PracticeStatus) -> str:
            return f"{status.annotator} has {new_status.state.total:,} new practice items."

        run_action(acts, describe, practice.practise_again, store, status.round, status.annotator)
    if is_running:
        ui.note("The person can practise again once all items are answered.")
    with st.form(f"pass {get_form(acts).key} {status.round_id}"):
        reason = st.text_input("Why this person may start without passing practice", max_chars=500)
        submitted = st.form_submit_button("Let pass")
    if submitted and not reason.strip():
        st.error("Give a reason for letting this person pass.", icon=":material/error:")
    elif submitted:
        sentence = f"{status.annotator} can now grade real items."
        run_action(acts, sentence, practice.waive_practice, store, status.round, status.annotator, reason)


def _ask_deactivation(store: Store, acts: Acts, account: accounts.Account, open_items: int) -> None:
    effect = f"; {open_items:,} open items go to the others in their rounds" if open_items else ""
    with st.form(f"deactivate {get_form(acts).key}"):
        confirmed = st.checkbox(
            f"Sign {ui.literal(account.name)} out everywhere and block the account{effect}"
        )
        submitted = st.form_submit_button("Deactivate")
    if submitted and not confirmed:
        st.error("Tick the box first.", icon=":material/error:")
    elif submitted:
        outcome = _describe_change(f"{account.name} is deactivated. Their judgments stay and count.")
        run_action(acts, outcome, deactivate_annotator, store, account.name)


def _describe_change(sentence: str) -> Callable[[tuple[Annotator, list[ReturnedWork]]], str]:
    return lambda result: "\n".join([sentence, *(work.sentence for work in result[1])])
