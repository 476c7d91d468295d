"""The endpoint of a language model: where it is, which model, and the key, from the environment alone.

    GOLDSET_LLM_URL     such as https://host/v1; /chat/completions is added where it is missing
    GOLDSET_LLM_MODEL   the model's name, as the endpoint knows it
    GOLDSET_LLM_KEY     sent as a bearer token; without it none is sent
    GOLDSET_LLM_PRICES  prices of a million tokens read and written, such as 0.15,0.60

A project stores the model's name with what the model answered, and neither address nor key.

One chat with a language model: asked over HTTP, and again where that can help, within stated bounds.

    no answer yet                         asked again, as `curation.web` says
    no call can succeed                   refused at once
    any other status                      this call is rejected: asking again cannot help
    an answer that is none, or a refusal  returned as such: it may have been paid

Nothing that the endpoint says is passed on before the key is taken out of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from threading import Event, Semaphore
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit
from urllib.request import Request

from pydantic import SecretStr

from curation.errors import InputError, RefusedError, refuse_problems
from curation.web import UNTRUSTED, Fault, Patience, address_problems, keep_asking, key_problems, send

URL, MODEL, KEY, PRICES = "GOLDSET_LLM_URL", "GOLDSET_LLM_MODEL", "GOLDSET_LLM_KEY", "GOLDSET_LLM_PRICES"
ROUTE = "/chat/completions"
WAY_OUT = f"{URL} is an address such as https://host/v1, {MODEL} the model's name there."


class TokenPrices(NamedTuple):
    """Prices of a million tokens, in the currency of the person who set them."""

    read: float
    written: float


class ModelEndpoint(NamedTuple):
    """Where a model is asked; the key shows in no text of this.

    Attributes
    ----------
    url: of the route that takes a chat.
    prices: None where nobody set them.
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
    found = _value(environment, MODEL)
    if not found:
        raise InputError(f"{MODEL} is not set; expected the name of a language model.", way_out=WAY_OUT)
    return found


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
    return TokenPrices(read, written)


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


LARGEST = 4_000_000
"""Bytes of an answer."""

RATE_LIMIT = "the endpoint's rate limit"
FAILED = "the endpoint failed (HTTP {})"
REJECTED = "the endpoint rejected the request (HTTP {})"
SPENT = "the limit of requests was reached"


def is_rejection(reason: str) -> bool:
    """Whether a call has no answer because the endpoint rejected it: others may have one."""
    return reason.startswith(REJECTED.partition("(")[0])


ReplyKind = Literal["answer", "refusal", "malformed", "rejected", "none"]


class ModelReply(NamedTuple):
    """What came of a call.

    Attributes
    ----------
    kind: 'none': nothing came that could have been paid.
    text: of the answer or the refusal; of the others the reason.
    read, written: tokens, as the endpoint counts them; None where it does not say.
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

    found, sent = keep_asking(once, patience, stop)
    if isinstance(found, Fault):
        return ModelReply("none", found.reason, requests=sent, ends_work=found.ends_work)
    return found._replace(requests=sent - (found.requests == 0))


def _ask(
    endpoint: ModelEndpoint, messages: Sequence[Mapping[str, str]], seconds: float
) -> ModelReply | Fault:
    """One request: a reply, or why there was none."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "goldset"}
    if key := endpoint.key.get_secret_value():
        headers["Authorization"] = f"Bearer {key}"
    body = json.dumps({"model": endpoint.model, "messages": list(messages)}).encode()
    found = send(Request(endpoint.url, body, headers, method="POST"), seconds, LARGEST)  # noqa: S310  checked
    if isinstance(found, Fault):
        if found.reason == UNTRUSTED:
            raise RefusedError(f"The certificate of the language model's host is not trusted: {URL}.")
        return found
    if found.status == 200:
        return _read_reply(endpoint, found.body if len(found.body) <= LARGEST else b"")
    if found.is_refused:
        raise RefusedError(
            f"The language model's endpoint answered HTTP {found.status}{_said(endpoint, found.body)}. "
            f"Check {URL}, the model's name and {KEY}."
        )
    if found.is_busy:
        reason = RATE_LIMIT if found.status == 429 else FAILED.format(found.status)
        return Fault(reason, found.wait)
    return ModelReply("rejected", REJECTED.format(found.status))


def _said(endpoint: ModelEndpoint, body: bytes) -> str:
    """The endpoint's own words, if it has any."""
    try:
        said = json.loads(body)["error"]["message"]
    except (ValueError, TypeError, LookupError):
        return ""
    words = " ".join(endpoint.without_key(str(said)).split())[:200].rstrip(".")
    return f" ({words})" if words else ""


def _read_reply(endpoint: ModelEndpoint, body: bytes) -> ModelReply:
    """The reply in an answer's body; what has no message in it is malformed."""
    try:
        found = json.loads(body)
        choice = found["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return ModelReply("malformed", "an answer without a message")
    tokens = (_tokens(found, "prompt_tokens"), _tokens(found, "completion_tokens"))
    if refusal or choice.get("finish_reason") == "content_filter":
        return ModelReply("refusal", endpoint.without_key(str(refusal or "")), *tokens)
    if choice.get("finish_reason") == "length":
        return ModelReply("malformed", "an answer that was cut off", *tokens)
    if not isinstance(content, str) or not content.strip():
        return ModelReply("malformed", "an empty answer", *tokens)
    return ModelReply("answer", endpoint.without_key(content), *tokens)


def _tokens(found: Mapping[str, Any], name: str) -> int | None:
    usage = found.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**62 else None
