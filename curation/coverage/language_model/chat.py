"""The endpoint of a language model: where it is, which model, and the key, from the environment alone.

    GOLDSET_LLM_URL     such as https://host/v1; /chat/completions is added where it is missing
    GOLDSET_LLM_MODEL   the model's name, as the endpoint knows it
    GOLDSET_LLM_KEY     sent as a bearer token; without it none is sent
    GOLDSET_LLM_PRICES  prices of a million tokens read and written, such as 0.15,0.60

A project stores the model's name with what the model answered, and neither address nor key.

One chat with a language model: asked over HTTP, and again where that can help, within stated bounds.

    timed out, not reached, HTTP 408, 425, 429, 5xx  asked again, `Patience.attempts` times in all; the wait
                                                     doubles, or is what Retry-After says
    HTTP 401, 403, 404, 405 or a redirect            no call can succeed: refused at once
    any other status                                 this call is rejected: asking again cannot help
    an answer that is none, or a refusal             returned as such: it may have been paid

Nothing that the endpoint says is passed on before the key is taken out of it.
"""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from threading import Event, Semaphore
from typing import Any, Literal, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from pydantic import SecretStr

from curation.errors import InputError, RefusedError, refuse_problems
from curation.web import post

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
        problems += _of_address(url)
    if not key.isascii() or not key.isprintable() or " " in key:
        problems.append(f"{KEY} holds characters that no key has: spaces, line breaks or accents.")
    refuse_problems(problems, way_out=WAY_OUT)
    route = url.rstrip("/")
    route = route if route.endswith(ROUTE) else route + ROUTE
    return ModelEndpoint(route, model_name(environment), SecretStr(key), prices_set(environment))


def _of_address(url: str) -> list[str]:
    """What is wrong with an address; it is not repeated where it may hold a key."""
    try:
        parts = urlsplit(url)
        found = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return [f"{URL} is no address; expected one such as https://host/v1."]
    if not found or not url.isascii() or not url.isprintable() or " " in url:
        return [f"{URL} is no address of http or https; expected one such as https://host/v1."]
    if "@" in parts.netloc or parts.query or parts.fragment:
        return [
            f"{URL} has a name, a password or parameters in it; expected the address alone, the key in {KEY}."
        ]
    return []


def _value(environment: Mapping[str, str] | None, name: str) -> str:
    return (os.environ if environment is None else environment).get(name, "").strip()


LARGEST = 4_000_000
"""Bytes of an answer."""
_NEVER = frozenset({401, 403, 404, 405})
_AGAIN = frozenset({408, 425, 429})

TIMED_OUT = "no answer in time"
NOT_REACHED = "the endpoint was not reached"
RATE_LIMIT = "the endpoint's rate limit"
FAILED = "the endpoint failed (HTTP {})"
REJECTED = "the endpoint rejected the request (HTTP {})"
STOPPED = "stopped before it was asked"
SPENT = "the limit of requests was reached"

ReplyKind = Literal["answer", "refusal", "malformed", "rejected", "none"]


class Patience(NamedTuple):
    """How long an answer is waited for, and how often it is asked for.

    Attributes
    ----------
    seconds: for one answer as a whole, from the request to the last byte.
    attempts: of one call, the first included.
    first_wait, longest_wait: seconds between two of them; a longer Retry-After ends the work.
    """

    seconds: float = 120.0
    attempts: int = 4
    first_wait: float = 1.0
    longest_wait: float = 60.0


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


class _Fault(NamedTuple):
    """Why a request got no answer; `wait`: seconds that the endpoint asks for, None: it does not say."""

    reason: str
    wait: float | None = None


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
    fault, wait = _Fault(STOPPED), patience.first_wait
    for attempt in range(1, patience.attempts + 1):
        if stop.is_set():
            return ModelReply("none", STOPPED, requests=attempt - 1)
        if allowed is not None and not allowed.acquire(blocking=False):
            return ModelReply("none", SPENT, requests=attempt - 1, ends_work=True)
        found = _ask(endpoint, messages, patience.seconds)
        if isinstance(found, ModelReply):
            return found._replace(requests=attempt)
        fault = found
        pause = wait if fault.wait is None else fault.wait
        if pause > patience.longest_wait:
            return ModelReply("none", fault.reason, requests=attempt, ends_work=True)
        if attempt < patience.attempts:
            stop.wait(pause)
            wait = min(2 * wait, patience.longest_wait)
    return ModelReply("none", fault.reason, requests=patience.attempts)


def _ask(
    endpoint: ModelEndpoint, messages: Sequence[Mapping[str, str]], seconds: float
) -> ModelReply | _Fault:
    """One request: a reply, or why there was none."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "goldset"}
    if key := endpoint.key.get_secret_value():
        headers["Authorization"] = f"Bearer {key}"
    body = json.dumps({"model": endpoint.model, "messages": list(messages)}).encode()
    try:
        found = post(endpoint.url, body, headers, seconds, LARGEST)
        return _read_reply(endpoint, found if len(found) <= LARGEST else b"")
    except HTTPError as error:
        with error:
            return _status(endpoint, error)
    except TimeoutError:
        return _Fault(TIMED_OUT)
    except URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise RefusedError(
                f"The certificate of the language model's host is not trusted: {URL}."
            ) from None
        return _Fault(TIMED_OUT if isinstance(error.reason, TimeoutError) else NOT_REACHED)
    except (OSError, HTTPException):
        return _Fault(NOT_REACHED)


def _status(endpoint: ModelEndpoint, error: HTTPError) -> ModelReply | _Fault:
    """What a status other than success means.

    Raises
    ------
    RefusedError: no call can succeed.
    """
    if error.code in _NEVER or error.code < 400:
        raise RefusedError(
            f"The language model's endpoint answered HTTP {error.code}{_said(endpoint, error)}. Check {URL}, "
            f"the model's name and {KEY}."
        )
    if error.code in _AGAIN or error.code >= 500:
        reason = RATE_LIMIT if error.code == 429 else FAILED.format(error.code)
        return _Fault(reason, _retry_after(error.headers.get("Retry-After")))
    return ModelReply("rejected", REJECTED.format(error.code))


def _said(endpoint: ModelEndpoint, error: HTTPError) -> str:
    """The endpoint's own words, if it has any."""
    try:
        said = json.loads(error.read(10_000))["error"]["message"]
    except (OSError, HTTPException, ValueError, TypeError, LookupError):
        return ""
    words = " ".join(endpoint.without_key(str(said)).split())[:200].rstrip(".")
    return f" ({words})" if words else ""


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a number or a date; None where there is neither."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if seconds == seconds else None


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
