"""A language model on this machine: a real HTTP server that speaks chat completions, faults on demand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

import pytest

from curation.core.web import Patience
from curation.queries.coverage.language_model.answers import Asking
from curation.queries.coverage.language_model.endpoint import find_endpoint

KEY = "sk-a-key-that-nobody-may-see"
MODEL = "model-of-the-test"
QUICK = Patience(seconds=5, attempts=3, first_wait=0.001, longest_wait=0.01)


class Fault(NamedTuple):
    """An answer other than a chat completion.

    drips: what comes of it drop by drop, until the test is over: 'headers', 'body' or nothing.
    """

    status: int = 200
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    drips: str = ""


class ServedModel:
    """The model: `answer` makes the text of each answer from prompt and material; `faults` come first.

    A fault is a `Fault`, a completion as it is, or 'silence': nothing comes until the test is over.
    """

    def __init__(self) -> None:
        self.answer: Callable[[str, Any], str] = lambda prompt, material: "{}"
        self.faults: list[Fault | dict[str, Any] | str] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.over = Event()
        self.url = ""
        self._lock = Lock()

    @property
    def sent(self) -> int:
        return len(self.requests)

    @property
    def environment(self) -> dict[str, str]:
        return {"GOLDGRADE_LLM_URL": self.url, "GOLDGRADE_LLM_MODEL": MODEL, "GOLDGRADE_LLM_KEY": KEY}

    def asking(self, most_calls: int | None = None, parallel: int = 1, patience: Patience = QUICK) -> Asking:
        return Asking(find_endpoint(self.environment), most_calls, parallel, patience)

    def take(self, request: dict[str, Any], key: str | None) -> Fault | dict[str, Any] | str:
        """What comes of a request."""
        with self._lock:
            self.requests.append(request)
            self.keys.append(key)
            if self.faults:
                return self.faults.pop(0)
        system, user = (message["content"] for message in request["messages"])
        return completion(self.answer(system, json.loads(user)))


def completion(text: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion as an endpoint sends it."""
    return {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


class _Handler(BaseHTTPRequestHandler):
    model: ServedModel

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = self.model.take(request, self.headers["Authorization"])
        if found == "silence":
            self.model.over.wait(10)
            return
        if isinstance(found, dict):
            found = Fault(body=json.dumps(found))
        assert isinstance(found, Fault)
        body = found.body.encode()
        self.send_response(found.status)
        if found.drips == "headers":
            self.flush_headers()
            self._drip(b"X-More: 1\r\n")
        for name, value in found.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if found.drips == "body":
            self._drip(b" ")
        self.wfile.write(body)

    def _drip(self, drop: bytes) -> None:
        """For up to three seconds: a client without a limit ends its test by its figure, not by hanging."""
        with suppress(OSError):
            for _ in range(300):
                self.wfile.write(drop)
                self.wfile.flush()
                if self.model.over.wait(0.01):
                    return

    def log_message(self, format: str, *args: Any) -> None:
        return


@contextmanager
def served_model() -> Iterator[ServedModel]:
    """The model on a free port of this machine."""
    model = ServedModel()
    handler = type("Handler", (_Handler,), {"model": model})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        model.url = f"http://127.0.0.1:{server.server_port}/v1"
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield model
        finally:
            model.over.set()
            server.shutdown()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedModel]:
    """A model that the environment names, as a user would have it."""
    with served_model() as found:
        for name, value in found.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield found
