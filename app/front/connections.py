"""Connections: the listening socket, and limits on idle connections and on connections without a sign-in.

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

from app.signin.throttle import network
from curation.core.errors import RefusedError

OF_ONE_ADDRESS = 64
"""Maximum number of connections without a sign-in from an IPv4 address or an IPv6 /64."""


def most_strangers() -> int:
    """Return the limit on connections without a sign-in: a quarter of the file descriptors, at most 1,000."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_000 if soft == resource.RLIM_INFINITY else min(1_000, soft // 4)


class BoundedConnection(H11Protocol):
    """An HTTP connection. A connection that becomes a websocket leaves this class."""

    HEADER, BODY, ANSWER = 15.0, 60.0, 60.0
    """Maximum seconds to receive a header, to receive a body, and to wait for a client that does not read its
    response.
    """
    BYTES_A_SECOND = 10_000
    """Number of received bytes that extend the time limit of a request body by a second."""
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
        """The event that this connection waits for: "header", "body" or "answer"; '' while a request is
        processed.
        """
        if self.flow.write_paused:
            return "answer"
        if self.conn.their_state is h11.SEND_BODY:
            return "body"
        return "header" if self.cycle is None or self.cycle.response_complete else ""

    def _look(self) -> None:
        """Close the connection if its time limit has passed; otherwise check again later."""
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
        """Close the longest idle connection without a sign-in if there are too many of these connections."""
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
        """Return whether the peer is a proxy that the server trusts."""
        return self.client is not None and self.client[0] in getattr(self.app, "trusted_hosts", ())


def listening_socket(host: str, port: int) -> socket.socket:
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
            f"{host}:{port} cannot be listened on ({error.strerror}). Choose another port with --port; "
            "0 takes any free one."
        ) from error
    # Otherwise the body of an answer waits 40 ms for the acknowledgement of its headers (Nagle's algorithm).
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _close_longest(connections: list[BoundedConnection]) -> None:
    """Close the oldest connection, preferably a connection that is not processing a request."""
    min(connections, key=lambda connection: (not connection._waits_for, connection._opened)).transport.abort()
