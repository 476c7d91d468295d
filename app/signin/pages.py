"""The frame of sign-in pages: plain HTML with forms, a script for the theme, and a script for invitation
links.
"""

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
"""The content security policy for sign-in pages. It allows images because browsers treat prefetched files as
images.
"""


def template(name: str) -> Template:
    """Read an HTML template in the folder of this module."""
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
    """Return a sign-in page with a title, a subtitle below the name of the program, and HTML content.

    ahead: additional tags for the head of the page, such as links that prefetch files of the next page.
    """
    fixed = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    words = {"title": escape(title), "subtitle": escape(subtitle), "content": content}
    text = _FRAME.substitute(words, ahead=ahead, theme=_THEME, font=font())
    return HTMLResponse(text, status, fixed | (headers or {}))


def alert(problem: str) -> str:
    """Return a problem as HTML that screen readers announce, and log the problem; '' for no problem."""
    if problem:
        failures.say(problem)
    return f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""


async def form(request: Request) -> dict[str, str] | None:
    """Read the posted fields of a form; None if the fields are longer than any form of the app."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            return None
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}
