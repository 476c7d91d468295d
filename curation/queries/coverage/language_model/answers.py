"""Calls of a language model, each paid only once because the project stores the answers.

The project keeps each answer of a language model, so that no call is paid twice. A call of a language model
is identified by the hash of the model's name, the prompt and the material. A language model's refusals and
malformed answers are stored too, because they may have been paid. A call that the model refuses is never sent
again. A call is also not sent again after `MAX_MALFORMED` malformed answers or rejections, counted over all
runs. A call of a language model that got no reply is sent again by the next run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from math import ceil
from threading import Event, Semaphore
from typing import Any, NamedTuple

from curation.core.digests import canonical_json, digest
from curation.core.progress import Progress, silent
from curation.core.web import RetryPolicy
from curation.queries.coverage.language_model import chat
from curation.store import Cursor, Document, Store, append_rows, utc_now

MAX_MALFORMED = 3
"""Number of malformed answers or rejections after which a call is not sent again."""
MAX_FAILURES_IN_A_ROW = 5
"""Number of consecutive calls without an answer after which a run ends."""
PARALLEL = 4
"""Number of calls of the language model that run at the same time."""
MAX_TEXT_LENGTH = 12_000
"""Largest number of characters of a document that are sent to the model."""
CHARACTERS = 4
"""Approximate number of characters of a token, to estimate the tokens of a call before the call is sent."""
REFUSED = "the language model refused"
MALFORMED = "the language model gave no answer of the form asked for"
NOT_ASKED = "not asked yet"
_COLUMNS = ("call_id", "attempt", "model", "prompt_hash", "kind", "text", "tokens_read", "tokens_written")
Check = Callable[[str], object]
"""A function that reads an answer, and raises a `MalformedAnswerError` if the answer has another form."""
_Replies = dict[str, list[chat.ModelReply]]
_Coming = Future[list[chat.ModelReply]]


class ModelCall(NamedTuple):
    """A call of a language model: the model's name, the prompt (`chat.load_prompt`), and the material of the
    prompt as JSON.
    """

    model: str
    prompt: str
    material: Any

    @property
    def call_id(self) -> str:
        return digest("model call", self.model, chat.hash_prompt(self.prompt), self.material)

    @property
    def messages(self) -> list[dict[str, str]]:
        """Messages of the chat. The prompt's material is sent as JSON, so that the model takes no material as
        instructions.
        """
        user = {"role": "user", "content": canonical_json(self.material)}
        return [{"role": "system", "content": self.prompt}, user]

    @property
    def characters(self) -> int:
        """Number of characters that the model reads in a call."""
        return sum(len(message["content"]) for message in self.messages)


class ModelWork(NamedTuple):
    """An estimate of a run's calls, tokens and price, before the first call is sent.

    Attributes
    ----------
    calls: number of calls still to be made.
    stored: number of calls with a stored answer or a final refusal.
    tokens: tokens that the calls will read, estimated from their characters.
    price: price of the tokens read, without the tokens that the model writes; None without prices.
    """

    calls: int
    stored: int
    tokens: int
    price: float | None


@dataclass(frozen=True)
class ModelSpending:
    """The requests of a run, their tokens and price, and the calls that have an answer.

    Attributes
    ----------
    calls: number of all calls.
    answered: number of calls that have an answer now, from this run or an earlier one.
    stored: number of calls that needed no request, because their answer or refusal was stored.
    requests: number of requests sent, including repeated attempts.
    tokens_read, tokens_written: tokens of this run, as the endpoint counted them.
    uncounted: number of replies for which the endpoint gave no token count.
    price: price of these tokens; None without prices.
    left_out: reason → number of calls without an answer.
    """

    calls: int = 0
    answered: int = 0
    stored: int = 0
    requests: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    uncounted: int = 0
    price: float | None = None
    left_out: dict[str, int] = field(default_factory=dict)


class KnownAnswers:
    """The stored replies to some calls: the answers, and the reasons why calls get no answer."""

    def __init__(self, replies: _Replies) -> None:
        self._replies = replies

    def answer(self, call: ModelCall) -> str | None:
        """Give the call's stored answer, or None."""
        reply = self._last_reply(call)
        return reply.text if reply and reply.kind == "answer" else None

    def why_not(self, call: ModelCall) -> str | None:
        """Give the reason why the call gets no answer, or None if the call has an answer or may still get
        one.
        """
        reply = self._last_reply(call)
        if reply is None or reply.kind == "answer":
            return None
        if reply.kind == "refusal":
            return REFUSED
        if self.attempts(call) < MAX_MALFORMED:
            return None
        return f"{MALFORMED}: {reply.text}" if reply.kind == "malformed" else reply.text

    def is_open(self, call: ModelCall) -> bool:
        """Tell whether the call still has to be sent."""
        return self.answer(call) is None and self.why_not(call) is None

    def attempts(self, call: ModelCall) -> int:
        return len(self._replies.get(call.call_id, ()))

    def _last_reply(self, call: ModelCall) -> chat.ModelReply | None:
        replies = self._replies.get(call.call_id)
        return replies[-1] if replies else None


