"""The served app in a fork, and who talks to it by HTTP: people who grade, and who sign in."""

from __future__ import annotations

import http.client
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from app.serve import serve
from curation.core.digests import digest
from curation.store import close_all, open_store
from tests.support.http_server import free_port
from tests.support.signed_in import cookie_of

PATIENCE = 60.0
"""Seconds for the app to start."""
Say = Callable[[str], None]


def cookies_of(path: Path, names: Iterable[str]) -> dict[str, str]:
    """Name → the cookie by which somebody without a password is signed in."""
    store = open_store(path)
    found = {name: "=".join(cookie_of(store, name)) for name in names}
    store.close()
    return found


def serve_and_grade(path: Path, say: Say, cookies: Mapping[str, str], most: int) -> None:
    """Serve a project in this process until everybody has given so many grades, or it is killed.

    say: gets a line for each grade that the app has acknowledged.
    """
    port = free_port()
    clients = [_client(port, name, cookie, say, most) for name, cookie in cookies.items()]

    def end() -> None:
        for client in clients:
            os.waitpid(client, 0)
        os.kill(os.getpid(), signal.SIGINT)

    serve(path, "127.0.0.1", port, lambda *_: threading.Thread(target=end).start())
    close_all()


def _client(port: int, name: str, cookie: str, say: Say, most: int) -> int:
    process = os.fork()
    if not process:
        try:
            grade(port, name, cookie, say, most)
        finally:
            os._exit(0)
    return process


def grade(port: int, name: str, cookie: str, say: Say, most: int) -> None:
    """Somebody grades, and says what the app has acknowledged."""
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


@contextmanager
def serving(path: Path) -> Iterator[int]:
    """The port of an app that serves a project in a process of its own."""
    port = free_port()
    process = os.fork()
    if not process:
        os.dup2(os.open(path.with_suffix(".log"), os.O_WRONLY | os.O_CREAT, 0o600), 2)
        try:
            serve(path, "127.0.0.1", port, lambda *_: None)
        finally:
            os._exit(0)
    try:
        _connected(port).close()
        yield port
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


class Answer(NamedTuple):
    """Status and headers of an answer, in lower case; the status is 0 where none came in two minutes."""

    status: int
    headers: Mapping[str, str]

    @property
    def cookies(self) -> str:
        """What a browser sends back."""
        return "; ".join(one.partition(";")[0] for one in self.headers.get("set-cookie", "").split("\n"))


def sign_in(port: int, name: str, password: str, address: str, cookies: str = "") -> Answer:
    """One try, as a proxy passes it on from an address."""
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    body = urlencode({"name": name, "password": password})
    try:
        server.request("POST", "/sign-in", body, form_headers(port, address) | {"Cookie": cookies})
        found = server.getresponse()
        found.read()
    except TimeoutError:
        return Answer(0, {})
    server.close()
    headers: dict[str, str] = {}
    for key, value in found.getheaders():
        headers[key.lower()] = "\n".join(filter(None, (headers.get(key.lower()), value)))
    return Answer(found.status, headers)


def form_headers(port: int, address: str) -> dict[str, str]:
    """Headers of a form that somebody at an address sends through a proxy of this machine."""
    return {
        "Origin": f"http://127.0.0.1:{port}",
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Forwarded-For": address,
    }


def get_in(port: int, name: str, password: str, address: str, cookies: str = "") -> tuple[Answer, int, float]:
    """Try until it is answered otherwise than "later": the answer, tries, and seconds."""
    began, tries = time.monotonic(), 0
    while True:
        tries += 1
        found = sign_in(port, name, password, address, cookies)
        waited = time.monotonic() - began
        if found.status not in {429, 503} or waited > PATIENCE:
            return found, tries, waited
        time.sleep(int(found.headers["retry-after"]))
