"""Stored answers: what a model answered once is kept in the project, and is never paid again.

A call is known by the hash of the model's name, the prompt and the text that it was asked about. Refusals and
malformed answers are kept, too, because they may have been paid: a refusal is final, and of one call
`MAX_MALFORMED` answers may be malformed, over all runs. So many rejections, one a run, are final as well.
What was never answered is asked again by the next run.
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
from curation.core.web import Patience
from curation.queries.coverage.language_model.chat import (
    MalformedAnswerError,
    ModelEndpoint,
    ModelReply,
    TokenPrices,
    chat,
    price_of,
    prompt_hash,
)
from curation.store import Cursor, Document, Store, append_rows, utc_now

MAX_MALFORMED = 3
"""Answers of one call that may be malformed, or rejections of it."""
MAX_FAILURES_IN_A_ROW = 5
"""Calls without an answer, one after the other, that end the work."""
PARALLEL = 4
"""Calls that are under way at once."""
MAX_TEXT_LENGTH = 12_000
"""Characters of a document that are sent."""
CHARACTERS = 4
"""Characters of a token, roughly: to say before what a call will read."""
REFUSED = "the language model refused"
MALFORMED = "the language model gave no answer of the form asked for"
NOT_ASKED = "not asked yet"
_COLUMNS = (
    *("call_id", "attempt", "model", "prompt_hash"),
    *("kind", "text", "tokens_read", "tokens_written"),
)
Check = Callable[[str], object]
"""Reads an answer; raises a `MalformedAnswerError` where it is not of the form asked for."""
_Replies = dict[str, list[ModelReply]]
_Coming = Future[list[ModelReply]]


class ModelCall(NamedTuple):
    """One call: the words of a prompt (`chat.load_prompt`), and the material that it is about, as JSON."""

    model: str
    prompt: str
    material: Any

    @property
    def call_id(self) -> str:
        return digest("model call", self.model, prompt_hash(self.prompt), self.material)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The chat that asks. The material is sent as JSON, so it cannot pass for instructions."""
        return [
            {"role": "system", "content": self.prompt},
            {"role": "user", "content": canonical_json(self.material)},
        ]

    @property
    def characters(self) -> int:
        """What the model reads."""
        return sum(len(message["content"]) for message in self.messages)


class ModelWork(NamedTuple):
    """What calls would send, before anything is sent.

    Attributes
    ----------
    calls: still to be made.
    stored: whose answer the project has, or that the model has refused for good.
    tokens: that the calls will read, estimated from their characters.
    price: of what they read; None without prices. What the model writes comes on top.
    """

    calls: int
    stored: int
    tokens: int
    price: float | None


@dataclass(frozen=True)
class ModelSpending:
    """What was sent, and what came of it.

    Attributes
    ----------
    calls: asked for in all; `answered` of them have an answer now, of this run or stored before.
    stored: that needed no request, because the project has what came of them.
    requests: sent, each attempt counted.
    tokens_read, tokens_written: of this run, as the endpoint counted them.
    uncounted: replies for which it counted none.
    price: of those tokens; None without prices.
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
    """What the project has of some calls: the answers, and why some calls will never have one."""

    def __init__(self, replies: _Replies) -> None:
        self._replies = replies

    def answer(self, call: ModelCall) -> str | None:
        """The call's answer, if the project has one of the form asked for."""
        last = self._last(call)
        return last.text if last and last.kind == "answer" else None

    def why_not(self, call: ModelCall) -> str | None:
        """Why the call will have no answer; None while it has one or may get one."""
        last = self._last(call)
        if last is None or last.kind == "answer":
            return None
        if last.kind == "refusal":
            return REFUSED
        if self.attempts(call) < MAX_MALFORMED:
            return None
        return f"{MALFORMED}: {last.text}" if last.kind == "malformed" else last.text

    def is_open(self, call: ModelCall) -> bool:
        """Whether the call is still to be made."""
        return self.answer(call) is None and self.why_not(call) is None

    def attempts(self, call: ModelCall) -> int:
        return len(self._replies.get(call.call_id, ()))

    def _last(self, call: ModelCall) -> ModelReply | None:
        replies = self._replies.get(call.call_id)
        return replies[-1] if replies else None


def read_answers(cursor: Cursor, calls: Sequence[ModelCall]) -> KnownAnswers:
    """What the project has of these calls."""
    rows = cursor.execute(
        "SELECT call_id, kind, text, tokens_read, tokens_written FROM model_answers "
        "WHERE call_id IN (SELECT unnest(?::TEXT[])) ORDER BY call_id, attempt",
        [sorted({call.call_id for call in calls})],
    ).fetchall()
    replies: _Replies = {}
    for call_id, *reply in rows:
        replies.setdefault(call_id, []).append(ModelReply(*reply))
    return KnownAnswers(replies)


def plan_calls(store: Store, calls: Sequence[ModelCall], prices: TokenPrices | None = None) -> ModelWork:
    """What asking would send. Nothing is sent."""
    with store.reading() as cursor:
        known = read_answers(cursor, calls)
    different = {call.call_id: call for call in calls}.values()
    missing = [call for call in different if known.is_open(call)]
    tokens = ceil(sum(call.characters for call in missing) / CHARACTERS)
    return ModelWork(len(missing), len(different) - len(missing), tokens, price_of(prices, tokens))


class Asking(NamedTuple):
    """How calls are made.

    Attributes
    ----------
    most_calls: requests to be sent in this run, those asked again included; None: as many as it takes.
    """

    endpoint: ModelEndpoint
    most_calls: int | None = None
    parallel: int = PARALLEL
    patience: Patience = Patience()


