"""Connections: one that idles is closed, and strangers hold a part of the descriptors at most.

A connection costs a descriptor before it has said anything. One that does not finish a header or a body, or
does not take its answer, is closed. Strangers, who are not signed in on their connection, hold a part of the
descriptors at most, and one address a part of those: beyond it the one that has waited longest is closed. A
proxy has the address of all its visitors, so what it may hold is for the proxy to say.
"""

from __future__ import annotations

import resource
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.signin.throttle import network

OF_ONE_ADDRESS = 64
"""Connections of strangers from one IPv4 address or IPv6 /64."""


def most_strangers() -> int:
    """Connections of strangers in all: a quarter of the descriptors, at most 1,000."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_000 if soft == resource.RLIM_INFINITY else min(1_000, soft // 4)


class BoundedConnection(H11Protocol):
    """One connection over HTTP; a websocket leaves it when it begins."""

    HEADER, BODY, ANSWER = 15.0, 60.0, 60.0
    """Seconds for a header, for a body, and for an answer that nobody takes."""
    BYTES_A_SECOND = 10_000
    """A body has a second more for as many bytes that came."""
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
        """What this connection waits for: a header, a body, its answer to be taken; '' where it works."""
        if self.flow.write_paused:
            return "answer"
        if self.conn.their_state is h11.SEND_BODY:
            return "body"
        return "header" if self.cycle is None or self.cycle.response_complete else ""

    def _look(self) -> None:
        """Close the connection if it is late, else look again."""
        if self not in self.connections:  # it is gone, or a websocket by now
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
        """Close the stranger that has waited longest, where there are too many of them."""
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
        """Whether the peer is believed when it says whose request it passes on."""
        return self.client is not None and self.client[0] in getattr(self.app, "trusted_hosts", ())


def _close_longest(connections: list[BoundedConnection]) -> None:
    """First those that have asked for nothing that is being done."""
    min(connections, key=lambda connection: (not connection._waits_for, connection._opened)).transport.abort()
