"""Upload limits: limits on the server memory for the uploads of one person and of all people.

Streamlit reads a whole upload into memory before a page can write the upload to disk, and frees the memory
only when the page releases the upload or the browser tab is closed. The server ends an upload that receives
no new bytes, because a connection can break unnoticed.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from app.components.refused_uploads import SENTENCES

MEGABYTE = 1 << 20
OF_ALL, OF_ONE = 1000 * MEGABYTE, 500 * MEGABYTE
SILENCE = 60.0
"""Seconds without a new byte after which the server ends an upload."""
UPLOADS = "/_stcore/upload_file/"


class UploadLimits:
    """ASGI middleware behind the guard that refuses an upload if it would exceed the memory limits."""

    def __init__(
        self,
        app: ASGIApp,
        of_all: int = OF_ALL,
        of_one: int = OF_ONE,
        kept: Callable[[], Mapping[str, int]] | None = None,
        silence: float = SILENCE,
    ) -> None:
        self._app = app
        self._silence = silence
        self._of_all, self._of_one, self._kept = of_all, of_one, kept or kept_bytes
        self._arriving: dict[str, int] = defaultdict(int)
        self._sessions: dict[str, set[str]] = defaultdict(set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "PUT" or not scope["path"].startswith(UPLOADS):
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if not length.isdecimal():
            await _refused(411)(scope, receive, send)
            return
        name = scope["state"]["annotator"]
        refusal = self._refusal(name, int(length))
        with self._counted(name, scope["path"], 0 if refusal else int(length)):
            upload = _Upload(receive, send, self._silence)
            with suppress(ClientDisconnect):
                await (refusal or self._app)(scope, upload.receive, upload.send)
            if upload.is_without_answer:
                await _refused(408, {"Connection": "close"})(scope, receive, send)

    def _refusal(self, name: str, length: int) -> PlainTextResponse | None:
        kept = self._kept()
        self._sessions[name] &= kept.keys()
        taken = sum(kept[session] for session in self._sessions[name]) + self._arriving[name]
        if taken + length > self._of_one:
            return _refused(413)
        if sum(kept.values()) + sum(self._arriving.values()) + length > self._of_all:
            return _refused(503, {"Retry-After": "120"})
        return None

    @contextmanager
    def _counted(self, name: str, path: str, length: int) -> Iterator[None]:
        """Count the memory of an upload for its person: first the stated length, then the bytes in
        Streamlit's memory.
        """
        self._arriving[name] += length
        try:
            yield
        finally:
            self._arriving[name] -= length
            self._sessions[name].add(path.removeprefix(UPLOADS).partition("/")[0])


class _Upload:
    """A running upload, which the server ends when no more bytes of its body arrive."""

    def __init__(self, receive: Receive, send: Send, silence: float) -> None:
        self._receive, self._send, self._silence = receive, send, silence
        self._is_whole = self._is_over = self._is_answered = False

    @property
    def is_without_answer(self) -> bool:
        return self._is_over and not self._is_answered

    async def receive(self) -> Message:
        try:
            async with asyncio.timeout(None if self._is_whole else self._silence):
                message = await self._receive()
        except TimeoutError:
            self._is_over = True
            return {"type": "http.disconnect"}
        self._is_whole = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        self._is_answered = True
        await self._send(message)


def _refused(status: int, headers: Mapping[str, str] | None = None) -> PlainTextResponse:
    return PlainTextResponse(SENTENCES[status], status, headers)


def kept_bytes() -> dict[str, int]:
    """Return the bytes of uploads in Streamlit's memory by session; an empty dict if Streamlit does not
    run.
    """
    if not runtime.exists():
        return {}
    manager = runtime.get_instance()._uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)
    return sizes(manager)


def sizes(manager: MemoryUploadedFileManager) -> dict[str, int]:
    """Return the bytes of uploads that Streamlit's upload manager keeps in memory, by session."""
    kept = tuple(manager.file_storage.items())
    return {session: sum(len(file.data) for file in tuple(files.values())) for session, files in kept}
