"""Checks of the text of a query that was written for coverage.

A query's writer is warned of phrases copied from the document, of nearly equal queries, of a different style,
and of a text that is not about the document. The writer decides whether to keep the query. A query in the
document's own words tests whether a system finds words, not whether the system finds answers. A query that
nearly equals an earlier query adds nothing. A language model's query is refused for the same reasons, and
also if it has personal data or does not read as a query. docs/coverage.md measures how often each check is
wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from curation.core.characters import isolate, normalise_query
from curation.core.similarity.shingles import character_shingles, jaccard, list_essentials, reworded_shingles
from curation.core.words import LocatedWord, is_unspaced, locate_words
from curation.ingest.importers.personal_data import redact
from curation.queries.coverage.writing.styles import QueryStyle
from curation.retrieval.stemming import strip_ending
from curation.retrieval.terms import STOP_WORDS, content_words, searched_terms
from curation.store import Document, Query

MIN_COSINE = 0.25
"""Smallest cosine at which a text that shares no word with a document counts as about the document."""
MIN_COPIED_WORDS = 3
"""Fewest words of a copied phrase. A whole title of two words counts too."""
MIN_LIKENESS = 0.65
"""Jaccard similarity of 3-grams at which two queries count as near-duplicates, as in splits."""
MAX_WARNINGS = 3
COPIED = "candidates with a phrase copied from the document"
ALIKE = "candidates that are nearly identical to a query of the project"
OTHER_STYLE = "candidates of a different style: a different length, or a question instead of keywords"
NO_SENSE = "candidates that do not read as a query: only stop words, or a repeated word"
PERSONAL = "candidates with personal data"


def shares_words(text: str, document: str) -> bool:
    """Return whether a query and a document share a word or gram, ignoring word endings."""
    document_stems = map(strip_ending, searched_terms(document))
    return not set(map(strip_ending, searched_terms(text))).isdisjoint(document_stems)


class TextWarnings(NamedTuple):
    """The warnings to a writer about the text of a new query, such as a copied phrase.

    Attributes
    ----------
    copied: phrases of the query that are in the document's title or body.
    alike: texts of nearly equal queries, the nearest first.
    style: parts of the style that the query lacks; None if the query has the style.
    elsewhere: whether the query seems not to be about the document.
    """

    copied: tuple[str, ...]
    alike: tuple[str, ...]
    style: str | None
    elsewhere: bool = False

    @property
    def sentences(self) -> list[str]:
        """Return a sentence for each warning about a query."""
        copied = "is copied from the document. Would a user type these words?"
        sentences = [f"“{isolate(phrase)}” {copied}" for phrase in self.copied]
        equal = "The project has a nearly identical query"
        sentences += [f"{equal}: “{isolate(text)}”." for text in self.alike]
        if self.style is not None:
            sentences.append(f"This task asks for {self.style}.")
        if self.elsewhere:
            sentences.append(
                "The query does not seem to be about the document. Would a user with this query want the "
                "document?"
            )
        return sentences


def check_text(
    text: str, title: str, body: str, style: QueryStyle, queries: Iterable[Query], elsewhere: bool = False
) -> TextWarnings:
    """Find the warnings for a query that was written for a document."""
    return TextWarnings(
        copied=tuple(find_copied_phrases(text, title, body)),
        alike=tuple(find_similar_queries(text, queries)[:MAX_WARNINGS]),
        style=", ".join(style.list_missing_parts(text, body)) or None,
        elsewhere=elsewhere,
    )


def find_copied_phrases(text: str, title: str, body: str) -> list[str]:
    """Find the longest sequences of words that a query shares with a document, leaving out sequences of only
    stop words."""
    query_words = _locate_words(text)
    title_words = [word.word for word in _locate_words(title)]
    body_words = [word.word for word in _locate_words(body)]
    runs = {*_word_runs(title_words, MIN_COPIED_WORDS), *_word_runs(body_words, MIN_COPIED_WORDS)}
    if len(title_words) == MIN_COPIED_WORDS - 1:
        runs.add(tuple(title_words))
    is_copied = [False] * len(query_words)
    for length in (MIN_COPIED_WORDS - 1, MIN_COPIED_WORDS):
        for start in range(len(query_words) - length + 1):
            run = tuple(word.word for word in query_words[start : start + length])
            if run in runs and not STOP_WORDS.issuperset(run):
                is_copied[start : start + length] = [True] * length
    return _join_copied_words(text, query_words, is_copied)


def find_similar_queries(text: str, queries: Iterable[Query]) -> list[str]:
    """List the texts of queries that nearly equal a text, either as written or if words are reordered."""
    normalised = normalise_query(text)
    shingles, reworded = character_shingles(normalised), reworded_shingles(text)
    query_essentials = list_essentials(text)
    similar = []
    for query in queries:
        likeness = jaccard(shingles, character_shingles(query.normalised))
        if likeness < MIN_LIKENESS and list_essentials(query.text) == query_essentials:
            likeness = max(likeness, jaccard(reworded, reworded_shingles(query.text)))
        if likeness >= MIN_LIKENESS:
            similar.append((-likeness, query.query_id, query.text))
    return [text for *_, text in sorted(similar)]


def _locate_words(text: str) -> list[LocatedWord]:
    """Locate the words of a text, or the grams in scripts without spaces."""
    return [word for word in locate_words(text) if not is_unspaced(word.word) or len(word.word) > 1]


def _word_runs(words_in_order: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(words_in_order[start : start + size]) for start in range(len(words_in_order) - size + 1)}


def _join_copied_words(text: str, words: Sequence[LocatedWord], copied: Sequence[bool]) -> list[str]:
    """Return the text of each sequence of words that was copied from the document."""
    runs = groupby(zip(words, copied, strict=True), key=itemgetter(1))
    phrases = [[word for word, _ in run] for is_copied, run in runs if is_copied]
    return [text[phrase[0].start : phrase[-1].end] for phrase in phrases]


def reads_as_query(text: str, style: QueryStyle) -> bool:
    """Return whether a text has a content word and repeats no word; a question may repeat a word later."""
    stems = [strip_ending(word) for word in content_words(text)]
    repetitions = len(stems) - len(set(stems))
    if style.most is None:
        repetitions = sum(first == other for first, other in pairwise(stems))
    return bool(stems) and not repetitions


def find_refusal(text: str, document: Document, style: QueryStyle, queries: Iterable[Query]) -> str | None:
    """Return the reason for rejecting a language model's query for a document, or None.

    Parameters
    ----------
    queries: all queries of the project.
    """
    if not style.matches(text):
        return OTHER_STYLE
    if not reads_as_query(text, style):
        return NO_SENSE
    if redact(text).kinds:
        return PERSONAL
    if find_copied_phrases(text, document.title, document.body):
        return COPIED
    return ALIKE if find_similar_queries(text, queries) else None
