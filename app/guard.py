"""The door: nothing but the sign-in page and the health check answers somebody who is not signed in.

It stands before every route, Streamlit's own and its websocket among them. What changes something must
also come from a page of this very host, so that no other site can act with somebody's cookie.
"""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.workplace import sessions

OPEN = frozenset({"/sign-in", "/health"})
HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}


class Guard:
    """ASGI middleware that lets in who is signed in; the name is then in `scope["state"]["annotator"]`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        name = sessions().read(cookie_parser(headers.get("cookie", "")).get(sessions().cookie, ""))
        scope.setdefault("state", {})["annotator"] = name
        if scope["type"] == "websocket":
            if name is None or not same_origin(headers):
                await send({"type": "websocket.close", "code": 1008, "reason": "not signed in"})
                return
            await self._app(scope, receive, send)
            return
        refusal = _refusal(scope, headers, name)
        await (refusal or self._app)(scope, receive, _with_headers(send))


def same_origin(headers: Headers) -> bool:
    """Whether a browser says that the request comes from a page of this host."""
    origin = urlsplit(headers.get("origin", ""))
    return bool(origin.netloc) and origin.netloc.lower() == headers.get("host", "").lower()


def _refusal(scope: Scope, headers: Headers, name: str | None) -> Response | None:
    path = scope["path"]
    if scope["method"] not in HARMLESS and not same_origin(headers):
        return JSONResponse({"message": "This request did not come from a page of this app."}, 403)
    if name is not None or path in OPEN:
        return None
    if path.startswith("/api/"):
        return JSONResponse({"message": "You are not signed in, or your sign-in has ended."}, 401)
    if scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
        return RedirectResponse(f"/sign-in?next={quote(path)}", 303)
    return PlainTextResponse("not signed in", 401)


def _with_headers(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for header, value in HEADERS.items():
                headers.setdefault(header, value)
        await send(message)

    return wrapped
