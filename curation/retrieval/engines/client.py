"""The HTTP client of a search engine.

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
from curation.retrieval.engines import RATE
from curation.retrieval.engines.template import (
    MISSING,
    Engine,
    EngineRequest,
    WebCall,
    differing,
    paths_in,
    require_at,
    value_at,
)

MAX_ANSWER_BYTES = 64_000_000  # maximum number of bytes of an answer
PATIENCE = RetryPolicy(seconds=30.0)
NOT_WHOLE = "queries without a whole answer ({})"
# Minimum length of a key that is removed from answers. A shorter key could be a part of many words.
_SHORT = 8


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
    """The engine rejected one request. Other requests may succeed."""


class Pace:
    """A limit of requests in a second."""

    def __init__(self, rate: float) -> None:
        self._step, self._next = 1 / rate, monotonic()

    def wait(self) -> None:
        """Wait until the next request may be sent."""
        Event().wait(max(0.0, self._next - monotonic()))
        self._next = max(self._next, monotonic()) + self._step


class EngineClient:
    """A client of an engine, with the engine's address and key from the environment.

    Raises
    ------
    InputError: the address is missing, or a value cannot be used. The error shows neither address nor key.
    """

    def __init__(self, engine: Engine, rate: float = RATE, patience: RetryPolicy = PATIENCE) -> None:
        self.url_name, key_name = (f"GOLDGRADE_ENGINE_{engine.name.upper()}_{end}" for end in ("URL", "KEY"))
        url, key = (os.environ.get(name, "").strip() for name in (self.url_name, key_name))
        example = "https://search.example.org"
        problems = [] if url else [f"{self.url_name} is not set; expected the address of the engine."]
        if url:
            problems += web.find_address_problems(self.url_name, url, key_name, example)
        refuse_problems([*problems, *web.find_key_problems(key_name, key)], way_out=f"Such as {example}.")
        refuse_problems([] if rate > 0 else [f"Rate {rate:g}: expected more than 0 requests a second."])
        self.engine, self._patience, self._pace = engine, patience, Pace(rate)
        self._rate, self._seconds = rate, 0.0
        self._url, self._key, self._key_name = url.rstrip("/"), SecretStr(key), key_name

    @property
    def host(self) -> str:
        """The host of the engine."""
        return urlsplit(self._url).hostname or ""

    def notice(self, what: str) -> str:
        """Write the notice that requests are going to be sent."""
        return f"Asking {self.host} for {what}, {self._rate:g} requests a second at most."

    def notice_of_lists(self, number: int) -> str:
        """Write the notice that lists are going to be requested."""
        return f"{self.notice(pluralize(number, 'list'))} Query texts are sent redacted."

    def search_call(self, text: str, depth: int) -> WebCall:
        """Make the request for a query, whose text is redacted."""
        template = self.engine.template
        return template.call(template.search, query=redact(text).text, depth=depth)

    def search(self, text: str, depth: int) -> EngineList:
        """Ask the engine for the list of a query, with at most `depth` documents.

        Raises
        ------
        RejectedQueryError: the engine rejected this request.
        RefusedError: the engine does not answer.
        InputError: the answer lacks a value that the template names, or has an id twice.
        """
        request, about = self.engine.template.search, f"the query {redact(text).text!r}"
        return self._list(self.search_call(text, depth), request, depth, about)

    def random_list(self, seed: int, depth: int) -> EngineList:
        """Ask the engine for documents in a random order by seed (errors as in `search`).

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
        call = template.call(template.random, seed=seed, depth=depth)
        try:
            answer = self._list(call, template.random, depth, "random documents")
        except RejectedQueryError as error:
            raise RefusedError(error.found) from None
        if answer.left_out:
            raise RefusedError(f"{self._named} gave no random documents: {answer.left_out}.")
        return answer

    def documents(self, ids: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the engine's documents with these ids and their fields (errors as in `search`)."""
        request = self.engine.template.documents
        single = "{id}" in f"{request.path}{request.params}{request.body}"
        size = 1 if single else request.batch
        for start in range(0, len(ids), size):
            asked = list(ids[start : start + size])
            answer = self._answer(self.engine.template.call(request, ids=asked, id=asked[0]), single)
            hits = [answer] if single else self._hits(answer, request)
            failed = request.failed and any(value_at(hit, request.failed) is not MISSING for hit in hits)
            if why := differing(answer, request.whole) or ("a document failed" if failed else ""):
                raise RefusedError(f"{self._named} gave an incomplete answer for documents: {why}.")
            for hit in hits:
                document_id = asked[0] if single else to_text(value_at(hit, request.id))
                source = value_at(hit, request.source)
                if document_id in asked and isinstance(source, dict):
                    yield document_id, source

    @property
    def _named(self) -> str:
        return f"The engine {self.engine.name!r}"

    def _list(self, call: WebCall, request: EngineRequest, depth: int, about: str) -> EngineList:
        """Ask the engine for a list, and ask again if the answer is incomplete."""
        incomplete = ""
        for _ in range(self._patience.attempts):
            answer = self._answer(call)
            incomplete = differing(answer, request.whole)
            if not incomplete:
                break
        else:
            return EngineList([], None, self._seconds, NOT_WHOLE.format(incomplete))
        hits = self._hits(answer, request)[:depth]
        ids = [to_text(require_at(hit, request.id, f"A hit for {about}")) for hit in hits]
        self._refuse_ids(ids, about)
        if request.score is None:
            return EngineList(ids, None, self._seconds)
        return EngineList(ids, [self._score(hit, request.score, about) for hit in hits], self._seconds)

    def _hits(self, answer: Any, request: EngineRequest) -> list[Any]:
        if request.empty and not differing(answer, request.empty):
            return []
        hits = require_at(answer, request.hits, f"The answer of the engine {self.engine.name!r}")
        if not isinstance(hits, list):
            raise InputError(
                f"{self._named} has no list at {request.hits!r}. Found: {', '.join(paths_in(answer))}."
            )
        return hits

    def _refuse_ids(self, ids: Sequence[str], about: str) -> None:
        first: dict[str, int] = {}
        for rank, document_id in enumerate(ids, 1):
            if not document_id:
                raise InputError(f"{self._named} has no id at place {rank} for {about}.")
            if document_id in first:
                raise InputError(
                    f"{self._named} has {document_id!r} twice for {about}, at the places "
                    f"{first[document_id]} and {rank}. A document has one rank in a list: ask the engine "
                    "for documents, not for parts of documents."
                )
            first[document_id] = rank

    def _score(self, hit: Any, path: str, about: str) -> float:
        score = require_at(hit, path, f"A hit for {about}")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise InputError(
                f"{self._named} has the score {score!r:.60} at {path!r} for {about}; expected a "
                "finite number. If the engine gives no scores, put “score: null” into the template."
            )
        return float(score)

    def _answer(self, call: WebCall, absent: bool = False) -> Any:
        """Send a request and parse the JSON answer. With `absent`, return None for a missing document."""
        outcome, sent = web.send_with_retries(lambda: self._send_once(call), self._patience, Event())
        if isinstance(outcome, RequestFailure):
            raise RefusedError(
                f"{self._named} gave no answer: {outcome.reason} ({pluralize(sent, 'request')}). "
                f"Check {self.url_name}."
            )
        if absent and outcome.status == 404:
            return None
        if outcome.is_refused:
            raise RefusedError(
                f"{self._named} answered HTTP {outcome.status}{self._quote(outcome)} to {call.method} "
                f"{call.path.partition('?')[0]}. Check {self.url_name}, {self._key_name} and the template."
            )
        if outcome.status != 200:
            raise RejectedQueryError(
                f"{self._named} rejected a request (HTTP {outcome.status}{self._quote(outcome)})."
            )
        if len(outcome.body) > MAX_ANSWER_BYTES:
            raise RefusedError(f"{self._named} answered over 64 MB. Ask for fewer fields or documents.")
        try:
            return json.loads(self._without_key(outcome.body))
        except (ValueError, RecursionError):
            raise RefusedError(f"{self._named} gave no JSON as an answer. Check {self.url_name}.") from None

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
        began = perf_counter()
        response = web.send(request, self._patience.seconds, MAX_ANSWER_BYTES)
        self._seconds = round(perf_counter() - began, 6)
        if isinstance(response, WebAnswer) and response.is_busy:
            return RequestFailure(f"it answered HTTP {response.status}{self._quote(response)}", response.wait)
        return response

    def _quote(self, answer: WebAnswer) -> str:
        """Quote the beginning of the engine's error message."""
        text = self._without_key(answer.body).replace(self._url, "[address]")
        words = " ".join(text.split())[:200].rstrip(".")
        return f": {words}" if words else ""

    def _without_key(self, body: bytes) -> str:
        key, text = self._key.get_secret_value(), body.decode("utf-8", "replace")
        for form in {key, json.dumps(key)[1:-1]} if len(key) >= _SHORT else ():
            text = text.replace(form, "[key]")
        return text
