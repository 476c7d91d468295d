"""The sign-in page, on which people sign in with a name and password or choose an identity provider."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from html import escape
from urllib.parse import quote, urlencode

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.context import project_store
from app.index_page import make_prefetch_links
from app.signin import pages
from app.signin.auth_settings import IdentityProvider, auth_settings, list_providers
from app.signin.client_info import read_address, read_client, read_network
from app.signin.cookies import read_known_browser, remember_browser
from app.signin.current_user import open_session
from app.signin.first_lead import BY_COMMAND, first_lead
from app.signin.oidc import START
from app.signin.password_checks import KNOWN_BROWSERS, RETRY_HEADERS, UNKNOWN_BROWSERS, explain_unchecked
from app.signin.throttle import list_sign_in_keys, login_throttle
from curation.core.errors import CurationError
from curation.people.passwords import authenticate

_FORM = pages.read_template("signin.html")
SUBTITLE = "Sign in to grade search results."
_HELP = '<p class="help">If you have no account, ask the project lead for an invitation link.</p>'
_OPEN_LINK = "To set up the project, open the link that <code>goldgrade app</code> printed in the terminal."
NO_ACCOUNT = f'<p class="notice">This project has no account yet. {_OPEN_LINK}</p>'
NO_LEAD = f'<p class="notice">This project has no lead who can sign in yet. {_OPEN_LINK}</p>'


async def sign_in(request: Request) -> Response:
    """GET: show the form. POST: sign a person in with a name and password."""
    target = find_path_in_app(request.query_params.get("next", "/"))
    if request.method != "POST":
        if request.state.annotator:
            return RedirectResponse(target, 303)
        return build_sign_in_page(target, notice=await to_thread.run_sync(_read_notice))
    if not auth_settings().passwords:
        return build_sign_in_page(
            target,
            status=403,
            problem="This project does not allow sign-in with name and password. Sign in through the "
            "identity provider.",
        )
    form = await pages.read_form(request)
    if form is None:
        return build_sign_in_page(target, status=413, problem="The name or the password is too long.")
    name = form.get("name", "").strip()
    attempt_keys = list_sign_in_keys(name, read_address(request), read_known_browser(request, name))
    if wait := login_throttle.start_attempt(attempt_keys):
        problem = f"Too many wrong passwords for this name. Try again in {wait} s."
        return build_sign_in_page(target, name, 429, problem, {"Retry-After": str(wait)})
    queue = KNOWN_BROWSERS if attempt_keys[0].key[0] == "browser" else UNKNOWN_BROWSERS
    password, client = form.get("password", ""), read_client(request)
    try:
        check = partial(authenticate, project_store(), name, password, client)
        sign_in_key = await queue.run(request, read_network(request), check)
    except CurationError as error:  # the password was not checked
        login_throttle.withdraw_attempt(attempt_keys)
        return build_sign_in_page(target, name, 503, explain_unchecked(error), RETRY_HEADERS)
    if sign_in_key is None:
        return build_sign_in_page(target, name, 401, "The name or the password is wrong.")
    login_throttle.record_success(attempt_keys)
    return remember_browser(request, open_session(request, sign_in_key, target), name)


def find_path_in_app(target: str) -> str:
    """Return the path to open after the sign-in if it belongs to this app; otherwise '/'."""
    is_in_app = target.startswith("/") and not target.startswith(("//", "/\\", "/sign-"))
    return target if is_in_app and target.isprintable() else "/"


def build_sign_in_page(
    target: str,
    name: str = "",
    status: int = 200,
    problem: str = "",
    headers: dict[str, str] | None = None,
    notice: str = "",
) -> Response:
    """Build the sign-in page: a link for each identity provider, and the form if anyone has a password.

    Parameters
    ----------
    target: the path to open after the sign-in.
    name: the name that the form shows initially.
    notice: HTML above the form, which replaces the sentence about invitation links.
    """
    has_password_form = auth_settings().passwords and notice != NO_ACCOUNT
    form = _FORM.substitute(
        name=escape(name),
        problem=pages.make_alert(problem),
        target=escape(quote(target)),
        focus_name="" if name else "autofocus",
        focus_password="autofocus" if name else "",
    )
    links = "".join(_provider_link(provider, target) for provider in list_providers())
    provider_problem = "" if has_password_form else pages.make_alert(problem)
    provider_links = f'<div class="ways">{provider_problem}{links}</div>' if links else ""
    content = f"{notice}{provider_links}{form if has_password_form else ''}{'' if notice else _HELP}"
    return pages.build_plain_page(
        "Sign in", SUBTITLE, content, status, headers, prefetch=make_prefetch_links()
    )


def _read_notice() -> str:
    """Return the sign-in page's notice, as HTML, while no lead can sign in."""
    with suppress(CurationError):  # a sign-in then says that the project cannot be read
        if first_lead().is_missing():
            if not auth_settings().passwords:
                return f'<p class="notice">{BY_COMMAND}</p>'
            return NO_ACCOUNT if first_lead().is_nobody_able_to_sign_in else NO_LEAD
    return ""


def _provider_link(provider: IdentityProvider, target: str) -> str:
    address = f"{START}?{urlencode({'provider': provider.name, 'next': target})}"
    return f'<a class="way" href="{escape(address)}">Sign in with {escape(provider.label)}</a>'
