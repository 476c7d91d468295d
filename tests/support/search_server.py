"""A search API on this machine: a real HTTP server of JSON that searches by words, with faults on demand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.http_server import HttpAnswer, http_server

KEY = "a-key-that-nobody-may-see"
TEMPLATE = """
search: {path: /api/search, params: {q: "{query}", n: "{depth}"}, hits: results, id: id, score: score,
         whole: {partial: false}}
documents: {method: POST, path: /api/documents, body: {ids: "{ids}"}, hits: documents, id: id, source: fields,
            batch: 2}
random: {path: /api/random, params: {seed: "{seed}", n: "{depth}"}, hits: results, id: id}
"""
Search = Callable[[str, int], list[tuple[str, float]]]


class SearchServer:
    """The engine: its documents by id, and how they are searched. `faults` come first, one a request.

    `before` is called with the number of each request before it is answered.
    """

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, Any]] = {}
        self.search: Search = self._by_words
        self.faults: list[HttpAnswer | None] = []
        self.before: Callable[[int], object] = lambda number: None
        self.requests: list[str] = []
        self.keys: list[str | None] = []
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

    def take(self, path: str, body: bytes, key: str | None) -> HttpAnswer:
        """What comes of a request."""
        self.requests.append(path)
        self.keys.append(key)
        self.before(len(self.requests))
        fault = self.faults.pop(0) if self.faults else None
        return fault or HttpAnswer(body=self.answer(path, body))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[SearchServer]:
    """A served engine whose address and key the environment has for the name `shop`."""
    served = SearchServer()
    with http_server(served.take) as served.url:
        monkeypatch.setenv("GOLDGRADE_ENGINE_SHOP_URL", served.url)
        monkeypatch.setenv("GOLDGRADE_ENGINE_SHOP_KEY", KEY)
        yield served


def template_file(folder: Path, text: str = TEMPLATE) -> Path:
    path = folder / "engine.yaml"
    path.write_text(text, encoding="utf-8")
    return path
