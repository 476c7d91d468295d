"""Connections over real sockets: what sends nothing is closed, and strangers leave room."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from app.front import connections
from app.front.connections import BoundedConnection, open_listening_socket

pytestmark = pytest.mark.slow

GET = b"GET / HTTP/1.1\r\nHost: here\r\n%s\r\n"
SIGNED_IN = GET % b"Cookie: anna\r\n"
POST = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n"
LONG = 16_000_000


class Impatient(BoundedConnection):
    HEADER_SECONDS, BODY_SECONDS, RESPONSE_SECONDS, CHECK_SECONDS = 0.5, 0.5, 0.5, 0.05


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Says how much was posted; who sends a cookie is signed in."""
    if scope["type"] == "http":
        request = Request(scope, receive)
        scope["state"]["annotator"] = request.headers.get("cookie")
        body = await request.body()
        await PlainTextResponse("x" * LONG if scope["path"] == "/long" else f"{len(body)}")(
            scope, receive, send
        )


@contextmanager
def serving(protocol: type[BoundedConnection]) -> Iterator[int]:
    config = uvicorn.Config(application, http=protocol, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    with open_listening_socket("0.0.0.0", 0) as listener:  # for 127.0.0.2, too
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.force_exit = server.should_exit = True
            thread.join(10)


def connect(port: int, sent: bytes, source: str = "127.0.0.1") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), source_address=(source, 0))
    connection.settimeout(5)
    connection.sendall(sent)
    return connection


def answer(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received[:-1] and (read := connection.recv(1000)):
        received += read
    return received


def is_closed(connection: socket.socket) -> bool:
    """Whether the other end has closed it by now."""
    connection.setblocking(False)
    try:
        while connection.recv(1 << 20):
            pass
    except BlockingIOError:
        return False
    except ConnectionResetError:
        pass
    return True


def drip(connections: list[socket.socket], seconds: float) -> None:
    """Send a byte on each at times; a closed one takes none."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for one in connections:
            with suppress(OSError):
                one.send(b"x")
        time.sleep(0.05)


def test_what_does_not_finish_a_header_or_a_body_is_closed_and_what_drips_too() -> None:
    with serving(Impatient) as port, ExitStack() as opened:
        silent = [b"", GET[:20], POST, POST + b"half", GET % b""]
        dripping = [b"GET / HTTP/1.1\r\nX: ", POST, (GET % b"") + b"GET / HTTP/1.1\r\nX: "]
        late = [opened.enter_context(connect(port, sent)) for sent in silent]
        dripped = [opened.enter_context(connect(port, sent)) for sent in dripping]
        drip(dripped, 1.5)
        assert [is_closed(one) for one in dripped] == [True] * 3
        assert [is_closed(one) for one in late] == [True] * 5


def test_an_answer_that_nobody_takes_is_given_up_and_a_slow_reader_gets_all_of_it() -> None:
    with serving(Impatient) as port, ExitStack() as opened:
        asked = b"GET /long HTTP/1.1\r\nHost: here\r\n\r\n"
        slow, none = (opened.enter_context(connect(port, asked)) for _ in range(2))
        got, began = 0, time.monotonic()
        while got < LONG and (read := slow.recv(LONG // 100)):
            got += len(read)
            time.sleep(0.012)
        assert got >= LONG
        assert time.monotonic() - began > 1
        taken = 0
        with suppress(ConnectionResetError):
            while read := none.recv(1 << 20):
                taken += len(read)
        assert taken < LONG


def test_strangers_leave_room_and_who_is_signed_in_keeps_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "max_strangers", lambda: 20)
    with serving(BoundedConnection) as port, ExitStack() as opened:
        anna = opened.enter_context(connect(port, SIGNED_IN))
        assert answer(anna).endswith(b"0")
        idle = [opened.enter_context(connect(port, b"")) for _ in range(60)]
        stranger = opened.enter_context(connect(port, GET % b""))
        assert answer(stranger).endswith(b"0")
        anna.sendall(SIGNED_IN)
        assert answer(anna).endswith(b"0")
        assert [is_closed(one) for one in idle] == [True] * 41 + [False] * 19


def test_one_address_holds_a_part_and_a_proxy_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_OF_ADDRESS", 5)
    with serving(BoundedConnection) as port, ExitStack() as opened:
        one = [opened.enter_context(connect(port, b"", "127.0.0.2")) for _ in range(12)]
        other = opened.enter_context(connect(port, b"", "127.0.0.3"))
        proxy = [opened.enter_context(connect(port, b"")) for _ in range(12)]
        proxy[-1].sendall(GET % b"")
        assert answer(proxy[-1]).endswith(b"0")
        assert [is_closed(each) for each in one] == [True] * 7 + [False] * 5
        assert not any(map(is_closed, [other, *proxy]))
