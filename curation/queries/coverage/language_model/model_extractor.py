"""Entities by a language model: names with descriptions that need no context, document by document.

The extractor reads stored answers and sends nothing: `answers.ask` sends its calls where somebody wants it.
So a map is made from the same answers however often, and only once every document has been asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import amount
from curation.queries.coverage.entities import Extraction, Mention, entity_name, shortened
from curation.queries.coverage.language_model.answers import ModelCall, read_answers
from curation.queries.coverage.language_model.prompts import MalformedAnswerError, load_prompt, read_list
from curation.store import (
    Document,
    Store,
)
from curation.store.documents import StoredDocuments, current_corpus

NAME = "llm"
PROMPT = "entities"
MOST = 12
"""Entities of a document."""
LONGEST_NAME = 6
"""Words of a name."""
LONGEST_TEXT = 12_000
"""Characters of a document that are sent."""


class ModelExtractor:
    """Finds the entities that a language model has named; see `queries.coverage.entities.Extractor`."""

    name = NAME

    def __init__(self, store: Store, model: str) -> None:
        self._store = store
        self._model = model

    @property
    def settings(self) -> Mapping[str, Any]:
        """See `Extractor.settings`."""
        return {
            "longest_name": LONGEST_NAME,
            "longest_text": LONGEST_TEXT,
            "model": self._model,
            "most": MOST,
            "prompt": load_prompt(PROMPT).prompt_hash,
        }

    def extract(self, documents: Iterable[Document], progress: Progress = silent) -> Extraction:
        """See `Extractor.extract`.

        Raises
        ------
        RefusedError: documents that the model has not been asked about.
        """
        calls = [document_call(document, self._model) for document in documents]
        with self._store.reading() as cursor:
            known = read_answers(cursor, calls)
        waiting = sum(known.is_open(call) for call in calls)
        if waiting:
            raise RefusedError(
                f"The language model has not read {waiting:,} of {amount(len(calls), 'document')} yet. Its "
                "answers so far are kept. Ask it for the others: `goldgrade coverage --extractor llm --send`."
            )
        answers = [known.answer(call) for call in calls]
        unread = {
            document.document_id: known.why_not(call) or ""
            for document, call, answer in zip(documents, calls, answers, strict=True)
            if answer is None
        }
        return Extraction([[] if answer is None else read_mentions(answer) for answer in answers], unread)


def document_call(document: Document, model: str) -> ModelCall:
    """The call that asks for a document's entities; documents of one text are one call."""
    return ModelCall(model, load_prompt(PROMPT), shown_document(document))


def shown_document(document: Document) -> dict[str, str]:
    """What a model gets of a document."""
    return {"title": document.title, "text": document.body[:LONGEST_TEXT]}


class DocumentCalls(NamedTuple):
    """The calls that ask about a corpus; `cut`: characters of long documents that they leave out."""

    calls: list[ModelCall]
    cut: int


def document_calls(store: Store, model: str) -> DocumentCalls:
    """The calls that ask about the documents of the corpus.

    Raises
    ------
    RefusedError: there is no corpus.
    """
    with store.reading() as cursor:
        corpus = current_corpus(cursor)
    calls, cut = [], 0
    for document in StoredDocuments(store, corpus.hashes):
        calls.append(document_call(document, model))
        cut += max(0, len(document.body) - LONGEST_TEXT)
    return DocumentCalls(calls, cut)


def read_mentions(answer: str) -> list[Mention]:
    """The entities in an answer, the most important first; names that are none or too long are passed over.

    Raises
    ------
    MalformedAnswerError: it is not of the form that the prompt asks for.
    """
    found: dict[str, Mention] = {}
    for item in read_list(answer, "entities", object):
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise MalformedAnswerError("an entity without a name")
        name, description = entity_name(item["name"]), item.get("description")
        if name and name.count(" ") < LONGEST_NAME and name not in found and len(found) < MOST:
            short = shortened(" ".join(description.split())) if isinstance(description, str) else ""
            found[name] = Mention(name, short, 1 / (1 + len(found)))
    return list(found.values())
