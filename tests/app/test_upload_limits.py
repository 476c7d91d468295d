"""Uploads are in the server's memory: all together, and one person's, have a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from app.components.refused_uploads import INTERRUPTED, NO_LENGTH, PERSON_LIMIT, SERVER_LIMIT
from app.front.upload_limits import UPLOAD_PATH, UploadLimits, measure_uploads

OF_ALL, OF_ONE = 100, 60


class NamedInHeader:
    """In place of the guard: the person is named by the request itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["state"] = {"annotator": dict(scope["headers"])[b"person"].decode()}
        await self._app(scope, receive, send)


@pytest.fixture
def server() -> Iterator[TestClient]:
    """Streamlit's own manager of uploads behind the limits."""
    manager = MemoryUploadedFileManager(UPLOAD_PATH)

    async def keep(request: Request) -> Response:
        session, file = request.path_params["session"], request.path_params["file"]
        if request.method == "PUT":
            manager.add_file(session, UploadedFileRec(file, file, "text/plain", await request.body()))
        else:
            manager.remove_file(session, file)
        return Response(status_code=204)

    around = [
        Middleware(NamedInHeader),
        Middleware(UploadLimits, OF_ALL, OF_ONE, lambda: measure_uploads(manager)),
    ]
    paths = [Route(UPLOAD_PATH + "{session}/{file}", keep, methods=["PUT", "DELETE"])]
    with TestClient(Starlette(routes=paths, middleware=around)) as client:
        yield client


def put(server: TestClient, person: str, path: str, size: int) -> tuple[int, str]:
    answer = server.put(UPLOAD_PATH + path, content=b"x" * size, headers={"Person": person})
    return answer.status_code, answer.text


def test_one_person_has_a_limit_over_all_tabs_and_room_again_after_removing(server: TestClient) -> None:
    assert put(server, "eve", "tab1/a", 40) == (204, "")
    assert put(server, "eve", "tab2/b", 21) == (413, PERSON_LIMIT)
    assert put(server, "eve", "tab2/b", 20) == (204, "")
    server.delete(UPLOAD_PATH + "tab1/a", headers={"Person": "eve"})
    assert put(server, "eve", "tab3/c", 40) == (204, "")


def test_all_people_together_have_a_limit(server: TestClient) -> None:
    assert put(server, "eve", "tab1/a", 60) == (204, "")
    assert put(server, "lea", "tab2/b", 41) == (503, SERVER_LIMIT)
    assert put(server, "lea", "tab2/b", 40) == (204, "")


def test_an_upload_without_a_length_is_refused(server: TestClient) -> None:
    pieces = iter([b"x" * 10, b"x" * 10])
    answer = server.put(UPLOAD_PATH + "tab1/a", content=pieces, headers={"Person": "eve"})
    assert (answer.status_code, answer.text) == (411, NO_LENGTH)


def test_an_upload_of_which_nothing_more_comes_is_over_and_takes_no_room() -> None:
    """A connection that breaks off without a word would count for ever; a browser tries again seven times."""
    kept: list[bytes] = []

    async def keep(scope: Scope, receive: Receive, send: Send) -> None:
        kept.append(await Request(scope, receive).body())

    async def broken_off() -> Message:
        if begun := not started:
            started.append(True)
            return {"type": "http.request", "body": b"x", "more_body": begun}
        return await asyncio.Future()

    async def whole() -> Message:
        return {"type": "http.request", "body": b"x" * 60, "more_body": False}

    async def send(message: Message) -> None:
        answers.append(message)

    started: list[bool] = []
    answers: list[Message] = []
    limits = UploadLimits(keep, OF_ALL, OF_ONE, dict, silence=0.01)
    scope = {"type": "http", "method": "PUT", "path": UPLOAD_PATH + "tab/a", "state": {"annotator": "eve"}}
    scope["headers"] = [(b"content-length", b"60")]
    with ThreadPoolExecutor(1) as apart:  # a browser test before this one keeps an event loop in this thread
        for receive in (broken_off, whole):
            apart.submit(asyncio.run, limits(scope, receive, send)).result()
    assert kept == [b"x" * 60]
    assert [said.get("status", said.get("body")) for said in answers] == [408, INTERRUPTED.encode()]
