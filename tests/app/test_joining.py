"""The links by which people choose their own password, asked over HTTP: invitations and the set-up link."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from app import context
from app.front.guard import Guard
from app.monitoring.failures import FailureLog
from app.signin import cookies, join_page, sign_in_page
from app.signin import first_lead as first_lead_module
from app.signin import routes as signin
from app.signin.auth_settings import AuthSettings
from app.signin.first_lead import FirstLead, first_lead
from app.signin.throttle import list_link_keys, login_throttle
from curation.people.accounts import add_annotator, list_accounts
from curation.people.invitations import invite
from curation.people.passwords import authenticate
from curation.store import Store
from tests.support.projects import add_names, discard, new_project

PASSWORD = "correct horse battery"
ORIGIN = {"Origin": "http://testserver"}
ADDRESS = "http://testserver"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """What the process serves: a project without any account."""
    monkeypatch.setattr(login_throttle, "_failures", {})
    store = new_project(tmp_path / "shop.duckdb")
    monkeypatch.setenv(context.PROJECT, str(store.path))
    yield store
    discard(store)


@pytest.fixture
def application(project: Store) -> Starlette:
    return Starlette(routes=signin.ROUTES, middleware=[Middleware(FailureLog), Middleware(Guard)])


@pytest.fixture
def anyone(application: Starlette) -> TestClient:
    return TestClient(application, follow_redirects=False)


def open_link(client: TestClient, token: str) -> Any:
    """What the page's script does with the part of the link after #."""
    return client.post("/join", data={"token": token}, headers=ORIGIN)


def choose(client: TestClient, **more: str) -> Any:
    return client.post("/join", data={"new": PASSWORD, "again": PASSWORD, **more}, headers=ORIGIN)


def set_up_token(address: str = ADDRESS) -> str:
    words = first_lead().announce(address).split()
    return next(word for word in words if word.startswith(address)).partition("#")[2]


def test_who_is_invited_chooses_a_password_and_no_page_has_the_token(
    anyone: TestClient, project: Store, caplog: pytest.LogCaptureFixture
) -> None:
    token = invite(project, "ada", "reviewer").token
    pages = [anyone.get("/join"), open_link(anyone, token), anyone.get("/join")]
    assert [page.status_code for page in pages] == [200, 303, 200]
    assert (pages[1].headers["location"], pages[2].text.count('value="ada"')) == ("/join", 1)
    (cookie,) = pages[1].headers.get_list("set-cookie")
    assert all(part in cookie for part in ("HttpOnly", "SameSite=lax", "Path=/join", "Max-Age=3600"))
    pages += [choose(anyone, again="something else"), choose(anyone, new="short", again="short")]
    pages.append(choose(anyone, name="eve"))
    assert [page.status_code for page in pages[3:]] == [422, 422, 303]
    assert pages[-1].headers["location"] == "/"
    assert cookies.cookie_codec().cookie in anyone.cookies
    assert not any(token in page.text for page in pages)
    assert token not in caplog.text
    assert authenticate(project, "ada", PASSWORD)


def test_a_link_that_was_used_withdrawn_or_never_made_says_so(anyone: TestClient, project: Store) -> None:
    token = invite(project, "ada", "annotator").token
    open_link(anyone, token)
    choose(anyone)
    for used in (token, "<b>never</b>", "\u202e", "x" * 3_000):
        answer = open_link(anyone, used)
        assert answer.status_code == 403
        assert "This link does not work" in answer.text
        assert used not in answer.text
        assert "shop" not in answer.text, "the project's name is for who has a link"
    assert choose(anyone).status_code == 200, "without a link there is nothing to choose"


@pytest.mark.slow
def test_who_opens_links_that_do_not_work_waits(anyone: TestClient, project: Store) -> None:
    token = invite(project, "ada", "annotator").token
    free = list_link_keys("")[0].free_attempts
    answers = [open_link(anyone, f"guess {number}").status_code for number in range(free + 1)]
    assert answers == [403] * free + [429]
    assert open_link(anyone, token).status_code == 429
    elsewhere = TestClient(anyone.app, follow_redirects=False, client=("198.51.100.7", 50_000))
    assert open_link(elsewhere, token).status_code == 303


def test_another_site_opens_no_link_and_chooses_no_password(anyone: TestClient, project: Store) -> None:
    data = {"token": invite(project, "ada", "annotator").token}
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {}):
        assert anyone.post("/join", data=data, headers=headers).status_code == 403


def test_the_first_lead_is_made_by_the_link_in_the_terminal_and_is_signed_in(
    anyone: TestClient, project: Store
) -> None:
    token = set_up_token()
    page = anyone.get("/sign-in").text
    assert (
        "This project has no account yet. To set up the project, open the link that <code>goldgrade "
        "app</code>"
    ) in page
    assert 'name="password"' not in page
    open_link(anyone, token)
    assert "You are joining shop; your role is lead." in anyone.get("/join").text
    assert choose(anyone, name="a b").status_code == 422
    assert choose(anyone, name=" ada ").status_code == 303
    with project.reading() as cursor:
        assert [(one.name, one.role) for one in list_accounts(cursor)] == [("ada", "lead")]
    assert 'name="password"' in TestClient(anyone.app).get("/sign-in").text
    assert FirstLead().announce(ADDRESS) == ""


def test_of_two_people_with_the_set_up_link_one_becomes_the_first_lead(
    anyone: TestClient, application: Starlette, project: Store
) -> None:
    token, second = set_up_token(), TestClient(application, follow_redirects=False)
    for client in (anyone, second):
        assert open_link(client, token).status_code == 303
    assert choose(anyone, name="ada").status_code == 303
    assert choose(second, name="eve").status_code == 403
    assert open_link(second, token).status_code == 403
    with project.reading() as cursor:
        assert [one.name for one in list_accounts(cursor)] == ["ada"]


def test_a_lead_made_by_a_command_ends_the_set_up_link_and_so_does_a_restart(
    anyone: TestClient, project: Store
) -> None:
    before = set_up_token()
    first_lead.cache_clear()
    now = set_up_token()
    assert [open_link(anyone, token).status_code for token in (before, now)] == [403, 303]
    add_annotator(project, "lee", "lead", PASSWORD)
    assert open_link(anyone, now).status_code == 403


def test_annotators_alone_sign_in_while_the_lead_is_missing(anyone: TestClient, project: Store) -> None:
    add_annotator(project, "ada", "annotator", PASSWORD)
    add_names(project, "lee", role="lead")
    set_up_token()
    page = anyone.get("/sign-in").text
    assert "This project has no lead who can sign in yet." in page
    assert 'name="password"' in page


def test_without_passwords_the_first_lead_is_made_by_a_command(
    anyone: TestClient, project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sign_in_page, join_page, first_lead_module):
        monkeypatch.setattr(module, "auth_settings", lambda: AuthSettings(passwords=False))
    assert "goldgrade people add NAME --role lead --email ADDRESS" in first_lead().announce(ADDRESS)
    assert open_link(anyone, invite(project, "ada", "annotator").token).status_code == 200
    assert choose(anyone).status_code == 200
