"""The sign-in page: sign-in by name and password, sign-out, and the set-up link of the first lead.

While no lead can sign in, the person who started the app opens the set-up link to make the first lead's
account. The token of the set-up link exists only in the memory of this process. The set-up link works once,
and becomes invalid if a command makes a lead in the meantime.
"""

from __future__ import annotations

import hmac
import secrets
from contextlib import suppress
from functools import cache, partial
from html import escape
from urllib.parse import quote, urlencode

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.context import project_store, unreadable
from app.entry import fetched_ahead
from app.signin import pages
from app.signin.current_user import (
    KNOWN_FOR,
    accounts,
    address_of,
    keep_cookie,
    network_of,
    sessions,
    sign_in_of,
    visit_of,
)
from app.signin.password_checks import KNOWN_BROWSERS, RETRY, UNKNOWN_BROWSERS, why_unchecked
from app.signin.providers import (
    SIGNED_IN_BY,
    START,
    IdentityProvider,
    auth_settings,
    providers,
    sign_out_address,
)
from app.signin.throttle import login_throttle, tried_at_sign_in
from curation.core.errors import CurationError, NotFoundError
from curation.people.accounts import end_sign_ins, link_of, who_signs_in
from curation.people.sign_ins import SIGN_IN_SECONDS, authenticate, id_of

_FORM = pages.template("signin.html")
SUBTITLE = "Sign in to grade search results."
_HELP = '<p class="help">If you have no account, ask the lead of your project for an invitation link.</p>'
_DO = "Open the set-up link that <code>goldgrade app</code> printed in the terminal."
NO_ACCOUNT = f'<p class="notice">This project has no account yet. {_DO}</p>'
NO_LEAD = f'<p class="notice">This project has no lead who can sign in yet. {_DO}</p>'
_THIS_BROWSER_ONLY = (
    "This browser is signed out, but the project could not record that the sign-in has ended."
)
BY_LINK = """\
No lead can sign in yet. Open this link to make the first account; it works once, until the app is stopped:
  {link}
If people reach the app at another address, replace {address} in the link by this address."""
BY_COMMAND = "No lead can sign in yet. Make a lead: goldgrade people add NAME --role lead --email ADDRESS"


async def sign_in(request: Request) -> Response:
    """GET: show the form. POST: sign a person in by name and password."""
    target = own_path(request.query_params.get("next", "/"))
    if request.method != "POST":
        if request.state.annotator:
            return RedirectResponse(target, 303)
        return sign_in_page(target, notice=await to_thread.run_sync(_notice))
    if not auth_settings().passwords:
        return sign_in_page(target, status=403, problem="This project does not use names and passwords.")
    form = await pages.form(request)
    if form is None:
        return sign_in_page(target, status=413, problem="The name or the password is too long.")
    name = form.get("name", "").strip()
    tried = tried_at_sign_in(name, address_of(request), _known_browser(request, name))
    if wait := login_throttle.attempt(tried):
        problem = f"Too many wrong passwords for this name. Try again in {wait} s."
        return sign_in_page(target, name, 429, problem, {"Retry-After": str(wait)})
    lane = KNOWN_BROWSERS if tried[0].key[0] == "browser" else UNKNOWN_BROWSERS
    try:
        check = partial(authenticate, project_store(), name, form.get("password", ""), visit_of(request))
        found = await lane.run(request, network_of(request), check)
    except CurationError as error:  # the password was not checked
        login_throttle.withdrawn(tried)
        return sign_in_page(target, name, 503, why_unchecked(error), RETRY)
    if found is None:
        return sign_in_page(target, name, 401, "The name or the password is wrong.")
    login_throttle.succeeded(tried)
    return know_browser(request, enter(request, found, target), name)


async def sign_out(request: Request) -> Response:
    """POST: end the sign-in in the app and at the identity provider, and show the sign-in form.

    After the sign-out, copies of the session cookie are no longer valid.
    """
    name, key = request.state.annotator, sign_in_of(request.cookies)
    address = await sign_out_address(request)
    response = RedirectResponse("/sign-in", 303) if address is None else _on_to(address)
    try:
        if key is not None:
            with suppress(NotFoundError):  # it has ended already
                await to_thread.run_sync(end_sign_ins, project_store(), name, id_of(key), name)
            accounts().expire()
    except CurationError as error:
        response = sign_in_page("/", name, 503, f"{_THIS_BROWSER_ONLY} {unreadable(error)}")
    response.delete_cookie(sessions().cookie, path="/")
    SIGNED_IN_BY.delete(response)
    return response


