"""Signing in by name and password or through an identity provider, and signing out.

A sign-in through a provider goes to the provider, and comes back with its answer.

The account page, linked from the header of every page: one's password, and where one is signed in.

Visits: what the list of sign-ins says of a browser, so that its owner knows it again, and no more.

Joining: where a link leads by which people choose their own password, the first lead's too.

The token is in the part of the link after #, which browsers send to nobody: no log, no Referer and no preview
of the link has it. A script takes it out of the address and posts it. Then a cookie has it, which scripts
cannot read, until the password is chosen; no page has it.

Checks of passwords: in lanes with short queues, so that nobody's tries keep everybody waiting.

A check takes some 50 ms and 64 MB, so each lane does one at a time. Strangers, browsers that are known, and
people who change their password have lanes of their own. A queue is short, in all and for one network; who
finds it full is asked to try again, and who has gone while waiting is not checked.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from html import escape
from typing import TypeVar
from urllib.parse import quote, urlencode

from anyio import CapacityLimiter, create_task_group, to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from app.context import project_name, project_store, unreadable
from app.entry import fetched_ahead
from app.signin import oidc, pages
from app.signin.current_user import KNOWN_FOR, accounts, sessions, sign_in_of
from app.signin.first_lead import BY_COMMAND, first_lead
from app.signin.providers import CALLBACK, START, IdentityProvider, auth_settings, providers
from app.signin.throttle import (
    Tried,
    login_throttle,
    network,
    tried_at_change,
    tried_at_link,
    tried_at_sign_in,
)
from curation.errors import CurationError, InputError, NotFoundError, RefusedError, StoreError
from curation.people.accounts import end_sign_ins, list_accounts, sign_in_as
from curation.people.annotators import SHORTEST_PASSWORD, authenticate, change_password
from curation.people.invitations import OVER, accept, find_invited, make_first_lead
from curation.people.sign_ins import LASTS, OpenSignIn, Visit, id_of, list_sign_ins
from curation.store import Annotator

LONGEST_QUEUE, OF_ONE_NETWORK = 16, 8
RETRY_AFTER = 5
"""Seconds after which who was turned away may try again."""
RETRY = {"Retry-After": str(RETRY_AFTER)}
FULL = f"Too many people sign in at the moment. Try again in {RETRY_AFTER} s."
T = TypeVar("T")


class QueueFullError(RefusedError):
    """Too many passwords wait to be checked."""


class Lane:
    """Checks one password at a time."""

    def __init__(self) -> None:
        self._limiter: CapacityLimiter | None = None  # needs a running event loop
        self._present: Counter[str] = Counter()

    async def run(self, request: Request, network: str, check: Callable[[], T]) -> T:
        """What `check` returns; the body of the request has been read before.

        Raises
        ------
        QueueFullError: too many are waiting, of all or of this network.
        ClientDisconnect: the client has gone, and nothing was checked.
        """
        if self._present.total() >= LONGEST_QUEUE or self._present[network] >= OF_ONE_NETWORK:
            raise QueueFullError(FULL)
        self._present[network] += 1
        try:
            return await self._unless_gone(request, check)
        finally:
            self._present[network] -= 1
            self._present += Counter()  # forget networks of whom nobody is here

    async def _unless_gone(self, request: Request, check: Callable[[], T]) -> T:
        self._limiter = self._limiter or CapacityLimiter(1)
        found: list[T] = []
        failed: list[Exception] = []  # a task group would wrap it
        async with create_task_group() as tasks:

            async def leave() -> None:
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            tasks.start_soon(leave)
            try:
                found.append(await to_thread.run_sync(check, limiter=self._limiter))
            except Exception as raised:
                failed.append(raised)
            tasks.cancel_scope.cancel()
        for error in failed:
            raise error
        if not found:
            raise ClientDisconnect
        return found[0]


STRANGERS, KNOWN_BROWSERS, CHANGES = Lane(), Lane(), Lane()


_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Version": "Safari"}
"""How a user agent names a browser and its version → what it is called; the first that fits."""
_SYSTEMS = {"Windows": "Windows", "Android": "Android", "iP": "iOS", "Mac OS": "macOS", "Linux": "Linux"}


def visit_of(request: Request) -> Visit:
    """The browser and system of a request, such as "Firefox 151 on Linux", and the network it came from."""
    agent = request.headers.get("user-agent", "")
    found = ((called, re.search(rf"{name}/(\d{{1,4}})", agent)) for name, called in _BROWSERS.items())
    browser = next((f"{called} {version[1]}" for called, version in found if version), "Another browser")
    system = next((called for name, called in _SYSTEMS.items() if re.search(name, agent)), "another system")
    return Visit(f"{browser} on {system}", _place(request))


def _address(request: Request) -> str:
    """Where a request came from; behind a proxy, uvicorn has put the visitor's address."""
    return request.client.host if request.client else ""


