"""One chat with a language model: its endpoint from the environment, a prompt, and what comes back.

    GOLDGRADE_LLM_URL     such as https://host/v1; /chat/completions is added where it is missing
    GOLDGRADE_LLM_MODEL   the model's name, as the endpoint knows it
    GOLDGRADE_LLM_KEY     sent as a bearer token; without it none is sent
    GOLDGRADE_LLM_PRICES  prices of a million tokens read and written, such as 0.15,0.60

A project stores the model's name with what the model answered, and neither address nor key. Prompts are
files, and known by the hash of their words.

    no answer yet                         asked again, as `curation.core.web` says
    no call can succeed                   refused at once
    any other status                      this call is rejected: asking again cannot help
    a malformed answer, or a refusal      returned as such: it may have been paid

Nothing that the endpoint says is passed on before the key is taken out of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from threading import Event, Semaphore
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit
from urllib.request import Request

from pydantic import SecretStr

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.web import UNTRUSTED, Fault, Patience, address_problems, keep_asking, key_problems, send

MAX_ANSWER_BYTES = 4_000_000
"""Bytes of an answer."""
RATE_LIMIT = "the endpoint's rate limit"
FAILED = "the endpoint failed (HTTP {})"
REJECTED = "the endpoint rejected the request (HTTP {})"
SPENT = "the limit of requests was reached"
ReplyKind = Literal["answer", "refusal", "malformed", "rejected", "none"]
URL, MODEL, KEY, PRICES = (
    "GOLDGRADE_LLM_URL",
    "GOLDGRADE_LLM_MODEL",
    "GOLDGRADE_LLM_KEY",
    "GOLDGRADE_LLM_PRICES",
)
ROUTE = "/chat/completions"
TokenPrices = tuple[float, float]
"""Prices of a million tokens read and of a million written, in the currency of the person who set them."""
WAY_OUT = f"{URL} is an address such as https://host/v1, {MODEL} the model's name there."


def is_rejection(reason: str) -> bool:
    """Whether a call has no answer because the endpoint rejected it: others may have one."""
    return reason.startswith(REJECTED.partition("(")[0])


class ModelReply(NamedTuple):
    """What came of a call.

    Attributes
    ----------
    kind: 'none': nothing came that could have been paid.
    text: of the answer or the refusal; of the others the reason.
    read, written: tokens, as the endpoint counts them; None if it does not say.
    requests: sent for it.
    ends_work: of 'none': whether further calls would meet the same.
    """

    kind: ReplyKind
    text: str
    read: int | None = None
    written: int | None = None
    requests: int = 1
    ends_work: bool = False


def chat(
    endpoint: ModelEndpoint,
    messages: Sequence[Mapping[str, str]],
    patience: Patience,
    stop: Event,
    allowed: Semaphore | None = None,
) -> ModelReply:
    """Ask the model; waits end when `stop` is set. Each request takes one of those allowed.

    Raises
    ------
    RefusedError: the endpoint takes no such call: key, address or model are wrong.
    """

    def once() -> ModelReply | Fault:
        if allowed is not None and not allowed.acquire(blocking=False):
            return ModelReply("none", SPENT, requests=0, ends_work=True)
        return _ask(endpoint, messages, patience.seconds)

    reply, sent = keep_asking(once, patience, stop)
    if isinstance(reply, Fault):
        return ModelReply("none", reply.reason, requests=sent, ends_work=reply.ends_work)
    return reply._replace(requests=sent - (reply.requests == 0))


def _ask(
    endpoint: ModelEndpoint, messages: Sequence[Mapping[str, str]], seconds: float
) -> ModelReply | Fault:
    """One request: the reply, or the fault."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "goldgrade"}
    if key := endpoint.key.get_secret_value():
        headers["Authorization"] = f"Bearer {key}"
    body = json.dumps({"model": endpoint.model, "messages": list(messages)}).encode()
    answer = send(Request(endpoint.url, body, headers, method="POST"), seconds, MAX_ANSWER_BYTES)  # noqa: S310  checked
    if isinstance(answer, Fault):
        if answer.reason == UNTRUSTED:
            raise RefusedError(f"The certificate of the language model's host is not trusted: {URL}.")
        return answer
    if answer.status == 200:
        return _read_reply(endpoint, answer.body if len(answer.body) <= MAX_ANSWER_BYTES else b"")
    if answer.is_refused:
        raise RefusedError(
            f"The language model's endpoint answered HTTP {answer.status}{_said(endpoint, answer.body)}. "
            f"Check {URL}, the model's name and {KEY}."
        )
    if answer.is_busy:
        reason = RATE_LIMIT if answer.status == 429 else FAILED.format(answer.status)
        return Fault(reason, answer.wait)
    return ModelReply("rejected", REJECTED.format(answer.status))


def _said(endpoint: ModelEndpoint, body: bytes) -> str:
    """The endpoint's own words, if it has any."""
    try:
        message = json.loads(body)["error"]["message"]
    except (ValueError, TypeError, LookupError):
        return ""
    words = " ".join(endpoint.without_key(str(message)).split())[:200].rstrip(".")
    return f" ({words})" if words else ""


