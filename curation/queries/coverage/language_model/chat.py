"""A chat with a language model: requests to its endpoint, and the replies.

    GOLDGRADE_LLM_URL     the endpoint's address, such as https://host/v1, with or without /chat/completions
    GOLDGRADE_LLM_MODEL   the model's name, as the endpoint knows it
    GOLDGRADE_LLM_KEY     the endpoint's key, which is sent as a bearer token
    GOLDGRADE_LLM_PRICES  prices of a million tokens read and written, such as 0.15,0.60

A project stores the model's name with each answer, but never the endpoint's address or key. Prompts are
files; each prompt is identified by the hash of its text.

If the endpoint is busy or does not answer, the request is sent again (`curation.core.web`). If the endpoint
refuses the key or the address, a RefusedError is raised. Any other HTTP status rejects the call, because
sending the request again cannot help. A malformed answer or a refusal is returned as a reply, because the
reply may have been paid.

The key is removed from every text of the endpoint before goldgrade shows or stores the text.
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

from curation.core import web
from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError, refuse_problems

MAX_ANSWER_BYTES = 4_000_000
"""Largest size of an endpoint's answer, in bytes."""
RATE_LIMIT = "the endpoint's rate limit"
FAILED = "the endpoint failed (HTTP {})"
REJECTED = "the endpoint rejected the request (HTTP {})"
SPENT = "the limit of requests was reached"
ReplyKind = Literal["answer", "refusal", "malformed", "rejected", "none"]
URL = "GOLDGRADE_LLM_URL"
MODEL = "GOLDGRADE_LLM_MODEL"
KEY = "GOLDGRADE_LLM_KEY"
PRICES = "GOLDGRADE_LLM_PRICES"
ROUTE = "/chat/completions"
TokenPrices = tuple[float, float]
"""Prices of a million tokens read and of a million tokens written, in any currency."""
WAY_OUT = f"{URL} is an address such as https://host/v1, and {MODEL} is the model's name at this address."


def is_rejection(reason: str) -> bool:
    """Tell whether a reason says that the endpoint rejected one call, so that other calls may succeed."""
    return reason.startswith(REJECTED.partition("(")[0])


class ModelReply(NamedTuple):
    """The reply to a call.

    Attributes
    ----------
    kind: kind of the reply, such as 'none' for a call without a reply that could have been paid.
    text: text of the answer or the refusal; for other kinds the reason why there is no answer.
    read, written: tokens as the endpoint counts them; None if the endpoint gives no count.
    requests: number of requests that were sent for the call.
    ends_work: for the kind 'none', whether further calls would fail for the same reason.
    """

    kind: ReplyKind
    text: str
    read: int | None = None
    written: int | None = None
    requests: int = 1
    ends_work: bool = False


def request_reply(
    endpoint: ModelEndpoint,
    messages: Sequence[Mapping[str, str]],
    patience: web.RetryPolicy,
    stop: Event,
    request_limit: Semaphore | None = None,
) -> ModelReply:
    """Ask the language model, and send the request again if the endpoint is busy.

    Parameters
    ----------
    stop: an event that ends the waiting.
    request_limit: a counter of the requests that may still be sent.

    Raises
    ------
    RefusedError: the key, the address or the model is wrong.
    """

    def send_once() -> ModelReply | web.RequestFailure:
        if request_limit is not None and not request_limit.acquire(blocking=False):
            return ModelReply("none", SPENT, requests=0, ends_work=True)
        return _send_request(endpoint, messages, patience.seconds)

    reply, requests = web.send_with_retries(send_once, patience, stop)
    if isinstance(reply, web.RequestFailure):
        return ModelReply("none", reply.reason, requests=requests, ends_work=reply.ends_work)
    return reply._replace(requests=requests - (reply.requests == 0))


def _send_request(
    endpoint: ModelEndpoint, messages: Sequence[Mapping[str, str]], seconds: float
) -> ModelReply | web.RequestFailure:
    """Send one request to the endpoint, and return the reply or the fault."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "goldgrade"}
    if key := endpoint.key.get_secret_value():
        headers["Authorization"] = f"Bearer {key}"
    body = json.dumps({"model": endpoint.model, "messages": list(messages)}).encode()
    answer = web.send(Request(endpoint.url, body, headers, method="POST"), seconds, MAX_ANSWER_BYTES)  # noqa: S310  checked
    if isinstance(answer, web.RequestFailure):
        if answer.reason == web.UNTRUSTED:
            raise RefusedError(f"The certificate of the language model's host is not trusted: {URL}.")
        return answer
    if answer.status == 200:
        return _read_reply(endpoint, answer.body if len(answer.body) <= MAX_ANSWER_BYTES else b"")
    if answer.is_refused:
        raise RefusedError(
            f"The language model's endpoint answered HTTP {answer.status}"
            f"{_read_error_message(endpoint, answer.body)}. Check {URL}, the model's name and {KEY}."
        )
    if answer.is_busy:
        reason = RATE_LIMIT if answer.status == 429 else FAILED.format(answer.status)
        return web.RequestFailure(reason, answer.wait)
    return ModelReply("rejected", REJECTED.format(answer.status))


def _read_error_message(endpoint: ModelEndpoint, body: bytes) -> str:
    """Give the endpoint's error message in parentheses, or ''."""
    try:
        message = json.loads(body)["error"]["message"]
    except (ValueError, TypeError, LookupError):
        return ""
    excerpt = " ".join(endpoint.without_key(str(message)).split())[:200].rstrip(".")
    return f" ({excerpt})" if excerpt else ""