def read_answers(cursor: Cursor, calls: Sequence[ModelCall]) -> KnownAnswers:
    """Read the stored replies to some calls."""
    rows = cursor.execute(
        "SELECT call_id, kind, text, tokens_read, tokens_written FROM model_answers "
        "WHERE call_id IN (SELECT unnest(?::TEXT[])) ORDER BY call_id, attempt",
        [sorted({call.call_id for call in calls})],
    ).fetchall()
    replies: _Replies = {}
    for call_id, *reply in rows:
        replies.setdefault(call_id, []).append(chat.ModelReply(*reply))
    return KnownAnswers(replies)


def plan_calls(store: Store, calls: Sequence[ModelCall], prices: chat.TokenPrices | None = None) -> ModelWork:
    """Estimate the calls, tokens and price of `send_calls`. Nothing is sent."""
    with store.reading() as cursor:
        stored = read_answers(cursor, calls)
    distinct = {call.call_id: call for call in calls}.values()
    missing = [call for call in distinct if stored.is_open(call)]
    tokens = ceil(sum(call.characters for call in missing) / CHARACTERS)
    return ModelWork(len(missing), len(distinct) - len(missing), tokens, chat.compute_price(prices, tokens))


class CallLimits(NamedTuple):
    """The endpoint and the limits of a run of calls.

    Attributes
    ----------
    most_calls: largest number of requests in this run, including repeated attempts; None for no limit.
    """

    endpoint: chat.ModelEndpoint
    most_calls: int | None = None
    parallel: int = PARALLEL
    patience: RetryPolicy = RetryPolicy()


def send_calls(
    store: Store, calls: Sequence[ModelCall], check: Check, asking: CallLimits, progress: Progress = silent
) -> ModelSpending:
    """Send the calls that have no stored answer. Each answer of the model is stored as soon as it arrives.

    Raises
    ------
    RefusedError: the endpoint refuses all calls; earlier answers are kept.
    """
    with store.reading() as cursor:
        stored = read_answers(cursor, calls)
    distinct = {call.call_id: call for call in calls}
    missing = [call for call in distinct.values() if stored.is_open(call)]
    sent = missing[: asking.most_calls]
    replies = _send_in_parallel(store, sent, stored, check, asking, progress) if sent else {}
    with store.reading() as cursor:
        stored = read_answers(cursor, calls)
    answered_before = len(distinct) - len(missing)
    return _count_spending(distinct, stored, replies, answered_before, asking.endpoint.prices)


def sum_spending(first: ModelSpending, second: ModelSpending) -> ModelSpending:
    """Add up the spending of two runs."""
    prices = [spent.price for spent in (first, second) if spent.price is not None]
    names = ("calls", "answered", "stored", "requests", "tokens_read", "tokens_written", "uncounted")
    return ModelSpending(
        **{name: getattr(first, name) + getattr(second, name) for name in names},
        price=sum(prices) if prices else None,
        left_out=dict(sorted((Counter(first.left_out) + Counter(second.left_out)).items())),
    )


