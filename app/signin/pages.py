"""The sign-in pages: plain HTML with no script but the one that takes the theme, and the forms on them."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from string import Template
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse

from app.entry import source_of
from app.monitoring import failures

LARGEST_FORM = 8_192


def template(name: str) -> Template:
    """A template in this folder."""
    return Template(_own(name))


def _own(name: str) -> str:
    return files("app.signin").joinpath(name).read_text(encoding="utf-8")


_FRAME, _THEME = template("page.html"), _own("theme.js")
POLICY = (
    f"default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; script-src {source_of(_THEME)}; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Of the sources of images a browser also takes what it fetches ahead."""


def page(
    title: str,
    lead: str,
    content: str,
    status: int = 200,
    headers: dict[str, str] | None = None,
    ahead: str = "",
) -> HTMLResponse:
    """A page with a title, a line below the name of the program, and content that is HTML already.

    ahead: links of its head that fetch what the next page needs.
    """
    fixed = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    text = _FRAME.substitute(
        title=escape(title), lead=escape(lead), content=content, ahead=ahead, theme=_THEME
    )
    return HTMLResponse(text, status, fixed | (headers or {}))


def alert(problem: str) -> str:
    """A sentence about what went wrong, as HTML that screen readers announce; nothing for none."""
    if problem:
        failures.say(problem)
    return f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""


async def form(request: Request) -> dict[str, str] | None:
    """The fields that were posted, or None where they are longer than any of our forms."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            return None
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}
