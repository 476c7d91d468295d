"""A release by its address: what comes from the network is checked, kept by its id, and bounded."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from curation.errors import InputError, RefusedError
from curation.releases.export.zipped import pack_release
from curation.releases.packing import fetched
from curation.releases.verify import opened
from curation.store import Store
from tests.support.gold_project import frozen_project

CONTENT: dict[str, bytes] = {}
"""What the server has, by path."""


class Host(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/busy":
            self.send_response(429)
            self.send_header("Retry-After", "30")
            self.end_headers()
            return
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_port}/v1.goldset")
            self.end_headers()
            return
        if self.path == "/open-way":
            self.send_response(302)
            self.send_header("Location", "http://example.org/v1.goldset")
            self.end_headers()
            return
        content = CONTENT.get(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"") + 9 * (self.path == "/short")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    store = frozen_project(folder)
    content = pack_release(store, "v1", folder / "v1.goldset").file.read_bytes()
    store.close()
    CONTENT.update({"/v1.goldset": content, "/short": content, "/other": b"PK no release"})
    server = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "goldset" / "releases"


@pytest.fixture
def nowhere(tmp_path: Path) -> Store:
    return Store(tmp_path / "none.duckdb")


def test_what_came_from_an_address_is_kept_and_known_by_its_id_without_the_network(
    address: str, kept: Path, nowhere: Store
) -> None:
    release = opened(nowhere, f"{address}/v1.goldset")
    [path] = kept.iterdir()
    release_id, of_file, _ = path.name.split(".")
    assert release_id == release.row.release_id
    gone = "http://127.0.0.1:1/gone.goldset"
    for reference in (release_id[:12], f"{gone}#{release_id[:8]}", f"{gone}#sha256={of_file}"):
        assert opened(nowhere, reference).row == release.row


def test_a_kept_file_that_was_damaged_is_fetched_again(address: str, kept: Path, nowhere: Store) -> None:
    release = opened(nowhere, f"{address}/v1.goldset")
    [path] = kept.iterdir()
    whole = path.read_bytes()
    release_id, of_file, _ = path.name.split(".")
    for beginning in (release_id[:12], f"sha256={of_file}"):
        path.write_bytes(whole[:-100])
        with pytest.raises(RefusedError, match=f"The kept file {path} is damaged. Delete it"):
            opened(nowhere, release_id[:12])
        assert opened(nowhere, f"{address}/v1.goldset#{beginning}").row == release.row
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/busy", r"too many requests \(HTTP 429\).* in 30 s"),
        ("/none", "answered HTTP 404"),
        ("/short", "did not send the whole file|sent .* of .* bytes"),
        ("/other", "is no packed release"),
        ("/open-way", "expected https://"),
        ("/v1.goldset#0123456789", "has another file than 0123456789"),
        (f"/v1.goldset#sha256={'01' * 32}", "has another file than sha256=0101"),
        ("/v1.goldset#sha256=0123456789", "was expected after #"),
        ("/v1.goldset#V1", "was expected after #"),
    ],
)
def test_what_is_not_the_release_is_refused_and_nothing_is_kept(
    address: str, kept: Path, nowhere: Store, path: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        opened(nowhere, f"{address}{path}")
    assert not kept.is_dir() or not list(kept.iterdir())


def test_a_redirect_to_another_host_is_said(
    address: str, kept: Path, nowhere: Store, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "goldset"):
        opened(nowhere, f"{address}/moved")
    assert "127.0.0.1 leads to localhost: the release comes from there." in caplog.messages


def test_no_more_is_fetched_than_the_bound(
    address: str, kept: Path, nowhere: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched, "LARGEST", 1_000)
    with pytest.raises(InputError, match="sends more than"):
        opened(nowhere, f"{address}/v1.goldset")
    assert not list(kept.iterdir())


@pytest.mark.parametrize("reference", ["http://example.org/v1.goldset", "ftp://example.org/v1.goldset"])
def test_only_https_is_taken_from_other_machines(kept: Path, nowhere: Store, reference: str) -> None:
    with pytest.raises(InputError, match="expected https://"):
        opened(nowhere, reference)


def test_where_nothing_can_be_kept_the_release_is_read_all_the_same(
    address: str, nowhere: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert opened(nowhere, f"{address}/v1.goldset").row.name == "v1"
