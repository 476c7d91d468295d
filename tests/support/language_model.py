"""A language model on this machine: a real HTTP server that speaks chat completions, faults on demand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any

import pytest

from curation.core.web import RetryPolicy
from curation.queries.coverage.language_model.call_runs import CallLimits
from curation.queries.coverage.language_model.endpoint import find_endpoint
from tests.support.http_server import HttpAnswer, http_server

KEY = "sk-a-key-that-nobody-may-see"
MODEL = "model-of-the-test"
QUICK = RetryPolicy(seconds=5, attempts=3, first_wait=0.001, longest_wait=0.01)


class ServedModel:
    """The model: `answer` makes the text of each answer from prompt and material; `faults` come first.

    A fault is an `HttpAnswer`, a completion as it is, or 'silence': nothing comes until the test is over.
    """

    def __init__(self) -> None:
        self.answer: Callable[[str, Any], str] = lambda prompt, material: "{}"
        self.faults: list[HttpAnswer | dict[str, Any] | str] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = ""
        self._lock = Lock()

    @property
    def sent(self) -> int:
        return len(self.requests)

    @property
    def environment(self) -> dict[str, str]:
        return {"GOLDGRADE_LLM_URL": self.url, "GOLDGRADE_LLM_MODEL": MODEL, "GOLDGRADE_LLM_KEY": KEY}

    def asking(self, most_calls: int | None = None, parallel: int = 1) -> CallLimits:
        return CallLimits(find_endpoint(self.environment), most_calls, parallel, QUICK)

    def take(self, _path: str, body: bytes, key: str | None) -> HttpAnswer:
        """What comes of a request."""
        request = json.loads(body)
        with self._lock:
            self.requests.append(request)
            self.keys.append(key)
            fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            return fault if isinstance(fault, HttpAnswer) else HttpAnswer(body=fault)
        system, user = (message["content"] for message in request["messages"])
        return HttpAnswer(body=completion(self.answer(system, json.loads(user))))


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


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedModel]:
    """A model on this machine that the environment names, as a user would have it."""
    served = ServedModel()
    with http_server(served.take) as address:
        served.url = f"{address}/v1"
        for name, value in served.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield served
