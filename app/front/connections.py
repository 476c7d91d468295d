"""Connections: the socket that listens, and limits on idle connections and on connections of strangers.

A connection takes a file descriptor before it sends anything. The server closes a connection that does not
finish a header or a body, or does not take its response. Strangers, who are not signed in on their
connection, may hold only a part of the descriptors, and an address only a part of these. Beyond a limit, the
server closes the connection that has waited longest. A proxy has one address for all its visitors, so the
proxy must limit the connections of an address itself.
"""

from __future__ import annotations

import resource
import socket
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.signin.throttle import network
from curation.core.errors import RefusedError

OF_ONE_ADDRESS = 64
"""Connections of strangers from an IPv4 address or an IPv6 /64, at most."""


def most_strangers() -> int:
    """Return the limit on connections of strangers: a quarter of the descriptors, at most 1,000."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_000 if soft == resource.RLIM_INFINITY else min(1_000, soft // 4)


class BoundedConnection(H11Protocol):
    """A connection over HTTP; a websocket leaves this class when it begins."""

    HEADER, BODY, ANSWER = 15.0, 60.0, 60.0
    """Seconds for a header, for a body, and for a response that nobody takes."""
    BYTES_A_SECOND = 10_000
    """Received bytes of a body that give it a further second."""
    LOOK_EVERY = 1.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._opened = self._since = self.loop.time()
        self._seen: tuple[str, object, int] = ("", None, 0)
        self._received = 0
        self._network = network(self.client[0]) if self.client else ""
        self._make_room()
        self.loop.call_later(self.LOOK_EVERY, self._look)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def resume_writing(self) -> None:
        self._since = self.loop.time()
        super().resume_writing()

    @property
    def _is_stranger(self) -> bool:
        return self.cycle is None or self.scope.get("state", {}).get("annotator") is None

    @property
    def _waits_for(self) -> str:
        """The event that this connection waits for: "header", "body" or "answer"; '' while it works."""
        if self.flow.write_paused:
            return "answer"
        if self.conn.their_state is h11.SEND_BODY:
            return "body"
        return "header" if self.cycle is None or self.cycle.response_complete else ""

    def _look(self) -> None:
        """Close the connection if it is late; otherwise look again later."""
        if self not in self.connections:  # the connection is closed, or a websocket by now
            return
        seen = (self._waits_for, self.cycle, self.transport.get_write_buffer_size())
        now = self.loop.time()
        if seen != self._seen:
            self._seen, self._since, self._received = seen, now, 0
        most = {
            "header": self.HEADER,
            "body": self.BODY + self._received / self.BYTES_A_SECOND,
            "answer": self.ANSWER,
        }
        if seen[0] and now - self._since > most[seen[0]]:
            self.transport.abort()
        else:
            self.loop.call_later(self.LOOK_EVERY, self._look)

    def _make_room(self) -> None:
        """Close the stranger's connection that has waited longest, if there are too many of them."""
        every = [
            connection
            for connection in self.connections
            if isinstance(connection, BoundedConnection) and connection._is_stranger
        ]
        strangers = [stranger for stranger in every if not stranger.transport.is_closing()]
        neighbours = [stranger for stranger in strangers if stranger._network == self._network]
        if len(strangers) > most_strangers():
            _close_longest(strangers)
        elif len(neighbours) > OF_ONE_ADDRESS and not self._is_proxy:
            _close_longest(neighbours)

    @property
    def _is_proxy(self) -> bool:
        """Whether the peer is a proxy that the server trusts."""
        return self.client is not None and self.client[0] in getattr(self.app, "trusted_hosts", ())


def listening_socket(host: str, port: int) -> socket.socket:
    """Open a socket that listens; its connections send data at once.

    Raises
    ------
    RefusedError: the port is taken.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise RefusedError(
            f"{host}:{port} cannot be listened on ({error.strerror}). Choose another port with --port; "
            "0 takes any free one."
        ) from error
    # Otherwise the body of an answer waits 40 ms for the acknowledgement of its headers (Nagle's algorithm).
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _close_longest(connections: list[BoundedConnection]) -> None:
    """Close the oldest connection, and prefer connections without a request at work."""
    min(connections, key=lambda connection: (not connection._waits_for, connection._opened)).transport.abort()
