"""Signing in through an identity provider: what its answers must prove, asked over HTTP."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
import pytest
from itsdangerous import TimestampSigner, URLSafeTimedSerializer
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.testclient import TestClient

from app import api, context
from app.front.guard import Guard
from app.monitoring.failures import FailureLog
from app.signin import auth_settings, cookies, current_user, first_lead, join_page, oidc, sign_in_page
from app.signin import routes as signin
from app.signin.auth_settings import AuthSettings, read_auth
from app.signin.oidc import PENDING_COOKIE
from curation.people.accounts import list_accounts
from curation.people.addresses import add_address, remove_address
from curation.store import Store
from tests.support.oidc_provider import CLIENT, SECRET, Provider, running
from tests.support.projects import add_names, discard, new_project

COOKIE_SECRET = "0123456789abcdef" * 4
ADDRESS = "http://testserver"
ANNA, STRANGER, UNVERIFIED = "Anna@Example.org", "stranger@example.org", "ben@example.org"
NOT_COMPLETED = "was not completed"


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Provider, Provider]]:
    accounts = {ANNA: True, STRANGER: True, UNVERIFIED: False}
    with running(Provider(accounts)) as work, running(Provider({ANNA: True})) as home:
        yield work, home


@pytest.fixture
def work(servers: tuple[Provider, Provider]) -> Provider:
    servers[0].reset()
    return servers[0]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    store = new_project(tmp_path / "shop.duckdb")
    add_names(store, "anna", "ben")
    add_address(store, "anna", ANNA)
    add_address(store, "ben", UNVERIFIED)
    monkeypatch.setenv(context.PROJECT, str(store.path))
    yield store
    discard(store)


@pytest.fixture
def application(
    project: Store, servers: tuple[Provider, Provider], monkeypatch: pytest.MonkeyPatch
) -> Starlette:
    settings = _settings(servers)
    for module in (auth_settings, first_lead, join_page, oidc, sign_in_page):
        monkeypatch.setattr(module, "auth_settings", lambda: settings)
    middleware = [Middleware(FailureLog), Middleware(Guard)]
    return Starlette(routes=[*signin.ROUTES, *api.ROUTES], middleware=middleware)


def _settings(servers: tuple[Provider, Provider]) -> AuthSettings:
    sections = {
        name: {
            "label": f"Example <{name}>",
            "client_id": CLIENT,
            "client_secret": SECRET,
            "server_metadata_url": f"{provider.url}/.well-known/openid-configuration",
        }
        for name, provider in zip(("work", "home"), servers, strict=True)
    }
    shared = {"redirect_uri": f"{ADDRESS}/oauth2callback", "cookie_secret": COOKIE_SECRET}
    return read_auth({**shared, **sections})


@pytest.fixture
def visitor(application: Starlette) -> Iterator[TestClient]:
    with TestClient(application, follow_redirects=False) as client:
        yield client


@pytest.fixture
def other(application: Starlette) -> Iterator[TestClient]:
    """Another browser."""
    with TestClient(application, follow_redirects=False) as client:
        yield client


def answer_of(client: TestClient, account: str, provider: str = "work", state: str = "") -> str:
    """Begin a sign-in and choose an account; returns the address to which the provider sends the browser."""
    begun = client.get("/sign-in/with", params={"provider": provider, "next": "/write"})
    address = urlsplit(begun.headers["location"])
    assert httpx2.get(begun.headers["location"]).status_code == 200, "the provider takes the question"
    asked = {**dict(parse_qsl(address.query)), "account": account}
    chosen = (
        f"{address.scheme}://{address.netloc}/chosen?{urlencode(asked | ({'state': state} if state else {}))}"
    )
    return str(httpx2.get(chosen).headers["location"])


def choose(client: TestClient, account: str, provider: str = "work") -> Response:
    return client.get(answer_of(client, account, provider))


def is_signed_in(client: TestClient) -> bool:
    return bool(client.get("/api/presentations").status_code == 200)


def refused(client: TestClient, answer: Response, words: str) -> None:
    assert words in answer.text, answer.text
    assert not is_signed_in(client)
    assert not [name for name in client.cookies if name == cookies.cookie_codec().cookie]


def test_an_answer_signs_in_once(visitor: TestClient, work: Provider) -> None:
    answer = answer_of(visitor, ANNA)
    kept = pending(visitor)
    first = visitor.get(answer)
    assert (first.status_code, first.headers["location"]) == (303, "/write")
    assert is_signed_in(visitor)
    visitor.cookies.clear()
    assert visitor.get(answer).headers["location"] == "/sign-in"
    visitor.cookies.set(kept["name"], kept["value"], domain="testserver.local", path="/oauth2callback")
    refused(visitor, visitor.get(answer), NOT_COMPLETED)
    assert work.exchanged == 1, "the provider takes its code once, too"


def test_signing_out_ends_the_providers_session_too(visitor: TestClient, work: Provider) -> None:
    assert "Sign in with Example &lt;work&gt;" in visitor.get("/sign-in").text
    choose(visitor, ANNA)
    left = visitor.post("/sign-out", headers={"Origin": ADDRESS})
    address = left.headers["refresh"].removeprefix("0; url=")
    assert f'href="{escape(address)}"' in left.text
    assert httpx2.get(address).headers["location"] == f"{ADDRESS}/oauth2callback"
    assert (work.signed_out, work.hinted) == (1, 1), "the provider is told whose session it ends"
    assert visitor.get("/oauth2callback").headers["location"] == "/sign-in"
    assert not is_signed_in(visitor)
    assert not [name for name in visitor.cookies if name.startswith(("goldgrade_", "_streamlit_user"))]


def test_who_is_not_known_is_told_whom_to_ask_and_no_names(visitor: TestClient, work: Provider) -> None:
    answer = choose(visitor, STRANGER)
    refused(visitor, answer, f"{STRANGER} is not known to this project. Ask its lead")
    assert "anna" not in answer.text.lower()


def test_an_address_that_was_not_verified_is_nobodys(visitor: TestClient, work: Provider) -> None:
    refused(visitor, choose(visitor, UNVERIFIED), "has not verified your")


def test_an_address_is_the_account_s_that_brought_it_first(
    visitor: TestClient, other: TestClient, project: Store, work: Provider
) -> None:
    choose(visitor, ANNA)
    assert is_signed_in(visitor)
    answer = choose(other, ANNA, provider="home")
    refused(other, answer, "anna@example.org belongs to a different account, which used it first")
    work.changes = {"sub": "another account of the first provider"}
    refused(other, choose(other, ANNA), "Ask the lead of the project to remove the address and add it again")
    with project.reading() as cursor:
        listed = next(one.ways for one in list_accounts(cursor) if one.name == "anna")
    assert listed.endswith(f"as anna@example.org of {work.url}")

    remove_address(project, "anna", ANNA)
    add_address(project, "anna", ANNA)
    choose(other, ANNA, provider="home")
    assert is_signed_in(other)
    current_user.sign_in_cache().expire()
    assert not is_signed_in(visitor)
    work.reset()
    visitor.cookies.clear()
    refused(visitor, choose(visitor, ANNA), "belongs to a different account")


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": int(time.time()) - 900, "iat": int(time.time()) - 1200},
        {"nonce": "another"},
        {"aud": "another client"},
        {"iss": "https://another.example"},
        {"forged": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_id_token_that_proves_nothing_is_refused(
    visitor: TestClient, work: Provider, changes: dict[str, Any]
) -> None:
    work.forged = "forged" in changes
    work.changes = {} if work.forged else changes
    refused(visitor, choose(visitor, ANNA), NOT_COMPLETED)
    assert work.exchanged == 1, "the token was fetched, and not believed"


def test_an_answer_that_this_browser_did_not_ask_for_is_refused(
    visitor: TestClient, other: TestClient, work: Provider
) -> None:
    assert visitor.get("/oauth2callback?code=stolen&state=made-up").headers["location"] == "/sign-in"
    refused(visitor, visitor.get(answer_of(visitor, ANNA, state="another")), NOT_COMPLETED)
    assert other.get(answer_of(visitor, ANNA)).headers["location"] == "/sign-in"
    assert not is_signed_in(other)
    assert work.exchanged == 0


def pending(client: TestClient) -> dict[str, Any]:
    """The cookie of a sign-in that waits for the provider's answer."""
    [found] = [one for one in client.cookies.jar if one.name.endswith("_pending")]
    assert found.has_nonstandard_attr("HttpOnly")
    return {"name": found.name, "value": found.value}