def ask(
    store: Store, calls: Sequence[ModelCall], check: Check, asking: Asking, progress: Progress = silent
) -> ModelSpending:
    """Send the calls that the project has no answer to. Each answer is stored as it comes.

    Raises
    ------
    RefusedError: the endpoint takes no such call; what was answered before is kept.
    """
    with store.reading() as cursor:
        known = read_answers(cursor, calls)
    different = {call.call_id: call for call in calls}
    missing = [call for call in different.values() if known.is_open(call)]
    due = missing[: asking.most_calls]
    replies = _ask_all(store, due, known, check, asking, progress) if due else {}
    with store.reading() as cursor:
        known = read_answers(cursor, calls)
    return _spent(different, known, replies, len(different) - len(missing), asking.endpoint.prices)


def add_spending(model_spending: ModelSpending, other: ModelSpending) -> ModelSpending:
    """Both together."""
    priced = [spent.price for spent in (model_spending, other) if spent.price is not None]
    names = ("calls", "answered", "stored", "requests", "tokens_read", "tokens_written", "uncounted")
    return ModelSpending(
        **{name: getattr(model_spending, name) + getattr(other, name) for name in names},
        price=sum(priced) if priced else None,
        left_out=dict(sorted((Counter(model_spending.left_out) + Counter(other.left_out)).items())),
    )


def _ask_all(
    store: Store,
    due: Sequence[ModelCall],
    known: KnownAnswers,
    check: Check,
    asking: Asking,
    progress: Progress,
) -> _Replies:
    """Call → its replies; calls that the work ended before have none.

    A call is sent only when what came of all but `parallel` earlier ones is stored. So a process that is
    killed loses the answers to so many calls at most.
    """
    replies_of: _Replies = {}
    stop = Event()
    allowed = None if asking.most_calls is None else Semaphore(asking.most_calls)
    waiting: dict[_Coming, ModelCall] = {}
    failed, left = 0, iter(due)
    with ThreadPoolExecutor(asking.parallel) as pool:
        try:
            while not stop.is_set() or waiting:
                room = 0 if stop.is_set() else asking.parallel - len(waiting)
                for call in islice(left, room):
                    coming = pool.submit(
                        _until_of_form, call, known.attempts(call), check, asking, stop, allowed
                    )
                    waiting[coming] = call
                if not waiting:
                    break
                came = _store_finished(store, waiting, known)
                replies_of |= came
                for replies in came.values():
                    failed = failed + 1 if replies[-1].kind in ("none", "rejected") else 0
                    if failed >= MAX_FAILURES_IN_A_ROW or replies[-1].ends_work:
                        stop.set()
                progress("language model", len(replies_of), len(due))
        finally:
            stop.set()
            pool.shutdown(wait=True)
            if waiting:
                _store_finished(store, waiting, known)
    return replies_of


def _store_finished(store: Store, waiting: dict[_Coming, ModelCall], known: KnownAnswers) -> _Replies:
    """Wait for a call, store what came of all that are finished, and take them from those waiting.

    Raises
    ------
    RefusedError: a call says that no call can succeed; what the others said is stored.
    """
    finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
    ended = [(waiting.pop(future), future) for future in list(waiting) if future in finished]
    came = [(call, future.result()) for call, future in ended if future.exception() is None]
    _store(store, came, known)
    for _, future in ended:
        if (error := future.exception()) is not None:
            raise error
    return {call.call_id: replies for call, replies in came}


def _until_of_form(
    call: ModelCall, before: int, check: Check, asking: Asking, stop: Event, allowed: Semaphore | None
) -> list[ModelReply]:
    """The replies to one call: until one has the form asked for, is a refusal, or none comes."""
    replies: list[ModelReply] = []
    for _ in range(before, MAX_MALFORMED):
        reply = chat(asking.endpoint, call.messages, asking.patience, stop, allowed)
        if reply.kind == "answer":
            try:
                check(reply.text)
            except MalformedAnswerError as error:
                reply = reply._replace(kind="malformed", text=str(error))
        replies.append(reply)
        if reply.kind != "malformed" or stop.is_set():
            break
    return replies


def _store(store: Store, came: Sequence[tuple[ModelCall, Sequence[ModelReply]]], known: KnownAnswers) -> None:
    """Store the replies that may have been paid, unless another process has asked the same meanwhile."""
    paid = [(call, [reply for reply in replies if reply.kind != "none"]) for call, replies in came]
    if not any(replies for _, replies in paid):
        return
    with store.transaction(appends=True) as cursor:
        now = read_answers(cursor, [call for call, _ in came])
        rows = [
            (call.call_id, attempt, call.model, prompt_hash(call.prompt), *reply[:4])
            for call, replies in paid
            if now.attempts(call) == known.attempts(call)
            for attempt, reply in enumerate(replies, known.attempts(call))
        ]
        append_rows(cursor, "model_answers", rows, _COLUMNS, answered_at=utc_now())


def _spent(
    calls: Mapping[str, ModelCall],
    known: KnownAnswers,
    replies: _Replies,
    stored: int,
    prices: TokenPrices | None,
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
        price=price_of(prices, read, written),
        left_out=dict(sorted(left_out.items())),
    )


def shown_document(document: Document) -> dict[str, str]:
    """What a model gets of a document."""
    return {"title": document.title, "text": document.body[:MAX_TEXT_LENGTH]}