def _network(request: Request) -> str:
    """What the queues count: one customer's addresses."""
    return network(_address(request), 48)


def _place(request: Request) -> str:
    """The first 24 bits of an IPv4 address, or 48 of IPv6; '' for none."""
    found = _network(request)
    with suppress(ValueError):
        return str(ipaddress.ip_network(found if "/" in found else f"{found}/24", strict=False))
    return ""


_PASSWORD_FORM = pages.template("password.html")
_SIGN_INS = pages.template("sign-ins.html")
_THIS = '<b class="this">this browser</b>'
_END = '<button name="id" value="{}">End</button>'
_END_OTHERS = '<button name="id" value="">End all others</button>'


async def password(request: Request) -> Response:
    """GET shows the form and where one is signed in; POST takes the old and the new password, and keeps this
    browser alone signed in.
    """
    if request.method != "POST":
        return await _account_page(request)
    form = await pages.form(request)
    if form is None:
        return await _account_page(request, 413, "That is longer than three passwords.")
    return await _change(request, *(form.get(field, "") for field in ("old", "new", "again")))


async def end(request: Request) -> Response:
    """POST: end one of the own sign-ins, or all but this browser's."""
    name, form = request.state.annotator, await pages.form(request) or {}
    this = id_of(sign_in_of(request.cookies) or "")
    ended = partial(end_sign_ins, project_store(), name, form.get("id", "none"), name, but=this)
    try:
        with suppress(NotFoundError):  # it has ended already, and the page says so
            await to_thread.run_sync(ended)
    except CurationError as error:
        return await _account_page(request, 503, unreadable(error))
    accounts().expire()
    return RedirectResponse("/password", 303)


async def _change(request: Request, old: str, new: str, again: str) -> Response:
    name, key = request.state.annotator, sign_in_of(request.cookies) or ""
    if new != again:
        return await _account_page(request, 422, "The two new passwords differ.")
    tried = tried_at_change(name, id_of(key))
    if rest := login_throttle.attempt(tried):
        problem = f"Too many wrong tries. Try again in {rest} s."
        return await _account_page(request, 429, problem, {"Retry-After": str(rest)})
    change = partial(change_password, project_store(), name, old, new, visit_of(request))
    try:
        found = await CHANGES.run(request, name, change)
    except InputError as error:  # about the new one: the old one was right
        login_throttle.succeeded(tried)
        return await _account_page(request, 422, str(error))
    except (StoreError, QueueFullError) as error:  # nothing was found out about the password
        login_throttle.withdrawn(tried)
        return await _account_page(request, 503, str(error), RETRY)
    except CurationError as error:
        return await _account_page(request, 422, str(error))
    login_throttle.succeeded(tried)
    return enter(request, found, "/") if found else RedirectResponse("/sign-in", 303)


_BY_PROVIDER = (
    "<p>You sign in through an identity provider: change your password there. Your lead can send you a link "
    "by which you choose a password for this project.</p>"
)


