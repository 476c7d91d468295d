"""A search API on this machine: a real HTTP server of JSON that searches by words, with faults on demand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

KEY = "a-key-that-nobody-may-see"
TEMPLATE = """
search: {path: /api/search, params: {q: "{query}", n: "{depth}"}, hits: results, id: id, score: score,
         whole: {partial: false}}
documents: {method: POST, path: /api/documents, body: {ids: "{ids}"}, hits: documents, id: id, source: fields,
            batch: 2}
random: {path: /api/random, params: {seed: "{seed}", n: "{depth}"}, hits: results, id: id}
"""
Search = Callable[[str, int], list[tuple[str, float]]]


class Served(NamedTuple):
    """An answer other than the engine's own; 'silence' as its body is none until the test is over."""

    status: int = 200
    body: Any = ""
    headers: Mapping[str, str] = {}


class SearchServer:
    """The engine: its documents by id, and how they are searched. `faults` come first, one a request.

    `before` is called with the number of each request before it is answered.
    """

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, Any]] = {}
        self.search: Search = self._by_words
        self.faults: list[Served | None] = []
        self.before: Callable[[int], object] = lambda number: None
        self.requests: list[str] = []
        self.keys: list[str | None] = []
        self.over = Event()
        self.url = ""

    def _by_words(self, query: str, depth: int) -> list[tuple[str, float]]:
        """By how many words of the query a document has; equal ones by id."""
        words = set(query.split())
        texts = {
            one: set(" ".join(map(str, fields.values())).split()) for one, fields in self.documents.items()
        }
        found = [(one, float(len(words & text))) for one, text in texts.items() if words & text]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:depth]

    def answer(self, path: str, body: bytes) -> Any:
        parts = urlsplit(path)
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/api/documents":
            ids = json.loads(body)["ids"]
            return {"documents": [{"id": i, "fields": self.documents[i]} for i in ids if i in self.documents]}
        if parts.path == "/api/random":
            order = Random(int(given["seed"])).sample(sorted(self.documents), len(self.documents))
            return {"results": [{"id": one} for one in order[: int(given["n"])]]}
        hits = self.search(given["q"], int(given["n"]))
        return {"partial": False, "results": [{"id": one, "score": score} for one, score in hits]}


class _Handler(BaseHTTPRequestHandler):
    engine: SearchServer

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.engine.requests.append(self.path)
        self.engine.keys.append(self.headers["Authorization"])
        self.engine.before(len(self.engine.requests))
        fault = self.engine.faults.pop(0) if self.engine.faults else None
        if fault is not None and fault.body == "silence":
            self.engine.over.wait(10)
            return
        found = fault or Served(body=self.engine.answer(self.path, body))
        text = found.body if isinstance(found.body, str) else json.dumps(found.body)
        self.send_response(found.status)
        for name, value in found.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        with suppress(BrokenPipeError):  # who asked is gone
            self.wfile.write(text.encode())

    do_POST = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


@contextmanager
def served_engine() -> Iterator[SearchServer]:
    engine = SearchServer()
    handler = type("Handler", (_Handler,), {"engine": engine})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    engine.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield engine
    finally:
        engine.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[SearchServer]:
    """A served engine whose address and key the environment has for the name `shop`."""
    with served_engine() as found:
        monkeypatch.setenv("GOLDGRADE_ENGINE_SHOP_URL", found.url)
        monkeypatch.setenv("GOLDGRADE_ENGINE_SHOP_KEY", KEY)
        yield found


def template_file(folder: Path, text: str = TEMPLATE) -> Path:
    path = folder / "engine.yaml"
    path.write_text(text, encoding="utf-8")
    return path
