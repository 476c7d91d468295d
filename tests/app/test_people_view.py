"""The page People, run by Streamlit's AppTest on a real project."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from app.signin.auth_settings import AuthSettings, IdentityProvider
from app.views import team
from curation.core.errors import RefusedError
from curation.labeling.requests import PracticeRequest, RoundRequest
from curation.labeling.rounds.create_practice import open_practice
from curation.labeling.rounds.create_round import open_round
from curation.people.accounts import list_accounts
from curation.people.invitations import accept_invitation
from curation.people.passwords import authenticate
from curation.people.sign_ins import ClientInfo, open_sign_in
from curation.store import Store
from tests.support.page import LEE, button, field, html, page_at, press, words
from tests.support.projects import add_names, add_pairs, decide_pairs, grade_next, grid, rows_of


@pytest.fixture
def project(served: Store) -> Store:
    add_names(served, "lee", role="lead")
    add_names(served, "ada", "ben", "cleo")
    return served


def page(person: str | None = None) -> AppTest:
    shown = page_at("team", LEE)
    if person:
        shown.query_params["person"] = person
    return shown.run()


def account(store: Store, name: str) -> tuple[str, bool, list[str]]:
    with store.reading() as cursor:
        one = next(one for one in list_accounts(cursor) if one.name == name)
    return one.role, one.active, one.emails


def test_a_lead_invites_somebody_who_chooses_a_password_by_the_link(project: Store) -> None:
    shown = page()
    field(shown, "Names").set_value("a b")
    shown = press(shown, "Invite")
    assert "The name 'a b'" in words(shown.error)
    field(shown, "Names").set_value("dora")
    field(shown, "Role").select("reviewer")
    shown = press(shown, "Invite")
    assert words(shown.success) == "dora is invited as reviewer."
    token = shown.code[0].value.partition("/join#")[2]
    assert "link until " in html(shown)
    assert accept_invitation(project, token, "a long password")
    assert authenticate(project, "dora", "a long password")
    assert rows_of(project, "SELECT actor FROM events WHERE action = 'invite annotator'") == [("lee",)]


def test_several_are_invited_at_once_or_nobody_and_each_link_stays_until_it_is_used(project: Store) -> None:
    shown = page()
    field(shown, "Names").set_value("dora, ada")
    shown = press(shown, "Invite")
    assert "'ada' already exists" in words(shown.error)
    assert not shown.code, "dora is not invited either"
    field(shown, "Names").set_value("dora\nemil, finn")
    field(shown, "Role").select("reviewer")
    shown = press(shown, "Invite")
    assert words(shown.success) == "dora, emil, finn are invited as reviewers."
    assert field(shown, "Role").value == "annotator", "the role is not kept for the next person"
    shown = page()
    assert len(shown.code) == 3, "a reload keeps the links"
    assert accept_invitation(project, shown.code[0].value.partition("/join#")[2], "a long password")
    assert len(page().code) == 2
    assert not page("ada").code


def test_with_a_provider_somebody_is_added_by_an_address_and_gets_no_link(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = IdentityProvider("work", "Work", "id", "secret", "https://id.example.org", {})
    settings = AuthSettings((provider,), passwords=False)
    monkeypatch.setattr(team, "auth_settings", lambda: settings)
    shown = page()
    field(shown, "Names").set_value("dora")
    shown = press(shown, "Invite")
    assert "Neither a password nor an e-mail address" in words(shown.error)
    field(shown, "E-mail address").set_value("Dora@example.org")
    shown = press(shown, "Invite")
    assert words(shown.success) == "dora is annotator now."
    assert account(project, "dora") == ("annotator", True, ["dora@example.org"])
    shown = page("dora")
    assert [one.label for one in shown.button if "link" in one.label] == []
    shown = press(shown, "Remove dora@example\\.org")
    field(shown, "E-mail address for").set_value("d@example.org")
    shown = press(shown, "Add address")
    assert account(project, "dora")[2] == ["d@example.org"]


@pytest.mark.slow
def test_a_role_is_changed_and_a_link_is_made_again_and_withdrawn(project: Store) -> None:
    shown = page("ada")
    field(shown, "Role").select("reviewer")
    shown = press(shown, "Change role")
    assert account(project, "ada")[0] == "reviewer"
    shown = press(shown, "Make a new link")
    token = shown.code[0].value.partition("#")[2]
    shown.query_params["person"] = "ben"
    assert not shown.run().code, "ada's link is not next to another account"
    shown.query_params["person"] = "ada"
    shown = press(shown.run(), "Withdraw the link")
    assert not shown.code
    with pytest.raises(RefusedError, match="does not work"):
        accept_invitation(project, token, "a long password")


@pytest.mark.slow
def test_who_is_deactivated_leaves_their_open_work_to_others(project: Store) -> None:
    add_pairs(project, grid(4, 2))
    open_round(project, RoundRequest("first", ["ada", "ben", "cleo"], overlap=1, duplicates=0, seed=2))
    shown = press(page("ada"), "Deactivate")
    assert words(shown.error) == "Tick the box first."
    assert account(project, "ada")[1]
    field(shown, "Sign ada out everywhere and block the account").check()
    shown = press(shown, "Deactivate")
    assert words(shown.success).startswith("ada is deactivated. Their judgments stay and count.\n\nfirst: ")
    assert account(project, "ada") == ("annotator", False, [])
    open_items = rows_of(project, "SELECT count(*) FROM live_presentations WHERE annotator = 'ada'")
    assert open_items == [(0,)]
    shown = press(shown, "Activate")
    assert account(project, "ada") == ("annotator", True, [])


def test_a_lead_ends_one_sign_in_or_all_of_somebody(project: Store) -> None:
    with project.transaction() as cursor:
        for device in ("Firefox 151 on Linux", "Edge 139 on Windows", "Safari 26 on iOS"):
            open_sign_in(cursor, "ada", ClientInfo(device, "192.0.2.0/24"))
        open_sign_in(cursor, "ben", ClientInfo("Chrome 139 on macOS", "192.0.2.0/24"))
    shown = page("ada")
    assert "Edge 139 on Windows at 192.0.2.0/24, since " in html(shown)
    shown = press(shown, "End")
    assert words(shown.success) == "ada: 1 sign-in ended."
    shown = press(shown, "End all")
    assert words(shown.success) == "ada: 2 sign-ins ended."
    assert rows_of(project, "SELECT annotator FROM sign_ins") == [("ben",)]
    assert rows_of(project, "SELECT actor FROM events WHERE action = 'end sign-ins'") == [("lee",)] * 2


@pytest.mark.slow
def test_a_lead_lets_somebody_practise_again_and_pass(project: Store) -> None:
    add_pairs(project, grid(6, 1))
    open_round(project, RoundRequest("earlier", ["ben"], overlap=1, duplicates=0))
    grade_next(project, "ben", 6)
    decide_pairs(project, {(f"query {n}", f"document {n}.0"): 3 for n in range(6)})
    open_practice(project, PracticeRequest("welcome", ["ada"], queries=2, pass_mark=1.0))
    shown = page("ada")
    again = button(shown, "Allow more practice")
    assert again.disabled
    grade_next(project, "ada", 2, grade=0)
    shown = press(page("ada"), "Allow more practice")
    assert "ada has 2 new practice items" in words(shown.success)
    shown = press(shown, "Let pass")
    assert words(shown.error) == "Give a reason for letting this person pass."
    field(shown, "Why this person may start").set_value("We talked it through.")
    shown = press(shown, "Let pass")
    assert "ada can now grade real items" in words(shown.success)
    assert "welcome: let pass; 0 of 2 answered, " in html(shown)
