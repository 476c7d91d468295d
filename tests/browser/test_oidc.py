"""Signing in through a real identity provider, in a real browser."""

from __future__ import annotations

import hashlib
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from itsdangerous import TimestampSigner, URLSafeTimedSerializer
from playwright.sync_api import Browser, Page, expect

from app.signin.oidc import PENDING
from curation.people.accounts import list_accounts
from curation.people.identities import add_identity, remove_identity
from curation.store import open_store
from tests.support.oidc_provider import CLIENT, SECRET, Provider, running
from tests.support.served import Served

COOKIE_SECRET = "0123456789abcdef" * 4
ANNA, STRANGER, UNVERIFIED = "Anna@Example.org", "stranger@example.org", "ben@example.org"


class WithProvider(Served):
    """A served project whose secrets name the provider."""

    def __init__(self, project: Path, *providers: Provider) -> None:
        self.providers = dict(zip(("work", "home"), providers, strict=True))
        super().__init__(project)

    def start(self) -> None:
        secrets = self.project.with_name(".streamlit") / "secrets.toml"
        secrets.parent.mkdir()
        secrets.write_text(
            f"""
            [auth]
            redirect_uri = "{self.url}/oauth2callback"
            cookie_secret = "{COOKIE_SECRET}"
            """
            + "".join(
                f"""
            [auth.{name}]
            label = "Example <{name.capitalize()}>"
            client_id = "{CLIENT}"
            client_secret = "{SECRET}"
            server_metadata_url = "{provider.url}/.well-known/openid-configuration"
            """
                for name, provider in self.providers.items()
            )
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.project.parent)  # where Streamlit looks for them
            super().start()


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running(Provider({ANNA: True, STRANGER: True, UNVERIFIED: False})) as found:
        yield found


@pytest.fixture(scope="module")
def home() -> Iterator[Provider]:
    with running(Provider({ANNA: True})) as found:
        yield found


@pytest.fixture(scope="module")
def project(
    provider: Provider, home: Provider, template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    path = Path(shutil.copy(template, tmp_path_factory.mktemp("oidc") / "project.duckdb"))
    store = open_store(path)
    add_identity(store, "anna", ANNA)
    add_identity(store, "ben", UNVERIFIED)
    store.close()
    served = WithProvider(path, provider, home)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.process.terminate()
            served.process.wait(20)
        served.store.close()


@pytest.fixture
def page(browser: Browser, provider: Provider) -> Page:
    provider.reset()
    return browser.new_context().new_page()


def choose(page: Page, served: Served, account: str, at: str = "/", provider: str = "Work") -> None:
    page.goto(f"{served.url}{at}")
    page.get_by_role("link", name=f"Sign in with Example <{provider}>").click()
    expect(page.get_by_role("heading", name="Choose an account")).to_be_visible()
    page.get_by_role("link", name=account).click()


def refused(page: Page, served: Served, words: str) -> None:
    expect(page.get_by_role("alert")).to_contain_text(words)
    assert page.request.get(f"{served.url}/api/presentations").status == 401
    names = {cookie.get("name", "") for cookie in page.context.cookies()}
    assert not {name for name in names if name.startswith(("goldset_", "_streamlit_user"))}


def test_the_whole_code_flow_signs_in_and_out(page: Page, project: Served, provider: Provider) -> None:
    choose(page, project, ANNA, at="/my-consistency")
    expect(page.get_by_role("heading", name="My consistency")).to_be_visible()
    assert page.url == f"{project.url}/my-consistency", "it leads to the page that was asked for"
    assert provider.exchanged == 1
    assert page.request.get(f"{project.url}/api/presentations").status == 200

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in with Example <Work>")).to_be_visible()
    assert provider.signed_out == 1, "the provider's session is ended, too"
    assert page.request.get(f"{project.url}/api/presentations").status == 401
    assert provider.hinted == 1, "it is told whose session that is"
    assert not [
        c for c in page.context.cookies() if c.get("name", "").startswith(("goldset_", "_streamlit_user"))
    ]


def test_passwords_still_sign_in_beside_the_provider(page: Page, project: Served) -> None:
    page.goto(project.url)
    page.get_by_label("Name").fill("cleo")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.locator(".grading")).to_be_visible()


def test_who_is_not_known_is_told_whom_to_ask_and_no_names(page: Page, project: Served) -> None:
    choose(page, project, STRANGER)
    refused(page, project, f"{STRANGER} is not known to this project. Ask its lead")
    assert "anna" not in page.content().lower()


def test_an_address_that_was_not_verified_is_nobodys(page: Page, project: Served) -> None:
    choose(page, project, UNVERIFIED)
    refused(page, project, "did not say that it verified")


