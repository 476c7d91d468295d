"""File descriptors: where few are left, new visitors are turned away and nobody who is there is harmed.

A browser needs four descriptors, and some more for a moment while its page loads. Where none is left, the
database and the answers of people who grade fail too, and DuckDB ends the process. So new pages are refused
while there is a reserve, and what is open goes on. Streamlit keeps a session for two minutes after its
browser has gone, with three descriptors. Here ended sessions go at once where few descriptors are left.
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
"""Descriptors that are kept back: where fewer are left, no new page, and no new session is begun."""
_LOOK_EVERY = 0.2
_FOLDER = Path("/proc/self/fd")
TURNED_AWAY = "Too many people are here at the moment. People who grade go on; try again in a minute."


def raise_descriptor_limit() -> int:
    """Raise the soft limit to what the system allows, at most `WANTED`; returns what it is now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = WANTED if hard == resource.RLIM_INFINITY else min(hard, WANTED)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return soft


class Descriptors:
    """How many descriptors are left; looked at five times a second at most."""

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
    if soft == resource.RLIM_INFINITY or not _FOLDER.is_dir():  # not on Linux: the limit alone is known
        return WANTED
    try:
        return soft - sum(1 for _ in _FOLDER.iterdir())
    except OSError:  # to look takes a descriptor, too
        return 0


def drop_ended_sessions() -> None:
    """Let go of the sessions that Streamlit keeps although their time is over."""
    if runtime.exists():
        kept = runtime.get_instance()._session_mgr._session_storage  # type: ignore[attr-defined]
        kept._cache.expire()


class Admission:
    """ASGI middleware that turns new pages and new sessions away while few descriptors are left."""

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
