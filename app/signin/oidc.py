"""OpenID Connect: the authorization code flow with state, nonce and PKCE, done by Authlib's Starlette client.

Authlib checks the state, the id token's signature, issuer, audience and expiry, and the nonce. Between the
request to the provider and its answer, what these checks need is in a signed cookie of this browser.
"""

from __future__ import annotations

import hashlib
import logging
from typing import Any, NamedTuple

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from app.signin.current_user import sessions
from app.signin.providers import CALLBACK, IdentityProvider, auth_settings, providers
from curation.core import log
from curation.people.sign_ins import LASTS

LARGEST_ID_TOKEN = 2_500
"""Characters; browsers drop cookies of more than 4,096 bytes."""


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
        """The content, or None where the cookie is missing, forged or too old."""
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
SIGNED_IN_BY = SignedCookie("provider", "/sign-out", LASTS)
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
    """Send the browser to the provider; None where the provider cannot be reached."""
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
    """The provider's answer to a sign-in that has begun, or None where a check fails."""
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
