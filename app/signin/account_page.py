"""The account page, which shows a person's open sign-ins and a form to change the password."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from html import escape

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.context import project_store, unreadable
from app.signin import pages
from app.signin.current_user import accounts, sign_in_of, visit_of
from app.signin.password_checks import CHANGES, RETRY, QueueFullError
from app.signin.sign_in_page import enter
from app.signin.throttle import login_throttle, tried_at_change
from curation.core.errors import CurationError, InputError, NotFoundError, StoreError
from curation.people.accounts import end_sign_ins, list_accounts
from curation.people.sign_ins import MIN_PASSWORD_LENGTH, OpenSignIn, change_password, id_of, list_sign_ins

_PASSWORD_FORM = pages.template("password.html")
_SIGN_INS = pages.template("sign-ins.html")
_THIS = '<b class="this">this browser</b>'
_END = '<button name="id" value="{}">End</button>'
_END_OTHERS = '<button name="id" value="">End all others</button>'
_BY_PROVIDER = (
    "<p>You sign in through an identity provider: change your password at the provider. Your lead can "
    "send you a link by which you choose a password for this project.</p>"
)


async def account(request: Request) -> Response:
    """GET: show the password form and the open sign-ins. POST: change the password and end all other
    sign-ins.
    """
    if request.method != "POST":
        return await _account_page(request)
    form = await pages.form(request)
    if form is None:
        return await _account_page(request, 413, "The passwords are too long.")
    return await _change(request, *(form.get(field, "") for field in ("old", "new", "again")))


async def end_sign_in(request: Request) -> Response:
    """POST: end a sign-in of the person, or all sign-ins except the sign-in of this browser."""
    name, form = request.state.annotator, await pages.form(request) or {}
    this = id_of(sign_in_of(request.cookies) or "")
    ended = partial(end_sign_ins, project_store(), name, form.get("id", "none"), name, but=this)
    try:
        with suppress(NotFoundError):  # the sign-in has ended already, and the page shows this
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
        problem = f"Too many wrong passwords. Try again in {rest} s."
        return await _account_page(request, 429, problem, {"Retry-After": str(rest)})
    change = partial(change_password, project_store(), name, old, new, visit_of(request))
    try:
        new_key = await CHANGES.run(request, name, change)
    except InputError as error:  # the new password is refused; the old password was right
        login_throttle.succeeded(tried)
        return await _account_page(request, 422, str(error))
    except (StoreError, QueueFullError) as error:  # the password was not checked
        login_throttle.withdrawn(tried)
        return await _account_page(request, 503, str(error), RETRY)
    except CurationError as error:
        return await _account_page(request, 422, str(error))
    login_throttle.succeeded(tried)
    return enter(request, new_key, "/") if new_key else RedirectResponse("/sign-in", 303)


async def _account_page(
    request: Request, status: int = 200, problem: str = "", headers: dict[str, str] | None = None
) -> Response:
    name, key = request.state.annotator, sign_in_of(request.cookies) or ""
    subtitle = f"The account of {name}."
    try:
        by_password, sign_ins = await to_thread.run_sync(_read_account, name)
    except CurationError as error:
        return pages.page("Account", subtitle, pages.alert(problem or unreadable(error)), 503)
    form = _PASSWORD_FORM.substitute(
        name=escape(name), problem=pages.alert(problem), shortest=MIN_PASSWORD_LENGTH
    )
    content = f"{form if by_password else _BY_PROVIDER}{_sign_ins(sign_ins, id_of(key))}"
    return pages.page("Account", subtitle, content, status, headers)


def _read_account(name: str) -> tuple[bool, list[OpenSignIn]]:
    with project_store().reading() as cursor:
        by_password = any(account.password for account in list_accounts(cursor) if account.name == name)
        return by_password, list_sign_ins(cursor, name)


def _sign_ins(sign_ins: list[OpenSignIn], this: str) -> str:
    """List the open sign-ins as HTML, with a button for each sign-in except the sign-in of this browser."""
    lines = "".join(_sign_in(sign_in, sign_in.sign_in_id == this) for sign_in in sign_ins)
    return _SIGN_INS.substitute(lines=lines, others=_END_OTHERS if len(sign_ins) > 1 else "")


def _sign_in(sign_in: OpenSignIn, is_this: bool) -> str:
    ending = _THIS if is_this else _END.format(sign_in.sign_in_id)
    return f"<li><span>{escape(sign_in.place)}<small>{sign_in.times}</small></span>{ending}</li>"
