"""Changing one's own password: a page of our own, linked from the header of every page."""

from __future__ import annotations

from html import escape

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from app.context import project_store
from app.signin import pages
from app.signin.current_user import accounts, sign_in_of
from app.signin.routes import enter
from app.signin.sessions import SignIn
from app.signin.throttle import login_throttle
from curation.errors import CurationError, InputError, StoreBusyError
from curation.people.annotators import SHORTEST_PASSWORD, change_password

_FORM = pages.template("password.html")


async def password(request: Request) -> Response:
    """GET shows the form; POST takes the old and the new password, and keeps this browser alone signed in."""
    name = request.state.annotator
    sign_in = sign_in_of(request.cookies)
    if sign_in is None or sign_in.password_revision < 0:
        return pages.page("Password", "You have no password here.", _NONE)
    if request.method != "POST":
        return _page(name)
    form = await pages.form(request)
    if form is None:
        return _page(name, 413, "That is longer than three passwords.")
    return await _change(request, sign_in, *(form.get(field, "") for field in ("old", "new", "again")))


async def _change(request: Request, sign_in: SignIn, old: str, new: str, again: str) -> Response:
    name = sign_in.name
    if new != again:
        return _page(name, 422, "The new password was not written alike twice.")
    if rest := login_throttle.attempt(name):
        problem = f"Too many wrong tries. Try again in {rest} s."
        return _page(name, 429, problem, {"Retry-After": str(rest)})
    try:
        revision = await to_thread.run_sync(
            change_password, project_store(), name, old, new, limiter=pages.hashing()
        )
    except InputError as error:  # about the new one: the old one was right
        login_throttle.succeeded(name)
        return _page(name, 422, str(error))
    except CurationError as error:
        return _page(name, 503 if isinstance(error, StoreBusyError) else 422, str(error))
    login_throttle.succeeded(name)
    accounts().expire()
    return enter(request, SignIn(name, revision, sign_in.email), "/")


_NONE = (
    "<p>You sign in through an identity provider: change your password there. A password of this project "
    "is given by its lead, with <code>goldset annotator password</code>.</p>"
    '<p class="help"><a href="/">Back</a></p>'
)


def _page(name: str, status: int = 200, problem: str = "", headers: dict[str, str] | None = None) -> Response:
    content = _FORM.substitute(name=escape(name), problem=pages.alert(problem), shortest=SHORTEST_PASSWORD)
    return pages.page("Password", f"Change the password of {name}.", content, status, headers)