async def _account_page(
    request: Request, status: int = 200, problem: str = "", headers: dict[str, str] | None = None
) -> Response:
    name, key = request.state.annotator, sign_in_of(request.cookies) or ""
    lead = f"The account of {name}."
    try:
        by_password, sign_ins = await to_thread.run_sync(_account, name)
    except CurationError as error:
        return pages.page("Account", lead, pages.alert(problem or unreadable(error)), 503)
    form = _PASSWORD_FORM.substitute(
        name=escape(name), problem=pages.alert(problem), shortest=SHORTEST_PASSWORD
    )
    content = f"{form if by_password else _BY_PROVIDER}{_sign_ins(sign_ins, id_of(key))}"
    return pages.page("Account", lead, content, status, headers)


def _account(name: str) -> tuple[bool, list[OpenSignIn]]:
    with project_store().reading() as cursor:
        by_password = any(one.password for one in list_accounts(cursor) if one.name == name)
        return by_password, list_sign_ins(cursor, name)


def _sign_ins(sign_ins: list[OpenSignIn], this: str) -> str:
    """Where somebody is signed in, with a button for each but this browser."""
    lines = "".join(_sign_in(one, one.sign_in_id == this) for one in sign_ins)
    return _SIGN_INS.substitute(lines=lines, others=_END_OTHERS if len(sign_ins) > 1 else "")


def _sign_in(one: OpenSignIn, is_this: bool) -> str:
    ending = _THIS if is_this else _END.format(one.sign_in_id)
    return f"<li><span>{escape(one.place)}<small>{one.times}</small></span>{ending}</li>"


_FORM = pages.template("signin.html")
LEAD = "Sign in to grade search results."
_HELP = '<p class="help">Without an account, ask the lead of your project for a link.</p>'
_DO = "Open the set-up link that <code>goldset app</code> printed in the terminal."
NO_ACCOUNT = f'<p class="notice">This project has no account yet. {_DO}</p>'
NO_LEAD = f'<p class="notice">This project has no lead who can sign in yet. {_DO}</p>'
_THIS_BROWSER_ONLY = (
    "This browser is signed out, but the project could not record that the sign-in has ended."
)


async def sign_in(request: Request) -> Response:
    """GET shows the form; POST takes name and password."""
    target = own_path(request.query_params.get("next", "/"))
    if request.method != "POST":
        if request.state.annotator:
            return RedirectResponse(target, 303)
        return sign_in_page(target, notice=await to_thread.run_sync(_notice))
    if not auth_settings().passwords:
        return sign_in_page(target, status=403, problem="Names and passwords are not used here.")
    form = await pages.form(request)
    if form is None:
        return sign_in_page(target, status=413, problem="That is longer than a name and a password.")
    name = form.get("name", "").strip()
    tried = _tried(request, name)
    if wait := login_throttle.attempt(tried):
        problem = f"Too many wrong tries for this name. Try again in {wait} s."
        return sign_in_page(target, name, 429, problem, {"Retry-After": str(wait)})
    lane = KNOWN_BROWSERS if tried[0].key[0] == "browser" else STRANGERS
    try:
        check = partial(authenticate, project_store(), name, form.get("password", ""), visit_of(request))
        found = await lane.run(request, _network(request), check)
    except CurationError as error:  # nothing was found out about the password
        login_throttle.withdrawn(tried)
        return sign_in_page(target, name, 503, _unchecked(error), RETRY)
    if found is None:
        return sign_in_page(target, name, 401, "The name or the password is wrong.")
    login_throttle.succeeded(tried)
    return know_browser(request, enter(request, found, target), name)


async def sign_out(request: Request) -> Response:
    """End the sign-in, the provider's too where one was used, and go back to the form.

    Copies of the cookie are no longer valid afterwards.
    """
    name, key = request.state.annotator, sign_in_of(request.cookies)
    address = await oidc.sign_out_address(request)
    response = RedirectResponse("/sign-in", 303) if address is None else _on_to(address)
    try:
        if key is not None:
            with suppress(NotFoundError):  # it has ended already
                await to_thread.run_sync(end_sign_ins, project_store(), name, id_of(key), name)
            accounts().expire()
    except CurationError as error:
        response = sign_in_page("/", name, 503, f"{_THIS_BROWSER_ONLY} {unreadable(error)}")
    response.delete_cookie(sessions().cookie, path="/")
    oidc.SIGNED_IN_BY.delete(response)
    return response


