"""The sign-in page, on which people sign in by name and password, and the sign-out that leads back to it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from html import escape
from urllib.parse import quote, urlencode

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.context import project_store, unreadable
from app.entry import prefetch_links
from app.signin import current_user, pages
from app.signin.auth_settings import IdentityProvider, auth_settings, providers
from app.signin.first_lead import BY_COMMAND, first_lead
from app.signin.password_checks import KNOWN_BROWSERS, RETRY_HEADERS, UNKNOWN_BROWSERS, explain_unchecked
from app.signin.providers import SIGNED_IN_BY, START, sign_out_address
from app.signin.throttle import login_throttle, sign_in_keys
from curation.core.errors import CurationError, NotFoundError
from curation.people.passwords import authenticate
from curation.people.sign_ins import SIGN_IN_SECONDS, end_sign_ins, make_sign_in_id

_FORM = pages.read_template("signin.html")
SUBTITLE = "Sign in to grade search results."
_HELP = '<p class="help">If you have no account, ask the lead of your project for an invitation link.</p>'
_OPEN_LINK = "Open the set-up link that <code>goldgrade app</code> printed in the terminal."
NO_ACCOUNT = f'<p class="notice">This project has no account yet. {_OPEN_LINK}</p>'
NO_LEAD = f'<p class="notice">This project has no lead who can sign in yet. {_OPEN_LINK}</p>'
_THIS_BROWSER_ONLY = "This browser is signed out, but the project could not record the end of the sign-in."


async def sign_in(request: Request) -> Response:
    """GET: show the form. POST: sign a person in by name and password."""
    target = path_in_app(request.query_params.get("next", "/"))
    if request.method != "POST":
        if request.state.annotator:
            return RedirectResponse(target, 303)
        return sign_in_page(target, notice=await to_thread.run_sync(_read_notice))
    if not auth_settings().passwords:
        return sign_in_page(target, status=403, problem="This project does not use names and passwords.")
    form = await pages.read_form(request)
    if form is None:
        return sign_in_page(target, status=413, problem="The name or the password is too long.")
    name = form.get("name", "").strip()
    attempt_keys = sign_in_keys(name, current_user.address_of(request), _read_known_browser(request, name))
    if wait := login_throttle.start_attempt(attempt_keys):
        problem = f"Too many wrong passwords for this name. Try again in {wait} s."
        return sign_in_page(target, name, 429, problem, {"Retry-After": str(wait)})
    queue = KNOWN_BROWSERS if attempt_keys[0].key[0] == "browser" else UNKNOWN_BROWSERS
    try:
        check = partial(
            authenticate, project_store(), name, form.get("password", ""), current_user.read_client(request)
        )
        sign_in_key = await queue.run(request, current_user.network_of(request), check)
    except CurationError as error:  # the password was not checked
        login_throttle.withdraw_attempt(attempt_keys)
        return sign_in_page(target, name, 503, explain_unchecked(error), RETRY_HEADERS)
    if sign_in_key is None:
        return sign_in_page(target, name, 401, "The name or the password is wrong.")
    login_throttle.record_success(attempt_keys)
    return remember_browser(request, enter(request, sign_in_key, target), name)


async def sign_out(request: Request) -> Response:
    """POST: end the sign-in in the app and at the identity provider, and show the sign-in form.

    After the sign-out, copies of the session cookie are no longer valid.
    """
    name, key = request.state.annotator, current_user.sign_in_of(request.cookies)
    address = await sign_out_address(request)
    response = RedirectResponse("/sign-in", 303) if address is None else _link_to_provider_sign_out(address)
    try:
        if key is not None:
            with suppress(NotFoundError):  # it has ended already
                await to_thread.run_sync(end_sign_ins, project_store(), name, make_sign_in_id(key), name)
            current_user.accounts().expire()
    except CurationError as error:
        response = sign_in_page("/", name, 503, f"{_THIS_BROWSER_ONLY} {unreadable(error)}")
    response.delete_cookie(current_user.sessions().cookie, path="/")
    SIGNED_IN_BY.delete(response)
    return response


def _link_to_provider_sign_out(address: str) -> Response:
    """Return a page with a link to the provider's sign-out, because the form policy forbids a redirect to
    other hosts.
    """
    link = f'<a class="way" href="{escape(address)}">Sign out at the provider, too</a>'
    headers = {"Refresh": f"0; url={address}"}
    return pages.page("Signed out", "You are signed out here.", link, headers=headers)


def enter(request: Request, key: str, target: str) -> Response:
    """Set the cookie of a sign-in, given the key of the sign-in, and redirect to a page."""
    current_user.accounts().expire()
    response = RedirectResponse(target, 303)
    value, secure = current_user.sessions().issue(key), request.url.scheme == "https"
    current_user.keep_cookie(
        response, current_user.sessions().cookie, value, seconds=SIGN_IN_SECONDS, path="/", secure=secure
    )
    return response


def _read_known_browser(request: Request, name: str) -> str | None:
    """Return the key of the request's browser if this person has signed in with the browser before."""
    return current_user.sessions().read_browser_cookie(
        name, request.cookies.get(current_user.sessions().browser_cookie_name(name), "")
    )


def remember_browser(request: Request, response: Response, name: str) -> Response:
    """Mark the browser as known to a person who has just signed in."""
    cookie = current_user.sessions().browser_cookie_name(name)
    value = current_user.sessions().issue_browser_cookie(name, _read_known_browser(request, name))
    secure = request.url.scheme == "https"
    current_user.keep_cookie(
        response, cookie, value, seconds=current_user.KNOWN_BROWSER_SECONDS, path="/sign-in", secure=secure
    )
    return response


def path_in_app(target: str) -> str:
    """Return the path to open after the sign-in if the path belongs to this app; otherwise '/'."""
    is_own = target.startswith("/") and not target.startswith(("//", "/\\", "/sign-"))
    return target if is_own and target.isprintable() else "/"


def sign_in_page(
    target: str,
    name: str = "",
    status: int = 200,
    problem: str = "",
    headers: dict[str, str] | None = None,
    notice: str = "",
) -> Response:
    """Return the sign-in page: a link for each identity provider, and the form if anybody has a password."""
    by_password = auth_settings().passwords and notice != NO_ACCOUNT
    form = _FORM.substitute(
        name=escape(name),
        problem=pages.alert(problem),
        target=escape(quote(target)),
        focus_name="" if name else "autofocus",
        focus_password="autofocus" if name else "",
    )
    links = "".join(_provider_link(provider, target) for provider in providers())
    provider_problem = "" if by_password else pages.alert(problem)
    provider_links = f'<div class="ways">{provider_problem}{links}</div>' if links else ""
    content = f"{notice}{provider_links}{form if by_password else ''}{'' if notice else _HELP}"
    return pages.page("Sign in", SUBTITLE, content, status, headers, prefetch=prefetch_links())


def _read_notice() -> str:
    """Return the notice of the sign-in page, as HTML, while no lead can sign in."""
    with suppress(CurationError):  # a sign-in then says that the project cannot be read
        if first_lead().is_missing():
            if not auth_settings().passwords:
                return f'<p class="notice">{BY_COMMAND}</p>'
            return NO_ACCOUNT if first_lead().is_nobody_able_to_sign_in else NO_LEAD
    return ""


def _provider_link(provider: IdentityProvider, target: str) -> str:
    address = f"{START}?{urlencode({'provider': provider.name, 'next': target})}"
    return f'<a class="way" href="{escape(address)}">Sign in with {escape(provider.label)}</a>'
