"""Misspelled words: unknown to the corpus, and one slip away from a word that it uses often.

A slip is a letter too many, a letter missing, one in place of another, or two neighbours exchanged: what four
of five misspellings are (Damerau 1964, A technique for computer detection and correction of spelling errors).
Frequent words are found by their deletion neighbourhoods: two words that are one slip apart share a form from
which at most one letter is missing (Mor & Fraenkel 1982). So a word costs as many look-ups as it has letters.

Words with a digit are numbers, sizes and model names, and never misspelled here; neither is another ending of
a word that the corpus knows, nor a word of which the first letter would have to change. In scripts without
spaces no word is checked: each letter is a part of the meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from curation.retrieval.terms import stem
from curation.words import is_unspaced

SHORTEST = 5
"""Letters of the shortest word that is checked: of four letters nearly all are a word one slip away."""
FREQUENT = 3
"""In so many documents a word is frequent …"""
MOST = 50_000
"""… if it is one of so many most frequent ones: a bound on memory, with the words that matter most in it."""


class Spelling:
    """The spelling of one corpus.

    Parameters
    ----------
    vocabulary: word → number of documents that hold it.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._stems = frozenset(stem(word) for word in vocabulary)
        self._known = vocabulary
        frequent = [word for word, held in vocabulary.items() if held >= FREQUENT and _is_plain(word)]
        frequent.sort(key=lambda word: (-vocabulary[word], word))
        self._by_form: dict[str, list[str]] = {}
        for word in frequent[:MOST]:
            for form in _forms(word):
                self._by_form.setdefault(form, []).append(word)
        self._corrected: dict[str, str | None] = {}

    def meant(self, word: str) -> str | None:
        """The frequent word that a misspelled one seems to mean, the most frequent first; else None."""
        if word in self._known:
            return None
        if word not in self._corrected:
            self._corrected[word] = self._nearest(word)
        return self._corrected[word]

    def _nearest(self, word: str) -> str | None:
        if not _is_plain(word) or stem(word) in self._stems:
            return None
        near = {
            term
            for form in _forms(word)
            for term in self._by_form.get(form, ())
            if term[0] == word[0] and is_slip(word, term)
        }
        return min(near, key=lambda term: (-self._known[term], term), default=None)


def is_slip(first: str, second: str) -> bool:
    """Whether two different words are one slip apart."""
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    end = 0
    while end < min(len(first), len(second)) - start and first[-1 - end] == second[-1 - end]:
        end += 1
    one, other = first[start : len(first) - end], second[start : len(second) - end]
    if len(one) == len(other) == 2:
        return one == other[::-1]
    return first != second and len(one) <= 1 and len(other) <= 1


def _is_plain(word: str) -> bool:
    return len(word) >= SHORTEST and word.isalpha() and not is_unspaced(word)


def _forms(word: str) -> Iterator[str]:
    """The word, and what is left of it without each of its letters."""
    yield word
    for place in range(len(word)):
        if not place or word[place] != word[place - 1]:
            yield word[:place] + word[place + 1 :]
