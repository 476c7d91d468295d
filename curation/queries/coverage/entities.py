"""Entities of documents: the phrases that tell a document from the others, by name and with a description.

Mentions whose normalised names are equal but for the English plural are one entity, named and described by
its heaviest mention. Entities are ordered by name.

Phrases have one to three words. A phrase
weighs (1 + ln tf) (1 + ln((1 + N) / (1 + df))), tf its count in the document, df its documents of N. Phrases
do not cross punctuation and neither begin nor end with a word that joins others in every text. Which these
are the corpus says, in any language: a word of more than half of the documents whose occurrences are spread
as chance spreads them, by its residual IDF (K. W. Church and W. A. Gale 1995, Inverse document frequency
(IDF): a measure of deviations from Poisson, section 3); a topic comes in bursts. Lists of such words are
added for English only. Left out are:

- phrases that begin or end with a single letter, a number, or a word that is too general to name a thing;
- phrases of more than a tenth of the documents;
- phrases that the corpus has once, where a document has others;
- a part of a longer phrase of the document, where it is always that phrase.

In scripts without spaces a phrase is a gram, two signs (`curation.core.words`); their words are not known
here. A phrase is described by its most telling sentence: of the sentences of the document that have it the
one in which the document's chosen phrases weigh most for its length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import expm1, log2, sqrt
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Floats
from curation.core.words import is_unspaced, words
from curation.retrieval.terms import STOP_WORDS
from curation.store import Document

DocumentEntities = dict[str, tuple[int, ...]]
"""Document id → the places of its entities in the list of all, ascending; empty for documents without any."""
NO_ENTITY = "no entity was found in it"
MIN_PLURAL_LENGTH = 3
"""Letters up to which a word is no plural: "gas", "bus"."""
MAX_SENTENCE_LENGTH = 40
"""Words of a description."""
MAX_DESCRIPTION_LENGTH = 280
"""Letters of it: a sentence of a script without spaces has no words to count."""
MAX_PHRASE_WORDS = 3
"""Words of a phrase."""
MAX_PHRASES = 8
"""Phrases of a document."""
MAX_SHARE = 0.1
"""Share of the documents from which a phrase is too general …"""
ALWAYS_KEPT = 5
"""… unless it is in no more documents than these."""
MIN_SHARE_COMMON = 0.5
"""Share of the documents from which a word that is spread evenly joins others …"""
MAX_RESIDUAL_IDF = 0.4
"""… where its residual IDF is below this, in bits."""
EXTRACTOR = {
    "always_kept": ALWAYS_KEPT,
    "common": MIN_SHARE_COMMON,
    "description": MAX_DESCRIPTION_LENGTH,
    "evenly": MAX_RESIDUAL_IDF,
    "general": MAX_SHARE,
    "longest": MAX_PHRASE_WORDS,
    "most": MAX_PHRASES,
    "name": "phrases",
    "sentence": MAX_SENTENCE_LENGTH,
}
"""What of this decides a map, as it is stored with it. Maps of before may have another extractor."""
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


class Entity(NamedTuple):
    """A thing that documents are about; `name` is normalised."""

    name: str
    description: str

    @property
    def text(self) -> str:
        """What is embedded: the name and the description."""
        return f"{self.name}: {self.description}" if self.description else self.name


Mentions = dict[Entity, float]
"""The entities as one document has them → how much of the document each is."""


def entity_name(name: str) -> str:
    """The normalised name: lower case, words joined by one space, no hyphens or special characters."""
    return " ".join(words(name))


def singular(word: str) -> str:
    """The word without the ending of an English plural."""
    if len(word) <= MIN_PLURAL_LENGTH or not word.endswith("s") or word.endswith(("is", "ss", "us")):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


def singular_name(name: str) -> str:
    """The normalised name with each word in the singular: equal ones name one entity."""
    return " ".join(map(singular, words(name)))


def find_entities(
    documents: Iterable[Document], progress: Progress = silent
) -> tuple[list[Entity], DocumentEntities]:
    """The entities of the documents by name, found by phrases, and which documents have them.

    Parameters
    ----------
    documents: each time in the same order, whichever; they are gone over several times.

    Raises
    ------
    RefusedError: scikit-learn is not installed.
    """
    mentions = extract_phrases(documents, progress=progress)
    return unite_mentions([document.document_id for document in documents], mentions)


def unite_mentions(
    document_ids: Sequence[str], mentions: Sequence[Mentions]
) -> tuple[list[Entity], DocumentEntities]:
    """The entities that documents mention; equal names, once normalised and in the singular, are one."""
    ordered = sorted(zip(document_ids, mentions, strict=True), key=itemgetter(0))
    named = [
        (document_id, singular_name(mention.name), mention, weight)
        for document_id, mentioned in ordered
        for mention, weight in mentioned.items()
    ]
    heaviest: dict[str, tuple[Entity, float]] = {}
    for _, name, mention, weight in named:
        if name and (name not in heaviest or weight > heaviest[name][1]):
            heaviest[name] = (mention, weight)
    names = {name: entity_name(mention.name) for name, (mention, _) in heaviest.items()}
    places = {name: index for index, name in enumerate(sorted(names, key=names.__getitem__))}
    of_documents: dict[str, set[int]] = {document_id: set() for document_id, _ in ordered}
    for document_id, name, *_ in named:
        if name:
            of_documents[document_id].add(places[name])
    entities = [Entity(names[name], heaviest[name][0].description) for name in places]
    return entities, {
        document_id: tuple(sorted(places_found)) for document_id, places_found in of_documents.items()
    }


def shortened(sentence: str) -> str:
    """The sentence, or its first words or letters and an ellipsis."""
    parts = sentence.split(" ")
    kept = " ".join(parts[:MAX_SENTENCE_LENGTH])[:MAX_DESCRIPTION_LENGTH].rstrip()
    return sentence if kept == sentence else f"{kept} …"


def extract_phrases(
    documents: Iterable[Document], most: int = MAX_PHRASES, progress: Progress = silent
) -> list[Mentions]:
    """The phrases of each document that tell it from the others, `most` at most, heaviest first.

    Raises
    ------
    RefusedError: scikit-learn is not installed.
    """
    if not any(words(document.text) for document in documents):
        return [{} for _ in documents]
    joining = joining_words(document.text for document in documents)
    phrases, matrix = _count(documents, joining)
    number = matrix.shape[0]
    documents_with = np.bincount(matrix.indices, minlength=len(phrases))
    idf = 1 + np.log((1 + number) / (1 + documents_with))
    specific = documents_with <= max(ALWAYS_KEPT, MAX_SHARE * number)
    repeated = specific & (np.asarray(matrix.sum(axis=0)).ravel() > 1)
    mentions = []
    for row, document in enumerate(documents):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        columns, times = matrix.indices[span], matrix.data[span]
        kept = repeated[columns] if repeated[columns].any() else specific[columns]
        counted = {phrases[column]: int(n) for column, n in zip(columns[kept], times[kept], strict=True)}
        weights = _heaviest(counted, (1 + np.log(times[kept])) * idf[columns[kept]], most)
        mentions.append(_described(document, weights, joining))
        if row % 256 == 255 or row + 1 == number:
            progress("coverage: phrases", row + 1, number)
    return mentions


def joining_words(texts: Iterable[str]) -> frozenset[str]:
    """The words that join others, by how the texts use them; see the head of the module."""
    documents_with: Counter[str] = Counter()
    occurrences: Counter[str] = Counter()
    number = 0
    for text in texts:
        number += 1
        counts = Counter(words(text))
        documents_with.update(counts.keys())
        occurrences.update(counts)
    least = max(ALWAYS_KEPT, MIN_SHARE_COMMON * number)
    return frozenset(
        word
        for word, documents in documents_with.items()
        if documents > least and _residual_idf(documents, occurrences[word], number) < MAX_RESIDUAL_IDF
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
        text_words = words(piece)
        for start in range(len(text_words)):
            for length in range(1, min(MAX_PHRASE_WORDS, len(text_words) - start) + 1):
                phrase = text_words[start : start + length]
                if _may_name(phrase, joining):
                    yield " ".join(phrase)


def _may_name(phrase: Sequence[str], joining: Collection[str]) -> bool:
    if len(phrase) > 1 and any(map(is_unspaced, phrase)):
        return False  # grams overlap already
    return all(_may_end(word) and word not in joining for word in (phrase[0], phrase[-1]))


def _may_end(word: str) -> bool:
    return word not in _EDGE and (len(word) > 1 or is_unspaced(word)) and not word.isnumeric()


def _count(documents: Iterable[Document], joining: Collection[str]) -> tuple[list[str], Any]:
    """Phrases in alphabetical order, and their counts: a CSR matrix of shape (documents, phrases)."""
    try:
        from sklearn.feature_extraction.text import CountVectorizer
    except ImportError as error:
        raise RefusedError("Coverage needs scikit-learn: pip install scikit-learn.") from error
    counter = CountVectorizer(analyzer=partial(_phrases_of_document, joining))
    try:
        matrix = counter.fit_transform(documents).tocsr()
    except ValueError:  # no phrase at all
        from scipy.sparse import csr_array

        return [], csr_array((sum(1 for _ in documents), 0), dtype=np.int64)
    matrix.sort_indices()
    return [str(phrase) for phrase in counter.get_feature_names_out()], matrix


def _phrases_of_document(joining: Collection[str], document: Document) -> Iterator[str]:
    yield from phrases_of(document.title, joining)
    yield from phrases_of(document.body, joining)


def _heaviest(counted: Mapping[str, int], weights: Floats, most: int) -> dict[str, float]:
    """Phrase → weight of the chosen phrases of a document, heaviest first; `counted`: phrase → times."""
    weighed = dict(zip(counted, np.round(weights, 9).tolist(), strict=True))
    inside = _always_inside(counted)
    ordered = sorted(
        (phrase for phrase in weighed if phrase not in inside), key=lambda phrase: (-weighed[phrase], phrase)
    )
    return {phrase: weighed[phrase] for phrase in ordered[:most]}


def _always_inside(counted: Mapping[str, int]) -> set[str]:
    """The phrases that occur as often as a longer phrase that contains them."""
    inside = set()
    for phrase, times in counted.items():
        parts = phrase.split(" ")
        for length in range(1, len(parts)):
            for start in range(len(parts) - length + 1):
                part = " ".join(parts[start : start + length])
                if counted.get(part) == times:
                    inside.add(part)
    return inside


def _described(document: Document, weights: Mapping[str, float], joining: Collection[str]) -> Mentions:
    """The phrases as entities, each with its most telling sentence, and their weights."""
    best: dict[str, tuple[float, str]] = {}
    for sentence in _sentences(document):
        phrases = set(phrases_of(sentence, joining)) & weights.keys()
        worth = round(sum(sorted(weights[phrase] for phrase in phrases)) / sqrt(len(words(sentence)) or 1), 9)
        for phrase in phrases:
            if phrase not in best or worth > best[phrase][0]:
                best[phrase] = (worth, sentence)
    return {
        Entity(phrase, shortened(best[phrase][1]) if phrase in best else ""): weight
        for phrase, weight in weights.items()
    }


def _sentences(document: Document) -> Iterator[str]:
    for text in (document.title, document.body):
        for sentence in _SENTENCES.split(text):
            if sentence.strip():
                yield " ".join(sentence.split())
