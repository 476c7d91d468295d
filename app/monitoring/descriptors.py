"""File descriptors: when few are left, the server refuses new visitors and keeps serving the others.

A browser needs four descriptors, and some more while its page loads. When no descriptor is left, the database
and the answers of annotators fail, too, and DuckDB ends the process. So the server keeps a reserve: it then
refuses new pages, and open pages go on. Streamlit keeps a session and its three descriptors for two minutes
after the browser has left. When few descriptors are left, this module drops such sessions at once.
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

WANTED = 65_536
PAGES, SESSIONS = 96, 48
"""Descriptors that must be left for a new page and for a new session."""
_LOOK_EVERY = 0.2
_FOLDER = Path("/proc/self/fd")
TURNED_AWAY = "Too many people use the server at the moment. Open pages keep working. Try again in a minute."


def raise_descriptor_limit() -> int:
    """Raise the soft limit as far as the system allows, at most to `WANTED`; return the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = WANTED if hard == resource.RLIM_INFINITY else min(hard, WANTED)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return soft


class Descriptors:
    """The number of descriptors that are left, counted at most five times a second."""

    def __init__(self) -> None:
        self._left = WANTED
        self._looked = -_LOOK_EVERY

    @property
    def left(self) -> int:
        now = time.monotonic()
        if now - self._looked >= _LOOK_EVERY:
            self._left, self._looked = _count_left(), now
            if self._left < PAGES:
                drop_ended_sessions()
        return self._left


_descriptors = Descriptors()


def _count_left() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or not _FOLDER.is_dir():  # only Linux counts open descriptors
        return WANTED
    try:
        return soft - sum(1 for _ in _FOLDER.iterdir())
    except OSError:  # counting takes a descriptor, too
        return 0


def drop_ended_sessions() -> None:
    """Drop the sessions that Streamlit keeps after their end."""
    if runtime.exists():
        kept = runtime.get_instance()._session_mgr._session_storage  # type: ignore[attr-defined]
        kept._cache.expire()


class Admission:
    """ASGI middleware that refuses new pages and new sessions while few descriptors are left."""

    def __init__(self, app: ASGIApp, descriptors: Descriptors = _descriptors) -> None:
        self._app = app
        self._descriptors = descriptors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._refusal(scope) or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        if scope["type"] == "websocket" and self._descriptors.left < SESSIONS:
            return WebSocketClose(code=1013, reason="too many people")
        if scope["type"] != "http" or scope["method"] != "GET":
            return None
        if "text/html" in Headers(scope=scope).get("accept", "") and self._descriptors.left < PAGES:
            return PlainTextResponse(TURNED_AWAY, 503, {"Retry-After": "60", "Connection": "close"})
        return None
