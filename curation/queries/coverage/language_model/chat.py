"""One chat with a language model: asked over HTTP, and again where that can help, within stated bounds.

    no answer yet                         asked again, as `curation.core.web` says
    no call can succeed                   refused at once
    any other status                      this call is rejected: asking again cannot help
    an answer that is none, or a refusal  returned as such: it may have been paid

Nothing that the endpoint says is passed on before the key is taken out of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from threading import Event, Semaphore
from typing import Any, Literal, NamedTuple
from urllib.request import Request

from curation.core.errors import RefusedError
from curation.core.web import UNTRUSTED, Fault, Patience, keep_asking, send
from curation.queries.coverage.language_model.endpoint import KEY, URL, ModelEndpoint

LARGEST = 4_000_000
"""Bytes of an answer."""
RATE_LIMIT = "the endpoint's rate limit"
FAILED = "the endpoint failed (HTTP {})"
REJECTED = "the endpoint rejected the request (HTTP {})"
SPENT = "the limit of requests was reached"
ReplyKind = Literal["answer", "refusal", "malformed", "rejected", "none"]


def is_rejection(reason: str) -> bool:
    """Whether a call has no answer because the endpoint rejected it: others may have one."""
    return reason.startswith(REJECTED.partition("(")[0])


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
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "goldgrade"}
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
