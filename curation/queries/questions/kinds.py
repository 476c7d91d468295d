"""The kinds of questions that a language model writes for documents."""

from __future__ import annotations

from typing import NamedTuple

from curation.queries.coverage.writing.styles import STYLES, QueryStyle

PHRASE = QueryStyle("phrase", "1–12 words", "key words", 1, 12)
QUESTION = STYLES["question generic"]
MULTI_HOP, UNANSWERABLE = "multi-hop", "unanswerable"


class QuestionKind(NamedTuple):
    """A kind of question that a language model writes, such as multi-hop or unanswerable.

    Attributes
    ----------
    wording: description of the kind for the model.
    styles: styles of which a question needs one.
    tag: tag of stored questions; None if rules find the tag.
    """

    wording: str
    styles: tuple[QueryStyle, ...] = (PHRASE, QUESTION)
    tag: str | None = None

    def choose_style(self, text: str) -> QueryStyle:
        """Choose the kind's style that a text has, or the kind's first style if the text has none of them."""
        return next((style for style in self.styles if style.matches(text)), self.styles[0])


KINDS = {
    "keyword": QuestionKind("key words, 1–4 words, not a question", (PHRASE._replace(most=4),)),
    "question": QuestionKind("a question in a whole sentence", (QUESTION,)),
    "paraphrase": QuestionKind("a query that uses synonyms in place of all terms of the document"),
    "misspelled": QuestionKind("a query with one typing mistake of a hurried user", tag="misspelling"),
    MULTI_HOP: QuestionKind(
        'a question that needs a fact of "document" and a fact of "other"; neither alone answers it',
        (QUESTION,),
        MULTI_HOP,
    ),
    UNANSWERABLE: QuestionKind(
        "a query on the topic of the document that the document does not answer", tag=UNANSWERABLE
    ),
}
"""Name of a kind → kind. The name is the stored style of a question."""