def aged(cookie: dict[str, Any], seconds: int) -> str:
    """The cookie's value as it would be had the sign-in begun so long ago."""

    class Earlier(TimestampSigner):
        def get_timestamp(self) -> int:
            return int(time.time()) - seconds

    signing = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
    kept = URLSafeTimedSerializer(COOKIE_SECRET, salt=cookie["name"], signer=Earlier, signer_kwargs=signing)
    return str(kept.dumps(kept.loads(cookie["value"])))


@pytest.mark.parametrize(
    ("seconds", "signed_in"),
    [(PENDING_COOKIE.seconds // 2, True), (PENDING_COOKIE.seconds + 5, False), (None, False)],
    ids=["in time", "too late", "forged"],
)
def test_an_answer_counts_with_the_cookie_of_a_recent_sign_in_alone(
    visitor: TestClient, work: Provider, seconds: int | None, signed_in: bool
) -> None:
    answer, cookie = answer_of(visitor, ANNA), pending(visitor)
    value = f"{cookie['value'][:-3]}AAA" if seconds is None else aged(cookie, seconds)
    visitor.cookies.clear()
    visitor.cookies.set(cookie["name"], value, domain="testserver.local", path="/oauth2callback")
    assert visitor.get(answer).headers["location"] == ("/write" if signed_in else "/sign-in")
    assert (is_signed_in(visitor), work.exchanged) == (signed_in, signed_in)