def _on_to(address: str) -> Response:
    """The page that leads to the provider: a redirect belongs to the form, which goes to this app only."""
    way = f'<a class="way" href="{escape(address)}">Sign out there, too</a>'
    return pages.page("Signed out", "You are signed out here.", way, headers={"Refresh": f"0; url={address}"})


def enter(request: Request, key: str, target: str) -> Response:
    """Set the cookie of the sign-in with this key and go to a page."""
    accounts().expire()
    response = RedirectResponse(target, 303)
    return keep(request, response, sessions().cookie, sessions().issue(key), LASTS, "/")


def keep(request: Request, response: Response, cookie: str, value: str, lasts: int, path: str) -> Response:
    """Let a browser keep a cookie for so many seconds, out of reach of scripts and other sites."""
    secure = request.url.scheme == "https"
    response.set_cookie(cookie, value, lasts, path=path, secure=secure, httponly=True, samesite="lax")
    return response


def _tried(request: Request, name: str) -> list[Tried]:
    """What a wrong password for a name counts for."""
    browser = sessions().browser_of(name, request.cookies.get(sessions().known_cookie(name), ""))
    return tried_at_sign_in(name, _address(request), browser)


def know_browser(request: Request, response: Response, name: str) -> Response:
    """Let a browser keep that this name has signed in with it."""
    cookie = sessions().known_cookie(name)
    value = sessions().know(name, sessions().browser_of(name, request.cookies.get(cookie, "")))
    return keep(request, response, cookie, value, KNOWN_FOR, "/sign-in")


def own_path(target: str) -> str:
    """The path to go to after signing in, if it is one of this app's own; else '/'."""
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
    """The sign-in page: a link for each identity provider, and the form unless it would help nobody."""
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
    return pages.page("Sign in", LEAD, content, status, headers, ahead=fetched_ahead())


def _unchecked(error: CurationError) -> str:
    """What somebody who is not signed in may know of why a password was not checked."""
    return str(error) if isinstance(error, QueueFullError) else unreadable(error)


def _notice() -> str:
    """What the page says while no lead can sign in, as HTML."""
    with suppress(CurationError):  # a sign-in then says that the project cannot be read
        if first_lead().missing():
            if not auth_settings().passwords:
                return f'<p class="notice">{BY_COMMAND}</p>'
            return NO_ACCOUNT if first_lead().nobody else NO_LEAD
    return ""


def _link(provider: IdentityProvider, target: str) -> str:
    address = f"{START}?{urlencode({'provider': provider.name, 'next': target})}"
    return f'<a class="way" href="{escape(address)}">Sign in with {escape(provider.label)}</a>'


async def start(request: Request) -> Response:
    """GET: send the browser to the provider that `provider` names."""
    name = request.query_params.get("provider", "")
    provider = next((found for found in providers() if found.name == name), None)
    if provider is None:
        return RedirectResponse("/sign-in", 303)
    target = own_path(request.query_params.get("next", "/"))
    response = await oidc.begin(request, provider, target)
    problem = f"{provider.label} cannot be reached. Try again later."
    return response or sign_in_page(target, status=503, problem=problem)


async def callback(request: Request) -> Response:
    """GET: the provider's answer. It counts once, and only in the browser that began the sign-in."""
    pending = oidc.pending_sign_in(request) if providers() else None
    if pending is None:  # also after a sign-out at the provider
        return RedirectResponse("/sign-in", 303)
    response = await _finish(request, pending)
    oidc.PENDING.delete(response)
    return response


PROVIDER_ROUTES = [Route(START, start), Route(CALLBACK, callback)]


