"""Signing in and out: one small page of our own, and patience with those who guess.

After a few wrong passwords for a name, further tries for it wait, twice as long each time; it is the
name that waits, whether it exists or not, and nobody else.
"""

from __future__ import annotations

import math
import time
from html import escape
from importlib.resources import files
from string import Template
from urllib.parse import parse_qs, quote

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.sessions import LASTS
from app.workplace import project_store, sessions
from curation.errors import CurationError
from curation.labeling.annotators import authenticate

LARGEST_FORM = 8_192
_PAGE = Template(files("app").joinpath("signin.html").read_text(encoding="utf-8"))
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"


class Patience:
    """Counts wrong tries by name, in memory."""

    FREE = 5
    LONGEST = 300.0
    KEPT = 10_000

    def __init__(self) -> None:
        self._wrong: dict[str, tuple[int, float]] = {}

    def wait(self, name: str, now: float) -> float:
        """Seconds until the name may be tried again."""
        return max(0.0, self._wrong.get(name, (0, 0.0))[1] - now)

    def failed(self, name: str, now: float) -> None:
        """Remember a wrong try."""
        count = self._wrong.pop(name, (0, 0.0))[0] + 1
        rest = min(self.LONGEST, 4.0 * 2.0 ** (count - self.FREE)) if count >= self.FREE else 0.0
        self._wrong[name] = (count, now + rest)
        if len(self._wrong) > self.KEPT:
            del self._wrong[next(iter(self._wrong))]

    def succeeded(self, name: str) -> None:
        """Forget the name's wrong tries."""
        self._wrong.pop(name, None)


patience = Patience()


async def sign_in(request: Request) -> Response:
    """GET shows the form; POST takes name and password and, when they are right, sets the cookie."""
    target = _inside(request.query_params.get("next", "/"))
    if request.method != "POST":
        return RedirectResponse(target, 303) if request.state.annotator else _page(target)
    body = await _read(request)
    if body is None:
        return _page(target, status=413, problem="That is longer than a name and a password.")
    form = parse_qs(body.decode("utf-8", "replace"))
    name, password = (form.get(field, [""])[0] for field in ("name", "password"))
    name = name.strip()
    rest = patience.wait(name, time.monotonic())
    if rest:
        problem = f"Too many wrong tries for this name. Try again in {math.ceil(rest)} s."
        return _page(target, name, 429, problem, {"Retry-After": str(math.ceil(rest))})
    return await _check(name, password, target, secure=request.url.scheme == "https")


async def sign_out(request: Request) -> Response:
    """Forget the sign-in and go back to the form."""
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(sessions().cookie, path="/")
    return response


async def _check(name: str, password: str, target: str, *, secure: bool) -> Response:
    # A password takes argon2 some 50 ms and 64 MB: two at a time leave the machine to the graders.
    patience.failed(name, time.monotonic())  # counted before the check, so that tries at once count too
    try:
        known = await to_thread.run_sync(authenticate, project_store(), name, password, limiter=_limiter())
    except CurationError as error:
        return _page(target, name, 503, str(error))
    if known is None:
        return _page(target, name, 401, "This name and this password do not belong together.")
    patience.succeeded(name)
    response = RedirectResponse(target, 303)
    value = sessions().issue(known.name)
    response.set_cookie(
        sessions().cookie, value, max_age=LASTS, path="/", secure=secure, httponly=True, samesite="lax"
    )
    return response


_limiters: list[CapacityLimiter] = []


def _limiter() -> CapacityLimiter:
    if not _limiters:  # needs a running event loop
        _limiters.append(CapacityLimiter(2))
    return _limiters[0]


async def _read(request: Request) -> bytes | None:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            return None
    return body


def _inside(target: str) -> str:
    """The path to go to after signing in, if it is one of this app's own."""
    inside = target.startswith("/") and not target.startswith(("//", "/\\", "/sign-"))
    return target if inside and target.isprintable() else "/"


def _page(
    target: str, name: str = "", status: int = 200, problem: str = "", headers: dict[str, str] | None = None
) -> Response:
    alert = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
    content = _PAGE.substitute(
        name=escape(name),
        problem=alert,
        target=escape(quote(target)),
        focus_name="" if name else "autofocus",
        focus_password="autofocus" if name else "",
    )
    fixed = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-store"}
    return HTMLResponse(content, status, fixed | (headers or {}))
