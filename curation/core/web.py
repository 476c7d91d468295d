"""Requests to other servers, without redirects, with a deadline and a maximum size for each answer.

The client is urllib, because timeouts of httpx2 apply to each byte: with a timeout of 0.5 s httpx2 waits 7 s
for a head that is sent byte by byte.

    timed out, not reached, HTTP 408, 425, 429, 5xx  sent again, `RetryPolicy.attempts` times in all; the wait
                                                     doubles, or is what Retry-After says
    HTTP 401, 403, 404, 405 or a redirect            no request can succeed: address or key are wrong
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPException, HTTPResponse
from io import BufferedReader, RawIOBase
from socket import socket
from threading import Event
from time import monotonic
from typing import IO, Any, NamedTuple, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

T = TypeVar("T")
TIMED_OUT = "no answer in time"
NOT_REACHED = "the server could not be reached"
UNTRUSTED = "the certificate of its host is not trusted"
_REFUSED = frozenset({401, 403, 404, 405})
_BUSY = frozenset({408, 425, 429})
_MAX_ERROR_BYTES = 10_000  # maximum number of bytes that are read from the body of an error


class RetryPolicy(NamedTuple):
    """How long to wait for a server's answer, and how often to try.

    Attributes
    ----------
    seconds: time limit of a whole answer, from the request to the last byte.
    attempts: maximum number of attempts of a call, the first attempt included.
    first_wait, longest_wait: seconds between two attempts; a longer Retry-After ends the work.
    """

    seconds: float = 120.0
    attempts: int = 4
    first_wait: float = 1.0
    longest_wait: float = 60.0


class RequestFailure(NamedTuple):
    """A failed request to a server, with the reason why no answer came.

    Attributes
    ----------
    wait: seconds to wait that the server asks for; None if the server names no time.
    ends_work: whether further requests would fail for the same reason.
    """

    reason: str
    wait: float | None = None
    ends_work: bool = False


class WebAnswer(NamedTuple):
    """A server's answer; for a status other than success, `body` is the beginning of the answer.

    location: the header Location, which is the address of a redirect.
    """

    status: int
    body: bytes
    wait: float | None = None
    location: str = ""

    @property
    def status_text(self) -> str:
        """Return the status, and the address of a redirect without its parameters."""
        address = self.location.partition("?")[0] if 300 <= self.status < 400 else ""
        return f"HTTP {self.status} (a redirect to {address})" if address else f"HTTP {self.status}"

    @property
    def is_refused(self) -> bool:
        """Return whether further requests would also fail, because the address or the key is wrong."""
        return self.status in _REFUSED or 300 <= self.status < 400

    @property
    def is_busy(self) -> bool:
        """Return whether the server is busy, so that the same request may succeed later."""
        return self.status in _BUSY or self.status >= 500


def send(request: Request, seconds: float, most: int) -> WebAnswer | RequestFailure:
    """Send one request; return the answer, or the reason why no answer came."""
    try:
        return WebAnswer(200, _read_answer(request, seconds, most))
    except HTTPError as error:
        with error:
            wait, location = (error.headers.get(name) for name in ("Retry-After", "Location"))
            return WebAnswer(error.code, _read_head(error), _retry_after(wait), location or "")
    except TimeoutError:
        return RequestFailure(TIMED_OUT)
    except URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            return RequestFailure(UNTRUSTED, ends_work=True)
        return RequestFailure(TIMED_OUT if isinstance(error.reason, TimeoutError) else NOT_REACHED)
    except (OSError, HTTPException):
        return RequestFailure(NOT_REACHED)


def send_with_retries(
    ask: Callable[[], T | RequestFailure], patience: RetryPolicy, stop: Event
) -> tuple[T | RequestFailure, int]:
    """Send a request until an answer comes, the attempts run out or `stop` is set; also return the number of
    attempts."""
    wait, fault = patience.first_wait, RequestFailure("stopped before the request was sent")
    for attempt in range(1, patience.attempts + 1):
        if stop.is_set():
            return fault, attempt - 1
        answer = ask()
        if not isinstance(answer, RequestFailure):
            return answer, attempt
        fault, seconds = answer, wait if answer.wait is None else answer.wait
        if seconds > patience.longest_wait:
            fault = fault._replace(ends_work=True)
        if fault.ends_work:
            return fault, attempt
        if attempt < patience.attempts:
            stop.wait(seconds)
            wait = min(2 * wait, patience.longest_wait)
    return fault, patience.attempts


def find_address_problems(name: str, url: str, key_name: str, example: str) -> list[str]:
    """List the problems of the address in a variable without naming the address, which may contain a key."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return [f"{name} is not an address; expected an address such as {example}."]
    if not is_address or not url.isascii() or not url.isprintable() or " " in url:
        return [f"{name} is not an http or https address; expected an address such as {example}."]
    if "@" in parts.netloc or parts.query or parts.fragment:
        return [
            f"{name} contains a user name, a password or parameters. Give only the address, and put the key "
            f"into {key_name}."
        ]
    return []


def find_key_problems(name: str, key: str) -> list[str]:
    """List the problems of the key in a variable without naming the key."""
    if key.isascii() and key.isprintable() and " " not in key:
        return []
    return [f"{name} contains spaces, line breaks or accented letters, which a key never has."]


class _NoRedirects(HTTPRedirectHandler):
    """A handler that does not follow redirects, which would send keys and content to a different host."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


class _Deadline(HTTPHandler, HTTPSHandler):
    """A handler whose time limit covers the whole answer, however slowly the bytes arrive."""

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
    """A reader of socket data that raises a TimeoutError after a deadline."""

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


def _read_head(error: HTTPError) -> bytes:
    try:
        return error.read(_MAX_ERROR_BYTES)
    except (OSError, HTTPException):
        return b""


def _retry_after(value: str | None) -> float | None:
    """Read how many seconds to wait from a header that gives a number or a date; None if it gives neither."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = ((date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if seconds == seconds else None


def _read_answer(request: Request, seconds: float, most: int) -> bytes:
    with build_opener(_NoRedirects, _Deadline).open(request, timeout=seconds) as response:
        body: bytes = response.read(most + 1)
        return body
