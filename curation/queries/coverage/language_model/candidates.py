"""Candidates: queries that a model proposes for a document, and which of them may be taken.

A model's candidates are refused for what people are warned of: phrases copied from the document, queries that
the project nearly has, and another style; for texts that do not read as a query; and for personal data. A
second call says whether the document answers a candidate. It must quote the passage, and the quote must be in
the document. A third says whether the quote by itself answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from curation.core.text import normalise_query
from curation.core.words import words
from curation.ingest.importers.redaction.personal_data import redact
from curation.queries.coverage.language_model.answers import ModelCall
from curation.queries.coverage.language_model.model_extractor import shown_document
from curation.queries.coverage.language_model.prompts import (
    MalformedAnswerError,
    load_prompt,
    read_list,
    read_object,
)
from curation.queries.coverage.writing.checks import alike_queries, copied_phrases
from curation.queries.coverage.writing.styles import QueryStyle, reads_as_query
from curation.store import (
    Document,
    Query,
)

WRITE, VERIFY = "queries", "answerable"
"""Names of the two prompts."""
LONGEST_QUERY = 300
"""Characters of a candidate."""
LONGEST_QUOTE = 40  # words; twice what the prompt asks for
ABOUT = 6
"""Entities of the region that the model is asked to write about: its most central ones."""
COPIED = "candidates with a phrase copied from the document"
ALIKE = "candidates that are nearly a query of the project"
OTHER_STYLE = "candidates of another style: another length, or a question for key words, or the reverse"
NO_SENSE = "candidates that do not read as a query: no word that says something, or one repeated"
PERSONAL = "candidates with personal data"


class QueryAim(NamedTuple):
    """What a query is to be written for; `about` are entities of the region."""

    cluster: int
    about: tuple[str, ...]
    document: Document
    style: QueryStyle


class AnswerCheck(NamedTuple):
    """What the second call says: whether the document answers the query, and by which words."""

    answered: bool
    quote: str


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
    return [text for name, text in reversed(texts.items()) if name and len(text) <= LONGEST_QUERY]


def verification_call(text: str, document: Document, model: str) -> ModelCall:
    """The call that asks whether the document answers a query."""
    return ModelCall(model, load_prompt(VERIFY), {"document": shown_document(document), "query": text})


def read_check(answer: str) -> AnswerCheck:
    """What the second call says.

    Raises
    ------
    MalformedAnswerError: it is not of the form that the prompt asks for.
    """
    found = read_object(answer)
    if not isinstance(found.get("answered"), bool):
        raise MalformedAnswerError("an answer that says neither yes nor no")
    quote = found.get("quote")
    return AnswerCheck(found["answered"], quote if isinstance(quote, str) else "")


def is_shown(check: AnswerCheck, document: Document) -> bool:
    """Whether the document answers, by a quote that it has word for word."""
    quoted = words(check.quote)
    shown = shown_document(document)
    return check.answered and any(_has_run(words(text), quoted) for text in shown.values())


def why_refused(text: str, aim: QueryAim, queries: Iterable[Query]) -> str | None:
    """Why a candidate may not be taken; None where it may.

    Parameters
    ----------
    queries: all that the project has.
    """
    if not aim.style.holds(text):
        return OTHER_STYLE
    if not reads_as_query(text, aim.style):
        return NO_SENSE
    if redact(text).kinds:
        return PERSONAL
    if copied_phrases(text, aim.document.title, aim.document.body):
        return COPIED
    return ALIKE if alike_queries(text, queries) else None


def _has_run(found: Sequence[str], run: Sequence[str]) -> bool:
    return 0 < len(run) <= LONGEST_QUOTE and any(
        list(found[start : start + len(run)]) == list(run) for start in range(len(found) - len(run) + 1)
    )
