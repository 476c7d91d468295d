"""The socket that the app listens on."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from app.serve import listen
from curation.errors import RefusedError
from curation.store import Store
from curation.store.write_ahead_log import log_of
from tests.support.served import Served


def test_the_body_of_an_answer_does_not_wait_until_its_headers_are_acknowledged() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_refused_with_what_to_do() -> None:
    with listen("127.0.0.1", 0) as listener, pytest.raises(RefusedError, match=r"Choose another port"):
        listen("127.0.0.1", listener.getsockname()[1])


@pytest.mark.slow
def test_a_server_that_is_terminated_closes_the_file_as_an_interrupted_one_does(store: Store) -> None:
    """systemd and containers send SIGTERM, which left the file with its log."""
    served = Served(Path(store.path))
    served.process.terminate()
    assert served.process.wait(20) == 0
    served.store.close()
    assert not log_of(store.path).exists()
    assert "Traceback" not in served.log.read_text()
