"""Signing in through an identity provider: what `st.login` does, begun from our own page before any script.

Streamlit's routes speak to the provider (code flow with state, nonce and PKCE; the id token's signature,
issuer, audience and end are checked by Authlib) and leave what it vouched for in a cookie that they sign.
It is taken as proof for a minute only, and once it is, our own sign-in stands: there is one kind of it.
Configured in Streamlit's secrets, section [auth]; without it nothing here is reachable.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from streamlit.auth_util import (
    encode_provider_token,
    get_cookie_with_chunks,
    get_secrets_auth_section,
    is_authlib_installed,
    validate_auth_credentials,
)
from streamlit.config import get_option
from streamlit.errors import StreamlitAuthError
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

from curation.errors import InputError, RefusedError

LOGIN, CALLBACK, LOGOUT = "/auth/login", "/oauth2callback", "/auth/logout"
START = "/sign-in/with"
OPEN = frozenset({START, LOGIN, CALLBACK, LOGOUT})
PROOF_LASTS = 60
"""Seconds after the provider's answer within which it must have become a sign-in of ours."""
UNDER_WAY = "goldset_under_way"
"""The cookie that says where somebody wanted to go who was sent to a provider."""
SHORTEST_SECRET = 32
_USER = "_streamlit_user"


class Provider(NamedTuple):
    """A provider's section in the secrets ('default' for [auth] itself), and what people call it."""

    section: str
    label: str


class Identity(NamedTuple):
    """What a provider said: the address, and whether it says that it verified it."""

    email: str
    verified: bool


@cache
def providers() -> tuple[Provider, ...]:
    """The configured providers, in the order of the file; none where [auth] is not there."""
    auth = get_secrets_auth_section()
    named = [key for key in auth if hasattr(auth[key], "keys") and key != "client_kwargs"]
    default = ["default"] * ("client_id" in auth)
    return tuple(Provider(section, _label(auth, section)) for section in default + named)


def passwords_allowed() -> bool:
    """Whether names and passwords sign in, too; `passwords = false` in [auth] leaves the providers alone."""
    return not providers() or bool(get_secrets_auth_section().get("passwords", True))


def require_configured() -> None:
    """Look at the configuration before anybody needs it.

    Raises
    ------
    InputError: the secrets cannot be read, or [auth] lacks something or holds what cannot work.
    RefusedError: it is configured, but Authlib is not installed.
    """
    if not secrets_singleton.load_if_toml_exists() and (found := _secrets_files()):
        raise InputError(f"{found[0]} cannot be read as TOML, so nobody could sign in as it says")
    if not providers():
        return
    if not is_authlib_installed():
        raise RefusedError(
            "[auth] in Streamlit's secrets names an identity provider, but Authlib is not installed. "
            "Install it with `pip install 'goldset[oidc]'`."
        )
    if problems := _problems():
        raise InputError(problems)


async def start(request: Request) -> Response:
    """GET: send the browser to the provider that `provider` names."""
    chosen = request.query_params.get("provider", "")
    if chosen not in {provider.section for provider in providers()}:
        return RedirectResponse("/sign-in", 303)
    response = RedirectResponse(f"{LOGIN}?provider={quote(encode_provider_token(chosen))}", 303)
    response.set_cookie(
        UNDER_WAY,
        quote(request.query_params.get("next", "/"), safe="/"),
        max_age=900,
        path="/sign-in",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return response


def vouched(request: Request) -> Identity | None:
    """Whom a provider has vouched for within the last minute, or None."""
    if not providers():
        return None
    secret = get_cookie_secret()

    def read(name: str) -> bytes | None:
        value = request.cookies.get(name, "")
        # (A half second more: the limit is cut to whole seconds.)
        return decode_signed_value(secret, name, value, max_age_days=(PROOF_LASTS + 0.5) / 86_400)

    said = get_cookie_with_chunks(read, _USER)
    try:
        claims: dict[str, Any] = json.loads(said) if said else {}
    except ValueError:
        return None
    email = claims.get("email")
    if not claims.get("is_logged_in"):
        return None
    # Some providers write the boolean as text.
    verified = claims.get("email_verified") in (True, "true")
    return Identity(email if isinstance(email, str) else "", verified)


def known_to_streamlit(request: Request) -> bool:
    """Whether a provider's answer is among the cookies, however old: signing out has to end it, too."""
    return bool(providers()) and _USER in request.cookies


def forget(request: Request, response: Response) -> None:
    """Take the provider's answer out of the browser."""
    for name in request.cookies:
        if name.startswith(_USER):
            response.delete_cookie(name, path="/")


def _label(auth: Any, section: str) -> str:
    values = auth if section == "default" else auth[section]
    host = urlsplit(str(values.get("server_metadata_url", ""))).hostname
    fallback = host if section == "default" and host else section.capitalize()
    return str(values.get("label", fallback))


def _secrets_files() -> list[Path]:
    return [path for name in get_option("secrets.files") if (path := Path(name)).is_file()]


def _problems() -> list[str]:
    auth = get_secrets_auth_section()
    problems = []
    for provider in providers():
        try:
            validate_auth_credentials(provider.section)
        except StreamlitAuthError as error:
            problems.append(" ".join(str(error).split()))
    if not str(auth.get("redirect_uri", CALLBACK)).endswith(CALLBACK):
        problems.append(
            f"redirect_uri in [auth] is {auth['redirect_uri']!r}: expected an address ending in {CALLBACK}"
        )
    if len(str(auth.get("cookie_secret", "x" * SHORTEST_SECRET))) < SHORTEST_SECRET:
        problems.append(
            f"cookie_secret in [auth] is short: expected {SHORTEST_SECRET} random characters or more"
        )
    return problems
