"""Joining: where a link leads by which people choose their own password, the first lead's too.

The token is in the part of the link after #, which browsers send to nobody: no log, no Referer and no preview
of the link has it. A script takes it out of the address and posts it. Then a cookie has it, which scripts
cannot read, until the password is chosen; no page has it.
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
from app.signin.current_user import sessions
from app.signin.first_lead import first_lead
from app.signin.providers import auth_settings
from app.signin.routes import FULL, RETRY_AFTER, STRANGERS, QueueFullError, enter, know_browser, visit_of
from app.signin.throttle import login_throttle, tried_at_link
from curation.errors import CurationError, StoreError
from curation.people.annotators import SHORTEST_PASSWORD
from curation.people.invitations import OVER, Invited, accept, find_invited, make_first_lead

JOIN = "/join"
KEPT = 60 * 60
"""Seconds for which the cookie has the token of a link that was opened."""
WHOLE = "Open the whole link that you were sent, in a browser with JavaScript."
_FORM = pages.template("join.html")
_SCRIPT = f"<script>{pages.JOIN_SCRIPT}</script>"


async def join(request: Request) -> Response:
    """GET shows the form of a link that was opened. POST opens a link, or takes what the form asks for."""
    form = (await pages.form(request) or {}) if request.method == "POST" else {}
    token = form.get("token") or request.cookies.get(_cookie(), "")
    if not token or not auth_settings().passwords:
        return _page()
    host = request.client.host if request.client else ""
    tried = tried_at_link(host)
    if wait := login_throttle.attempt(tried):
        return _page(f"Too many links that do not work. Try again in {wait} s.", 429, wait)
    try:
        found = await to_thread.run_sync(_whose, token)
    except CurationError as error:
        login_throttle.withdrawn(tried)
        return _page(unreadable(error), 503)
    if found is None:
        return _forget(_page(OVER, 403))
    login_throttle.succeeded(tried)
    if "token" in form:
        return _remember(request, token)
    if request.method == "POST":
        return await _choose(request, token, found, form)
    return _form(found)


ROUTE = Route(JOIN, join, methods=["GET", "POST"])


def _whose(token: str) -> Invited | None:
    """Whose a link is; the set-up link has no name yet."""
    if first_lead().has(token):
        return Invited("", "lead")
    with project_store().reading() as cursor:
        return find_invited(cursor, token)


async def _choose(request: Request, token: str, of: Invited, form: dict[str, str]) -> Response:
    name, new = of.name or form.get("name", "").strip(), form.get("new", "")
    if new != form.get("again"):
        return _form(of, name, 422, "The two passwords differ. Write the same one twice.")
    store, visit = project_store(), visit_of(request)
    act = partial(accept, store, token, new, visit)
    if not of.name:
        act = partial(make_first_lead, store, name, new, visit)
    try:
        key = await STRANGERS.run(request, visit.network, act)
    except QueueFullError:
        return _form(of, name, 503, FULL, RETRY_AFTER)
    except StoreError as error:
        return _form(of, name, 503, unreadable(error))
    except CurationError as error:
        return _form(of, name, 422, str(error))
    return _forget(know_browser(request, enter(request, key, "/"), name))


def _form(of: Invited, name: str = "", status: int = 200, problem: str = "", wait: int = 0) -> Response:
    content = _FORM.substitute(
        name=escape(of.name or name),
        fixed="readonly" if of.name else "autofocus",
        focus="autofocus" if of.name else "",
        problem=pages.alert(problem),
        shortest=SHORTEST_PASSWORD,
    )
    lead = f"Your account in {project_name()}, as {of.role}."
    return pages.page("Choose a password", lead, content, status, _retry(wait), _SCRIPT)


def _page(problem: str = "", status: int = 200, wait: int = 0) -> Response:
    """A page without the form; its script opens the link that it has in its address."""
    content = f'<p class="help">{WHOLE}</p>' if status == 200 else pages.alert(problem)
    return pages.page("Choose a password", project_name(), content, status, _retry(wait), _SCRIPT)


def _retry(wait: int) -> dict[str, str]:
    return {"Retry-After": str(wait)} if wait else {}


def _cookie() -> str:
    return f"{sessions().cookie}_link"


def _remember(request: Request, token: str) -> Response:
    response = RedirectResponse(JOIN, 303)
    secure = request.url.scheme == "https"
    response.set_cookie(
        _cookie(), token, max_age=KEPT, path=JOIN, secure=secure, httponly=True, samesite="strict"
    )
    return response


def _forget(response: Response) -> Response:
    response.delete_cookie(_cookie(), path=JOIN)
    return response
