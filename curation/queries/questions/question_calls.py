"""The calls that ask a model to write questions for a document, and a second model to check a question.

The model that checks sees the question and the documents that might answer it, in an order that hides the
document of the question. It sees neither the quotes nor the kind that the writer claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from curation.core.digests import digest
from curation.queries.coverage.language_model import prompting
from curation.queries.coverage.language_model.answers import ModelCall, select_document_text
from curation.queries.coverage.language_model.prompting import MalformedAnswerError, load_prompt
from curation.queries.coverage.language_model.writing_calls import MAX_QUERY_LENGTH, has_valid_quote
from curation.queries.coverage.writing.checks import find_refusal
from curation.queries.questions.kinds import KINDS, MULTI_HOP, UNANSWERABLE
from curation.store import Document, Query

WRITE, CHECK = "questions", "question-check"
"""Names of the prompts for writing and for checking questions."""
PASSAGE_LENGTH = 3_000
"""Largest number of characters of a document that the models read."""
MISQUOTED = "questions whose answer is not quoted from the document"
UNNATURAL = "questions that do not read as a query, according to the check"
UNANSWERED = "questions that no document answers, according to the check"
ANSWERED = "unanswerable questions that a document answers, according to the check"
NOT_BOTH = "multi-hop questions that do not need both documents, according to the check"


class QuestionAim(NamedTuple):
    """A document drawn at random, for which a language model writes questions of given kinds.

    Attributes
    ----------
    document, other: the document, and its nearest document for multi-hop questions; cut to `PASSAGE_LENGTH`.
    kinds: kind of each question.
    stratum, probability: stratum of the document, and the probability with which it was drawn.
    """

    document: Document
    other: Document | None
    kinds: tuple[str, ...]
    stratum: str
    probability: float


class Question(NamedTuple):
    """A question as the model wrote it, with its document, its kind, and the passages that answer it
    according to the model."""

    aim: QuestionAim
    kind: str
    text: str
    quotes: tuple[str, ...]

    @property
    def sources(self) -> list[Document]:
        """List the documents from which the model wrote the question."""
        has_two = self.kind == MULTI_HOP and self.aim.other is not None
        return [self.aim.document, self.aim.other] if has_two else [self.aim.document]  # type: ignore[list-item]

    def find_refusal(self, queries: Sequence[Query]) -> str | None:
        """Return the reason for rejecting the question because of its text or its quotes, or None."""
        sources = self.sources if self.kind != UNANSWERABLE else []
        quoted = [
            has_valid_quote((True, quote), source)
            for quote, source in zip(self.quotes, sources, strict=False)
        ]
        if quoted.count(True) < len(sources):
            return MISQUOTED
        return find_refusal(self.text, self.aim.document, KINDS[self.kind].choose_style(self.text), queries)


class QuestionCheck(NamedTuple):
    """The answer of the second model, which checks a question.

    Attributes
    ----------
    whole, part: ids of the documents that answer the whole question, or a part of it, by valid quotes.
    """

    is_natural: bool
    whole: tuple[str, ...]
    part: tuple[str, ...]

    def find_refusal(self, question: Question) -> str | None:
        """Return the reason why this check rejects the question, or None if it does not."""
        if not self.is_natural:
            return UNNATURAL
        if question.kind == UNANSWERABLE:
            return ANSWERED if self.whole else None
        if question.kind == MULTI_HOP:
            source_ids = {source.document_id for source in question.sources}
            return None if not self.whole and source_ids <= set(self.part) else NOT_BOTH
        return None if self.whole else UNANSWERED


def cut_document(document: Document) -> Document:
    """Cut a document to the part that the models read."""
    return document._replace(body=document.body[:PASSAGE_LENGTH])


def make_writing_call(aim: QuestionAim, model: str) -> ModelCall:
    """Make the call that asks a model for questions for a document."""
    material = {
        "document": select_document_text(aim.document),
        "kinds": [KINDS[kind].wording for kind in aim.kinds],
    }
    if aim.other:
        material["other"] = select_document_text(aim.other)
    return ModelCall(model, load_prompt(WRITE), material)


def read_rows(answer: str) -> list[dict[str, Any]]:
    """Read the rows of a model's answer, which has one row per question.

    Raises
    ------
    MalformedAnswerError: the answer does not have the form that the prompt asks for.
    """
    return prompting.read_list(answer, "queries", dict)


def read_questions(answer: str, aim: QuestionAim) -> list[Question]:
    """Read the questions for a document in the order of its kinds, leaving out questions with an unusable
    text."""
    questions = []
    for kind, row in zip(aim.kinds, read_rows(answer), strict=False):
        text, quotes = " ".join(str(row.get("query", "")).split()), row.get("quotes")
        if text and len(text) <= MAX_QUERY_LENGTH:
            quote_texts = tuple(map(str, quotes)) if isinstance(quotes, list) else ()
            questions.append(Question(aim, kind, text, quote_texts))
    return questions


def order_documents(question: Question, hits: Sequence[Document]) -> list[Document]:
    """List the question's documents and BM25's documents, each once, in an order that does not reveal which
    is which."""
    distinct = {document.document_id: document for document in [*hits, *question.sources]}
    return sorted(distinct.values(), key=lambda document: digest(question.text, document.document_id))


def make_check_call(text: str, documents: Sequence[Document], model: str) -> ModelCall:
    """Make the call that asks a model which of these documents answer a question."""
    numbered = [
        {"number": number, **select_document_text(document)} for number, document in enumerate(documents, 1)
    ]
    return ModelCall(model, load_prompt(CHECK), {"documents": numbered, "query": text})


def read_check(answer: str, documents: Sequence[Document] = ()) -> QuestionCheck:
    """Read the checking model's answer; a document counts only with a quote that occurs word for word in its
    text.

    Raises
    ------
    MalformedAnswerError: the answer does not have the form that the prompt asks for.
    """
    is_natural = prompting.read_object(answer).get("reads_as_query")
    if not isinstance(is_natural, bool):
        raise MalformedAnswerError("an answer that does not say whether the text reads as a query")
    by_number = dict(enumerate(documents, 1))
    found: dict[str, bool] = {}
    for row in prompting.read_list(answer, "answers", dict):
        number = row.get("document")
        document = by_number.get(number) if isinstance(number, int) else None
        if document and has_valid_quote((True, str(row.get("quote"))), document):
            found[document.document_id] = row.get("whole") is True
    whole = tuple(name for name, is_whole in found.items() if is_whole)
    return QuestionCheck(is_natural, whole, tuple(name for name in found if name not in whole))
