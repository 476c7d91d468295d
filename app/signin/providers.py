"""Identity providers: the section [auth] of Streamlit's secrets, and the sign-in by OpenID Connect.

Without the section [auth], nobody can sign in through an identity provider. Authlib's Starlette client does
the authorization code flow with state, nonce and PKCE, and checks the state, the nonce, and the id token's
signature, issuer, audience and expiry. A signed cookie in the browser holds the values for these checks until
the provider responds.
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

from app.signin.current_user import keep_cookie, sessions
from curation.core import log
from curation.core.errors import InputError, RefusedError
from curation.core.text import pluralize
from curation.people.sign_ins import SIGN_IN_SECONDS

START, CALLBACK = "/sign-in/with", "/oauth2callback"
PATHS = frozenset({START, CALLBACK})
REQUIRED = ("client_id", "client_secret", "server_metadata_url")
MIN_SECRET_LENGTH = 32
LARGEST_ID_TOKEN = 2_500
"""Maximum number of characters in a cookie; browsers drop cookies of more than 4,096 bytes."""


class IdentityProvider(NamedTuple):
    """An identity provider, with this app's registration at the provider.

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
        if option := [name for name in st.get_option("secrets.files") if Path(name).is_file()]:
            raise InputError(f"{option[0]} is not valid TOML, so its sign-in settings cannot be used")
        return AuthSettings()
    settings = read_auth(st.secrets.to_dict().get("auth", {}))
    if settings.providers and not (find_spec("authlib") and find_spec("httpx2")):
        raise RefusedError(
            "[auth] in Streamlit's secrets names an identity provider, but Authlib or httpx2 is not "
            "installed. Install both with `pip install Authlib httpx2`."
        )
    return settings


def providers() -> tuple[IdentityProvider, ...]:
    """Return the configured identity providers, in the order of the file."""
    return auth_settings().providers


def find_provider(name: str) -> IdentityProvider | None:
    """Return the configured identity provider with this name, or None."""
    return next((provider for provider in providers() if provider.name == name), None)


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
            f"{MIN_SECRET_LENGTH} random characters or more"
        )
    return problems


class SignedCookie(NamedTuple):
    """A cookie that only the owner of cookie_secret in [auth] can write; browsers keep the cookie for
    `seconds`.
    """

    purpose: str
    path: str
    seconds: int

    @property
    def name(self) -> str:
        return f"{sessions().cookie}_{self.purpose}"

    def set(self, response: Response, *content: Any) -> None:
        """Set the cookie to values that JSON can represent."""
        secure = auth_settings().redirect_uri.startswith("https:")
        value = str(self._serializer().dumps(content))
        keep_cookie(response, self.name, value, seconds=self.seconds, path=self.path, secure=secure)

    def read(self, request: Request) -> list[Any] | None:
        """Read the values of the cookie; None if the cookie is missing, forged or too old."""
        value = request.cookies.get(self.name, "")
        try:
            content: list[Any] = self._serializer().loads(value, max_age=self.seconds)
        except BadData:
            return None
        return content

    def delete(self, response: Response) -> None:
        response.delete_cookie(self.name, path=self.path)

    def _serializer(self) -> URLSafeTimedSerializer:
        signing = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        return URLSafeTimedSerializer(auth_settings().cookie_secret, salt=self.name, signer_kwargs=signing)


PENDING = SignedCookie("pending", CALLBACK, 15 * 60)
"""Cookie of a sign-in that waits for the identity provider's response."""
SIGNED_IN_BY = SignedCookie("provider", "/sign-out", SIGN_IN_SECONDS)
"""The cookie with the values that a sign-out at the identity provider needs."""


class PendingSignIn(NamedTuple):
    """A sign-in that has started: `session` is Authlib's session with state, nonce and code verifier."""

    provider: str
    target: str
    session: dict[str, Any]


class VerifiedAnswer(NamedTuple):
    """An identity provider's verified statement about a person.

    issuer, subject: `iss` and `sub` of the id token, which identify the account.
    verified: whether the provider verified the e-mail address.
    """

    provider: str
    issuer: str
    subject: str
    email: str
    verified: bool
    id_token: str


async def begin(request: Request, provider: IdentityProvider, target: str) -> Response | None:
    """Redirect the browser to the identity provider; None if the provider cannot be reached."""
    asked = Request({**request.scope, "session": {}})
    try:
        response: Response = await _client(provider.name).authorize_redirect(
            asked, auth_settings().redirect_uri
        )
    except Exception as error:
        _log(provider.name, error)
        return None
    PENDING.set(response, *PendingSignIn(provider.name, target, asked.session))
    return response


def pending_sign_in(request: Request) -> PendingSignIn | None:
    """Return the sign-in through a provider that this browser has started, or None."""
    content = PENDING.read(request)
    return None if content is None else PendingSignIn(*content)


async def finish(request: Request, pending: PendingSignIn) -> VerifiedAnswer | None:
    """Check the provider's response to a started sign-in; None if a check fails."""
    answer = Request({**request.scope, "session": pending.session})
    try:
        token = await _client(pending.provider).authorize_access_token(answer)
    except Exception as error:
        _log(pending.provider, error)
        return None
    claims = token.get("userinfo") or {}
    verified = claims.get("email_verified") in (True, "true")  # some providers write it as text
    email = str(claims.get("email") or "")
    account = (str(claims.get("iss") or ""), str(claims.get("sub") or ""))
    return VerifiedAnswer(pending.provider, *account, email, verified, token.get("id_token", ""))


def remember_provider(response: Response, answer: VerifiedAnswer) -> None:
    """Store in the browser the values that a sign-out at the identity provider needs."""
    # Without the id token, which is a hint only, a provider may ask whether to sign out.
    hint = answer.id_token if len(answer.id_token) <= LARGEST_ID_TOKEN else ""
    SIGNED_IN_BY.set(response, answer.provider, hint)


async def sign_out_address(request: Request) -> str | None:
    """Return the address at which the identity provider ends its session; None without provider or
    address.
    """
    kept = SIGNED_IN_BY.read(request) if providers() else None
    if kept is None:
        return None
    name, id_token = kept
    try:
        client = _client(name)
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


def _client(name: str) -> Any:
    """Make an Authlib client for a single use, because a provider may change its metadata and keys."""
    from authlib.integrations.starlette_client import OAuth  # an optional dependency

    provider = next(provider for provider in providers() if provider.name == name)
    usual = {"scope": "openid email profile", "prompt": "select_account", "code_challenge_method": "S256"}
    return OAuth().register(
        provider.name,
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        server_metadata_url=provider.server_metadata_url,
        client_kwargs=usual | provider.client_kwargs,
    )


def _log(provider: str, error: Exception) -> None:
    """Log an error of an identity provider as `repr`, because parts of the error text may come from a
    request.
    """
    log.write(logging.WARNING, f"The identity provider failed: {error!r}", provider=provider)
