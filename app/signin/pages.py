"""The frame for plain HTML pages, such as the sign-in page, that the app serves without Streamlit."""

from __future__ import annotations

from html import escape
from string import Template
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse

from app.assets import make_script_source, read_asset
from app.index_page import find_font
from app.monitoring import failures

MAX_FORM_BYTES = 8_192
_THEME = read_asset("signin/theme.js")
JOIN_SCRIPT = read_asset("signin/join.js")
POLICY = (
    f"default-src 'none'; img-src 'self'; font-src 'self'; style-src 'unsafe-inline'; "
    f"script-src {make_script_source(_THEME)} {make_script_source(JOIN_SCRIPT)}; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The content security policy; it allows images because browsers treat prefetched files as images."""


def read_template(name: str) -> Template:
    """Read an HTML template in this module's folder."""
    return Template(read_asset(f"signin/{name}"))


_FRAME = read_template("page.html")


def build_plain_page(
    title: str,
    subtitle: str,
    content: str,
    status: int = 200,
    headers: dict[str, str] | None = None,
    prefetch: str = "",
) -> HTMLResponse:
    """Return a sign-in page with a title, a subtitle below the program's name, and HTML content.

    prefetch: HTML links that prefetch the files of the next page, or another tag for the head of the page.
    """
    base_headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    values = {"title": escape(title), "subtitle": escape(subtitle), "content": content}
    text = _FRAME.substitute(values, ahead=prefetch, theme=_THEME, font=find_font())
    return HTMLResponse(text, status, base_headers | (headers or {}))


def make_alert(problem: str) -> str:
    """Return a problem as HTML that screen readers announce, and log it; '' without a problem."""
    if problem:
        failures.note_sentence(problem)
    return f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""


async def read_form(request: Request) -> dict[str, str] | None:
    """Read the posted fields of a form; None if they are longer than in any of the app's forms."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            return None
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}
