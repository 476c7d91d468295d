"""The socket that the app listens on, and what is in front of Streamlit: index page, scripts, addresses."""

from __future__ import annotations

import gc
import re
import socket
import sys
from html import escape
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest
from httpx2 import Response
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from app.context import PROJECT, project_name
from app.front.connections import open_listening_socket
from app.front.front import Front
from app.front.scripts import list_scripts
from app.index_page import STREAMLIT_FOLDER, IndexTemplate
from app.monitoring.heap import NEW_MODULES, frozen_heap
from app.navigation import list_pages
from curation.core.errors import RefusedError
from curation.store import Annotator, Store
from curation.store.duckdb_format import log_path
from tests.support.served import Served


@pytest.fixture
def held_file() -> None:
    """Other processes wait for the file here."""


def test_the_body_of_an_answer_does_not_wait_until_its_headers_are_acknowledged() -> None:
    with open_listening_socket("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_refused_with_what_to_do() -> None:
    with (
        open_listening_socket("127.0.0.1", 0) as listener,
        pytest.raises(RefusedError, match=r"Choose another port"),
    ):
        open_listening_socket("127.0.0.1", listener.getsockname()[1])


@pytest.mark.slow
def test_collections_of_a_serving_process_leave_out_what_was_loaded_for_good() -> None:
    with frozen_heap():
        first = gc.get_freeze_count()
        later = [[number] for number in range(1_000)]
        gc.collect()
        assert first > 1_000
        assert gc.get_freeze_count() <= first  # nothing was loaded since; a frozen object may have died
        sys.modules |= {f"later {number}": ModuleType("later") for number in range(NEW_MODULES + 1)}
        gc.collect()
        assert gc.get_freeze_count() > first + len(later)
        for number in range(NEW_MODULES + 1):
            del sys.modules[f"later {number}"]
    assert gc.get_freeze_count() == 0


@pytest.mark.costly("starts the installed server")
def test_a_server_that_is_terminated_closes_the_file_as_an_interrupted_one_does(store: Store) -> None:
    """systemd and containers send SIGTERM, which left the file with its log."""
    served = Served(Path(store.path), installed=True)
    served.process.terminate()
    assert served.process.wait(20) == 0
    served.store.close()
    assert not log_path(store.path).exists()
    assert "Traceback" not in served.log.read_text()


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """The front of a project called cliffs, which says of each request who it is from by a header."""
    index = IndexTemplate("cliffs <i>")

    async def behind(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("Streamlit")(scope, receive, send)

    inner = Front(behind, index, ["/sign-in", "/api/judgments", "/api/history/{item}"])

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        role = Headers(scope=scope).get("role")
        scope["state"] = {"account": Annotator("ada", role, True) if role else None}
        await inner(scope, receive, send)

    return TestClient(guarded, follow_redirects=False)


def ask(front: TestClient, path: str, role: str = "annotator", **headers: str) -> Response:
    return front.get(path, headers={"role": role, **headers})


def test_the_index_page_has_title_names_colours_and_style_before_any_script_runs(front: TestClient) -> None:
    answer = ask(front, "/adjudicate", "lead")
    assert "<title>Adjudicate · goldgrade</title>" in answer.text
    assert "<b>goldgrade</b><span>cliffs &lt;i&gt;</span>" in answer.text
    assert "color-scheme: light dark; background: light-dark(#fbfaf7, #15181b)" in answer.text
    assert ".gs-table {" in answer.text  # our style sheet
    assert "<noscript><p" in answer.text
    assert 'href="/favicon.svg"' in answer.text
    assert "Streamlit</title>" not in answer.text


def test_the_index_page_loads_what_streamlits_own_loads_and_all_of_it_is_there(front: TestClient) -> None:
    given = re.findall(r'(?:src|href)="\./(static/[^"]+)"', (STREAMLIT_FOLDER / "index.html").read_text())
    ours = re.findall(r'(?:src|href)="/(static/[^"]+)"', ask(front, "/").text)
    assert set(given) <= set(ours)
    assert any("BidiComponent" in name for name in ours)  # what every page needs next
    assert [name for name in ours if not (STREAMLIT_FOLDER / name).is_file()] == []


def test_the_index_page_is_asked_for_again_and_not_sent_again_if_it_is_the_same(front: TestClient) -> None:
    first = ask(front, "/")
    assert first.headers["cache-control"] == "private, no-cache"
    assert first.headers["content-encoding"] == "gzip"
    again = ask(front, "/", **{"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = ask(front, "/", role="evaluator")  # another first page, another title
    assert other.headers["etag"] != first.headers["etag"]
    assert ask(front, "/", **{"accept-encoding": "identity"}).text == first.text


def test_a_script_is_compressed_and_kept_for_good(front: TestClient) -> None:
    path = next(name for name in list_scripts() if "/protobuf." in name)
    answer = ask(front, path)
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.content == list_scripts()[path].read_bytes()
    assert int(answer.headers["content-length"]) < len(answer.content) / 5
    assert ask(front, path, **{"if-none-match": answer.headers["etag"]}).status_code == 304


@pytest.mark.parametrize(
    "headers", [{"accept-encoding": "br"}, {"accept-encoding": "gzip;q=0"}, {"range": "bytes=0-9"}]
)
def test_what_a_browser_wants_otherwise_is_left_to_streamlit(
    front: TestClient, headers: dict[str, str]
) -> None:
    path = next(name for name in list_scripts() if "/protobuf." in name)
    assert ask(front, path, **headers).text == "Streamlit"


def test_fonts_are_left_to_streamlit_and_unknown_files_are_not_there(front: TestClient) -> None:
    assert ask(front, next(name for name in list_scripts() if name.endswith(".woff2"))).text == "Streamlit"
    assert ask(front, "/static/js/none.js").status_code == 404
    assert ask(front, "/static/../index.html").text != "Streamlit"


@pytest.mark.parametrize(
    ("role", "path", "sentence"),
    [
        ("annotator", "/rounds", "Rounds is a page for leads."),
        ("annotator", "/agreement", "Agreement is a page for reviewers and leads."),
        ("evaluator", "/label", "Label is a page for annotators, reviewers and leads."),
    ],
)
def test_the_address_of_a_page_of_another_role_says_whose_it_is(
    front: TestClient, role: str, path: str, sentence: str
) -> None:
    answer = ask(front, path, role)
    first = list_pages(role)[0].title
    assert answer.status_code == 403
    assert sentence in answer.text
    assert f'<a class="way" href="/">Go to {first}</a>' in answer.text


@pytest.mark.parametrize("path", ["/nothing", "/rounds/2", "/%3Cscript%3E", "/index.html", "/favicon.png"])
def test_an_address_without_a_page_says_so(front: TestClient, path: str) -> None:
    answer = ask(front, path)
    assert answer.status_code == 404
    assert f"There is no page at {escape(unquote(path))}." in answer.text
    assert "<title>No such page · goldgrade</title>" in answer.text


def test_an_address_of_the_api_without_an_answer_says_so_as_the_api_does(front: TestClient) -> None:
    answer = ask(front, "/api/nothing")
    assert (answer.status_code, answer.json()) == (404, {"message": "There is nothing at /api/nothing."})


def test_the_own_first_page_is_at_the_root_with_what_was_asked_of_it(front: TestClient) -> None:
    assert ask(front, "/label?x=1").headers["location"] == "/?x=1"
    assert ask(front, "/evaluate", "evaluator").headers["location"] == "/"


def test_own_routes_streamlits_and_other_methods_are_let_through(front: TestClient) -> None:
    for path in (
        "/sign-in",
        "/api/judgments",
        "/api/history/7",
        "/_stcore/health",
        "/media/x",
        "/component/x",
    ):
        assert ask(front, path).text == "Streamlit", path
    assert front.post("/nothing", headers={"role": "lead"}).text == "Streamlit"
    assert front.get("/anything").text == "Streamlit"  # nobody is signed in: the guard has answered


def test_the_icon_is_there_for_everybody(front: TestClient) -> None:
    assert front.get("/favicon.svg").headers["content-type"] == "image/svg+xml"


@pytest.mark.parametrize("part", ['<div id="root">', '<script type="module"', "static/css/index"])
def test_an_index_page_of_streamlit_that_is_built_otherwise_is_refused(tmp_path: Path, part: str) -> None:
    text = (STREAMLIT_FOLDER / "index.html").read_text()
    assert part in text
    (tmp_path / "static").symlink_to(STREAMLIT_FOLDER / "static")
    (tmp_path / "index.html").write_text(text)
    IndexTemplate("cliffs", tmp_path)
    (tmp_path / "index.html").write_text(text.replace(part, part.replace("root", "app").replace("i", "j")))
    with pytest.raises(RefusedError, match=r"is not the page that goldgrade expects.* Install a version"):
        IndexTemplate("cliffs", tmp_path)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("icecat.duckdb", "icecat"),
        ("icecat/goldgrade.duckdb", "icecat"),
        ("icecat/data/goldgrade.duckdb", "icecat"),
    ],
)
def test_a_project_is_called_after_its_file_or_a_folder_that_says_something(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str, name: str
) -> None:
    monkeypatch.setenv(PROJECT, str(tmp_path / file))
    assert project_name() == name
