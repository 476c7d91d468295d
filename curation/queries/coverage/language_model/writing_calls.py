"""The calls that ask a model to write and to verify a query.

The first call asks the model for a candidate query. The second call asks whether the document answers the
candidate, and for the passage of the document that answers the candidate, quoted word for word. The third
call asks whether the quoted passage answers the candidate without the rest of the document.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.core.characters import normalise_query
from curation.core.words import split_words
from curation.queries.coverage.language_model import prompting
from curation.queries.coverage.language_model.answers import ModelCall, select_document_text
from curation.queries.coverage.language_model.prompting import MalformedAnswerError, load_prompt, read_list
from curation.queries.coverage.writing.styles import QueryStyle
from curation.store import Document

NO_DOCUMENT = Document("", "", "", "")
WRITE, VERIFY = "queries", "answerable"
"""Names of the prompts for writing and for verifying a query."""
MAX_QUERY_LENGTH = 300
"""Largest number of characters of a candidate query."""
MAX_QUOTE_LENGTH = 40
"""Largest number of words of a quote, twice the number that the prompt asks for."""
ABOUT = 6
"""Largest number of the region's entities in a call, the most central entities first."""


class QueryAim(NamedTuple):
    """A document to write a query for, with its region, the region's entities, and the query's style."""

    cluster: int
    about: tuple[str, ...]
    document: Document
    style: QueryStyle


def make_candidates_call(aim: QueryAim, model: str) -> ModelCall:
    """Make the call that asks the model for a candidate query."""
    material = {
        "about": list(aim.about[:ABOUT]),
        "candidates": 1,
        "document": select_document_text(aim.document),
        "style": f"{aim.style.length}, {aim.style.wording}",
    }
    return ModelCall(model, load_prompt(WRITE), material)


def read_candidates(answer: str) -> list[str]:
    """Read the candidate queries in an answer in order, without repetitions.

    Raises
    ------
    MalformedAnswerError: the answer does not have the form that the prompt asks for.
    """
    candidates = read_list(answer, "queries", str)
    texts = {normalise_query(text): " ".join(text.split()) for text in reversed(candidates)}
    return [text for name, text in reversed(texts.items()) if name and len(text) <= MAX_QUERY_LENGTH]


def make_verification_call(text: str, document: Document, model: str) -> ModelCall:
    """Make the call that asks the model whether the document answers a query."""
    return ModelCall(model, load_prompt(VERIFY), {"document": select_document_text(document), "query": text})


def read_verification(answer: str) -> tuple[bool, str]:
    """Read whether the document answers the query, and the quote that answers it.

    Raises
    ------
    MalformedAnswerError: the answer does not have the form that the prompt asks for.
    """
    parsed = prompting.read_object(answer)
    if not isinstance(parsed.get("answered"), bool):
        raise MalformedAnswerError("an answer that is neither yes nor no")
    quote = parsed.get("quote")
    return parsed["answered"], quote if isinstance(quote, str) else ""


def has_valid_quote(check: tuple[bool, str], document: Document) -> bool:
    """Return whether the model found the query answered, with a word-for-word quote from the document."""
    answered, quote = check
    quoted = split_words(quote)
    texts = (f" {' '.join(split_words(text))} " for text in select_document_text(document).values())
    is_short = 0 < len(quoted) <= MAX_QUOTE_LENGTH
    return answered and is_short and any(f" {' '.join(quoted)} " in text for text in texts)
