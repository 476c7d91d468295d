"""The sign-in pages: plain HTML with forms. Scripts take the theme, and open the link of an invitation."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from string import Template
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse

from app.entry import font, source_of
from app.monitoring import failures

LARGEST_FORM = 8_192


def template(name: str) -> Template:
    """A template in this folder."""
    return Template(_own(name))


def _own(name: str) -> str:
    return files("app.signin").joinpath(name).read_text(encoding="utf-8")


_FRAME, _THEME = template("page.html"), _own("theme.js")
JOIN_SCRIPT = _own("join.js")
POLICY = (
    f"default-src 'none'; img-src 'self'; font-src 'self'; style-src 'unsafe-inline'; "
    f"script-src {source_of(_THEME)} {source_of(JOIN_SCRIPT)}; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""A browser counts files that it fetches ahead as images, too."""


def page(
    title: str,
    subtitle: str,
    content: str,
    status: int = 200,
    headers: dict[str, str] | None = None,
    ahead: str = "",
) -> HTMLResponse:
    """A page with a title, a subtitle below the name of the program, and content that is HTML already.

    ahead: more of its head, such as links that fetch what the next page needs.
    """
    fixed = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    words = {"title": escape(title), "subtitle": escape(subtitle), "content": content}
    text = _FRAME.substitute(words, ahead=ahead, theme=_THEME, font=font())
    return HTMLResponse(text, status, fixed | (headers or {}))


def alert(problem: str) -> str:
    """A sentence about what went wrong, as HTML that screen readers announce; nothing for none."""
    if problem:
        failures.say(problem)
    return f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""


async def form(request: Request) -> dict[str, str] | None:
    """The fields that were posted, or None if they are longer than any of our forms."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            return None
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}
