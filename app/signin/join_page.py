"""The page that an invitation link opens, on which people choose their password. The first lead's set-up link
opens the same page.

The secret token of the link follows the # in the address. Browsers do not send the part after the # to
servers, so no log, no Referer header and no link preview contains the token. A script removes the token from
the address and posts the token to the server. Until the person has chosen a password, a cookie that scripts
cannot read holds the token. The HTML of the page never contains the token.
"""

from __future__ import annotations

from functools import partial
from html import escape

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from app.context import project_name, project_store, unreadable
from app.signin import pages
from app.signin.current_user import address_of, keep_cookie, sessions, visit_of
from app.signin.password_checks import RETRY_AFTER, UNKNOWN_BROWSERS, QueueFullError, why_unchecked
from app.signin.providers import auth_settings
from app.signin.sign_in_page import SUBTITLE, enter, first_lead, know_browser
from app.signin.throttle import login_throttle, tried_at_link
from curation.core.errors import CurationError, StoreError
from curation.people.accounts import OVER, accept, find_invited, make_first_lead
from curation.people.sign_ins import MIN_PASSWORD_LENGTH
from curation.store import Annotator

JOIN = "/join"
KEPT = 60 * 60
"""Seconds for which the cookie holds the token of an opened link."""
_WHOLE = '<p class="help">Open the complete link that you received, in a browser with JavaScript.</p>'
_SIGN_IN = '<p class="help"><a href="/sign-in">Sign in</a> if you have a password.</p>'
_JOIN_FORM = pages.template("join.html")
_JOIN_SCRIPT = f"<script>{pages.JOIN_SCRIPT}</script>"


async def join(request: Request) -> Response:
    """GET: show the account form of an opened invitation link. POST: open an invitation link, or make an
    account from the fields of the form.
    """
    form = (await pages.form(request) or {}) if request.method == "POST" else {}
    cookie = f"{sessions().cookie}_link"
    token = form.get("token") or request.cookies.get(cookie, "")
    if not token or not auth_settings().passwords:
        return _join_page()
    tried = tried_at_link(address_of(request))
    if wait := login_throttle.attempt(tried):
        return _join_page(None, f"Too many invalid links were opened. Try again in {wait} s.", 429, wait)
    try:
        found = await to_thread.run_sync(_whose, token)
    except CurationError as error:
        login_throttle.withdrawn(tried)
        return _join_page(None, unreadable(error), 503)
    if found is None:
        response = _join_page(None, OVER, 403)
    else:
        login_throttle.succeeded(tried)
        if "token" in form:
            opened = RedirectResponse(JOIN, 303)
            secure = request.url.scheme == "https"
            keep_cookie(opened, cookie, token, seconds=KEPT, path=JOIN, secure=secure)
            return opened
        response = await _choose(request, token, found, form) if form else _join_page(found)
    if response.status_code in {303, 403}:
        response.delete_cookie(cookie, path=JOIN)
    return response


JOIN_ROUTE = Route(JOIN, join, methods=["GET", "POST"])


def _whose(token: str) -> Annotator | None:
    """Return the person whom a link invites; the person of the set-up link has no name yet."""
    if first_lead().has(token):
        return Annotator("", "lead", imported=False)
    with project_store().reading() as cursor:
        return find_invited(cursor, token)


async def _choose(request: Request, token: str, of: Annotator, form: dict[str, str]) -> Response:
    store, visit, new = project_store(), visit_of(request), form.get("new", "")
    name = of.name or form.get("name", "").strip()
    act = partial(accept, store, token, new, visit)
    if not of.name:
        act = partial(make_first_lead, store, name, new, visit)
    if new != form.get("again"):
        return _join_page(of, "The two passwords differ. Write the same password twice.", 422, name=name)
    try:
        key = await UNKNOWN_BROWSERS.run(request, visit.network, act)
    except (StoreError, QueueFullError) as error:
        return _join_page(of, why_unchecked(error), 503, RETRY_AFTER, name)
    except CurationError as error:
        return _join_page(of, str(error), 422, name=name)
    return know_browser(request, enter(request, key, "/"), name)


def _join_page(
    of: Annotator | None = None, problem: str = "", status: int = 200, wait: int = 0, name: str = ""
) -> Response:
    """Return the form of an opened invitation link; without an opened link, a script opens the link in the
    address.
    """
    subtitle, content = SUBTITLE, f"{pages.alert(problem) or _WHOLE}{_SIGN_IN}"
    if of is not None:
        subtitle = f"Your account in {project_name()}, as {of.role}."
        content = _JOIN_FORM.substitute(
            name=escape(of.name or name),
            name_is="readonly" if of.name else "autofocus",
            password_is="autofocus" if of.name else "",
            problem=pages.alert(problem),
            shortest=MIN_PASSWORD_LENGTH,
        )
    headers = {"Retry-After": str(wait)} if wait else None
    return pages.page("Choose a password", subtitle, content, status, headers, _JOIN_SCRIPT)
