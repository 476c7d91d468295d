"""Signing in through a real identity provider, and out again, in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from curation.people.identities import add_identity
from curation.store import open_store
from tests.support.oidc_provider import CLIENT, SECRET, Provider, running
from tests.support.served import Served

ANNA = "Anna@Example.org"
SECRETS = """
[auth]
redirect_uri = "{url}/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
[auth.work]
label = "Example <Work>"
client_id = "{client}"
client_secret = "{secret}"
server_metadata_url = "{provider}/.well-known/openid-configuration"
"""


class WithProvider(Served):
    """A served project whose secrets name the provider."""

    def __init__(self, project: Path, provider: Provider) -> None:
        self.provider = provider
        super().__init__(project)

    def start(self) -> None:
        secrets = self.project.with_name(".streamlit") / "secrets.toml"
        secrets.parent.mkdir()
        names = {"client": CLIENT, "secret": SECRET, "provider": self.provider.url}
        secrets.write_text(SECRETS.format(url=self.url, **names))
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.project.parent)  # where Streamlit looks for them
            super().start()


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running(Provider({ANNA: True})) as found:
        yield found


@pytest.fixture
def project(provider: Provider, template: Path, tmp_path: Path) -> Iterator[Served]:
    path = Path(shutil.copy(template, tmp_path / "project.duckdb"))
    store = open_store(path)
    add_identity(store, "anna", ANNA)
    store.close()
    served = WithProvider(path, provider)
    yield served
    served.process.terminate()
    served.process.wait(20)
    served.store.close()


def test_the_whole_code_flow_signs_in_and_out(browser: Browser, project: Served, provider: Provider) -> None:
    page = browser.new_context().new_page()
    page.goto(f"{project.url}/my-consistency")
    expect(page.get_by_label("Password")).to_be_visible()
    page.get_by_role("link", name="Sign in with Example <Work>").click()
    page.get_by_role("link", name=ANNA).click()
    expect(page.get_by_role("heading", name="My consistency")).to_be_visible()
    assert page.url == f"{project.url}/my-consistency", "it leads to the page that was asked for"
    assert page.request.get(f"{project.url}/api/presentations").status == 200

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in with Example <Work>")).to_be_visible()
    assert (provider.exchanged, provider.signed_out) == (1, 1), "the provider's session is ended, too"
    assert provider.hinted == 1, "it is told whose session that is"
    assert page.request.get(f"{project.url}/api/presentations").status == 401
    names = [cookie.get("name", "") for cookie in page.context.cookies()]
    assert not [name for name in names if name.startswith(("goldgrade_", "_streamlit_user"))]
