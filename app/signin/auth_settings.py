"""The operator's sign-in settings: the section [auth] of Streamlit's secrets.

Without the section [auth], people sign in with passwords, and the project has no identity provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import streamlit as st

from curation.core.errors import InputError, RefusedError
from curation.core.text import pluralize

CALLBACK = "/oauth2callback"
"""The address to which identity providers send people back; `redirect_uri` must end with it."""
REQUIRED = ("client_id", "client_secret", "server_metadata_url")
MIN_SECRET_LENGTH = 32


class IdentityProvider(NamedTuple):
    """An identity provider, with the app's registration at this provider.

    name: the name of the provider's section, or 'default' for [auth] itself.
    label: the name of the provider on the sign-in page.
    """

    name: str
    label: str
    client_id: str
    client_secret: str
    server_metadata_url: str
    client_kwargs: dict[str, Any]


class AuthSettings(NamedTuple):
    """The sign-in settings in the section [auth] of Streamlit's secrets."""

    providers: tuple[IdentityProvider, ...] = ()
    redirect_uri: str = ""
    cookie_secret: str = ""
    passwords: bool = True


@cache
def auth_settings() -> AuthSettings:
    """Read the sign-in settings from Streamlit's secrets, only once.

    Raises
    ------
    InputError: the secrets cannot be read, or [auth] is incomplete or wrong.
    RefusedError: a provider is configured, but a package for it is not installed.
    """
    if not st.secrets.load_if_toml_exists():
        if paths := [path for path in st.get_option("secrets.files") if Path(path).is_file()]:
            raise InputError(f"{paths[0]} is not valid TOML, so its sign-in settings cannot be used")
        return AuthSettings()
    settings = read_auth(st.secrets.to_dict().get("auth", {}))
    if settings.providers and not (find_spec("authlib") and find_spec("httpx2")):
        raise RefusedError(
            "[auth] in Streamlit's secrets names an identity provider, but Authlib or httpx2 is not "
            "installed. Install both with `pip install Authlib httpx2`."
        )
    return settings


def list_providers() -> tuple[IdentityProvider, ...]:
    """Return the configured identity providers, in file order."""
    return auth_settings().providers


def find_provider(name: str) -> IdentityProvider | None:
    """Return the configured identity provider with this name, or None."""
    return next((provider for provider in list_providers() if provider.name == name), None)


def read_auth(auth: Mapping[str, Any]) -> AuthSettings:
    """Read the sign-in settings from the section [auth].

    Raises
    ------
    InputError: values are missing or wrong; the error names all problems.
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
    if problems := _find_problems(auth, sections):
        raise InputError(problems)
    return AuthSettings(
        tuple(_read_provider(name, values) for name, values in sections.items()),
        auth["redirect_uri"],
        auth["cookie_secret"],
        bool(auth.get("passwords", True)),
    )


def _read_provider(name: str, values: Mapping[str, Any]) -> IdentityProvider:
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


def _find_problems(auth: Mapping[str, Any], sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    problems = [
        f"{'[auth]' if name == 'default' else f'[auth.{name}]'} in Streamlit's secrets has no {key}"
        for name, values in sections.items()
        for key in REQUIRED
        if not values.get(key)
    ]
    redirect_uri = str(auth.get("redirect_uri", ""))
    secret = str(auth.get("cookie_secret", ""))
    if not redirect_uri.endswith(CALLBACK):
        problems.append(f"redirect_uri in [auth] is {redirect_uri!r}: expected a URL ending in {CALLBACK}")
    if len(secret) < MIN_SECRET_LENGTH:
        problems.append(
            f"cookie_secret in [auth] has {pluralize(len(secret), 'character')}: expected "
            f"{MIN_SECRET_LENGTH} random characters or more"
        )
    return problems
