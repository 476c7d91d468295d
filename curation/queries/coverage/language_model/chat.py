"""A chat with a language model: a request to its endpoint, and the reply.

If the endpoint is busy or does not answer, the request is sent again (`curation.core.web`). If the endpoint
rejects a setting of the request, such as the form of the answer, the request is sent again without the
setting, and further requests of the process leave the setting out. If the endpoint refuses the key or the
address, a RefusedError is raised. Any other HTTP status rejects the call, because sending the request again
cannot help. A malformed answer or a refusal is returned as a reply, because the
reply may have been paid.

The key is removed from every text of the endpoint before goldgrade shows or stores the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Any, Literal, NamedTuple
from urllib.request import Request

from curation.core import web
from curation.core.errors import RefusedError
from curation.queries.coverage.language_model.endpoint import KEY, URL, ModelEndpoint

MAX_ANSWER_BYTES = 4_000_000
"""Largest size of an endpoint's answer, in bytes."""
RATE_LIMIT = "the endpoint's rate limit"
FAILED = "the endpoint failed (HTTP {})"
REJECTED = "the endpoint rejected the request (HTTP {})"
SPENT = "the limit of requests was reached"
NO_SETTINGS: Mapping[str, Any] = {}
_REJECTING = (400, 422)
"""The HTTP statuses by which endpoints reject a setting that they do not know."""
_rejected_settings: dict[tuple[str, str], frozenset[str]] = {}
"""Address and model → settings that the endpoint has rejected."""
ReplyKind = Literal["answer", "refusal", "malformed", "rejected", "none"]


def is_rejection(reason: str) -> bool:
    """Return whether a failed call's reason says that the endpoint rejected only this call, so that other
    calls may succeed."""
    return reason.startswith(REJECTED.partition("(")[0])


class ModelReply(NamedTuple):
    """The reply of a language model to a call.

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
    admit: Callable[[], bool] = lambda: True,
    settings: Mapping[str, Any] = NO_SETTINGS,
) -> ModelReply:
    """Ask the language model, and send the request again if the endpoint is busy.

    Parameters
    ----------
    stop: an event that ends the waiting.
    admit: function that waits until a request may be sent, and returns False if no request may be sent.
    settings: further fields of the request; fields that the endpoint rejects are left out.

    Raises
    ------
    RefusedError: the key, the address or the model is wrong.
    """

    name = (endpoint.url, endpoint.model)
    rejected = set(find_rejected_settings(endpoint))

    def send_once() -> ModelReply | web.RequestFailure:
        if not admit():
            return ModelReply("none", SPENT, requests=0, ends_work=True)
        accepted = {key: value for key, value in settings.items() if key not in rejected}
        answer = _send_request(endpoint, messages, accepted, patience.seconds)
        if isinstance(answer, list):
            rejected.update(answer)
            return web.RequestFailure(REJECTED.format(_REJECTING[0]), wait=0.0)
        if isinstance(answer, ModelReply) and answer.kind != "rejected" and rejected:
            _rejected_settings[name] = frozenset(rejected)
        return answer

    reply, requests = web.send_with_retries(send_once, patience, stop)
    if isinstance(reply, web.RequestFailure):
        return ModelReply("none", reply.reason, requests=requests, ends_work=reply.ends_work)
    return reply._replace(requests=requests - (reply.requests == 0))


def find_rejected_settings(endpoint: ModelEndpoint) -> frozenset[str]:
    """Name the settings that the endpoint has rejected since the process began."""
    return _rejected_settings.get((endpoint.url, endpoint.model), frozenset())


def _send_request(
    endpoint: ModelEndpoint,
    messages: Sequence[Mapping[str, str]],
    settings: Mapping[str, Any],
    seconds: float,
) -> ModelReply | web.RequestFailure | list[str]:
    """Send one request to the endpoint, and return the reply, the fault, or the settings to leave out."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "goldgrade"}
    if key := endpoint.key.get_secret_value():
        headers["Authorization"] = f"Bearer {key}"
    body = json.dumps({"model": endpoint.model, "messages": list(messages), **settings}).encode()
    answer = web.send(Request(endpoint.url, body, headers, method="POST"), seconds, MAX_ANSWER_BYTES)  # noqa: S310  checked
    if isinstance(answer, web.RequestFailure):
        if answer.reason == web.UNTRUSTED:
            raise RefusedError(f"The certificate of the language model's host is not trusted: {URL}.")
        return answer
    if answer.status == 200:
        return _read_reply(endpoint, answer.body if len(answer.body) <= MAX_ANSWER_BYTES else b"")
    if answer.is_refused:
        raise RefusedError(
            f"The language model's endpoint answered {endpoint.without_key(answer.status_text)}"
            f"{_read_error_message(endpoint, answer.body)}. Check {URL}, the model's name and {KEY}."
        )
    if answer.is_busy:
        reason = RATE_LIMIT if answer.status == 429 else FAILED.format(answer.status)
        return web.RequestFailure(reason, answer.wait)
    if answer.status in _REJECTING and settings:
        error = answer.body.decode(errors="replace")
        return [key for key in settings if key in error] or [*settings]
    return ModelReply("rejected", REJECTED.format(answer.status))


def _read_error_message(endpoint: ModelEndpoint, body: bytes) -> str:
    """Return the endpoint's error message in parentheses, or ''."""
    try:
        message = json.loads(body)["error"]["message"]
    except (ValueError, TypeError, LookupError):
        return ""
    excerpt = " ".join(endpoint.without_key(str(message)).split())[:200].rstrip(".")
    return f" ({excerpt})" if excerpt else ""


def _read_reply(endpoint: ModelEndpoint, body: bytes) -> ModelReply:
    """Read the model's reply from the body of an HTTP response. A body without a message is a malformed
    reply."""
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
        return ModelReply("malformed", "an answer that is cut off", *tokens)
    if not isinstance(content, str) or not content.strip():
        return ModelReply("malformed", "an empty answer", *tokens)
    return ModelReply("answer", endpoint.without_key(content), *tokens)


def _read_token_count(parsed: Mapping[str, Any], name: str) -> int | None:
    usage = parsed.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**62 else None
