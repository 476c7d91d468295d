"""A language model's stored answers, so that a team pays for each call only once.

A call is identified by the hash of the model's name, the prompt and the material. Refusals and malformed
answers are stored too, because they may have been paid. A call that the model refuses is never sent again. A
call is also not sent again after `MAX_MALFORMED` malformed answers or rejections, counted over all runs. A
call without a reply is sent again by the next run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from curation.core.digests import canonical_json, digest
from curation.queries.coverage.language_model import chat, prompting
from curation.store import Cursor, Document, Store, append_rows, utc_now

MAX_MALFORMED = 3
"""Number of malformed answers or rejections after which a call is not sent again."""
MAX_TEXT_LENGTH = 12_000
"""Largest number of characters of a document that are sent to the model."""
REFUSED = "the language model refused"
MALFORMED = "the language model's answer did not have the requested format"
_COLUMNS = ("call_id", "attempt", "model", "prompt_hash", "kind", "text", "tokens_read", "tokens_written")
Replies = dict[str, list[chat.ModelReply]]
"""Id of a call → its replies, in the order of the attempts."""


class ModelCall(NamedTuple):
    """A call to a language model: the model, the prompt and the material to read.

    Attributes
    ----------
    model: name of the model.
    prompt: text of the prompt (`prompting.load_prompt`).
    material: material of the prompt, as a JSON value.
    settings: further fields of the request, such as the temperature and the form of the answer.
    """

    model: str
    prompt: str
    material: Any
    settings: Mapping[str, Any] = {}

    @property
    def call_id(self) -> str:
        """Return the hash of model, prompt, material and settings, which identifies the call."""
        settings = [dict(self.settings)] if self.settings else []
        return digest("model call", self.model, prompting.hash_prompt(self.prompt), self.material, *settings)

    @property
    def messages(self) -> list[dict[str, str]]:
        """Return the messages to the model; the material to read is JSON, so that the model does not take it
        for instructions."""
        user = {"role": "user", "content": canonical_json(self.material)}
        return [{"role": "system", "content": self.prompt}, user]

    @property
    def characters(self) -> int:
        """Return the number of characters that the model reads in a call."""
        return sum(len(message["content"]) for message in self.messages)


class StoredAnswers:
    """The stored replies to some calls of a language model: the answers, and the reasons why calls got no
    answer."""

    def __init__(self, replies: Replies) -> None:
        self._replies = replies

    def find_answer(self, call: ModelCall) -> str | None:
        """Return the stored answer to a call to the model, or None if there is none."""
        reply = self._last_reply(call)
        return reply.text if reply and reply.kind == "answer" else None

    def explain_no_answer(self, call: ModelCall) -> str | None:
        """Return the reason why a call to the model gets no answer, or None if the call has an answer or may
        still get one."""
        reply = self._last_reply(call)
        if reply is None or reply.kind == "answer":
            return None
        if reply.kind == "refusal":
            return REFUSED
        if self.count_attempts(call) < MAX_MALFORMED:
            return None
        return f"{MALFORMED}: {reply.text}" if reply.kind == "malformed" else reply.text

    def is_open(self, call: ModelCall) -> bool:
        """Return whether a call to the model has no final reply yet, so that the call can be sent."""
        return self.find_answer(call) is None and self.explain_no_answer(call) is None

    def count_attempts(self, call: ModelCall) -> int:
        """Count the stored replies to a call."""
        return len(self._replies.get(call.call_id, ()))

    def _last_reply(self, call: ModelCall) -> chat.ModelReply | None:
        replies = self._replies.get(call.call_id)
        return replies[-1] if replies else None


def read_answers(cursor: Cursor, calls: Sequence[ModelCall]) -> StoredAnswers:
    """Read the stored replies to some calls."""
    rows = cursor.execute(
        "SELECT call_id, kind, text, tokens_read, tokens_written FROM model_answers "
        "WHERE call_id IN (SELECT unnest(?::TEXT[])) ORDER BY call_id, attempt",
        [sorted({call.call_id for call in calls})],
    ).fetchall()
    replies: Replies = {}
    for call_id, *reply in rows:
        replies.setdefault(call_id, []).append(chat.ModelReply(*reply))
    return StoredAnswers(replies)


def store_replies(
    store: Store, new_replies: Sequence[tuple[ModelCall, Sequence[chat.ModelReply]]], stored: StoredAnswers
) -> None:
    """Store the model's replies that the endpoint may have charged for, unless another process has stored
    replies to the call."""
    paid_replies = [
        (call, [reply for reply in replies if reply.kind != "none"]) for call, replies in new_replies
    ]
    if not any(replies for _, replies in paid_replies):
        return
    with store.transaction(appends=True) as cursor:
        current = read_answers(cursor, [call for call, _ in new_replies])
        rows = [
            (call.call_id, attempt, call.model, prompting.hash_prompt(call.prompt), *reply[:4])
            for call, replies in paid_replies
            if current.count_attempts(call) == stored.count_attempts(call)
            for attempt, reply in enumerate(replies, stored.count_attempts(call))
        ]
        append_rows(cursor, "model_answers", rows, _COLUMNS, answered_at=utc_now())


def select_document_text(document: Document) -> dict[str, str]:
    """Return the part of a document that is sent to the language model."""
    return {"title": document.title, "text": document.body[:MAX_TEXT_LENGTH]}
