"""File descriptors: where few are left, new visitors are turned away and nobody who is there is harmed."""

from __future__ import annotations

import resource
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from websockets.exceptions import InvalidStatus

from app.monitoring.descriptors import FREE_FOR_PAGE, REFUSAL, Admission, Descriptors
from curation.store import Store
from tests.support.projects import add_names
from tests.support.served import Served
from tests.support.signed_in import cookie_of
from tests.support.started import run_code
from tests.support.websockets_client import session

LIMIT = 128


@pytest.fixture
def held_file() -> None:
    """Other processes wait for the file here."""


async def hello(request: Request) -> Response:
    return PlainTextResponse("hello")


class Few(Descriptors):
    @property
    def free(self) -> int:
        return FREE_FOR_PAGE - 1


def test_pages_are_refused_with_a_sentence_and_answers_are_taken() -> None:
    around = [Middleware(Admission, Few())]
    client = TestClient(Starlette(routes=[Route("/", hello, methods=["GET", "POST"])], middleware=around))
    refused = client.get("/", headers={"Accept": "text/html"})
    assert (refused.status_code, refused.text) == (503, REFUSAL)
    assert refused.headers["retry-after"] == "60"
    assert client.get("/", headers={"Accept": "application/json"}).text == "hello"
    assert client.post("/").text == "hello"


@pytest.mark.slow
def test_the_limit_is_raised_to_what_the_system_allows_and_at_the_limit_none_is_left(tmp_path: Path) -> None:
    code = """
import resource
from app.monitoring.descriptors import Descriptors, raise_descriptor_limit
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
assert raise_descriptor_limit() == resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(hard, 65_536), hard
assert Descriptors().free > 64
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
held = []
try:
    while True:
        held.append(open("/dev/null"))
except OSError:
    assert Descriptors().free == 0
"""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard > 64
    run_code(code, tmp_path / "log")


def sessions_until_refused(served: Served, cookie: str, opened: ExitStack) -> int:
    for number in range(LIMIT):
        try:
            opened.enter_context(session(served.url, cookie)).ask()
        except InvalidStatus:
            return number
    return LIMIT


@pytest.mark.costly("a server at its limit of sessions")
def test_at_its_limit_the_server_turns_sessions_away_and_goes_on_taking_grades(store: Store) -> None:
    """With 256 descriptors the server ended at 90 sessions."""
    add_names(store, "anna")
    store.close()
    served = Served(store.path)
    resource.prlimit(served.process.pid, resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
    cookie = "=".join(cookie_of(store, "anna"))
    with ExitStack() as opened:
        assert 5 < sessions_until_refused(served, cookie, opened) < LIMIT // 4
        answer = httpx2.get(f"{served.url}/api/presentations", headers={"Cookie": cookie})
        assert answer.status_code == 200
        page = httpx2.get(served.url, headers={"Cookie": cookie, "Accept": "text/html"})
        assert (page.status_code, page.text) == (503, REFUSAL)
    served.stop()
