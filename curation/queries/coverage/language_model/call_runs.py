"""A run of calls to a language model, which sends the calls without a stored answer in parallel.

Each answer is stored as soon as it arrives (`answers`), so that no call is paid twice. A run ends early if
several calls in a row get no answer, or if the limit of requests is reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from math import ceil
from threading import Event, Lock
from time import monotonic
from typing import NamedTuple

from curation.core.progress import Progress, silent
from curation.core.text import describe_left_out, pluralize
from curation.core.web import RetryPolicy
from curation.queries.coverage.language_model import answers, chat, endpoint, prompting
from curation.queries.coverage.language_model.answers import MAX_MALFORMED, ModelCall, Replies, StoredAnswers
from curation.store import Store

MAX_CONSECUTIVE_FAILURES = 5
"""Number of consecutive calls without an answer after which a run ends."""
MAX_PARALLEL = 4
"""Number of calls of the language model that run at the same time."""
CHARACTERS_PER_TOKEN = 4
"""Approximate number of characters of a token, to estimate the tokens of a call before the call is sent."""
NOT_ASKED = "not sent yet"
Check = Callable[[str], object]
"""A function that reads an answer, and raises a `MalformedAnswerError` if the answer has another form."""
_FutureReplies = Future[list[chat.ModelReply]]


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

    @property
    def sentence(self) -> str:
        """Say how many calls a run would send, how long the calls' texts are, and what the calls cost."""
        price = "" if self.price is None else f", at least {self.price:.4f} at the prices that you set"
        size = f"{pluralize(self.calls, 'call')} to send with about {self.tokens:,} tokens{price}"
        return f"{size}; {self.stored:,} calls already have an answer."


