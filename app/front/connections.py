"""Limits on the server's connections: on idle connections, and on connections of clients who have not signed
in.

Every connection occupies a file descriptor of the server, even before the client sends anything. The server
closes a connection whose client does not finish a header or a body, or does not read its response. Strangers,
that is clients without a sign-in, may hold only a part of the descriptors, and each address only a part of
the strangers' share. When strangers exceed a limit, the server closes the stranger's connection that has been
idle longest. All visitors behind a proxy share the proxy's address, so the proxy must limit the connections
of each visitor itself.
"""

from __future__ import annotations

import resource
import socket
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.signin.throttle import find_network
from curation.core.errors import RefusedError

MAX_OF_ADDRESS = 64
"""Maximum number of connections without a sign-in from an IPv4 address or an IPv6 /64."""


def max_strangers() -> int:
    """Return the limit on connections without a sign-in: a quarter of the file descriptors, at most 1,000."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_000 if soft == resource.RLIM_INFINITY else min(1_000, soft // 4)


class BoundedConnection(H11Protocol):
    """An HTTP connection. A connection that becomes a websocket leaves this class."""

    HEADER_SECONDS, BODY_SECONDS, RESPONSE_SECONDS = 15.0, 60.0, 60.0
    """Maximum seconds to receive a header, to receive a body, and to wait until a client reads a response."""
    BYTES_A_SECOND = 10_000
    """Number of received bytes that extend the time limit of a request body by a second."""
    CHECK_SECONDS = 1.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._opened_at = self._waiting_since = self.loop.time()
        self._last_state: tuple[str, object, int] = ("", None, 0)
        self._received = 0
        self._network = find_network(self.client[0]) if self.client else ""
        self._make_room()
        self.loop.call_later(self.CHECK_SECONDS, self._check_time)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def resume_writing(self) -> None:
        self._waiting_since = self.loop.time()
        super().resume_writing()

    @property
    def _is_stranger(self) -> bool:
        return self.cycle is None or self.scope.get("state", {}).get("annotator") is None

    @property
    def _waits_for(self) -> str:
        """Return what the connection is waiting for ("header", "body" or "response"); '' if it is not
        waiting."""
        if self.flow.write_paused:
            return "response"
        if self.conn.their_state is h11.SEND_BODY:
            return "body"
        return "header" if self.cycle is None or self.cycle.response_complete else ""

    def _check_time(self) -> None:
        """Close the connection if its time limit has passed; otherwise check again later."""
        if self not in self.connections:  # the connection is closed, or has become a websocket
            return
        state = (self._waits_for, self.cycle, self.transport.get_write_buffer_size())
        now = self.loop.time()
        if state != self._last_state:
            self._last_state, self._waiting_since, self._received = state, now, 0
        limits = {
            "header": self.HEADER_SECONDS,
            "body": self.BODY_SECONDS + self._received / self.BYTES_A_SECOND,
            "response": self.RESPONSE_SECONDS,
        }
        if state[0] and now - self._waiting_since > limits[state[0]]:
            self.transport.abort()
        else:
            self.loop.call_later(self.CHECK_SECONDS, self._check_time)

    def _make_room(self) -> None:
        """Close the longest idle connection without a sign-in if there are too many of them."""
        all_strangers = [
            connection
            for connection in self.connections
            if isinstance(connection, BoundedConnection) and connection._is_stranger
        ]
        strangers = [stranger for stranger in all_strangers if not stranger.transport.is_closing()]
        neighbours = [stranger for stranger in strangers if stranger._network == self._network]
        if len(strangers) > max_strangers():
            _close_oldest(strangers)
        elif len(neighbours) > MAX_OF_ADDRESS and not self._is_proxy:
            _close_oldest(neighbours)

    @property
    def _is_proxy(self) -> bool:
        """Return whether the peer is a proxy trusted by the server."""
        return self.client is not None and self.client[0] in getattr(self.app, "trusted_hosts", ())


def open_listening_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket whose connections send data without delay.

    Raises
    ------
    RefusedError: the port is taken.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise RefusedError(
            f"Cannot listen on {host}:{port} ({error.strerror}). Choose another port with --port; "
            "--port 0 picks a free one."
        ) from error
    # Otherwise the body of an answer waits 40 ms for the acknowledgement of its headers (Nagle's algorithm).
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _close_oldest(connections: list[BoundedConnection]) -> None:
    """Close the oldest of these connections, preferably one that is not processing a request."""
    min(connections, key=lambda peer: (not peer._waits_for, peer._opened_at)).transport.abort()
