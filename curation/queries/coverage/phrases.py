"""Entities without a model: the phrases of one to three words that tell a document from the others.

A phrase weighs (1 + ln tf) (1 + ln((1 + N) / (1 + df))), tf its count in the document, df its documents of N.
Phrases do not cross punctuation and neither begin nor end with a word that joins others in every text.
Which these are the corpus says, in any language: a word of more than half of the documents whose
occurrences are spread as chance spreads them, by its residual IDF (K. W. Church and W. A. Gale 1995,
Inverse document frequency (IDF): a measure of deviations from Poisson, section 3); a topic comes in bursts.
Lists of such words are added for English only. Left out are:

- phrases that begin or end with a single letter, a number, or a word that is too general to name a thing;
- phrases of more than a tenth of the documents;
- phrases that the corpus has once, where a document has others;
- a part of a longer phrase of the document, where it is always that phrase.

In scripts without spaces a phrase is a gram, two signs (`curation.core.words`); their words are not known
here.

A phrase is described by its most telling sentence: of the sentences of the document that have it the one in
which the document's chosen phrases weigh most for its length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import expm1, log2, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.words import is_unspaced, words
from curation.queries.coverage.entities import (
    LONGEST_DESCRIPTION,
    LONGEST_SENTENCE,
    Extraction,
    Mention,
    shortened,
)
from curation.retrieval.terms import STOP_WORDS
from curation.store import Document

LONGEST = 3
"""Words of a phrase."""
MOST = 8
"""Phrases of a document."""
GENERAL = 0.1
"""Share of the documents from which a phrase is too general …"""
ALWAYS_KEPT = 5
"""… unless it is in no more documents than these."""
COMMON = 0.5
"""Share of the documents from which a word that is spread evenly joins others …"""
EVENLY = 0.4
"""… where its residual IDF is below this, in bits."""
_GENERAL_WORDS = frozenset(
    "about above after again against all almost already also although always among another any around away "
    "because become been before began behind being below better between both but came come could "
    "different during each either enough especially even ever every few first found four further gave get "
    "give given gives go good great had hence however important including instead just know known large "
    "last later least less like little long made mainly make makes making many more moreover most mostly "
    "much must near nearly need never new next no none nor not nothing now obtained often old once one only "
    "other others otherwise out over own part particular perhaps possible present previous put quite "
    "rather really said same second see seem seems seen several shown show shows similar since small some "
    "still such take taken tell ten than therefore third three through throughout thus together too "
    "toward towards two under until up upon us use used useful uses using usually various very via way "
    "well went while whole whose within without yet".split()
)
_EDGE = STOP_WORDS | _GENERAL_WORDS
CUTS = re.compile(r"[^\w\s'’\-‐‑]+|\n\s*\n")
_SENTENCES = re.compile(r"(?<=[.!?…])[\"”’)\]]*\s+|(?<=[。！？])[」』）]*\s*|\n\s*\n")


class _Counts(NamedTuple):
    """Phrases of the corpus in alphabetical order; `matrix` has their counts, (documents, phrases) in CSR."""

    phrases: list[str]
    matrix: Any
    documents_with: NDArray[np.int64]
    occurrences: NDArray[np.int64]


class PhraseExtractor:
    """The default extractor: works offline, on any corpus, without a language model."""

    name = "phrases"

    def __init__(self, most: int = MOST) -> None:
        self._most = most

    @property
    def settings(self) -> Mapping[str, Any]:
        """See `Extractor.settings`."""
        return {
            "always_kept": ALWAYS_KEPT,
            "common": COMMON,
            "description": LONGEST_DESCRIPTION,
            "evenly": EVENLY,
            "general": GENERAL,
            "longest": LONGEST,
            "most": self._most,
            "sentence": LONGEST_SENTENCE,
        }

    def extract(self, documents: Iterable[Document], progress: Progress = silent) -> Extraction:
        """See `Extractor.extract`.

        Raises
        ------
        RefusedError: scikit-learn is not installed.
        """
        if not any(words(document.text) for document in documents):
            return Extraction([[] for _ in documents])
        joining = joining_words(document.text for document in documents)
        counts = _count(documents, joining)
        number = counts.matrix.shape[0]
        idf = 1 + np.log((1 + number) / (1 + counts.documents_with))
        found = []
        for row, document in enumerate(documents):
            weights = _chosen(counts, idf, row, number, self._most)
            found.append(_described(document, weights, joining))
            if row % 256 == 255 or row + 1 == number:
                progress("coverage: phrases", row + 1, number)
        return Extraction(found)


def joining_words(texts: Iterable[str]) -> frozenset[str]:
    """The words that join others, by how the texts use them; see the head of the module."""
    documents_with: Counter[str] = Counter()
    occurrences: Counter[str] = Counter()
    number = 0
    for text in texts:
        number += 1
        held = Counter(words(text))
        documents_with.update(held.keys())
        occurrences.update(held)
    least = max(ALWAYS_KEPT, COMMON * number)
    return frozenset(
        word
        for word, documents in documents_with.items()
        if documents > least and _residual_idf(documents, occurrences[word], number) < EVENLY
    )


def _residual_idf(documents_with: int, occurrences: int, documents: int) -> float:
    """Bits by which fewer documents have a word than if its occurrences were strewn among them."""
    return log2(documents * -expm1(-occurrences / documents) / documents_with)


def phrases_of(text: str, joining: Collection[str] = frozenset()) -> Iterator[str]:
    """The phrases of a text that may name a thing, as often as they occur.

    Parameters
    ----------
    joining: words at which none begins or ends, besides the English ones.
    """
    for piece in CUTS.split(text):
        found = words(piece)
        for start in range(len(found)):
            for length in range(1, min(LONGEST, len(found) - start) + 1):
                phrase = found[start : start + length]
                if _may_name(phrase, joining):
                    yield " ".join(phrase)


def _may_name(phrase: Sequence[str], joining: Collection[str]) -> bool:
    if len(phrase) > 1 and any(map(is_unspaced, phrase)):
        return False  # grams overlap already
    return all(_may_end(word) and word not in joining for word in (phrase[0], phrase[-1]))


def _may_end(word: str) -> bool:
    return word not in _EDGE and (len(word) > 1 or is_unspaced(word)) and not word.isnumeric()


def _count(documents: Iterable[Document], joining: Collection[str]) -> _Counts:
    try:
        from sklearn.feature_extraction.text import CountVectorizer
    except ImportError as error:
        raise RefusedError("Coverage needs scikit-learn: pip install scikit-learn.") from error
    counter = CountVectorizer(analyzer=partial(_phrases_of_document, joining))
    try:
        matrix = counter.fit_transform(documents).tocsr()
    except ValueError:  # no phrase at all
        from scipy.sparse import csr_array

        matrix = csr_array((sum(1 for _ in documents), 0), dtype=np.int64)
        return _Counts([], matrix, np.zeros(0, np.int64), np.zeros(0, np.int64))
    matrix.sort_indices()
    return _Counts(
        phrases=[str(phrase) for phrase in counter.get_feature_names_out()],
        matrix=matrix,
        documents_with=np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.int64),
        occurrences=np.asarray(matrix.sum(axis=0)).ravel().astype(np.int64),
    )


def _phrases_of_document(joining: Collection[str], document: Document) -> Iterator[str]:
    yield from phrases_of(document.title, joining)
    yield from phrases_of(document.body, joining)


def _chosen(
    counts: _Counts, idf: NDArray[np.float64], row: int, documents: int, most: int
) -> dict[str, float]:
    """Phrase → weight of the chosen phrases of a document, heaviest first."""
    span = slice(counts.matrix.indptr[row], counts.matrix.indptr[row + 1])
    columns, times = counts.matrix.indices[span], counts.matrix.data[span]
    specific = counts.documents_with[columns] <= max(ALWAYS_KEPT, GENERAL * documents)
    repeated = specific & (counts.occurrences[columns] > 1)
    kept = repeated if repeated.any() else specific
    held = {counts.phrases[column]: int(n) for column, n in zip(columns[kept], times[kept], strict=True)}
    weights = (1 + np.log(times[kept])) * idf[columns[kept]]
    weighed = dict(zip(held, np.round(weights, 9).tolist(), strict=True))
    inside = _always_inside(held)
    ordered = sorted(
        (phrase for phrase in weighed if phrase not in inside), key=lambda phrase: (-weighed[phrase], phrase)
    )
    return {phrase: weighed[phrase] for phrase in ordered[:most]}


def _always_inside(held: Mapping[str, int]) -> set[str]:
    """The phrases that occur as often as a longer one of which they are a part."""
    inside = set()
    for phrase, times in held.items():
        parts = phrase.split(" ")
        for length in range(1, len(parts)):
            for start in range(len(parts) - length + 1):
                part = " ".join(parts[start : start + length])
                if held.get(part) == times:
                    inside.add(part)
    return inside


def _described(document: Document, weights: Mapping[str, float], joining: Collection[str]) -> list[Mention]:
    """The phrases as mentions, each with its most telling sentence."""
    best: dict[str, tuple[float, str]] = {}
    for sentence in _sentences(document):
        held = set(phrases_of(sentence, joining)) & weights.keys()
        worth = round(sum(sorted(weights[phrase] for phrase in held)) / sqrt(len(words(sentence)) or 1), 9)
        for phrase in held:
            if phrase not in best or worth > best[phrase][0]:
                best[phrase] = (worth, sentence)
    return [
        Mention(phrase, shortened(best[phrase][1]) if phrase in best else "", weight)
        for phrase, weight in weights.items()
    ]


def _sentences(document: Document) -> Iterator[str]:
    for text in (document.title, document.body):
        for sentence in _SENTENCES.split(text):
            if sentence.strip():
                yield " ".join(sentence.split())
