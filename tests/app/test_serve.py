"""The socket that the app listens on."""

from __future__ import annotations

import socket

import pytest

from app.serve import listen
from curation.errors import RefusedError


def test_the_body_of_an_answer_does_not_wait_until_its_headers_are_acknowledged() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_refused_with_what_to_do() -> None:
    with listen("127.0.0.1", 0) as listener, pytest.raises(RefusedError, match=r"Choose another port"):
        listen("127.0.0.1", listener.getsockname()[1])
