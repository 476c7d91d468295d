"""Identity providers of section [auth] of Streamlit's secrets, and the sign-in through them (OpenID Connect).

Without that section nobody signs in through a provider. Authlib's Starlette client does the authorization
code flow with state, nonce and PKCE, and checks the state, the nonce, and the id token's signature, issuer,
audience and expiry. Between the request to the provider and its answer, what these checks need is in a signed
cookie of this browser.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import streamlit as st
from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from app.signin.current_user import sessions
from curation.core import log
from curation.core.errors import InputError, RefusedError
from curation.core.text import pluralize
from curation.people.sign_ins import SIGN_IN_SECONDS

START, CALLBACK = "/sign-in/with", "/oauth2callback"
PATHS = frozenset({START, CALLBACK})
REQUIRED = ("client_id", "client_secret", "server_metadata_url")
MIN_SECRET_LENGTH = 32
LARGEST_ID_TOKEN = 2_500
"""Characters; browsers drop cookies of more than 4,096 bytes."""


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
    if len(secret) < MIN_SECRET_LENGTH:
        problems.append(
            f"cookie_secret in [auth] has {pluralize(len(secret), 'character')}: expected "
            f"{MIN_SECRET_LENGTH} "
            "random ones or more"
        )
    return problems


class SignedCookie(NamedTuple):
    """A cookie that nobody without [auth]'s cookie_secret can write; `lasts` is in seconds."""

    purpose: str
    path: str
    lasts: int

    @property
    def name(self) -> str:
        return f"{sessions().cookie}_{self.purpose}"

    def set(self, response: Response, *content: Any) -> None:
        """Write the content, which JSON can hold."""
        secure = auth_settings().redirect_uri.startswith("https:")
        response.set_cookie(
            self.name,
            str(self._serializer().dumps(content)),
            max_age=self.lasts,
            path=self.path,
            secure=secure,
            httponly=True,
            samesite="lax",
        )

    def read(self, request: Request) -> list[Any] | None:
        """The content, or None if the cookie is missing, forged or too old."""
        try:
            content: list[Any] = self._serializer().loads(
                request.cookies.get(self.name, ""), max_age=self.lasts
            )
        except BadData:
            return None
        return content

    def delete(self, response: Response) -> None:
        response.delete_cookie(self.name, path=self.path)

    def _serializer(self) -> URLSafeTimedSerializer:
        signing = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        return URLSafeTimedSerializer(auth_settings().cookie_secret, salt=self.name, signer_kwargs=signing)


PENDING = SignedCookie("pending", CALLBACK, 15 * 60)
"""A sign-in that waits for the provider's answer."""


SIGNED_IN_BY = SignedCookie("provider", "/sign-out", SIGN_IN_SECONDS)
"""What signing out at the provider needs."""


class PendingSignIn(NamedTuple):
    """A sign-in that has begun: `session` is Authlib's, with state, nonce and code verifier."""

    provider: str
    target: str
    session: dict[str, Any]


class VerifiedAnswer(NamedTuple):
    """What a provider says of somebody, all checks passed; `verified` is about the e-mail address.

    issuer, subject: what the account is known by, `iss` and `sub` of the id token.
    """

    provider: str
    issuer: str
    subject: str
    email: str
    verified: bool
    id_token: str


async def begin(request: Request, provider: IdentityProvider, target: str) -> Response | None:
    """Send the browser to the provider; None if the provider cannot be reached."""
    asked = Request({**request.scope, "session": {}})
    try:
        response: Response = await _client(provider).authorize_redirect(asked, auth_settings().redirect_uri)
    except Exception as error:
        _log(provider.name, error)
        return None
    PENDING.set(response, *PendingSignIn(provider.name, target, asked.session))
    return response


def pending_sign_in(request: Request) -> PendingSignIn | None:
    """The sign-in that this browser has begun, or None."""
    content = PENDING.read(request)
    return None if content is None else PendingSignIn(*content)


async def finish(request: Request, pending: PendingSignIn) -> VerifiedAnswer | None:
    """The provider's answer to a sign-in that has begun, or None if a check fails."""
    answer = Request({**request.scope, "session": pending.session})
    try:
        token = await _client(_find(pending.provider)).authorize_access_token(answer)
    except Exception as error:
        _log(pending.provider, error)
        return None
    claims = token.get("userinfo") or {}
    verified = claims.get("email_verified") in (True, "true")  # some providers write it as text
    email = str(claims.get("email") or "")
    account = (str(claims.get("iss") or ""), str(claims.get("sub") or ""))
    return VerifiedAnswer(pending.provider, *account, email, verified, token.get("id_token", ""))


def remember_provider(response: Response, answer: VerifiedAnswer) -> None:
    """Keep in the browser what signing out at the provider needs."""
    # Without the id token, which is a hint only, a provider may ask whether to sign out.
    hint = answer.id_token if len(answer.id_token) <= LARGEST_ID_TOKEN else ""
    SIGNED_IN_BY.set(response, answer.provider, hint)


async def sign_out_address(request: Request) -> str | None:
    """Where the provider ends its own session, or None without a provider or where it has no such address."""
    kept = SIGNED_IN_BY.read(request) if providers() else None
    if kept is None:
        return None
    name, id_token = kept
    try:
        client = _client(_find(name))
        if not (await client.load_server_metadata()).get("end_session_endpoint"):
            return None
        # The callback is the one address that is registered with the provider; it leads to the sign-in page.
        asked = await client.create_logout_url(
            post_logout_redirect_uri=auth_settings().redirect_uri,
            id_token_hint=id_token,
            client_id=client.client_id,
        )
    except Exception as error:
        _log(name, error)
        return None
    return str(asked["url"])


def _client(provider: IdentityProvider) -> Any:
    """Authlib's client, new for each use: a provider may change its metadata and keys at any time."""
    from authlib.integrations.starlette_client import OAuth  # an optional dependency

    usual = {"scope": "openid email profile", "prompt": "select_account", "code_challenge_method": "S256"}
    return OAuth().register(
        provider.name,
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        server_metadata_url=provider.server_metadata_url,
        client_kwargs=usual | provider.client_kwargs,
    )


def _find(name: str) -> IdentityProvider:
    return next(provider for provider in providers() if provider.name == name)


def _log(provider: str, error: Exception) -> None:
    """Say why something failed at a provider; as `repr`, since a request may bring parts of the text."""
    log.write(logging.WARNING, f"The identity provider failed: {error!r}", provider=provider)
