"""The frame of sign-in pages: plain HTML with forms, and two scripts: one for the theme, one for links."""

from __future__ import annotations

from html import escape
from string import Template
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse

from app.assets import read_asset
from app.entry import font, source_of
from app.monitoring import failures

LARGEST_FORM = 8_192
_THEME = read_asset("signin/theme.js")
JOIN_SCRIPT = read_asset("signin/join.js")
POLICY = (
    f"default-src 'none'; img-src 'self'; font-src 'self'; style-src 'unsafe-inline'; "
    f"script-src {source_of(_THEME)} {source_of(JOIN_SCRIPT)}; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The policy names images because browsers count prefetched files as images."""


def template(name: str) -> Template:
    """Read a template in this folder."""
    return Template(read_asset(f"signin/{name}"))


_FRAME = template("page.html")


def page(
    title: str,
    subtitle: str,
    content: str,
    status: int = 200,
    headers: dict[str, str] | None = None,
    ahead: str = "",
) -> HTMLResponse:
    """Make a page with a title, a subtitle below the name of the program, and content in HTML.

    ahead: further tags of its head, such as links that prefetch files of the next page.
    """
    fixed = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    words = {"title": escape(title), "subtitle": escape(subtitle), "content": content}
    text = _FRAME.substitute(words, ahead=ahead, theme=_THEME, font=font())
    return HTMLResponse(text, status, fixed | (headers or {}))


def alert(problem: str) -> str:
    """Write a problem as HTML that screen readers announce, and log it; '' stays ''."""
    if problem:
        failures.say(problem)
    return f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""


async def form(request: Request) -> dict[str, str] | None:
    """Read the posted fields of a form; None if they are longer than any form of the app."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            return None
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}
