"""The page on which people who open an invitation link, or the set-up link, choose their password.

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

from app.context import explain_unreadable, project_name, project_store
from app.signin import pages
from app.signin.auth_settings import auth_settings
from app.signin.client_info import read_address, read_client
from app.signin.cookies import cookie_codec, remember_browser, set_cookie
from app.signin.current_user import open_session
from app.signin.first_lead import first_lead
from app.signin.password_checks import RETRY_SECONDS, UNKNOWN_BROWSERS, QueueFullError, explain_unchecked
from app.signin.sign_in_page import SUBTITLE
from app.signin.throttle import list_link_keys, login_throttle
from curation.core.errors import CurationError, StoreError
from curation.people.accounts import make_first_lead
from curation.people.invitations import INVALID_LINK, accept_invitation, find_invited_annotator
from curation.people.passwords import MIN_PASSWORD_LENGTH
from curation.store import Annotator

JOIN = "/join"
LINK_COOKIE_SECONDS = 60 * 60
_LINK_HELP = (
    '<p class="help">Open the complete link that you were sent, in a browser with JavaScript turned on.</p>'
)
_SIGN_IN_HELP = '<p class="help"><a href="/sign-in">Sign in</a> if you have a password.</p>'
_JOIN_FORM = pages.read_template("join.html")
_JOIN_SCRIPT = f"<script>{pages.JOIN_SCRIPT}</script>"


async def join(request: Request) -> Response:
    """GET: show the account form of an invitation. POST: open an invitation, or create an account."""
    form = (await pages.read_form(request) or {}) if request.method == "POST" else {}
    cookie = f"{cookie_codec().cookie}_link"
    token = form.get("token") or request.cookies.get(cookie, "")
    if not token or not auth_settings().passwords:
        return _build_page()
    attempt_keys = list_link_keys(read_address(request))
    if wait := login_throttle.start_attempt(attempt_keys):
        return _build_page(None, f"Too many invalid links were opened. Try again in {wait} s.", 429, wait)
    try:
        invited = await to_thread.run_sync(_find_invited_person, token)
    except CurationError as error:
        login_throttle.withdraw_attempt(attempt_keys)
        return _build_page(None, explain_unreadable(error), 503)
    if invited is None:
        response = _build_page(None, INVALID_LINK, 403)
    else:
        login_throttle.record_success(attempt_keys)
        if "token" in form:
            redirect = RedirectResponse(JOIN, 303)
            secure = request.url.scheme == "https"
            set_cookie(redirect, cookie, token, seconds=LINK_COOKIE_SECONDS, path=JOIN, secure=secure)
            return redirect
        response = await _make_account(request, token, invited, form) if form else _build_page(invited)
    if response.status_code in {303, 403}:
        response.delete_cookie(cookie, path=JOIN)
    return response


def _find_invited_person(token: str) -> Annotator | None:
    """Return the person whom a link invites; for the set-up link, a person without a name."""
    if first_lead().accepts(token):
        return Annotator("", "lead", imported=False)
    with project_store().reading() as cursor:
        return find_invited_annotator(cursor, token)


async def _make_account(request: Request, token: str, invited: Annotator, form: dict[str, str]) -> Response:
    store, client, password = project_store(), read_client(request), form.get("new", "")
    name = invited.name or form.get("name", "").strip()
    sign_in = partial(accept_invitation, store, token, password, client)
    if not invited.name:
        sign_in = partial(make_first_lead, store, name, password, client)
    if password != form.get("again"):
        return _build_page(
            invited, "The two passwords differ. Enter the same password twice.", 422, name=name
        )
    try:
        key = await UNKNOWN_BROWSERS.run(request, client.network, sign_in)
    except (StoreError, QueueFullError) as error:
        return _build_page(invited, explain_unchecked(error), 503, RETRY_SECONDS, name)
    except CurationError as error:
        return _build_page(invited, str(error), 422, name=name)
    return remember_browser(request, open_session(request, key, "/"), name)


def _build_page(
    invited: Annotator | None = None, problem: str = "", status: int = 200, wait: int = 0, name: str = ""
) -> Response:
    """Return the form for an opened invitation link; a script opens a link that is in the address."""
    subtitle, content = SUBTITLE, f"{pages.make_alert(problem) or _LINK_HELP}{_SIGN_IN_HELP}"
    if invited is not None:
        subtitle = f"You are joining {project_name()}; your role is {invited.role}."
        content = _JOIN_FORM.substitute(
            name=escape(invited.name or name),
            name_is="readonly" if invited.name else "autofocus",
            password_is="autofocus" if invited.name else "",
            problem=pages.make_alert(problem),
            shortest=MIN_PASSWORD_LENGTH,
        )
    headers = {"Retry-After": str(wait)} if wait else None
    return pages.build_plain_page("Choose a password", subtitle, content, status, headers, _JOIN_SCRIPT)
