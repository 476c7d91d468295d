"""An HTTP server on this machine whose answers a test decides, slow and broken ones too."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, NamedTuple


class HttpAnswer(NamedTuple):
    """An answer: text as it is, anything else as JSON; 'silence' sends nothing until the test is over.

    drips: what comes of it drop by drop, until the test is over: 'headers', 'body' or nothing.
    """

    status: int = 200
    body: Any = ""
    headers: Mapping[str, str] = {}
    drips: str = ""


Answer = Callable[[str, bytes, str | None], HttpAnswer]
"""Path, body and the header Authorization of a request → its answer."""


class _Handler(BaseHTTPRequestHandler):
    answer: Answer
    over: Event

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        answer = type(self).answer(self.path, body, self.headers["Authorization"])
        if answer.body == "silence":
            self.over.wait(10)
            return
        text = (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
        self.send_response(answer.status)
        if answer.drips == "headers":
            self.flush_headers()
            self._drip(b"X-More: 1\r\n")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if answer.drips == "body":
            self._drip(b" ")
        with suppress(BrokenPipeError):  # who asked is gone
            self.wfile.write(text)

    do_POST = do_GET  # noqa: N815

    def _drip(self, drop: bytes) -> None:
        """For up to three seconds: a client without a limit ends its test by its figure, not by hanging."""
        with suppress(OSError):
            for _ in range(300):
                self.wfile.write(drop)
                self.wfile.flush()
                if self.over.wait(0.01):
                    return

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


def free_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def http_server(answer: Answer) -> Iterator[str]:
    """The address of a server on a free port."""
    over = Event()
    handler = type("Handler", (_Handler,), {"answer": staticmethod(answer), "over": over})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            over.set()
            server.shutdown()
