"""Sign-in through an identity provider by OpenID Connect.

Authlib's Starlette client does the authorization code flow with state, nonce and PKCE, and checks the state,
the nonce, and the id token's signature, issuer, audience and expiry. A signed cookie in the browser holds the
values for these checks until the provider responds.
"""

from __future__ import annotations

import hashlib
import logging
from typing import Any, NamedTuple

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from app.signin.auth_settings import CALLBACK, IdentityProvider, auth_settings, list_providers
from app.signin.cookies import cookie_codec, set_cookie
from curation.core import log
from curation.people.sign_ins import SIGN_IN_SECONDS

START = "/sign-in/with"
PATHS = frozenset({START, CALLBACK})
MAX_ID_TOKEN_LENGTH = 2_500
"""Maximum number of characters in a cookie; browsers drop cookies of more than 4,096 bytes."""


class SignedCookie(NamedTuple):
    """A cookie, kept for `seconds`, that only the owner of cookie_secret in [auth] can write."""

    purpose: str
    path: str
    seconds: int

    @property
    def name(self) -> str:
        return f"{cookie_codec().cookie}_{self.purpose}"

    def set(self, response: Response, *content: Any) -> None:
        """Set the cookie in a response; its values must be values that JSON can represent."""
        secure = auth_settings().redirect_uri.startswith("https:")
        value = str(self._serializer().dumps(content))
        set_cookie(response, self.name, value, seconds=self.seconds, path=self.path, secure=secure)

    def read(self, request: Request) -> list[Any] | None:
        """Read the cookie's values; None if it is missing, forged or too old."""
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


PENDING_COOKIE = SignedCookie("pending", CALLBACK, 15 * 60)
PROVIDER_COOKIE = SignedCookie("provider", "/sign-out", SIGN_IN_SECONDS)


class PendingSignIn(NamedTuple):
    """A sign-in that has started: `session` is Authlib's session with state, nonce and code verifier."""

    provider: str
    target: str
    session: dict[str, Any]


class VerifiedIdentity(NamedTuple):
    """A person's identity, stated by an identity provider and verified by the app.

    issuer, subject: `iss` and `sub` of the id token, which identify the account.
    is_email_verified: whether the provider verified the e-mail address.
    """

    provider: str
    issuer: str
    subject: str
    email: str
    is_email_verified: bool
    id_token: str


async def redirect_to_provider(request: Request, provider: IdentityProvider, target: str) -> Response | None:
    """Redirect the browser to the identity provider; None if the provider cannot be reached."""
    session_request = Request({**request.scope, "session": {}})
    try:
        response: Response = await _make_client(provider.name).authorize_redirect(
            session_request, auth_settings().redirect_uri
        )
    except Exception as error:
        _log_failure(provider.name, error)
        return None
    PENDING_COOKIE.set(response, *PendingSignIn(provider.name, target, session_request.session))
    return response


def read_pending_sign_in(request: Request) -> PendingSignIn | None:
    """Return the sign-in through a provider that this browser has started, or None."""
    content = PENDING_COOKIE.read(request)
    return None if content is None else PendingSignIn(*content)


async def verify_response(request: Request, pending: PendingSignIn) -> VerifiedIdentity | None:
    """Check the provider's response to a started sign-in; None if a check fails."""
    session_request = Request({**request.scope, "session": pending.session})
    try:
        token = await _make_client(pending.provider).authorize_access_token(session_request)
    except Exception as error:
        _log_failure(pending.provider, error)
        return None
    claims = token.get("userinfo") or {}
    return VerifiedIdentity(
        pending.provider,
        issuer=str(claims.get("iss") or ""),
        subject=str(claims.get("sub") or ""),
        email=str(claims.get("email") or ""),
        is_email_verified=claims.get("email_verified") in (True, "true"),  # some providers send text
        id_token=token.get("id_token", ""),
    )


def remember_provider(response: Response, identity: VerifiedIdentity) -> None:
    """Store in the browser the values needed for a sign-out at the identity provider."""
    # Without the id token, which is a hint only, a provider may ask whether to sign out.
    hint = identity.id_token if len(identity.id_token) <= MAX_ID_TOKEN_LENGTH else ""
    PROVIDER_COOKIE.set(response, identity.provider, hint)


async def make_sign_out_address(request: Request) -> str | None:
    """Return the address at which the identity provider ends its session; None without an address."""
    hints = PROVIDER_COOKIE.read(request) if list_providers() else None
    if hints is None:
        return None
    provider_name, id_token = hints
    try:
        client = _make_client(provider_name)
        if not (await client.load_server_metadata()).get("end_session_endpoint"):
            return None
        # The callback is the one address that is registered with the provider; it leads to the sign-in page.
        logout = await client.create_logout_url(
            post_logout_redirect_uri=auth_settings().redirect_uri,
            id_token_hint=id_token,
            client_id=client.client_id,
        )
    except Exception as error:
        _log_failure(provider_name, error)
        return None
    return str(logout["url"])


def _make_client(provider_name: str) -> Any:
    """Make an Authlib client for a single use, because a provider may change its metadata and keys."""
    from authlib.integrations.starlette_client import OAuth  # an optional dependency

    provider = next(provider for provider in list_providers() if provider.name == provider_name)
    defaults = {"scope": "openid email profile", "prompt": "select_account", "code_challenge_method": "S256"}
    return OAuth().register(
        provider.name,
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        server_metadata_url=provider.server_metadata_url,
        client_kwargs=defaults | provider.client_kwargs,
    )


def _log_failure(provider: str, error: Exception) -> None:
    """Log an error of an identity provider as `repr`, because its text may come from a request."""
    log.write(logging.WARNING, f"The identity provider failed: {error!r}", provider=provider)