def _read_reply(endpoint: ModelEndpoint, body: bytes) -> ModelReply:
    """Read the model's reply from the body of an answer. A body without a message is a malformed reply."""
    try:
        parsed = json.loads(body)
        choice = parsed["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return ModelReply("malformed", "an answer without a message")
    tokens = (_read_token_count(parsed, "prompt_tokens"), _read_token_count(parsed, "completion_tokens"))
    if refusal or choice.get("finish_reason") == "content_filter":
        return ModelReply("refusal", endpoint.without_key(str(refusal or "")), *tokens)
    if choice.get("finish_reason") == "length":
        return ModelReply("malformed", "an answer that was cut off", *tokens)
    if not isinstance(content, str) or not content.strip():
        return ModelReply("malformed", "an empty answer", *tokens)
    return ModelReply("answer", endpoint.without_key(content), *tokens)


def _read_token_count(parsed: Mapping[str, Any], name: str) -> int | None:
    usage = parsed.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**62 else None


def compute_price(prices: TokenPrices | None, read: int, written: int = 0) -> float | None:
    """Compute the price of tokens, or return None without prices."""
    return None if prices is None else (read * prices[0] + written * prices[1]) / 1e6


class ModelEndpoint(NamedTuple):
    """The endpoint of a language model. The endpoint's `repr` does not show the key.

    Attributes
    ----------
    url: address of the route for chats.
    prices: prices of tokens; None if the environment has no prices.
    """

    url: str
    model: str
    key: SecretStr
    prices: TokenPrices | None = None

    def without_key(self, text: str) -> str:
        """Replace the key in a text of the endpoint, because an endpoint may repeat the key."""
        key = self.key.get_secret_value()
        return text.replace(key, "[key]") if key else text


def read_model(environment: Mapping[str, str] | None = None) -> str:
    """Read the model's name from the environment.

    Raises
    ------
    InputError: the environment has no model's name.
    """
    name = _read_setting(environment, MODEL)
    if not name:
        raise InputError(f"{MODEL} is not set; expected the name of a language model.", way_out=WAY_OUT)
    return name


def name_model(environment: Mapping[str, str] | None = None) -> str:
    """Name the language model, with its host if the environment has an address."""
    if not _read_setting(environment, URL):
        return read_model(environment)
    endpoint = find_endpoint(environment)
    return f"{endpoint.model} at {urlsplit(endpoint.url).hostname}"


def read_prices(environment: Mapping[str, str] | None = None) -> TokenPrices | None:
    """Read the prices of tokens from the environment, or return None if the environment has no prices.

    Raises
    ------
    InputError: the prices are not two numbers of at least 0.
    """
    setting = _read_setting(environment, PRICES)
    if not setting:
        return None
    try:
        read, written = (float(part) for part in setting.split(","))
    except ValueError:
        read, written = -1.0, -1.0
    if not (0 <= read < float("inf") and 0 <= written < float("inf")):
        example = "two prices of a million tokens, such as 0.15,0.60"
        raise InputError(f"{PRICES} is {setting!r}; expected {example}.")
    return read, written


def find_endpoint(environment: Mapping[str, str] | None = None) -> ModelEndpoint:
    """Read the endpoint from the environment.

    Raises
    ------
    InputError: the address or the model is missing, or a value cannot be used; no error shows the key.
    """
    url = _read_setting(environment, URL)
    key = _read_setting(environment, KEY)
    problems = [] if url else [f"{URL} is not set; expected the address of a language model."]
    if url:
        problems += web.find_address_problems(URL, url, KEY, "https://host/v1")
    refuse_problems([*problems, *web.find_key_problems(KEY, key)], way_out=WAY_OUT)
    route = url.rstrip("/")
    route = route if route.endswith(ROUTE) else route + ROUTE
    return ModelEndpoint(route, read_model(environment), SecretStr(key), read_prices(environment))


def _read_setting(environment: Mapping[str, str] | None, name: str) -> str:
    return (os.environ if environment is None else environment).get(name, "").strip()


class MalformedAnswerError(ValueError):
    """A model's answer does not have the form that the prompt asks for. The message names the defect."""


@cache
def load_prompt(name: str) -> str:
    """Read a prompt from its file."""
    folder = files("curation.queries.coverage.language_model")
    return folder.joinpath("prompts", f"{name}.md").read_text("utf-8")


def hash_prompt(prompt: str) -> str:
    """Compute the hash that identifies a prompt."""
    return digest("prompt", prompt)


def read_object(answer: str) -> dict[str, Any]:
    """Read the JSON object of an answer, which may have text or a code fence around the object.

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


def read_list(answer: str, name: str, item_type: type) -> list[Any]:
    """Read a named list of items of one type from the JSON object of an answer.

    Raises
    ------
    MalformedAnswerError: the object has no such list.
    """
    items = read_object(answer).get(name)
    if not isinstance(items, list) or not all(isinstance(item, item_type) for item in items):
        raise MalformedAnswerError(f"an answer without a list of {name}")
    return items
