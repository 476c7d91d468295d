"""Identity providers, as section [auth] of Streamlit's secrets configures them. Without it there are none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import streamlit as st

from curation.core.errors import InputError, RefusedError
from curation.core.text import amount

START, CALLBACK = "/sign-in/with", "/oauth2callback"
PATHS = frozenset({START, CALLBACK})
REQUIRED = ("client_id", "client_secret", "server_metadata_url")
SHORTEST_SECRET = 32


class IdentityProvider(NamedTuple):
    """A provider and this app's registration with it.

    name: its section's, 'default' for [auth] itself. label: what the sign-in page calls it.
    """

    name: str
    label: str
    client_id: str
    client_secret: str
    server_metadata_url: str
    client_kwargs: dict[str, Any]


class AuthSettings(NamedTuple):
    """The section [auth]."""

    providers: tuple[IdentityProvider, ...] = ()
    redirect_uri: str = ""
    cookie_secret: str = ""
    passwords: bool = True


@cache
def auth_settings() -> AuthSettings:
    """What Streamlit's secrets say about signing in, read once.

    Raises
    ------
    InputError: the secrets cannot be read, or [auth] is incomplete or wrong.
    RefusedError: a provider is configured, but a package for it is not installed.
    """
    if not st.secrets.load_if_toml_exists():
        if option := [name for name in st.get_option("secrets.files") if Path(name).is_file()]:
            raise InputError(f"{option[0]} cannot be read as TOML, so nobody could sign in as it says")
        return AuthSettings()
    settings = read_auth(st.secrets.to_dict().get("auth", {}))
    if settings.providers and not (find_spec("authlib") and find_spec("httpx2")):
        raise RefusedError(
            "[auth] in Streamlit's secrets names an identity provider, but Authlib or httpx2 is not "
            "installed. Install both with `pip install Authlib httpx2`."
        )
    return settings


def providers() -> tuple[IdentityProvider, ...]:
    """The configured providers, in the order of the file."""
    return auth_settings().providers


def read_auth(auth: Mapping[str, Any]) -> AuthSettings:
    """The settings in a section [auth].

    Raises
    ------
    InputError: something is missing or cannot work; all problems together.
    """
    sections = {
        name: values
        for name, values in auth.items()
        if isinstance(values, Mapping) and name != "client_kwargs"
    }
    if "client_id" in auth:
        sections = {"default": auth, **sections}
    if not sections:
        return AuthSettings()
    if problems := _problems(auth, sections):
        raise InputError(problems)
    return AuthSettings(
        tuple(_provider(name, values) for name, values in sections.items()),
        auth["redirect_uri"],
        auth["cookie_secret"],
        bool(auth.get("passwords", True)),
    )


def _provider(name: str, values: Mapping[str, Any]) -> IdentityProvider:
    host = urlsplit(str(values["server_metadata_url"])).hostname
    fallback = host if name == "default" and host else name.capitalize()
    return IdentityProvider(
        name=name,
        label=str(values.get("label", fallback)),
        client_id=str(values["client_id"]),
        client_secret=str(values["client_secret"]),
        server_metadata_url=str(values["server_metadata_url"]),
        client_kwargs=dict(values.get("client_kwargs", {})),
    )


def _problems(auth: Mapping[str, Any], sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    problems = [
        f"{'[auth]' if name == 'default' else f'[auth.{name}]'} in Streamlit's secrets has no {key}"
        for name, values in sections.items()
        for key in REQUIRED
        if not values.get(key)
    ]
    redirect_uri, secret = str(auth.get("redirect_uri", "")), str(auth.get("cookie_secret", ""))
    if not redirect_uri.endswith(CALLBACK):
        problems.append(
            f"redirect_uri in [auth] is {redirect_uri!r}: expected an address ending in {CALLBACK}"
        )
    if len(secret) < SHORTEST_SECRET:
        problems.append(
            f"cookie_secret in [auth] has {amount(len(secret), 'character')}: expected {SHORTEST_SECRET} "
            "random ones or more"
        )
    return problems
