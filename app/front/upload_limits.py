"""How much memory uploads may take together, and how much one person's.

Streamlit has a whole upload in memory before a page can write it to disk, and keeps it until the page lets go
of it or the tab is closed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from app.front.guard import UPLOADS

MEGABYTE = 1 << 20
OF_ALL, OF_ONE = 1000 * MEGABYTE, 500 * MEGABYTE
NO_LENGTH = "This upload does not say how long it is."
OF_ALL_FULL = "The server has as many uploads in memory as it may. Try again in some minutes."
OF_ONE_FULL = "You have as many uploads open as one person may. Close other tabs or remove files."


class UploadLimits:
    """ASGI middleware, inside the guard, that refuses an upload for which no memory is left."""

    def __init__(
        self,
        app: ASGIApp,
        of_all: int = OF_ALL,
        of_one: int = OF_ONE,
        kept: Callable[[], Mapping[str, int]] | None = None,
    ) -> None:
        self._app = app
        self._of_all, self._of_one, self._kept = of_all, of_one, kept or kept_bytes
        self._arriving: dict[str, int] = defaultdict(int)
        self._sessions: dict[str, set[str]] = defaultdict(set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "PUT" or not scope["path"].startswith(UPLOADS):
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if not length.isdecimal():
            await PlainTextResponse(NO_LENGTH, 411)(scope, receive, send)
            return
        name = scope["state"]["annotator"]
        refusal = self._refusal(name, int(length))
        with self._counted(name, scope["path"], 0 if refusal else int(length)):
            await (refusal or self._app)(scope, receive, send)

    def _refusal(self, name: str, length: int) -> PlainTextResponse | None:
        kept = self._kept()
        self._sessions[name] &= kept.keys()
        own = sum(kept[one] for one in self._sessions[name]) + self._arriving[name]
        if own + length > self._of_one:
            return PlainTextResponse(OF_ONE_FULL, 413)
        if sum(kept.values()) + sum(self._arriving.values()) + length > self._of_all:
            return PlainTextResponse(OF_ALL_FULL, 503, {"Retry-After": "120"})
        return None

    @contextmanager
    def _counted(self, name: str, path: str, length: int) -> Iterator[None]:
        """Count an upload as its person's: while it arrives by its length, then by what Streamlit keeps."""
        self._arriving[name] += length
        try:
            yield
        finally:
            self._arriving[name] -= length
            self._sessions[name].add(path.removeprefix(UPLOADS).partition("/")[0])


def kept_bytes() -> dict[str, int]:
    """Bytes of uploads that Streamlit has in memory, by session; empty where it does not run."""
    if not runtime.exists():
        return {}
    manager = runtime.get_instance()._uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)
    return sizes(manager)


def sizes(manager: MemoryUploadedFileManager) -> dict[str, int]:
    """The bytes that a manager of uploads has of each session."""
    kept = tuple(manager.file_storage.items())
    return {session: sum(len(one.data) for one in tuple(files.values())) for session, files in kept}