def test_an_address_is_the_account_s_that_brought_it_first(
    page: Page, project: Served, provider: Provider, home: Provider
) -> None:
    choose(page, project, ANNA)
    expect(page.locator(".grading")).to_be_visible()
    other = page.context.browser.new_context().new_page()  # type: ignore[union-attr]
    choose(other, project, ANNA, provider="Home")
    refused(other, project, "anna@example.org belongs to another account, of this provider or another")
    provider.changes = {"sub": "another account of the first provider"}
    choose(other, project, ANNA)
    refused(other, project, "Ask the lead of the project: removed and added again, the address goes to")
    with project.store.reading() as cursor:
        listed = next(one.ways for one in list_accounts(cursor) if one.name == "anna")
    assert listed == f"by password, as anna@example.org of {provider.url}"

    remove_identity(project.store, "anna", ANNA)
    add_identity(project.store, "anna", ANNA)
    choose(other, project, ANNA, provider="Home")
    expect(other.locator(".grading")).to_be_visible()
    page.reload()
    expect(page.get_by_role("link", name="Sign in with Example <Work>")).to_be_visible()
    provider.reset()
    page.context.clear_cookies()
    choose(page, project, ANNA)
    refused(page, project, "belongs to another account")
    remove_identity(project.store, "anna", ANNA)  # as the other tests expect it
    add_identity(project.store, "anna", ANNA)


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": time.time() - 900, "iat": time.time() - 1200},
        {"nonce": "another"},
        {"aud": "another client"},
        {"iss": "https://another.example"},
        {"forged": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_id_token_that_proves_nothing_is_refused(
    page: Page, project: Served, provider: Provider, changes: dict[str, Any]
) -> None:
    provider.forged = "forged" in changes
    provider.changes = (
        {} if provider.forged else {k: int(v) if k in {"exp", "iat"} else v for k, v in changes.items()}
    )
    choose(page, project, ANNA)
    refused(page, project, "was not completed")
    assert provider.exchanged == 1, "the token was fetched, and not believed"


def test_an_answer_that_this_browser_did_not_ask_for_is_refused(
    page: Page, project: Served, provider: Provider
) -> None:
    page.goto(f"{project.url}/sign-in")
    page.goto(f"{project.url}/oauth2callback?code=stolen&state=made-up")
    expect(page.get_by_role("link", name="Sign in with Example <Work>")).to_be_visible()
    page.get_by_role("link", name="Sign in with Example <Work>").click()
    wrong = page.get_by_role("link", name=ANNA)
    wrong.evaluate("link => link.href = link.href.replace(/state=[^&]+/, 'state=another')")
    wrong.click()
    refused(page, project, "was not completed")
    assert provider.exchanged == 0


def test_a_code_from_another_browser_is_worth_nothing_here(
    page: Page, browser: Browser, project: Served, provider: Provider
) -> None:
    page.goto(f"{project.url}/sign-in")
    page.get_by_role("link", name="Sign in with Example <Work>").click()
    answer = f"{provider.url}{page.get_by_role('link', name=ANNA).get_attribute('href')}"
    other = browser.new_context().new_page()
    other.goto(answer)  # the provider's answer to the first browser's question, brought to the second
    expect(other.get_by_role("link", name="Sign in with Example <Work>")).to_be_visible()
    assert other.request.get(f"{project.url}/api/presentations").status == 401
    assert provider.exchanged == 0


def pending(page: Page, served: Served) -> dict[str, Any]:
    """The cookie of a sign-in that waits for the provider's answer; the page shows the provider."""
    page.goto(served.url)
    page.get_by_role("link", name="Sign in with Example <Work>").click()
    expect(page.get_by_role("heading", name="Choose an account")).to_be_visible()
    cookies = [dict(one) for one in page.context.cookies() if one.get("name", "").endswith("_pending")]
    assert [one["httpOnly"] for one in cookies] == [True]
    return cookies[0]


def aged(cookie: dict[str, Any], seconds: int) -> dict[str, Any]:
    """The cookie as it would be had the sign-in begun so long ago."""

    class Earlier(TimestampSigner):
        def get_timestamp(self) -> int:
            return int(time.time()) - seconds

    signing = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
    kept = URLSafeTimedSerializer(COOKIE_SECRET, salt=cookie["name"], signer=Earlier, signer_kwargs=signing)
    return {**cookie, "value": kept.dumps(kept.loads(cookie["value"]))}


@pytest.mark.parametrize(("seconds", "signed_in"), [(PENDING.lasts // 2, True), (PENDING.lasts + 5, False)])
def test_an_answer_of_the_provider_that_comes_too_late_signs_nobody_in(
    page: Page, project: Served, provider: Provider, seconds: int, signed_in: bool
) -> None:
    cookie = pending(page, project)
    page.context.add_cookies([aged(cookie, seconds)])  # type: ignore[list-item]
    page.get_by_role("link", name=ANNA).click()
    expect(page).to_have_url(re.compile("/sign-in") if not signed_in else f"{project.url}/")
    assert page.request.get(f"{project.url}/api/presentations").status == (200 if signed_in else 401)
    assert provider.exchanged == signed_in


def test_an_answer_of_the_provider_signs_in_once(page: Page, project: Served, provider: Provider) -> None:
    cookie = pending(page, project)
    with page.expect_request(re.compile("/oauth2callback")) as answer:
        page.get_by_role("link", name=ANNA).click()
    expect(page.locator(".grading")).to_be_visible()
    page.goto("about:blank")  # a page that loses its sign-in goes to /sign-in by itself
    page.context.clear_cookies()
    page.goto(answer.value.url)
    expect(page.get_by_role("link", name="Sign in with Example <Work>")).to_be_visible()
    page.context.add_cookies([cookie])  # type: ignore[list-item]
    page.goto(answer.value.url)
    refused(page, project, "was not completed")
    assert provider.exchanged == 1, "the provider takes its code once, too"


def test_a_forged_cookie_makes_no_answer_of_the_provider_count(
    page: Page, project: Served, provider: Provider
) -> None:
    cookie = pending(page, project)
    page.context.add_cookies([{**cookie, "value": cookie["value"][:-3] + "AAA"}])  # type: ignore[list-item]
    page.get_by_role("link", name=ANNA).click()
    expect(page.get_by_role("link", name="Sign in with Example <Work>")).to_be_visible()
    assert page.request.get(f"{project.url}/api/presentations").status == 401
    assert provider.exchanged == 0
