"""Failed requests, each with an id that appears in both the response and the log.

This middleware is the outermost layer of the server, so that it logs every response with a status of 400 or
more. For an unexpected error, the person sees a sentence, and the log gets the traceback.
"""

from __future__ import annotations

import json
import logging
import time
from contextvars import ContextVar
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from curation.core import log

HEADER = "X-Request-Id"
MAX_MESSAGE_BYTES = 64 * 1024
EXPECTED_404_PATHS = ("/_stcore/health", "/_stcore/host-config")
"""Ends of addresses that Streamlit's page requests at each load without success; the log omits them."""
UNEXPECTED = "The request failed because of a bug in goldgrade. The server's log has the details under {}."
_current: ContextVar[_LoggedResponse | None] = ContextVar("response", default=None)


def note_sentence(sentence: str) -> None:
    """Keep the current response's sentence, so that its log line can contain it."""
    response = _current.get()
    if response is not None:
        response.sentence = sentence


def current_request_id() -> str:
    """Return the id of the current request, or a new id outside a request."""
    response = _current.get()
    return response.id if response is not None else log.make_failure_id()


class FailureLog:
    """ASGI middleware that logs each response with a status of 400 or above, and each refused websocket.

    The middleware also responds to requests that end with an unexpected error.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._app(scope, receive, _log_websocket_refusal(scope, send))
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        response = _LoggedResponse(scope, send)
        token = _current.set(response)
        try:
            await self._app(scope, receive, response.send)
        except Exception as error:
            response.log(500, "A request failed", error=error)
            if response.is_started:
                raise
            await _respond_to_error(scope, response.id)(scope, receive, send)
        finally:
            _current.reset(token)


class _LoggedResponse:
    """The response to a request. A JSON refusal gets the request's id."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.id = log.make_failure_id()
        self.is_started = False
        self.sentence = ""
        self._scope = scope
        self._send = send
        self._began_at = time.perf_counter()
        self._held_start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._start(message)
        elif self._held_start is None:
            await self._send(message)
        else:
            await self._collect(message)

    async def _start(self, message: Message) -> None:
        self.is_started = True
        if message["status"] < 400:
            await self._send(message)
            return
        headers = MutableHeaders(scope=message)
        headers[HEADER] = self.id
        if headers.get("content-type", "").startswith("application/json"):
            self._held_start = message
        else:
            self.log(message["status"], self.sentence or "A request was refused")
            await self._send(message)

    async def _collect(self, message: Message) -> None:
        self._body += message.get("body", b"")
        if message.get("more_body") and len(self._body) <= MAX_MESSAGE_BYTES:
            return
        assert self._held_start is not None
        start, self._held_start = self._held_start, None
        content = _read_object(self._body)
        self.log(start["status"], str(content.get("message") or "A request was refused"))
        if content:
            self._body = json.dumps(content | {"request": self.id}, ensure_ascii=False).encode()
            MutableHeaders(scope=start)["content-length"] = str(len(self._body))
        await self._send(start)
        await self._send({**message, "body": self._body})

    def log(self, status: int, message: str, error: BaseException | None = None) -> None:
        if status == 404 and self._scope["path"].endswith(EXPECTED_404_PATHS):
            return
        log.write(
            logging.ERROR if status >= 500 else logging.WARNING,
            message,
            error=error,
            request=self.id,
            method=self._scope["method"],
            path=self._scope["path"],
            status=status,
            **_read_sender(self._scope),
            ms=round(1000 * (time.perf_counter() - self._began_at)),
        )


def _log_websocket_refusal(scope: Scope, send: Send) -> Send:
    """Wrap a websocket's `send` function so that a websocket that is refused before it opens is logged."""
    is_accepted = False

    async def send_logged(message: Message) -> None:
        nonlocal is_accepted
        is_accepted = is_accepted or message["type"] == "websocket.accept"
        if message["type"] == "websocket.close" and not is_accepted:
            reason = message.get("reason") or "there is no such address"
            sentence = f"A page's connection was refused: {reason}"
            log.write(logging.WARNING, sentence, path=scope["path"], **_read_sender(scope))
        await send(message)

    return send_logged


def _read_sender(scope: Scope) -> dict[str, Any]:
    """Return the annotator and the address of a request, for the log."""
    client = scope.get("client")
    return {"annotator": scope.get("state", {}).get("annotator"), "address": client and client[0]}


def _read_object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _respond_to_error(scope: Scope, request: str) -> Response:
    sentence, headers = UNEXPECTED.format(request), {HEADER: request}
    if "text/html" in Headers(scope=scope).get("accept", ""):
        return PlainTextResponse(sentence, 500, headers)
    return JSONResponse({"message": sentence, "request": request}, 500, headers)
