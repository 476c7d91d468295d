"""The guard: the middleware that admits only people who are signed in.

Other people reach only the sign-in pages and the health check.

The guard runs before every route, including Streamlit's routes and Streamlit's websocket. A request that
changes data must also come from a page of this host, so that no other site can act with a person's cookie.

A websocket stays open after the person's sign-in has ended. The guard then replaces every message from the
open browser tab by a plain rerun of the page, so that the tab shows that the sign-in has ended. If a message
has a form that no page of the app sends, the guard closes the websocket. The guard accepts uploads only from
people who have a page with an upload field, because Streamlit keeps uploads in memory.
"""

from __future__ import annotations

import logging
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

from app.context import explain_unreadable, image_hosts
from app.front.offered_files import MEDIA, OfferedFiles
from app.front.tabs import OpenTabs, Tab
from app.front.upload_limits import UPLOAD_PATH
from app.index_page import ICON, SCRIPT_SOURCES, SCRIPTS_PATH
from app.signin.auth_settings import list_providers
from app.signin.current_user import read_sign_in_key, sign_in_cache
from app.signin.oidc import PATHS
from curation.core import log
from curation.core.errors import CurationError
from curation.people.annotators import EVALUATING_ROLES
from curation.store import Annotator

PUBLIC_PATHS = frozenset({"/sign-in", "/join", "/health", ICON})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
METRICS = "/_stcore/metrics"
UNREADABLE_CODE = 1007
"""The websocket close code after a message with a form that no page of the app sends."""
RERUN_MESSAGE = BackMsg(rerun_script=ClientState()).SerializeToString()
HEADERS = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin"}


def write_content_policy() -> str:
    """Return the content security policy, which protects pages against the content of documents.

    Pictures of Streamlit come from this host, from data URLs and from blobs. The policy allows inline styles,
    because Streamlit writes styles into the page.
    """
    hosts = "".join(f" https://{host}" for host in sorted(image_hosts()))
    fixed_part = "media-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'"
    return f"script-src {SCRIPT_SOURCES}; img-src 'self' data: blob:{hosts}; {fixed_part}"


class Guard:
    """ASGI middleware that admits signed-in people, and stores the person in `scope["state"]`.

    `annotator` is the name of the person, and `account` the person's record. On pages that do not require a
    sign-in, `annotator` and `account` are None.
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
            account = await _find_account(headers)
        except CurationError as error:
            await _respond_unreadable(error, scope)(scope, receive, send)
            return
        name = account and account.name
        scope.setdefault("state", {}).update(annotator=name, account=account)
        if scope["type"] == "websocket":
            if account is None or not is_same_origin(headers):
                reason = "not signed in, or from another site"
                await WebSocketClose(code=1008, reason=reason)(scope, receive, send)
                return
            async with self._tabs.open(account.name, receive, send) as tab:
                receive = partial(_receive, tab, account.name, headers)
                await self._app(scope, receive, self._offered.watch(account, tab.send))
            return
        refusal = _find_refusal(scope, headers, account)
        path: str = scope["path"]
        if account is not None and path.startswith(MEDIA) and not self._offered.has_offered(account, path):
            refusal = PlainTextResponse("There is no such file.", 404)
        with suppress(ClientDisconnect):  # an upload broke off, and nobody waits for the response
            await (refusal or self._app)(scope, receive, _add_headers(send))


async def _find_account(headers: Headers) -> Annotator | None:
    key = read_sign_in_key(cookie_parser(headers.get("cookie", "")))
    if key is None:
        return None
    find = sign_in_cache().find_annotator
    return find(key) if sign_in_cache().is_fresh else await to_thread.run_sync(find, key)


def _respond_unreadable(error: CurationError, scope: Scope) -> ASGIApp:
    if scope["type"] == "websocket":
        return WebSocketClose(code=1013, reason="the project cannot be read")
    return JSONResponse({"message": str(error)}, 503)  # only people with a cookie of the app see this


async def _receive(tab: Tab, person: str, headers: Headers) -> Message:
    """Receive the next message of a browser tab; end the connection if a message has an unknown form.

    After the end of the sign-in, every message only causes a rerun of the page.
    """
    message = await tab.receive()
    if message["type"] != "websocket.receive":
        return message
    if not _has_known_form(message):
        log.write(
            logging.WARNING,
            "A page's connection was closed: the page sent a message that no goldgrade page sends",
            annotator=person,
        )
        await tab.end(UNREADABLE_CODE, "no page sends this")
        return {"type": "websocket.disconnect", "code": UNREADABLE_CODE}
    if not await _is_still_signed_in(headers):
        return {"type": "websocket.receive", "bytes": RERUN_MESSAGE}
    return message


def _has_known_form(message: Message) -> bool:
    """Return whether a message has the form of messages from Streamlit's page."""
    try:
        BackMsg.FromString(message["bytes"])
    except (KeyError, TypeError, DecodeError):
        return False
    return True


async def _is_still_signed_in(headers: Headers) -> bool:
    try:
        return await _find_account(headers) is not None
    except CurationError as error:
        explain_unreadable(error)
        return False


def is_same_origin(headers: Headers) -> bool:
    """Return whether the browser's headers say that the request comes from a page of this host."""
    origin = urlsplit(headers.get("origin", ""))
    return bool(origin.netloc) and origin.netloc.lower() == headers.get("host", "").lower()


def _find_refusal(scope: Scope, headers: Headers, account: Annotator | None) -> Response | None:
    path = scope["path"]
    if scope["method"] not in SAFE_METHODS and not is_same_origin(headers):
        return JSONResponse(
            {"message": "The request was blocked because it did not come from a page of this app."}, 403
        )
    if account is not None and path.startswith(UPLOAD_PATH) and account.role not in EVALUATING_ROLES:
        return JSONResponse({"message": "You cannot upload files: none of your pages accepts files."}, 403)
    if path == METRICS and account is not None and account.role != "lead":
        return JSONResponse({"message": "Only leads can read the server's metrics."}, 403)
    if account is not None or path in PUBLIC_PATHS or (path in PATHS and list_providers()):
        return None
    if path.startswith(SCRIPTS_PATH) and scope["method"] in SAFE_METHODS:
        return None  # scripts of Streamlit, which anybody can install; the sign-in page prefetches them
    if path.startswith("/api/"):
        sentence = "You are not signed in, or your session has expired."
        return JSONResponse({"message": sentence, "signed_in": False}, 401)
    if scope["method"] == "GET" and (path == "/" or "text/html" in headers.get("accept", "")):
        address = f"{path}?{scope['query_string'].decode()}".removesuffix("?")
        return RedirectResponse(f"/sign-in?next={quote(address)}", 303)
    return PlainTextResponse("not signed in", 401)


def _add_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for header, value in HEADERS.items():
                headers.setdefault(header, value)
            headers.setdefault("Content-Security-Policy", write_content_policy())
        await send(message)

    return send_with_headers
