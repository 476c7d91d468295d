"""The reserve of file descriptors: when few are free, the server refuses new pages but keeps serving open
ones.

An open page needs four file descriptors, and some more while the page loads. Without free descriptors, the
database cannot open files, annotators' answers are not saved, and DuckDB ends the process. Therefore the
server keeps a reserve of descriptors: it refuses new pages, and open pages keep working. Streamlit keeps a
session and its three descriptors for two minutes after the browser has closed the page. When few descriptors
are free, this module ends the sessions of closed pages at once.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit import runtime

TARGET_LIMIT = 65_536
FREE_FOR_PAGE, FREE_FOR_SESSION = 96, 48
"""The numbers of free file descriptors that a new page and a new session require."""
_COUNT_SECONDS = 0.2
_FOLDER = Path("/proc/self/fd")
REFUSAL = "The server is full. Pages that are already open keep working. Try again in a minute."


def raise_descriptor_limit() -> int:
    """Raise the soft limit on file descriptors to `TARGET_LIMIT` or the hard limit; return the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = TARGET_LIMIT if hard == resource.RLIM_INFINITY else min(hard, TARGET_LIMIT)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        return limit
    return soft


class Descriptors:
    """The number of free file descriptors, counted at most five times a second."""

    def __init__(self) -> None:
        self._free = TARGET_LIMIT
        self._counted_at = -_COUNT_SECONDS

    @property
    def free(self) -> int:
        now = time.monotonic()
        if now - self._counted_at >= _COUNT_SECONDS:
            self._free, self._counted_at = _count_free(), now
            if self._free < FREE_FOR_PAGE:
                drop_ended_sessions()
        return self._free


_descriptors = Descriptors()


def _count_free() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or not _FOLDER.is_dir():  # only Linux counts open descriptors
        return TARGET_LIMIT
    try:
        return soft - sum(1 for _ in _FOLDER.iterdir())
    except OSError:  # counting takes a descriptor, too
        return 0


def drop_ended_sessions() -> None:
    """Drop the sessions that Streamlit keeps after the browser has closed the page."""
    if runtime.exists():
        storage = runtime.get_instance()._session_mgr._session_storage  # type: ignore[attr-defined]
        storage._cache.expire()


class Admission:
    """ASGI middleware that refuses new pages and new sessions while few file descriptors are free."""

    def __init__(self, app: ASGIApp, descriptors: Descriptors = _descriptors) -> None:
        self._app = app
        self._descriptors = descriptors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._find_refusal(scope) or self._app)(scope, receive, send)

    def _find_refusal(self, scope: Scope) -> ASGIApp | None:
        if scope["type"] == "websocket" and self._descriptors.free < FREE_FOR_SESSION:
            return WebSocketClose(code=1013, reason="too many people")
        if scope["type"] != "http" or scope["method"] != "GET":
            return None
        if "text/html" in Headers(scope=scope).get("accept", "") and self._descriptors.free < FREE_FOR_PAGE:
            return PlainTextResponse(REFUSAL, 503, {"Retry-After": "60", "Connection": "close"})
        return None
