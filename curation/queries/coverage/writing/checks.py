"""What a writer is warned of: copied phrases, queries nearly the same, the style, and a text
that is not about the document.

A query in the document's own words tests whether a system finds words, not whether it finds answers; one that
the project nearly has adds nothing. These are warnings: the writer decides. How often each warns falsely is
measured in docs/coverage.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from curation.core.similarity.rewording import essentials, reworded_shingles
from curation.core.similarity.shingles import character_shingles, jaccard
from curation.core.text import isolated, normalise_query
from curation.core.words import LocatedWord, is_unspaced, located_words
from curation.queries.coverage.writing.styles import QueryStyle
from curation.retrieval.terms import STOP_WORDS, searched_terms, stem
from curation.store import Query

NEAR = 0.25  # the cosine from which a text that shares no word with a document is about it
COPIED = 3
"""Words in a row from which a phrase counts as copied; a whole title counts from two on."""
ALIKE = 0.65
"""Jaccard similarity of 3-grams from which two queries are nearly the same, as in splits."""
SHOWN = 3


def shares_words(text: str, document: str) -> bool:
    """Whether a query and a document have a word, or a gram, in common, by stem."""
    return not set(map(stem, searched_terms(text))).isdisjoint(map(stem, searched_terms(document)))


class TextWarnings(NamedTuple):
    """What a writer should look at again.

    Attributes
    ----------
    copied: phrases of the query that are in the document's title or text.
    alike: the texts of queries that are nearly the same, the nearest first.
    style: what of the style the query does not fit; None where it does.
    elsewhere: whether it seems not to be about the document.
    """

    copied: tuple[str, ...]
    alike: tuple[str, ...]
    style: str | None
    elsewhere: bool = False

    @property
    def sentences(self) -> list[str]:
        """One for each; none where there is nothing to warn of."""
        found = [
            f"“{isolated(phrase)}” is copied from the document. Would a user know these words?"
            for phrase in self.copied
        ]
        found += [
            f"The project has a query that is nearly the same: “{isolated(text)}”." for text in self.alike
        ]
        if self.style is not None:
            found.append(f"This task asks for {self.style}.")
        if self.elsewhere:
            found.append("This does not seem to be about the document. Would a user who types it want this?")
        return found


def check_text(
    text: str, title: str, body: str, style: QueryStyle, queries: Iterable[Query], elsewhere: bool = False
) -> TextWarnings:
    """What to warn of in a query written for a document, before it is stored."""
    return TextWarnings(
        copied=tuple(copied_phrases(text, title, body)),
        alike=tuple(alike_queries(text, queries)[:SHOWN]),
        style=", ".join(style.missed(text, body)) or None,
        elsewhere=elsewhere,
    )


def copied_phrases(text: str, title: str, body: str) -> list[str]:
    """The longest runs of the query's words that the document has, as the query writes them.

    A run of stop words alone is no phrase.
    """
    found = _located(text)
    of_title = [word.word for word in _located(title)]
    held = {*_runs(of_title, COPIED), *_runs([word.word for word in _located(body)], COPIED)}
    if len(of_title) == COPIED - 1:
        held.add(tuple(of_title))
    copied = [False] * len(found)
    for size in (COPIED - 1, COPIED):
        for start in range(len(found) - size + 1):
            run = tuple(word.word for word in found[start : start + size])
            if run in held and not STOP_WORDS.issuperset(run):
                copied[start : start + size] = [True] * size
    return _joined(text, found, copied)


def alike_queries(text: str, queries: Iterable[Query]) -> list[str]:
    """The texts of the queries nearly the same as a text, as written or with its words in any order."""
    normalised = normalise_query(text)
    own, reworded, needed = character_shingles(normalised), reworded_shingles(text), essentials(text)
    near = []
    for query in queries:
        likeness = jaccard(own, character_shingles(query.normalised))
        if likeness < ALIKE and essentials(query.text) == needed:
            likeness = max(likeness, jaccard(reworded, reworded_shingles(query.text)))
        if likeness >= ALIKE:
            near.append((-likeness, query.query_id, query.text))
    return [text for *_, text in sorted(near)]


def _located(text: str) -> list[LocatedWord]:
    """The words where they are; of scripts without spaces the grams alone."""
    return [word for word in located_words(text) if not is_unspaced(word.word) or len(word.word) > 1]


def _runs(found: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(found[start : start + size]) for start in range(len(found) - size + 1)}


def _joined(text: str, words: Sequence[LocatedWord], copied: Sequence[bool]) -> list[str]:
    """The text of each run of words that are copied."""
    phrases: list[tuple[int, int]] = []
    for place, word in enumerate(words):
        if copied[place] and place and copied[place - 1] and phrases:
            phrases[-1] = (phrases[-1][0], word.end)
        elif copied[place]:
            phrases.append((word.start, word.end))
    return [text[start:end] for start, end in phrases]
