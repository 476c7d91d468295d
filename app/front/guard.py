"""The guard: without a sign-in, only the sign-in pages and the health check answer.

It runs before every route, Streamlit's own and its websocket included. A request that changes something must
also come from a page of this host, so that no other site can act with somebody's cookie.

A websocket stays open after its sign-in has ended. A message from an open tab is then replaced by a plain
rerun, so that the tab shows that the sign-in has ended. A message that no page sends ends the websocket.
Files are taken only from those who have a page that asks for them, because Streamlit keeps uploads in memory.

Streamlit serves what pages offer for download at `/media/`, by an address made from the content. The guard
notes the addresses that each person's pages offer, and gives the file to nobody else.
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
"""The code with which a connection ends that sent what no page sends."""
DRAW_AGAIN = BackMsg(rerun_script=ClientState()).SerializeToString()
HEADERS = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin"}
MEDIA = "/media/"
MAX_KEPT = 1_000
"""Files of one person; beyond them the one offered longest ago is forgotten."""


def content_policy() -> str:
    """Which scripts run and where pictures come from and forms go, whatever a document could slip in.

    Streamlit's own pictures are files of this host, data and blobs. It writes styles into the page.
    """
    hosts = "".join(f" https://{host}" for host in sorted(image_hosts()))
    fixed = "media-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'"
    return f"script-src {SCRIPTS_FROM}; img-src 'self' data: blob:{hosts}; {fixed}"


class Guard:
    """ASGI middleware that lets in who is signed in, whom `scope["state"]` then has.

    `annotator` is the name, `account` the annotator with the role; both are None on open pages.
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
                receive = _while_signed_in(partial(_of_a_page, tab, account.name), headers)
                await self._app(scope, receive, self._offered.watch(account, tab.send))
            return
        refusal = _refusal(scope, headers, account)
        path: str = scope["path"]
        if account is not None and path.startswith(MEDIA) and not self._offered.to(account, path):
            refusal = PlainTextResponse("There is no such file.", 404)
        with suppress(ClientDisconnect):  # an upload that broke off: nobody waits for an answer
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
    return JSONResponse({"message": str(error)}, 503)  # who has a cookie that was issued here


async def _of_a_page(tab: Tab, person: str) -> Message:
    """The next message of a tab; one that no page of ours sends ends the tab, and a line says so."""
    message = await tab.receive()
    if message["type"] != "websocket.receive" or _is_readable(message):
        return message
    log.write(logging.WARNING, "A page's connection was ended: no page sends this", annotator=person)
    await tab.end(UNREADABLE, "no page sends this")
    return {"type": "websocket.disconnect", "code": UNREADABLE}


def _is_readable(message: Message) -> bool:
    """Whether a message is what Streamlit's page sends: bytes, in its form."""
    try:
        BackMsg.FromString(message["bytes"])
    except (KeyError, TypeError, DecodeError):
        return False
    return True


def _while_signed_in(receive: Receive, headers: Headers) -> Receive:
    """What a websocket receives: once its sign-in has ended, nothing that could act."""

    async def wrapped() -> Message:
        message = await receive()
        if message["type"] != "websocket.receive" or await _still_signed_in(headers):
            return message
        return {"type": "websocket.receive", "bytes": DRAW_AGAIN}

    return wrapped


async def _still_signed_in(headers: Headers) -> bool:
    try:
        return await _account(headers) is not None
    except CurationError as error:
        unreadable(error)
        return False


def same_origin(headers: Headers) -> bool:
    """Whether the browser says that the request comes from a page of this host."""
    origin = urlsplit(headers.get("origin", ""))
    return bool(origin.netloc) and origin.netloc.lower() == headers.get("host", "").lower()


def _refusal(scope: Scope, headers: Headers, account: Annotator | None) -> Response | None:
    path = scope["path"]
    if scope["method"] not in HARMLESS and not same_origin(headers):
        return JSONResponse({"message": "This request did not come from a page of this app."}, 403)
    if account is not None and path.startswith(UPLOADS) and account.role not in EVALUATING:
        return JSONResponse({"message": "No page of yours takes files."}, 403)
    if path == METRICS and account is not None and account.role != "lead":
        return JSONResponse({"message": "What the server counts is for leads."}, 403)
    if account is not None or path in OPEN or (path in providers.PATHS and providers.providers()):
        return None
    if path.startswith(SCRIPTS) and scope["method"] in HARMLESS:
        return None  # Streamlit's own, which anybody can install; the sign-in page fetches them ahead
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
    """The addresses that each person has been offered in their role."""

    def __init__(self) -> None:
        self._to: dict[Annotator, deque[str]] = defaultdict(lambda: deque(maxlen=MAX_KEPT))

    def to(self, account: Annotator, path: str) -> bool:
        """Whether this person has been offered the file at this address."""
        return path in self._to[account]

    def watch(self, account: Annotator, send: Send) -> Send:
        """A websocket's `send` that notes the files that a page offers."""

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
