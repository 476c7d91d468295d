"""The calls that have a model write and verify a query: what is sent, and how the answers are read.

The first call asks for a candidate. The second call says whether the document answers it, and quotes the
passage; the quote must be in the document. The third call says whether the quote answers by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.core.characters import normalise_query
from curation.core.words import words
from curation.queries.coverage.language_model.answers import ModelCall, shown_document
from curation.queries.coverage.language_model.chat import (
    MalformedAnswerError,
    load_prompt,
    read_list,
    read_object,
)
from curation.queries.coverage.writing.checks import QueryStyle
from curation.store import Document

NO_DOCUMENT = Document("", "", "", "")
WRITE, VERIFY = "queries", "answerable"
"""Names of the two prompts."""
MAX_QUERY_LENGTH = 300
"""Characters of a candidate."""
MAX_QUOTE_LENGTH = 40  # words; twice what the prompt asks for
ABOUT = 6
"""Entities of the region that the model is asked to write about: its most central ones."""


class QueryAim(NamedTuple):
    """What a query is to be written for; `about` are entities of the region."""

    cluster: int
    about: tuple[str, ...]
    document: Document
    style: QueryStyle


def candidates_call(aim: QueryAim, model: str) -> ModelCall:
    """The call that asks for a candidate."""
    material = {
        "about": list(aim.about[:ABOUT]),
        "candidates": 1,
        "document": shown_document(aim.document),
        "style": f"{aim.style.length}, {aim.style.wording}",
    }
    return ModelCall(model, load_prompt(WRITE), material)


def read_candidates(answer: str) -> list[str]:
    """The candidates in an answer, each once, in their order.

    Raises
    ------
    MalformedAnswerError: it is not of the form that the prompt asks for.
    """
    listed = read_list(answer, "queries", str)
    texts = {normalise_query(text): " ".join(text.split()) for text in reversed(listed)}
    return [text for name, text in reversed(texts.items()) if name and len(text) <= MAX_QUERY_LENGTH]


def verification_call(text: str, document: Document, model: str) -> ModelCall:
    """The call that asks whether the document answers a query."""
    return ModelCall(model, load_prompt(VERIFY), {"document": shown_document(document), "query": text})


def read_check(answer: str) -> tuple[bool, str]:
    """What the second call says: whether the document answers the query, and by which words.

    Raises
    ------
    MalformedAnswerError: it is not of the form that the prompt asks for.
    """
    parsed = read_object(answer)
    if not isinstance(parsed.get("answered"), bool):
        raise MalformedAnswerError("an answer that says neither yes nor no")
    quote = parsed.get("quote")
    return parsed["answered"], quote if isinstance(quote, str) else ""


def is_shown(check: tuple[bool, str], document: Document) -> bool:
    """Whether the document answers, by a quote that it has word for word."""
    answered, quote = check
    quoted = words(quote)
    shown = shown_document(document)
    return answered and any(_has_run(words(text), quoted) for text in shown.values())


def _has_run(text_words: Sequence[str], run: Sequence[str]) -> bool:
    return 0 < len(run) <= MAX_QUOTE_LENGTH and any(
        list(text_words[start : start + len(run)]) == list(run)
        for start in range(len(text_words) - len(run) + 1)
    )