@dataclass(frozen=True)
class ModelSpending:
    """What a run of calls has spent: its requests, tokens and price, and the number of calls that have an
    answer.

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

    @property
    def sentences(self) -> list[str]:
        """Say how many requests were sent, and how many calls have an answer."""
        price = "" if self.price is None else f", {self.price:.4f} at the prices that you set"
        tokens = f"{self.tokens_read:,} tokens read and {self.tokens_written:,} written{price}"
        calls = f"{self.answered:,} of {pluralize(self.calls, 'call')}"
        answered = f"{calls} have an answer, {self.stored:,} of them from earlier runs"
        sentences = [f"{pluralize(self.requests, 'request')} sent: {tokens}. {answered}."]
        if self.uncounted:
            answers = pluralize(self.uncounted, "answer")
            sentences.append(f"The endpoint gave no token count for {answers}.")
        return sentences + describe_left_out(self.left_out)


def plan_calls(store: Store, calls: Sequence[ModelCall], prices: endpoint.TokenPrices | None) -> ModelWork:
    """Estimate the calls, tokens and price of `send_calls` without sending anything."""
    with store.reading() as cursor:
        stored = answers.read_answers(cursor, calls)
    distinct = {call.call_id: call for call in calls}.values()
    missing = [call for call in distinct if stored.is_open(call)]
    tokens = ceil(sum(call.characters for call in missing) / CHARACTERS_PER_TOKEN)
    price = endpoint.compute_price(prices, tokens)
    return ModelWork(len(missing), len(distinct) - len(missing), tokens, price)


class CallLimits(NamedTuple):
    """The endpoint and the limits of a run of calls.

    Attributes
    ----------
    most_calls: largest number of requests in this run, including repeated attempts; None for no limit.
    rate: largest number of requests a second; None for no limit.
    """

    endpoint: endpoint.ModelEndpoint
    most_calls: int | None = None
    parallel: int = MAX_PARALLEL
    patience: RetryPolicy = RetryPolicy()
    rate: float | None = None


class _RequestGate:
    """A limit for all threads of a run: how many requests the run may still send, and when it may send the
    next one."""

    def __init__(self, limits: CallLimits, stop: Event) -> None:
        self._left, self._stop, self._lock = limits.most_calls, stop, Lock()
        self._step, self._next = 1 / limits.rate if limits.rate else 0.0, monotonic()

    def admit(self) -> bool:
        """Wait until the next request may be sent; return False if the limit of requests is reached."""
        with self._lock:
            if self._left == 0:
                return False
            self._left = None if self._left is None else self._left - 1
            self._stop.wait(max(0.0, self._next - monotonic()))
            self._next = max(self._next, monotonic()) + self._step
            return True


def send_calls(
    store: Store, calls: Sequence[ModelCall], check: Check, limits: CallLimits, progress: Progress = silent
) -> ModelSpending:
    """Send the calls that have no stored answer. Each of the model's answers is stored as soon as it arrives.

    Raises
    ------
    RefusedError: the endpoint refuses all calls; earlier answers are kept.
    """
    with store.reading() as cursor:
        stored = answers.read_answers(cursor, calls)
    distinct = {call.call_id: call for call in calls}
    missing = [call for call in distinct.values() if stored.is_open(call)]
    sent = missing[: limits.most_calls]
    replies = _send_in_parallel(store, sent, stored, check, limits, progress) if sent else {}
    with store.reading() as cursor:
        stored = answers.read_answers(cursor, calls)
    answered_before = len(distinct) - len(missing)
    return _count_spending(distinct, stored, replies, answered_before, limits.endpoint.prices)


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
    stored: StoredAnswers,
    check: Check,
    limits: CallLimits,
    progress: Progress,
) -> Replies:
    """Send calls and return the replies by call id. A call that the run did not reach has no replies.

    A call is sent only after the replies to all but `parallel` earlier calls are stored. So a killed process
    loses the replies to at most `parallel` calls.
    """
    replies_of: Replies = {}
    stop = Event()
    gate = _RequestGate(limits, stop)
    pending: dict[_FutureReplies, ModelCall] = {}
    n_failures = 0
    remaining = iter(calls)
    with ThreadPoolExecutor(limits.parallel) as pool:
        try:
            while not stop.is_set() or pending:
                capacity = 0 if stop.is_set() else limits.parallel - len(pending)
                for call in islice(remaining, capacity):
                    arguments = (call, stored.count_attempts(call), check, limits, stop, gate)
                    pending[pool.submit(_send_until_well_formed, *arguments)] = call
                if not pending:
                    break
                finished = _store_finished(store, pending, stored)
                replies_of |= finished
                for replies in finished.values():
                    n_failures = n_failures + 1 if replies[-1].kind in ("none", "rejected") else 0
                    if n_failures >= MAX_CONSECUTIVE_FAILURES or replies[-1].ends_work:
                        stop.set()
                progress("language model", len(replies_of), len(calls))
        finally:
            stop.set()
            pool.shutdown(wait=True)
            if pending:
                _store_finished(store, pending, stored)
    return replies_of


def _store_finished(store: Store, pending: dict[_FutureReplies, ModelCall], stored: StoredAnswers) -> Replies:
    """Wait until a call is finished, and store the replies to all finished calls.

    Raises
    ------
    RefusedError: a reply says that no call can succeed; the replies to the other calls are stored.
    """
    done, _ = wait(pending, return_when=FIRST_COMPLETED)
    finished = [(pending.pop(future), future) for future in list(pending) if future in done]
    new_replies = [(call, future.result()) for call, future in finished if future.exception() is None]
    answers.store_replies(store, new_replies, stored)
    for _, future in finished:
        error = future.exception()
        if error is not None:
            raise error
    return {call.call_id: replies for call, replies in new_replies}


def _send_until_well_formed(
    call: ModelCall, n_attempts: int, check: Check, limits: CallLimits, stop: Event, gate: _RequestGate
) -> list[chat.ModelReply]:
    """Send a call until an answer has the right form, the model refuses, or no reply comes."""
    replies: list[chat.ModelReply] = []
    for _ in range(n_attempts, MAX_MALFORMED):
        reply = chat.request_reply(
            limits.endpoint, call.messages, limits.patience, stop, gate.admit, call.settings
        )
        if reply.kind == "answer":
            try:
                check(reply.text)
            except prompting.MalformedAnswerError as error:
                reply = reply._replace(kind="malformed", text=str(error))
        replies.append(reply)
        if reply.kind != "malformed" or stop.is_set():
            break
    return replies


def _count_spending(
    calls: Mapping[str, ModelCall],
    stored: StoredAnswers,
    replies_of: Replies,
    answered_before: int,
    prices: endpoint.TokenPrices | None,
) -> ModelSpending:
    """Count the requests and tokens of a run, and, by reason, the calls without an answer."""
    new_replies = [reply for replies in replies_of.values() for reply in replies]
    read = sum(reply.read or 0 for reply in new_replies)
    written = sum(reply.written or 0 for reply in new_replies)
    without_counts = [reply for reply in new_replies if None in (reply.read, reply.written)]
    left_out: Counter[str] = Counter()
    for call_id, call in calls.items():
        if stored.find_answer(call) is None:
            last_reply = replies_of[call_id][-1] if call_id in replies_of else None
            reason = last_reply.text if last_reply and last_reply.requests else NOT_ASKED
            left_out[stored.explain_no_answer(call) or reason] += 1
    return ModelSpending(
        calls=len(calls),
        answered=len(calls) - sum(left_out.values()),
        stored=answered_before,
        requests=sum(reply.requests for reply in new_replies),
        tokens_read=read,
        tokens_written=written,
        uncounted=sum(reply.kind not in ("none", "rejected") for reply in without_counts),
        price=endpoint.compute_price(prices, read, written),
        left_out=dict(sorted(left_out.items())),
    )
