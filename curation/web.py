"""One request to another server, without following redirects and with a deadline for the whole answer.

The client is urllib's: httpx2's timeouts are for each byte, so of a head sent byte by byte it waits 7 s under
a timeout of 0.5 s.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from http.client import HTTPResponse
from io import BufferedReader, RawIOBase
from socket import socket
from time import monotonic
from typing import IO, Any
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener


def post(url: str, body: bytes, headers: Mapping[str, str], seconds: float, most: int) -> bytes:
    """What a server answers to a body, at most one byte more than `most`.

    Raises
    ------
    HTTPError, URLError, OSError, HTTPException: as urllib; a redirect is an HTTPError.
    """
    request = Request(url, body, dict(headers), method="POST")  # noqa: S310  http or https, checked before
    with build_opener(_NoRedirects, _InTime).open(request, timeout=seconds) as response:
        found: bytes = response.read(most + 1)
        return found


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would carry keys and content to another host."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


class _InTime(HTTPHandler, HTTPSHandler):
    """Waits no longer for an answer that comes drop by drop than for one that does not come."""

    def do_open(self, http_class: Any, req: Request, **options: Any) -> HTTPResponse:
        until = monotonic() + (req.timeout or 0.0)

        def connection(*args: Any, **named: Any) -> Any:
            made = http_class(*args, **named)
            made.response_class = partial(_Response, until)
            return made

        return super().do_open(connection, req, **options)


class _Response(HTTPResponse):
    def __init__(self, until: float, sock: socket, *args: Any, **named: Any) -> None:
        super().__init__(sock, *args, **named)
        self.fp = BufferedReader(_Received(until, sock, self.fp.detach()))


class _Received(RawIOBase):
    """What a socket receives until a moment; then a TimeoutError is raised."""

    def __init__(self, until: float, sock: socket, data: RawIOBase) -> None:
        self._until, self._sock, self._data = until, sock, data

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._until - monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._data.readinto(buffer)

    def close(self) -> None:
        self._data.close()
        super().close()
