"""People who grade through the served app, each in a process of their own that knows nothing but HTTP."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from app.serve import serve
from app.signin.sessions import Sessions, SignIn
from curation.store import close_all, get_setting, open_store
from curation.text import digest

PATIENCE = 60.0
"""Seconds for the app to start."""
Say = Callable[[str], None]


def cookies_of(path: Path, names: Iterable[str]) -> dict[str, str]:
    """Name → the cookie by which somebody without a password is signed in."""
    store = open_store(path)
    with store.reading() as cursor:
        sessions = Sessions(bytes.fromhex(get_setting(cursor, "cookie_key") or ""))
    store.close()
    return {name: f"{sessions.cookie}={sessions.issue(SignIn(name, -1))}" for name in names}


def serve_and_grade(path: Path, say: Say, cookies: Mapping[str, str], most: int) -> None:
    """Serve a project in this process until everybody has given so many grades, or it is killed.

    say: gets a line for each grade of which the app has said that it is saved.
    """
    port = _free_port()
    clients = [_client(port, name, cookie, say, most) for name, cookie in cookies.items()]

    def end() -> None:
        for client in clients:
            os.waitpid(client, 0)
        os.kill(os.getpid(), signal.SIGINT)

    serve(path, "127.0.0.1", port, lambda _: threading.Thread(target=end).start())
    close_all()


def _client(port: int, name: str, cookie: str, say: Say, most: int) -> int:
    process = os.fork()
    if not process:
        try:
            _grade(port, name, cookie, say, most)
        finally:
            os._exit(0)
    return process


def _grade(port: int, name: str, cookie: str, say: Say, most: int) -> None:
    headers = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{port}", "Content-Type": "application/json"}
    server = _connected(port)
    server.request("GET", "/api/presentations", headers=headers)
    showings = json.load(server.getresponse())["showings"]
    own = time.monotonic_ns()
    for number in range(most):
        if not showings:
            return
        item = showings[0]
        asked = {"presentation_id": item["presentation_id"], "revision": item["revision"], "kind": "grade"}
        asked |= {"grade": number % 3, "client_key": digest(name, number, own), "active_ms": 400}
        body = {"submissions": [asked], "holding": [], "limit": 3}
        server.request("POST", "/api/judgments", json.dumps(body), headers)
        found = json.load(server.getresponse())
        if found["outcomes"][0]["status"] == "saved":
            told = (asked[field] for field in ("presentation_id", "revision", "grade", "client_key"))
            say(" ".join(map(str, ("grade", name, *told))))
        showings = found["queue"]["showings"]


def _connected(port: int) -> http.client.HTTPConnection:
    server, late = http.client.HTTPConnection("127.0.0.1", port, timeout=30), time.monotonic() + PATIENCE
    while True:
        try:
            server.connect()
            return server
        except ConnectionRefusedError:
            if time.monotonic() > late:
                raise
            time.sleep(0.02)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
