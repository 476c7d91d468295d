"""The HTTP client with which goldgrade sends queries to a search engine.

    GOLDGRADE_ENGINE_NAME_URL   the engine's address, such as https://search.example.org, without paths
    GOLDGRADE_ENGINE_NAME_KEY   the engine's key, optional, sent in the header that the template names

NAME is the engine's name in capitals. Address and key are read when a request is sent, and are never stored
or shown. If an answer of the engine repeats the key, the key is removed.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from threading import Event
from time import monotonic, perf_counter
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import Request

from pydantic import SecretStr

from curation.core import web
from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.text import pluralize
from curation.core.web import RequestFailure, RetryPolicy, WebAnswer
from curation.ingest.importers.personal_data import redact
from curation.ingest.readers.values import to_text
from curation.retrieval.engines import RATE, json_paths
from curation.retrieval.engines.template import Engine, EngineRequest, WebCall

MAX_ANSWER_BYTES = 64_000_000
"""Largest size of an answer, in bytes."""
PATIENCE = RetryPolicy(seconds=30.0)
INCOMPLETE = "queries without a complete response ({})"
_MIN_REMOVED_KEY_LENGTH = 8
"""Fewest letters of a key that is removed from answers: a shorter key could be a part of many words."""


class EngineList(NamedTuple):
    """An engine's list for a query: ids and scores, best first.

    Attributes
    ----------
    scores: empty if the template has no path of scores.
    seconds: time from the request to the last byte, for the attempt that the engine answered.
    left_out: reason why the list is missing, such as an incomplete answer; '' with a list.
    """

    ids: list[str]
    scores: list[float] | None
    seconds: float
    left_out: str = ""


class RejectedQueryError(RefusedError):
    """Error: a search engine rejected one request. Other requests may succeed."""


class RequestPace:
    """A limit on the number of requests per second."""

    def __init__(self, rate: float) -> None:
        self._step, self._next = 1 / rate, monotonic()

    def wait(self) -> None:
        """Wait until the rate limit allows the next request to the engine."""
        Event().wait(max(0.0, self._next - monotonic()))
        self._next = max(self._next, monotonic()) + self._step


class EngineClient:
    """A client of an engine, with the engine's address and key from the environment.

    Raises
    ------
    InputError: the address is missing, or a value cannot be used. The error shows neither address nor key.
    """

    def __init__(self, engine: Engine, rate: float = RATE, patience: RetryPolicy = PATIENCE) -> None:
        prefix = f"GOLDGRADE_ENGINE_{engine.name.upper()}"
        self.url_name, self._key_name = f"{prefix}_URL", f"{prefix}_KEY"
        url = os.environ.get(self.url_name, "").strip()
        key = os.environ.get(self._key_name, "").strip()
        example = "https://search.example.org"
        problems = [] if url else [f"{self.url_name} is not set; expected the address of the engine."]
        if url:
            problems += web.find_address_problems(self.url_name, url, self._key_name, example)
        problems += web.find_key_problems(self._key_name, key)
        refuse_problems(problems, way_out=f"Such as {example}.")
        refuse_problems([] if rate > 0 else [f"Rate {rate:g}: expected more than 0 requests per second."])
        self.engine = engine
        self._patience = patience
        self._rate = rate
        self._pace = RequestPace(rate)
        self._url = url.rstrip("/")
        self._key = SecretStr(key)
        self._seconds = 0.0  # time of the last request

    @property
    def host(self) -> str:
        """Return the host in the engine's address."""
        return urlsplit(self._url).hostname or ""

    def describe_requests(self, subject: str) -> str:
        """Return a sentence that says that requests about a subject will be sent to the engine."""
        return f"goldgrade asks {self.host} for {subject}, with at most {self._rate:g} requests per second."

    def describe_list_requests(self, n_lists: int) -> str:
        """Return a sentence that says that queries' lists will be requested from the engine."""
        return f"{self.describe_requests(pluralize(n_lists, 'list'))} Query texts are sent redacted."

    def make_search_call(self, text: str, depth: int) -> WebCall:
        """Make the request for a query, whose text is redacted."""
        template = self.engine.template
        return template.make_call(template.search, query=redact(text).text, depth=depth)

    def search(self, text: str, depth: int) -> EngineList:
        """Request the engine's list for a query, with at most `depth` documents.

        Raises
        ------
        RejectedQueryError: the engine rejected this request.
        RefusedError: the engine does not answer.
        InputError: the answer lacks a value that the template names, or has an id twice.
        """
        call = self.make_search_call(text, depth)
        about = f"the query {redact(text).text!r}"
        return self._request_list(call, self.engine.template.search, depth, about)

    def request_random_list(self, seed: int, depth: int) -> EngineList:
        """Request documents from the engine in a random order by seed (errors as in `search`).

        Raises
        ------
        RefusedError: the template has no section `random`, or the answer is incomplete.
        """
        template = self.engine.template
        if template.random is None:
            raise RefusedError(
                f"The engine {self.engine.name!r} has no template for random documents. Add the "
                "template, name a file with all ids of the engine, or draw no random negatives.",
                command="`--ids FILE` names a file of ids; `--random-negatives 0` draws no random negatives.",
            )
        call = template.make_call(template.random, seed=seed, depth=depth)
        try:
            answer = self._request_list(call, template.random, depth, "random documents")
        except RejectedQueryError as error:
            raise RefusedError(error.found) from None
        if answer.left_out:
            raise RefusedError(f"{self._label} returned no random documents: {answer.left_out}.")
        return answer

    def fetch_documents(self, ids: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the engine's documents with these ids and their fields (errors as in `search`)."""
        request = self.engine.template.documents
        is_single = "{id}" in f"{request.path}{request.params}{request.body}"
        size = 1 if is_single else request.batch
        for start in range(0, len(ids), size):
            batch_ids = list(ids[start : start + size])
            call = self.engine.template.make_call(request, ids=batch_ids, id=batch_ids[0])
            answer = self._request_json(call, is_single)
            hits = [answer] if is_single else self._read_hits(answer, request)
            difference = json_paths.describe_difference(answer, request.whole)
            if request.failed and any(
                json_paths.get_value(hit, request.failed) is not json_paths.MISSING for hit in hits
            ):
                difference = difference or "a document failed"
            if difference:
                raise RefusedError(f"{self._label} sent an incomplete response for documents: {difference}.")
            for hit in hits:
                document_id = batch_ids[0] if is_single else to_text(json_paths.get_value(hit, request.id))
                source = json_paths.get_value(hit, request.source)
                if document_id in batch_ids and isinstance(source, dict):
                    yield document_id, source

    @property
    def _label(self) -> str:
        """Return the name of the engine for error messages."""
        return f"The engine {self.engine.name!r}"

    def _request_list(self, call: WebCall, request: EngineRequest, depth: int, about: str) -> EngineList:
        """Request a list from the engine, and repeat the request if the answer is incomplete."""
        incomplete = ""
        for _ in range(self._patience.attempts):
            answer = self._request_json(call)
            incomplete = json_paths.describe_difference(answer, request.whole)
            if not incomplete:
                break
        else:
            return EngineList([], None, self._seconds, INCOMPLETE.format(incomplete))
        hits = self._read_hits(answer, request)[:depth]
        ids = [to_text(json_paths.require_value(hit, request.id, f"A hit for {about}")) for hit in hits]
        self._refuse_bad_ids(ids, about)
        if request.score is None:
            return EngineList(ids, None, self._seconds)
        return EngineList(ids, [self._read_score(hit, request.score, about) for hit in hits], self._seconds)

    def _read_hits(self, answer: Any, request: EngineRequest) -> list[Any]:
        """Read the hits of an answer, and reject an answer without a list at the template's path."""
        if request.empty and not json_paths.describe_difference(answer, request.empty):
            return []
        subject = f"The response of the engine {self.engine.name!r}"
        hits = json_paths.require_value(answer, request.hits, subject)
        if not isinstance(hits, list):
            paths = ", ".join(json_paths.list_paths(answer))
            raise InputError(f"{self._label} has no list at {request.hits!r}. Found: {paths}.")
        return hits

    def _refuse_bad_ids(self, ids: Sequence[str], about: str) -> None:
        """Reject a list with an empty or a repeated id."""
        rank_of: dict[str, int] = {}
        for rank, document_id in enumerate(ids, 1):
            if not document_id:
                raise InputError(f"{self._label} has no id at rank {rank} for {about}.")
            if document_id in rank_of:
                raise InputError(
                    f"{self._label} has {document_id!r} twice for {about}, at the ranks "
                    f"{rank_of[document_id]} and {rank}. A list may contain a document only once: ask the "
                    "engine for whole documents, not for passages."
                )
            rank_of[document_id] = rank

    def _read_score(self, hit: Any, path: str, about: str) -> float:
        score = json_paths.require_value(hit, path, f"A hit for {about}")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise InputError(
                f"{self._label} has the score {score!r:.60} at {path!r} for {about}; expected a "
                "finite number. If the engine gives no scores, put “score: null” into the template."
            )
        return float(score)

    def _request_json(self, call: WebCall, allow_missing: bool = False) -> Any:
        """Send a request to the engine and parse its JSON answer.

        With `allow_missing`, return None if the engine does not have the document.
        """
        response, n_requests = web.send_with_retries(lambda: self._send_once(call), self._patience, Event())
        if isinstance(response, RequestFailure):
            raise RefusedError(
                f"{self._label} did not respond: {response.reason} ({pluralize(n_requests, 'request')}). "
                f"Check {self.url_name}."
            )
        if allow_missing and response.status == 404:
            return None
        if response.is_refused:
            status = response.status_text.replace(urlsplit(self._url).netloc, "[host]")
            raise RefusedError(
                f"{self._label} answered {status}{self._quote(response)} to {call.method} "
                f"{call.path.partition('?')[0]}. Check {self.url_name}, {self._key_name} and the template."
            )
        if response.status != 200:
            raise RejectedQueryError(
                f"{self._label} rejected a request (HTTP {response.status}{self._quote(response)})."
            )
        if len(response.body) > MAX_ANSWER_BYTES:
            raise RefusedError(f"{self._label} sent more than 64 MB. Ask for fewer fields or documents.")
        try:
            return json.loads(self._remove_key(response.body))
        except (ValueError, RecursionError):
            beginning = self._quote(response) or ": the answer is empty"
            raise RefusedError(
                f"{self._label} did not answer with JSON{beginning}. Check {self.url_name}."
            ) from None

    def _send_once(self, call: WebCall) -> WebAnswer | RequestFailure:
        self._pace.wait()
        template = self.engine.template
        headers = {"Accept": "application/json", "User-Agent": "goldgrade", **template.headers}
        if key := self._key.get_secret_value():
            headers[template.key.header] = template.key.value.replace("{key}", key)
        body = None
        if call.body is not None:
            headers.setdefault("Content-Type", "application/json")
            body = call.body.encode()
        request = Request(f"{self._url}{call.path}", body, headers, method=call.method)  # noqa: S310  checked
        start_time = perf_counter()
        response = web.send(request, self._patience.seconds, MAX_ANSWER_BYTES)
        self._seconds = round(perf_counter() - start_time, 6)
        if isinstance(response, WebAnswer) and response.is_busy:
            return RequestFailure(f"it answered HTTP {response.status}{self._quote(response)}", response.wait)
        return response

    def _quote(self, answer: WebAnswer) -> str:
        """Return a quote of the beginning of the engine's error message."""
        text = self._remove_key(answer.body).replace(self._url, "[address]")
        words = " ".join(text.split())[:200].rstrip(".")
        return f": {words}" if words else ""

    def _remove_key(self, body: bytes) -> str:
        """Decode an answer, and replace the key with "[key]"."""
        key = self._key.get_secret_value()
        text = body.decode("utf-8", "replace")
        if len(key) < _MIN_REMOVED_KEY_LENGTH:
            return text
        return text.replace(key, "[key]").replace(json.dumps(key)[1:-1], "[key]")
