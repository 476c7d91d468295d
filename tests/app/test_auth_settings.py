"""The section [auth] of the secrets: which providers it names, and what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.signin.auth_settings import AuthSettings, read_auth
from curation.core.errors import InputError
from tests.support.started import run_code

WORK = {
    "client_id": "goldgrade",
    "client_secret": "secret",
    "server_metadata_url": "https://login.example.org/.well-known/openid-configuration",
}
SHARED = {"redirect_uri": "https://labels.example.org/oauth2callback", "cookie_secret": "x" * 32}


def test_without_a_provider_only_passwords_sign_in() -> None:
    assert read_auth({}) == AuthSettings(passwords=True)
    assert read_auth({"passwords": False}) == AuthSettings(passwords=True), "or nobody could sign in"


def test_a_provider_stands_in_auth_itself_or_in_a_section_of_its_own() -> None:
    settings = read_auth({**SHARED, **WORK, "passwords": False, "home": {**WORK, "label": "Home"}})
    assert [(one.name, one.label) for one in settings.providers] == [
        ("default", "login.example.org"),
        ("home", "Home"),
    ]
    assert not settings.passwords
    (work,) = read_auth({**SHARED, "work": {**WORK, "client_kwargs": {"prompt": "login"}}}).providers
    assert (work.label, work.client_kwargs) == ("Work", {"prompt": "login"})


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as error:
        read_auth(
            {"redirect_uri": "https://x/elsewhere", "cookie_secret": "short", "work": {"label": "Work"}}
        )
    text = str(error.value)
    for words in (
        "[auth.work]",
        "client_id",
        "client_secret",
        "server_metadata_url",
        "/oauth2callback",
        "32",
    ):
        assert words in text


def test_the_providers_are_read_from_streamlits_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {**SHARED, **WORK}
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(f"[auth]\n{text}")
    monkeypatch.chdir(tmp_path)
    code = (
        "from app.signin.auth_settings import list_providers; print([one.label for one in list_providers()])"
    )
    assert run_code(code, tmp_path / "log") == "['login.example.org']\n"
