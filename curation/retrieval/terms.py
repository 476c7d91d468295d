"""Content words of texts, which lexical retrieval uses as its search terms.

Stop words are only articles, pronouns, auxiliaries, prepositions, conjunctions and question words. Negations
(`not`, `without`) are content words, because a negation reverses a query. Numbers and single letters are
content words, because `5` and `c` name products and languages. Merely frequent words are content words,
because BM25 gives frequent words a low weight.

In scripts without spaces, a whole run of characters counts as one word, and hardly any query repeats the
whole run. So runs in scripts without spaces are also searched by grams (`curation.core.words`), which BM25
counts and weights apart from words.

A project may have an analyzer of its own: with a stemmer, a Snowball algorithm that reduces content words to
stems (Porter 2001, Snowball: a language for stemming algorithms), and with stop words that stay content
words, because they are names in the corpus.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import NamedTuple

from curation.core.words import is_unspaced, split_signs, split_whole_words
from curation.retrieval.stemming import stem_word

STOP_WORDS = frozenset(
    "a an the this that these those i me my we us our you your he him his she her it its they them their am "
    "is are was were be been being do does did doing have has had having can could will would shall should "
    "may might must and or but if then than so as of at by for from in into on onto to with about what which "
    "who whom whose when where why how there here".split()
)
GRAM = " "  # first character of each gram, which sorts grams before all words


class Analyzer(NamedTuple):
    """The rules that turn words into terms.

    Attributes
    ----------
    stemmer: language of a Snowball stemmer for content words; None leaves content words unchanged.
    kept_words: stop words that are content words.
    """

    stemmer: str | None = None
    kept_words: frozenset[str] = frozenset()

    @property
    def stop_words(self) -> frozenset[str]:
        """Return the stop words: the words that lexical search ignores."""
        return STOP_WORDS - self.kept_words


PLAIN = Analyzer()


def content_words(text: str, stop_words: Collection[str] = STOP_WORDS) -> list[str]:
    """Split a text into its words in order, without stop words. Runs in scripts without spaces are not
    split."""
    return [word for word in split_whole_words(text) if word not in stop_words]


def searched_terms(query: str, analyzer: Analyzer = PLAIN) -> list[str]:
    """List a query's search terms: its content words, and the grams of runs in scripts without spaces."""
    return _terms(query, analyzer, single_signs=False)


def indexed_terms(document: str, analyzer: Analyzer = PLAIN) -> list[str]:
    """List a document's index terms: the terms of `searched_terms`, and single characters of runs."""
    return _terms(document, analyzer, single_signs=True)


def is_gram(term: str) -> bool:
    """Return whether a term is a gram, which begins with a space, as words do not."""
    return term.startswith(GRAM)


def _terms(text: str, analyzer: Analyzer, single_signs: bool) -> list[str]:
    content, stemmer = content_words(text, analyzer.stop_words), analyzer.stemmer
    grams = [] if text.isascii() else _grams(content, single_signs)
    return (content if stemmer is None else [stem_word(stemmer, word) for word in content]) + grams


def _grams(content: list[str], single_signs: bool) -> list[str]:
    grams: list[str] = []
    for run in filter(is_unspaced, content):
        single = split_signs(run)
        grams += map("".join, pairwise(single))
        if single_signs or len(single) == 1:
            grams += single
    return [f"{GRAM}{gram}" for gram in grams]
