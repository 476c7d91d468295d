"""The guard: the middleware that lets only signed-in people past the sign-in pages and the health check.

The guard runs before every route, also before Streamlit's own routes and its websocket. A request that
changes data must also come from a page of this host, so that no other site can act with a person's cookie.

A websocket stays open after its sign-in has ended. The guard then replaces a message from an open tab by a
plain rerun, so that the tab shows that the sign-in has ended. A message that no page of the app can send ends
the websocket. The guard takes files only from people with a page that asks for files, because Streamlit keeps
uploads in memory.

Streamlit serves downloads of pages at `/media/`, by an address made from their content. The guard notes the
addresses that each person's pages offer, and gives the files to nobody else.
"""

from __future__ import annotations

import logging
from collections import defaultdict, deque
from contextlib import suppress
from functools import partial
from urllib.parse import quote, urlsplit

from anyio import to_thread
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from app.context import image_hosts, unreadable
from app.entry import ICON, SCRIPTS
from app.front.front import SCRIPTS_FROM
from app.front.tabs import OpenTabs, Tab
from app.front.upload_limits import UPLOADS
from app.signin import providers
from app.signin.current_user import accounts, sign_in_of
from curation.core import log
from curation.core.errors import CurationError
from curation.people.annotators import EVALUATING
from curation.store import Annotator

OPEN = frozenset({"/sign-in", "/join", "/health", ICON})
HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})
METRICS = "/_stcore/metrics"
UNREADABLE = 1007
"""The code that ends a connection after a message that no page of the app can send."""
DRAW_AGAIN = BackMsg(rerun_script=ClientState()).SerializeToString()
HEADERS = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin"}
MEDIA = "/media/"
MAX_KEPT = 1_000
"""Addresses of files that are kept for a person; the oldest address is dropped first."""


def content_policy() -> str:
    """Return the policy for scripts, pictures and forms, which holds whatever a document contains.

    Streamlit's own pictures are files of this host, data and blobs. Streamlit writes styles into the page.
    """
    hosts = "".join(f" https://{host}" for host in sorted(image_hosts()))
    fixed = "media-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'"
    return f"script-src {SCRIPTS_FROM}; img-src 'self' data: blob:{hosts}; {fixed}"


class Guard:
    """ASGI middleware that lets signed-in people pass, and puts the person into `scope["state"]`.

    `annotator` is the name of the person, and `account` the annotator; both are None on open pages.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._offered = OfferedFiles()
        self._tabs = OpenTabs()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            account = await _account(headers)
        except CurationError as error:
            await _unreadable(error, scope)(scope, receive, send)
            return
        name = account and account.name
        scope.setdefault("state", {}).update(annotator=name, account=account)
        if scope["type"] == "websocket":
            if account is None or not same_origin(headers):
                reason = "not signed in, or of another site"
                await WebSocketClose(code=1008, reason=reason)(scope, receive, send)
                return
            async with self._tabs.open(account.name, receive, send) as tab:
                receive = partial(_receive, tab, account.name, headers)
                await self._app(scope, receive, self._offered.watch(account, tab.send))
            return
        refusal = _refusal(scope, headers, account)
        path: str = scope["path"]
        if account is not None and path.startswith(MEDIA) and not self._offered.to(account, path):
            refusal = PlainTextResponse("There is no such file.", 404)
        with suppress(ClientDisconnect):  # an upload broke off, and nobody waits for the response
            await (refusal or self._app)(scope, receive, _with_headers(send))


async def _account(headers: Headers) -> Annotator | None:
    sign_in = sign_in_of(cookie_parser(headers.get("cookie", "")))
    if sign_in is None:
        return None
    find = accounts().annotator
    return find(sign_in) if accounts().fresh else await to_thread.run_sync(find, sign_in)


def _unreadable(error: CurationError, scope: Scope) -> ASGIApp:
    if scope["type"] == "websocket":
        return WebSocketClose(code=1013, reason="the project cannot be read")
    return JSONResponse({"message": str(error)}, 503)  # only people with a cookie of the app see this


async def _receive(tab: Tab, person: str, headers: Headers) -> Message:
    """Receive the next message of a tab; a message that no page of the app can send ends the tab.

    After the end of the sign-in, a message only draws the page again.
    """
    message = await tab.receive()
    if message["type"] != "websocket.receive":
        return message
    if not _is_readable(message):
        log.write(logging.WARNING, "A page's connection was ended: no page sends this", annotator=person)
        await tab.end(UNREADABLE, "no page sends this")
        return {"type": "websocket.disconnect", "code": UNREADABLE}
    if not await _still_signed_in(headers):
        return {"type": "websocket.receive", "bytes": DRAW_AGAIN}
    return message


def _is_readable(message: Message) -> bool:
    """Whether a message has the form of messages from Streamlit's page."""
    try:
        BackMsg.FromString(message["bytes"])
    except (KeyError, TypeError, DecodeError):
        return False
    return True


async def _still_signed_in(headers: Headers) -> bool:
    try:
        return await _account(headers) is not None
    except CurationError as error:
        unreadable(error)
        return False


def same_origin(headers: Headers) -> bool:
    """Whether the request comes from a page of this host, by the word of the browser."""
    origin = urlsplit(headers.get("origin", ""))
    return bool(origin.netloc) and origin.netloc.lower() == headers.get("host", "").lower()


def _refusal(scope: Scope, headers: Headers, account: Annotator | None) -> Response | None:
    path = scope["path"]
    if scope["method"] not in HARMLESS and not same_origin(headers):
        return JSONResponse({"message": "This request did not come from a page of this app."}, 403)
    if account is not None and path.startswith(UPLOADS) and account.role not in EVALUATING:
        return JSONResponse({"message": "None of your pages takes files."}, 403)
    if path == METRICS and account is not None and account.role != "lead":
        return JSONResponse({"message": "Only leads may read the metrics of the server."}, 403)
    if account is not None or path in OPEN or (path in providers.PATHS and providers.providers()):
        return None
    if path.startswith(SCRIPTS) and scope["method"] in HARMLESS:
        return None  # scripts of Streamlit, which anybody can install; the sign-in page prefetches them
    if path.startswith("/api/"):
        sentence = "You are not signed in, or your sign-in has ended."
        return JSONResponse({"message": sentence, "signed_in": False}, 401)
    if scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
        address = f"{path}?{scope['query_string'].decode()}".removesuffix("?")
        return RedirectResponse(f"/sign-in?next={quote(address)}", 303)
    return PlainTextResponse("not signed in", 401)


def _with_headers(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for header, value in HEADERS.items():
                headers.setdefault(header, value)
            headers.setdefault("Content-Security-Policy", content_policy())
        await send(message)

    return wrapped


class OfferedFiles:
    """The addresses of files that the pages of each person offered."""

    def __init__(self) -> None:
        self._to: dict[Annotator, deque[str]] = defaultdict(lambda: deque(maxlen=MAX_KEPT))

    def to(self, account: Annotator, path: str) -> bool:
        """Whether a page offered this person the file at this address."""
        return path in self._to[account]

    def watch(self, account: Annotator, send: Send) -> Send:
        """Wrap a websocket's `send` so that it notes the files that a page offers."""

        async def wrapped(message: Message) -> None:
            data = message.get("bytes") or b""
            if MEDIA.encode() in data:
                offer = ForwardMsg.FromString(data)
                deferred = offer.backend_operation_response.deferred_file  # made when its button is pressed
                for address in (offer.delta.new_element.download_button.url, deferred.url):
                    if address and not self.to(account, address):
                        self._to[account].append(address)
            await send(message)

        return wrapped