async def _finish(request: Request, pending: oidc.PendingSignIn) -> Response:
    answer = await oidc.finish(request, pending)
    if answer is None:
        return sign_in_page(pending.target, problem="The sign-in was not completed. Try again.")
    if not (answer.email and answer.verified):
        problem = (
            "Your provider did not say that it verified your e-mail address, so it cannot be trusted here."
        )
        return sign_in_page(pending.target, status=403, problem=problem)
    account = (answer.email, answer.issuer, answer.subject, visit_of(request))
    try:
        sign_in = await to_thread.run_sync(sign_in_as, project_store(), *account)
    except RefusedError as error:
        return sign_in_page(pending.target, status=403, problem=str(error))
    except CurationError as error:
        return sign_in_page(pending.target, status=503, problem=unreadable(error))
    if sign_in is None:
        problem = (
            f"{answer.email} is not known to this project. Ask its lead to add this address: "
            f"`goldset annotator identity NAME {answer.email}`."
        )
        return sign_in_page(pending.target, status=403, problem=problem)
    response = enter(request, sign_in, pending.target)
    oidc.remember_provider(response, answer)
    return response


JOIN = "/join"
KEPT = 60 * 60
"""Seconds for which the cookie has the token of a link that was opened."""
_WHOLE = '<p class="help">Open the whole link that you were sent, in a browser with JavaScript.</p>'
_SIGN_IN = '<p class="help"><a href="/sign-in">Sign in</a> if you have a password.</p>'
_JOIN_FORM = pages.template("join.html")
_JOIN_SCRIPT = f"<script>{pages.JOIN_SCRIPT}</script>"


async def join(request: Request) -> Response:
    """GET shows the form of a link that was opened. POST opens a link, or takes what the form asks for."""
    form = (await pages.form(request) or {}) if request.method == "POST" else {}
    cookie = f"{sessions().cookie}_link"
    token = form.get("token") or request.cookies.get(cookie, "")
    if not token or not auth_settings().passwords:
        return _join_page()
    tried = tried_at_link(_address(request))
    if wait := login_throttle.attempt(tried):
        return _join_page(None, f"Too many links that do not work. Try again in {wait} s.", 429, wait)
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
            return keep(request, RedirectResponse(JOIN, 303), cookie, token, KEPT, JOIN)
        response = await _choose(request, token, found, form) if form else _join_page(found)
    if response.status_code in {303, 403}:
        response.delete_cookie(cookie, path=JOIN)
    return response


JOIN_ROUTE = Route(JOIN, join, methods=["GET", "POST"])


def _whose(token: str) -> Annotator | None:
    """Whose a link is; the set-up link has no name yet."""
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
        return _join_page(of, "The two passwords differ. Write the same one twice.", 422, name=name)
    try:
        key = await STRANGERS.run(request, visit.network, act)
    except (StoreError, QueueFullError) as error:
        return _join_page(of, _unchecked(error), 503, RETRY_AFTER, name)
    except CurationError as error:
        return _join_page(of, str(error), 422, name=name)
    return know_browser(request, enter(request, key, "/"), name)


def _join_page(
    of: Annotator | None = None, problem: str = "", status: int = 200, wait: int = 0, name: str = ""
) -> Response:
    """The form of an opened link; without one, a page whose script opens the link in the address."""
    lead, content = LEAD, f"{pages.alert(problem) or _WHOLE}{_SIGN_IN}"
    if of is not None:
        lead = f"Your account in {project_name()}, as {of.role}."
        content = _JOIN_FORM.substitute(
            name=escape(of.name or name),
            name_is="readonly" if of.name else "autofocus",
            password_is="autofocus" if of.name else "",
            problem=pages.alert(problem),
            shortest=SHORTEST_PASSWORD,
        )
    headers = {"Retry-After": str(wait)} if wait else None
    return pages.page("Choose a password", lead, content, status, headers, _JOIN_SCRIPT)