def _read_reply(endpoint: ModelEndpoint, body: bytes) -> ModelReply:
    """The reply in an answer's body; what has no message in it is malformed."""
    try:
        parsed = json.loads(body)
        choice = parsed["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return ModelReply("malformed", "an answer without a message")
    tokens = (_tokens(parsed, "prompt_tokens"), _tokens(parsed, "completion_tokens"))
    if refusal or choice.get("finish_reason") == "content_filter":
        return ModelReply("refusal", endpoint.without_key(str(refusal or "")), *tokens)
    if choice.get("finish_reason") == "length":
        return ModelReply("malformed", "an answer that was cut off", *tokens)
    if not isinstance(content, str) or not content.strip():
        return ModelReply("malformed", "an empty answer", *tokens)
    return ModelReply("answer", endpoint.without_key(content), *tokens)


def _tokens(parsed: Mapping[str, Any], name: str) -> int | None:
    usage = parsed.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**62 else None


def price_of(prices: TokenPrices | None, read: int, written: int = 0) -> float | None:
    """The price of so many tokens; None without prices."""
    return None if prices is None else (read * prices[0] + written * prices[1]) / 1e6


class ModelEndpoint(NamedTuple):
    """Where a model is asked; the key shows in no text of this.

    Attributes
    ----------
    url: of the route that takes a chat.
    prices: None if nobody set them.
    """

    url: str
    model: str
    key: SecretStr
    prices: TokenPrices | None = None

    def without_key(self, text: str) -> str:
        """The text with the key left out, which an endpoint may have repeated."""
        key = self.key.get_secret_value()
        return text.replace(key, "[key]") if key else text


def model_name(environment: Mapping[str, str] | None = None) -> str:
    """The model that the environment names.

    Raises
    ------
    InputError: it names none.
    """
    name = _value(environment, MODEL)
    if not name:
        raise InputError(f"{MODEL} is not set; expected the name of a language model.", way_out=WAY_OUT)
    return name


def model_at(environment: Mapping[str, str] | None = None) -> str:
    """The model with its host, as people read it before anything is sent; without an address the model."""
    named = find_endpoint(environment).url if _value(environment, URL) else ""
    return f"{model_name(environment)}{f' at {urlsplit(named).hostname}' if named else ''}"


def prices_set(environment: Mapping[str, str] | None = None) -> TokenPrices | None:
    """The prices that the environment names.

    Raises
    ------
    InputError: they are not two numbers from 0 on.
    """
    given = _value(environment, PRICES)
    if not given:
        return None
    try:
        read, written = (float(part) for part in given.split(","))
    except ValueError:
        read, written = -1.0, -1.0
    if not (0 <= read < float("inf") and 0 <= written < float("inf")):
        raise InputError(
            f"{PRICES} is {given!r}; expected two prices of a million tokens, such as 0.15,0.60."
        )
    return read, written


def find_endpoint(environment: Mapping[str, str] | None = None) -> ModelEndpoint:
    """The endpoint that the environment names.

    Raises
    ------
    InputError: the address or the model is missing, or one of the values cannot be used; the key is not
        repeated.
    """
    url, key = _value(environment, URL), _value(environment, KEY)
    problems = [] if url else [f"{URL} is not set; expected the address of a language model."]
    if url:
        problems += address_problems(URL, url, KEY, "https://host/v1")
    refuse_problems([*problems, *key_problems(KEY, key)], way_out=WAY_OUT)
    route = url.rstrip("/")
    route = route if route.endswith(ROUTE) else route + ROUTE
    return ModelEndpoint(route, model_name(environment), SecretStr(key), prices_set(environment))


def _value(environment: Mapping[str, str] | None, name: str) -> str:
    return (os.environ if environment is None else environment).get(name, "").strip()


class MalformedAnswerError(ValueError):
    """An answer is not of the form that its prompt asks for; the message says what it lacks."""


@cache
def load_prompt(name: str) -> str:
    """The words of the prompt of that name, from its file."""
    folder = files("curation.queries.coverage.language_model")
    return folder.joinpath("prompts", f"{name}.md").read_text("utf-8")


def prompt_hash(words: str) -> str:
    """What a prompt is known by."""
    return digest("prompt", words)


def read_object(answer: str) -> dict[str, Any]:
    """The one JSON object in an answer, which may have words or a fence around it.

    Raises
    ------
    MalformedAnswerError: the answer has no JSON object.
    """
    start, end = answer.find("{"), answer.rfind("}")
    try:
        parsed = json.loads(answer[start : end + 1]) if start >= 0 else None
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise MalformedAnswerError("an answer that is no JSON object")
    return parsed


def read_list(answer: str, name: str, of: type) -> list[Any]:
    """The list of that name in the one JSON object of an answer, all of one type.

    Raises
    ------
    MalformedAnswerError: the object has no such list.
    """
    listed = read_object(answer).get(name)
    if not isinstance(listed, list) or not all(isinstance(item, of) for item in listed):
        raise MalformedAnswerError(f"an answer without a list of {name}")
    return listed