def _send_in_parallel(
    store: Store,
    calls: Sequence[ModelCall],
    stored: KnownAnswers,
    check: Check,
    asking: CallLimits,
    progress: Progress,
) -> _Replies:
    """Send calls and return the replies by call id. A call that the run did not reach has no replies.

    A call is sent only after the replies to all but `parallel` earlier calls are stored. So a killed process
    loses the replies to at most `parallel` calls.
    """
    replies_of: _Replies = {}
    stop = Event()
    request_limit = None if asking.most_calls is None else Semaphore(asking.most_calls)
    pending: dict[_Coming, ModelCall] = {}
    failures, remaining = 0, iter(calls)
    with ThreadPoolExecutor(asking.parallel) as pool:
        try:
            while not stop.is_set() or pending:
                capacity = 0 if stop.is_set() else asking.parallel - len(pending)
                for call in islice(remaining, capacity):
                    arguments = (call, stored.attempts(call), check, asking, stop, request_limit)
                    pending[pool.submit(_send_until_well_formed, *arguments)] = call
                if not pending:
                    break
                finished = _store_finished(store, pending, stored)
                replies_of |= finished
                for replies in finished.values():
                    failures = failures + 1 if replies[-1].kind in ("none", "rejected") else 0
                    if failures >= MAX_FAILURES_IN_A_ROW or replies[-1].ends_work:
                        stop.set()
                progress("language model", len(replies_of), len(calls))
        finally:
            stop.set()
            pool.shutdown(wait=True)
            if pending:
                _store_finished(store, pending, stored)
    return replies_of


def _store_finished(store: Store, pending: dict[_Coming, ModelCall], stored: KnownAnswers) -> _Replies:
    """Wait until a call is finished, and store the replies to all finished calls.

    Raises
    ------
    RefusedError: a reply says that no call can succeed; the replies to the other calls are stored.
    """
    finished, _ = wait(pending, return_when=FIRST_COMPLETED)
    completed = [(pending.pop(future), future) for future in list(pending) if future in finished]
    replied = [(call, future.result()) for call, future in completed if future.exception() is None]
    _store_replies(store, replied, stored)
    for _, future in completed:
        if (error := future.exception()) is not None:
            raise error
    return {call.call_id: replies for call, replies in replied}


def _send_until_well_formed(
    call: ModelCall, tried: int, check: Check, asking: CallLimits, stop: Event, limit: Semaphore | None
) -> list[chat.ModelReply]:
    """Send a call until an answer has the right form, the model refuses, or no reply comes."""
    replies: list[chat.ModelReply] = []
    for _ in range(tried, MAX_MALFORMED):
        reply = chat.request_reply(asking.endpoint, call.messages, asking.patience, stop, limit)
        if reply.kind == "answer":
            try:
                check(reply.text)
            except chat.MalformedAnswerError as error:
                reply = reply._replace(kind="malformed", text=str(error))
        replies.append(reply)
        if reply.kind != "malformed" or stop.is_set():
            break
    return replies


def _store_replies(
    store: Store, replied: Sequence[tuple[ModelCall, Sequence[chat.ModelReply]]], stored: KnownAnswers
) -> None:
    """Store the replies that may have been paid, unless another process has stored replies to the call."""
    paid_replies = [(call, [reply for reply in replies if reply.kind != "none"]) for call, replies in replied]
    if not any(replies for _, replies in paid_replies):
        return
    with store.transaction(appends=True) as cursor:
        current = read_answers(cursor, [call for call, _ in replied])
        rows = [
            (call.call_id, attempt, call.model, chat.hash_prompt(call.prompt), *reply[:4])
            for call, replies in paid_replies
            if current.attempts(call) == stored.attempts(call)
            for attempt, reply in enumerate(replies, stored.attempts(call))
        ]
        append_rows(cursor, "model_answers", rows, _COLUMNS, answered_at=utc_now())


def _count_spending(
    calls: Mapping[str, ModelCall],
    known: KnownAnswers,
    replies: _Replies,
    stored: int,
    prices: chat.TokenPrices | None,
) -> ModelSpending:
    came = [reply for of_call in replies.values() for reply in of_call]
    read = sum(reply.read or 0 for reply in came)
    written = sum(reply.written or 0 for reply in came)
    left_out: Counter[str] = Counter()
    for call_id, call in calls.items():
        if known.answer(call) is None:
            last = replies[call_id][-1] if call_id in replies else None
            left_out[known.why_not(call) or (last.text if last and last.requests else NOT_ASKED)] += 1
    return ModelSpending(
        calls=len(calls),
        answered=len(calls) - sum(left_out.values()),
        stored=stored,
        requests=sum(reply.requests for reply in came),
        tokens_read=read,
        tokens_written=written,
        uncounted=sum(
            reply.kind not in ("none", "rejected") and None in (reply.read, reply.written) for reply in came
        ),
        price=chat.compute_price(prices, read, written),
        left_out=dict(sorted(left_out.items())),
    )


def select_document_text(document: Document) -> dict[str, str]:
    """Give the part of a document that is sent to the model."""
    return {"title": document.title, "text": document.body[:MAX_TEXT_LENGTH]}
