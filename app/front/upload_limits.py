"""Limits on the server memory used by one person's uploads and by all uploads.

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

from app.components.refused_uploads import SENTENCES_BY_STATUS

MEGABYTE = 1 << 20
MAX_BYTES, MAX_BYTES_OF_PERSON = 1000 * MEGABYTE, 500 * MEGABYTE
MAX_SILENT_SECONDS = 60.0
UPLOAD_PATH = "/_stcore/upload_file/"


class UploadLimits:
    """ASGI middleware behind the guard that refuses an upload if it would exceed the memory limits."""

    def __init__(
        self,
        app: ASGIApp,
        max_bytes: int = MAX_BYTES,
        max_bytes_of_person: int = MAX_BYTES_OF_PERSON,
        read_memory: Callable[[], Mapping[str, int]] | None = None,
        silence: float = MAX_SILENT_SECONDS,
    ) -> None:
        self._app = app
        self._silence = silence
        self._max_bytes, self._max_bytes_of_person = max_bytes, max_bytes_of_person
        self._read_memory = read_memory or read_upload_memory
        self._pending_bytes: dict[str, int] = defaultdict(int)
        self._sessions: dict[str, set[str]] = defaultdict(set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "PUT" or not scope["path"].startswith(UPLOAD_PATH):
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if not length.isdecimal():
            await _refuse(411)(scope, receive, send)
            return
        name = scope["state"]["annotator"]
        refusal = self._find_refusal(name, int(length))
        with self._count_bytes(name, scope["path"], 0 if refusal else int(length)):
            upload = _Upload(receive, send, self._silence)
            with suppress(ClientDisconnect):
                await (refusal or self._app)(scope, upload.receive, upload.send)
            if upload.needs_response:
                await _refuse(408, {"Connection": "close"})(scope, receive, send)

    def _find_refusal(self, name: str, length: int) -> PlainTextResponse | None:
        memory = self._read_memory()
        self._sessions[name] &= memory.keys()
        used_bytes = sum(memory[session] for session in self._sessions[name]) + self._pending_bytes[name]
        if used_bytes + length > self._max_bytes_of_person:
            return _refuse(413)
        if sum(memory.values()) + sum(self._pending_bytes.values()) + length > self._max_bytes:
            return _refuse(503, {"Retry-After": "120"})
        return None

    @contextmanager
    def _count_bytes(self, name: str, path: str, length: int) -> Iterator[None]:
        """Count an upload's memory: first its stated length, then its bytes in Streamlit's memory."""
        self._pending_bytes[name] += length
        try:
            yield
        finally:
            self._pending_bytes[name] -= length
            self._sessions[name].add(path.removeprefix(UPLOAD_PATH).partition("/")[0])


class _Upload:
    """A running upload, which the server ends if no more bytes of the upload arrive for some time."""

    def __init__(self, receive: Receive, send: Send, silence: float) -> None:
        self._receive, self._send, self._silence = receive, send, silence
        self._is_complete = self._has_timed_out = self._is_answered = False

    @property
    def needs_response(self) -> bool:
        return self._has_timed_out and not self._is_answered

    async def receive(self) -> Message:
        try:
            async with asyncio.timeout(None if self._is_complete else self._silence):
                message = await self._receive()
        except TimeoutError:
            self._has_timed_out = True
            return {"type": "http.disconnect"}
        self._is_complete = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        self._is_answered = True
        await self._send(message)


def _refuse(status: int, headers: Mapping[str, str] | None = None) -> PlainTextResponse:
    return PlainTextResponse(SENTENCES_BY_STATUS[status], status, headers)


def read_upload_memory() -> dict[str, int]:
    """Return the bytes of uploads in Streamlit's memory by session; {} if Streamlit is not running."""
    if not runtime.exists():
        return {}
    manager = runtime.get_instance()._uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)
    return measure_uploads(manager)


def measure_uploads(manager: MemoryUploadedFileManager) -> dict[str, int]:
    """Return the bytes of uploads that Streamlit's upload manager keeps in memory, by session."""
    sessions = tuple(manager.file_storage.items())  # uploads may change the storage during the loop
    return {session: sum(len(file.data) for file in tuple(files.values())) for session, files in sessions}