def _on_to(address: str) -> Response:
    """Return a page with a link to the provider's sign-out, because the form policy forbids a redirect to
    other hosts.
    """
    way = f'<a class="way" href="{escape(address)}">Sign out at the provider, too</a>'
    return pages.page("Signed out", "You are signed out here.", way, headers={"Refresh": f"0; url={address}"})


def enter(request: Request, key: str, target: str) -> Response:
    """Set the cookie of a sign-in, given the key of the sign-in, and redirect to a page."""
    accounts().expire()
    response = RedirectResponse(target, 303)
    value, secure = sessions().issue(key), request.url.scheme == "https"
    keep_cookie(response, sessions().cookie, value, seconds=SIGN_IN_SECONDS, path="/", secure=secure)
    return response


def _known_browser(request: Request, name: str) -> str | None:
    """Return the key of the request's browser if this person has signed in with the browser before."""
    return sessions().browser_of(name, request.cookies.get(sessions().known_cookie(name), ""))


def know_browser(request: Request, response: Response, name: str) -> Response:
    """Mark the browser as known to a person who has just signed in."""
    cookie = sessions().known_cookie(name)
    value = sessions().know(name, _known_browser(request, name))
    secure = request.url.scheme == "https"
    keep_cookie(response, cookie, value, seconds=KNOWN_FOR, path="/sign-in", secure=secure)
    return response


def own_path(target: str) -> str:
    """Return the path to open after the sign-in if the path belongs to this app; otherwise '/'."""
    own = target.startswith("/") and not target.startswith(("//", "/\\", "/sign-"))
    return target if own and target.isprintable() else "/"


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
    links = "".join(_link(provider, target) for provider in providers())
    above = f'<div class="ways">{"" if by_password else pages.alert(problem)}{links}</div>' if links else ""
    content = f"{notice}{above}{form if by_password else ''}{'' if notice else _HELP}"
    return pages.page("Sign in", SUBTITLE, content, status, headers, ahead=fetched_ahead())


def _notice() -> str:
    """Return the notice of the sign-in page, as HTML, while no lead can sign in."""
    with suppress(CurationError):  # a sign-in then says that the project cannot be read
        if first_lead().missing():
            if not auth_settings().passwords:
                return f'<p class="notice">{BY_COMMAND}</p>'
            return NO_ACCOUNT if first_lead().nobody else NO_LEAD
    return ""


def _link(provider: IdentityProvider, target: str) -> str:
    address = f"{START}?{urlencode({'provider': provider.name, 'next': target})}"
    return f'<a class="way" href="{escape(address)}">Sign in with {escape(provider.label)}</a>'


class FirstLead:
    """The state of the first lead: whether no lead can sign in, and the token of the set-up link.

    nobody: whether no person could sign in when the project was last read.
    """

    def __init__(self) -> None:
        self._token = ""
        self._missing = self.nobody = False

    def announce(self, address: str) -> str:
        """Return the text to print in the terminal once the server listens; '' if a lead can sign in."""
        self._missing = True
        if not self.missing():
            return ""
        if not auth_settings().passwords:
            return BY_COMMAND
        self._token = secrets.token_urlsafe(16)
        return BY_LINK.format(link=link_of(address, self._token), address=address)

    def missing(self) -> bool:
        """Return whether no lead can sign in. Once a project has a lead it always keeps a lead, so the
        project is not read again.
        """
        if self._missing:
            with project_store().reading() as cursor:
                found = who_signs_in(cursor)
            self.nobody = not found
            self._missing = all(person.role != "lead" for person in found)
        return self._missing

    def has(self, token: str) -> bool:
        """Return whether a token is the token of the set-up link and the link still works."""
        known = bool(self._token) and hmac.compare_digest(self._token.encode(), token.encode())
        return known and self.missing()


@cache
def first_lead() -> FirstLead:
    """Return the state of the first lead in this process."""
    return FirstLead()
