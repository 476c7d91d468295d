"""A signed-in person's account: the page for changing the password and ending sign-ins, and the sign-out."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from html import escape

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.context import explain_unreadable, project_store
from app.signin import pages
from app.signin.client_info import read_client
from app.signin.cookies import cookie_codec
from app.signin.current_user import open_session, read_sign_in_key, sign_in_cache
from app.signin.oidc import PROVIDER_COOKIE, make_sign_out_address
from app.signin.password_checks import CHANGES, RETRY_HEADERS, QueueFullError
from app.signin.sign_in_page import build_sign_in_page
from app.signin.throttle import list_password_change_keys, login_throttle
from curation.core.errors import CurationError, InputError, NotFoundError, StoreError
from curation.people.accounts import list_accounts
from curation.people.passwords import MIN_PASSWORD_LENGTH, change_password
from curation.people.sign_ins import OpenSignIn, end_sign_ins, list_sign_ins, make_sign_in_id

_FORM = pages.read_template("password.html")
_SIGN_IN_LIST = pages.read_template("sign-ins.html")
_THIS_BROWSER_ONLY = "This browser is signed out, but the project could not record the sign-out."
_THIS_BROWSER = '<b class="this">this browser</b>'
_END_BUTTON = '<button name="id" value="{}">End</button>'
_END_OTHERS_BUTTON = '<button name="id" value="">End all others</button>'
_BY_PROVIDER = (
    "<p>You sign in through an identity provider, so change your password there. Your lead can also "
    "send you a link to set a password for this project.</p>"
)


async def show_account(request: Request) -> Response:
    """GET: show the password form and the open sign-ins. POST: change the password."""
    if request.method != "POST":
        return await _show_page(request)
    form = await pages.read_form(request)
    if form is None:
        return await _show_page(request, 413, "The passwords are too long.")
    return await _change_password(request, *(form.get(field, "") for field in ("old", "new", "again")))


async def end_sign_in(request: Request) -> Response:
    """POST: end one of the person's sign-ins, or all except this browser's."""
    name, form = request.state.annotator, await pages.read_form(request) or {}
    current_id = make_sign_in_id(read_sign_in_key(request.cookies) or "")
    end = partial(end_sign_ins, project_store(), name, form.get("id", "none"), name, except_id=current_id)
    try:
        with suppress(NotFoundError):  # the sign-in has ended already, and the page shows this
            await to_thread.run_sync(end)
    except CurationError as error:
        return await _show_page(request, 503, explain_unreadable(error))
    sign_in_cache().expire()
    return RedirectResponse("/password", 303)


async def sign_out(request: Request) -> Response:
    """POST: end the sign-in in the app and at the identity provider, and show the sign-in form.

    After the sign-out, copies of the session cookie are no longer valid.
    """
    name, key = request.state.annotator, read_sign_in_key(request.cookies)
    address = await make_sign_out_address(request)
    response = (
        RedirectResponse("/sign-in", 303) if address is None else _build_provider_sign_out_page(address)
    )
    try:
        if key is not None:
            with suppress(NotFoundError):  # the sign-in has ended already
                await to_thread.run_sync(end_sign_ins, project_store(), name, make_sign_in_id(key), name)
            sign_in_cache().expire()
    except CurationError as error:
        response = build_sign_in_page("/", name, 503, f"{_THIS_BROWSER_ONLY} {explain_unreadable(error)}")
    response.delete_cookie(cookie_codec().cookie, path="/")
    PROVIDER_COOKIE.delete(response)
    return response


async def _change_password(request: Request, old: str, new: str, again: str) -> Response:
    name, key = request.state.annotator, read_sign_in_key(request.cookies) or ""
    if new != again:
        return await _show_page(request, 422, "The two new passwords differ.")
    attempt_keys = list_password_change_keys(name, make_sign_in_id(key))
    if wait := login_throttle.start_attempt(attempt_keys):
        problem = f"Too many wrong passwords. Try again in {wait} s."
        return await _show_page(request, 429, problem, {"Retry-After": str(wait)})
    change = partial(change_password, project_store(), name, old, new, read_client(request))
    try:
        new_key = await CHANGES.run(request, name, change)
    except InputError as error:  # the new password is refused; the old password was right
        login_throttle.record_success(attempt_keys)
        return await _show_page(request, 422, str(error))
    except (StoreError, QueueFullError) as error:  # the password was not checked
        login_throttle.withdraw_attempt(attempt_keys)
        return await _show_page(request, 503, str(error), RETRY_HEADERS)
    except CurationError as error:
        return await _show_page(request, 422, str(error))
    login_throttle.record_success(attempt_keys)
    return open_session(request, new_key, "/") if new_key else RedirectResponse("/sign-in", 303)


async def _show_page(
    request: Request, status: int = 200, problem: str = "", headers: dict[str, str] | None = None
) -> Response:
    name, key = request.state.annotator, read_sign_in_key(request.cookies) or ""
    subtitle = f"{name}'s account."
    try:
        by_password, sign_ins = await to_thread.run_sync(_read_account, name)
    except CurationError as error:
        return pages.build_plain_page(
            "Account", subtitle, pages.make_alert(problem or explain_unreadable(error)), 503
        )
    form = _FORM.substitute(
        name=escape(name), problem=pages.make_alert(problem), shortest=MIN_PASSWORD_LENGTH
    )
    content = f"{form if by_password else _BY_PROVIDER}{_list_sign_ins(sign_ins, make_sign_in_id(key))}"
    return pages.build_plain_page("Account", subtitle, content, status, headers)


def _read_account(name: str) -> tuple[bool, list[OpenSignIn]]:
    with project_store().reading() as cursor:
        by_password = any(account.password for account in list_accounts(cursor) if account.name == name)
        return by_password, list_sign_ins(cursor, name)


def _list_sign_ins(sign_ins: list[OpenSignIn], current_id: str) -> str:
    """List the open sign-ins as HTML; each sign-in, except this browser's, has a button that ends it."""
    lines = "".join(_list_item(sign_in, sign_in.sign_in_id == current_id) for sign_in in sign_ins)
    return _SIGN_IN_LIST.substitute(lines=lines, others=_END_OTHERS_BUTTON if len(sign_ins) > 1 else "")


def _list_item(sign_in: OpenSignIn, is_current: bool) -> str:
    button = _THIS_BROWSER if is_current else _END_BUTTON.format(sign_in.sign_in_id)
    return f"<li><span>{escape(sign_in.client_text)}<small>{sign_in.times_text}</small></span>{button}</li>"


def _build_provider_sign_out_page(address: str) -> Response:
    """Return a page with a link to the provider's sign-out, because forms may not redirect to other hosts."""
    link = f'<a class="way" href="{escape(address)}">Also sign out at the identity provider</a>'
    headers = {"Refresh": f"0; url={address}"}
    return pages.build_plain_page("Signed out", "You are signed out of goldgrade.", link, headers=headers)
