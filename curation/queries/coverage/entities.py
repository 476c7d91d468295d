"""Entities: the phrases that distinguish a document from the other documents.

Phrases whose normalized names are equal, apart from an English plural, are one entity. An entity has the name
and the description of its heaviest mention. Entities are ordered by name.

A phrase has one to three words and the weight (1 + ln tf) (1 + ln((1 + N) / (1 + df))): tf is the phrase's
count in the document, df the number of documents with the phrase, and N the number of documents. A phrase
does not cross punctuation, and neither begins nor ends with a joining word. A joining word is in more than
half of the documents and, by its residual IDF, is spread as words are by chance (Church and Gale 1995,
Inverse document frequency (IDF): a measure of deviations from Poisson, section 3), while words of a topic
come in bursts. So joining words of any language are found from the corpus; for English there are also lists
of joining words. These phrases are left out:

- phrases that begin or end with a single letter, a number, or a word that is too general to name a thing;
- phrases of more than a tenth of the documents;
- phrases with one occurrence in the corpus, if the document has other phrases;
- parts of a longer phrase of the document, if the part never stands alone.

Markup never enters phrases and descriptions: tags, template tags, addresses and targets of links cut a text,
and signs of emphasis are dropped.

In scripts without spaces a phrase is a gram of two characters (`curation.core.words`), because the words are
not known. The description of a phrase is a sentence of the document with the phrase: the sentence in which
the document's chosen phrases weigh most for the sentence's length.
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
from curation.core.words import is_unspaced, split_words
from curation.retrieval.terms import STOP_WORDS
from curation.store import Document

DocumentEntities = dict[str, tuple[int, ...]]
"""Document id → positions of its entities in the list of all entities, ascending; empty without entities."""
NO_ENTITY = "no entity was found in it"
MIN_PLURAL_LENGTH = 3
"""Number of letters up to which a word such as "gas" or "bus" never counts as a plural."""
MAX_SENTENCE_LENGTH = 40
"""Largest number of words in a description."""
MAX_DESCRIPTION_LENGTH = 280
"""Largest number of letters in a description, for scripts without spaces."""
MAX_PHRASE_WORDS = 3
"""Largest number of words in a phrase."""
MAX_PHRASES = 8
"""Largest number of phrases of a document."""
MAX_SHARE = 0.1
"""Share of the documents above which a phrase is too general."""
ALWAYS_KEPT = 5
"""Number of documents up to which a phrase is never too general."""
MIN_SHARE_COMMON = 0.5
"""Share of the documents above which an evenly spread word counts as a joining word."""
MAX_RESIDUAL_IDF = 0.4
"""Residual IDF, in bits, below which a word is evenly spread."""
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
"""Parameters of entity extraction, as stored with a coverage map."""
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
_MARKUP = re.compile(
    r"<!--.*?-->|</?[a-z][^<>]*>|\{\{.*?\}\}|\{%.*?%\}|\]\([^()\s]*[^()]*\)|\]\[[^\]]*\]|\[!\w+\]"
    r"|\b(?:https?|ftp)://\S+|\bwww\.\S+|&#?\w+;|^\[[^\]]+\]:.*$",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_EMPHASIS = re.compile(r"(?<![^\W_])[_*`~]+|[_*`~]+(?![^\W_])")
CUTS = re.compile(r"[^\w\s'’\-‐‑]+|\n\s*\n")
_SENTENCES = re.compile(r"(?<=[.!?…])[\"”’)\]]*\s+|(?<=[。！？])[」』）]*\s*|\n\s*\n")


class Entity(NamedTuple):
    """An entity: a thing that documents are about, with a normalized name and a description."""

    name: str
    description: str

    @property
    def text(self) -> str:
        """Return the text by which an entity is embedded: its name and its description."""
        return f"{self.name}: {self.description}" if self.description else self.name


ExtractedEntities = tuple[list[Entity], DocumentEntities]
Mentions = dict[Entity, float]
"""Entity as mentioned by a document → weight of the entity in the document."""


def strip_markup(text: str) -> str:
    """Replace markup in a text with a break between phrases, and remove the characters of emphasis."""
    return _EMPHASIS.sub("", _MARKUP.sub(" | ", text))


def normalise_name(name: str) -> str:
    """Normalize a name: lower case, words joined by one space, no hyphens or special characters."""
    return " ".join(split_words(name))


def make_singular(word: str) -> str:
    """Remove an English plural ending from a word."""
    if len(word) <= MIN_PLURAL_LENGTH or not word.endswith("s") or word.endswith(("is", "ss", "us")):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


def normalise_singular(name: str) -> str:
    """Normalize a name, with each word in the singular. Two names with equal results name the same entity."""
    return " ".join(map(make_singular, split_words(name)))


def find_entities(documents: Iterable[Document], progress: Progress = silent) -> ExtractedEntities:
    """Find the entities in documents, ordered by name, and the entities in each document.

    Parameters
    ----------
    documents: documents in a stable order, which the function reads several times.

    Raises
    ------
    RefusedError: scikit-learn is not installed.
    """
    mentions = extract_phrases(documents, progress=progress)
    return unite_mentions([document.document_id for document in documents], mentions)


def unite_mentions(document_ids: Sequence[str], mentions: Sequence[Mentions]) -> ExtractedEntities:
    """Combine documents' mentions into entities: names with the same normalized singular form name one
    entity."""
    ordered = sorted(zip(document_ids, mentions, strict=True), key=itemgetter(0))
    rows = [
        (document_id, name, mention, weight)
        for document_id, mentioned in ordered
        for mention, weight in mentioned.items()
        if (name := normalise_singular(mention.name))
    ]
    heaviest: dict[str, tuple[Entity, float]] = {}
    for _, name, mention, weight in rows:
        if name not in heaviest or weight > heaviest[name][1]:
            heaviest[name] = (mention, weight)
    names = {name: normalise_name(mention.name) for name, (mention, _) in heaviest.items()}
    index_of = {name: index for index, name in enumerate(sorted(names, key=names.__getitem__))}
    by_document: dict[str, set[int]] = {document_id: set() for document_id, _ in ordered}
    for document_id, name, *_ in rows:
        by_document[document_id].add(index_of[name])
    entities = [Entity(names[name], heaviest[name][0].description) for name in index_of]
    return entities, {document_id: tuple(sorted(indices)) for document_id, indices in by_document.items()}


def shorten_sentence(sentence: str) -> str:
    """Shorten a long sentence to its first words or letters and an ellipsis."""
    tokens = sentence.split(" ")
    shortened = " ".join(tokens[:MAX_SENTENCE_LENGTH])[:MAX_DESCRIPTION_LENGTH].rstrip()
    return sentence if shortened == sentence else f"{shortened} …"


def extract_phrases(
    documents: Iterable[Document], limit: int = MAX_PHRASES, progress: Progress = silent
) -> list[Mentions]:
    """Find the phrases that distinguish each document, at most `limit` per document, the phrase with the
    largest weight first.

    Raises
    ------
    RefusedError: scikit-learn is not installed.
    """
    if not any(split_words(document.text) for document in documents):
        return [{} for _ in documents]
    joining = find_joining_words(strip_markup(document.text) for document in documents)
    phrases, matrix = _count_phrases(documents, joining)
    total = matrix.shape[0]
    documents_with = np.bincount(matrix.indices, minlength=len(phrases))
    idf = 1 + np.log((1 + total) / (1 + documents_with))
    specific = documents_with <= max(ALWAYS_KEPT, MAX_SHARE * total)
    repeated = specific & (np.asarray(matrix.sum(axis=0)).ravel() > 1)
    mentions = []
    for row, document in enumerate(documents):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        columns, counts = matrix.indices[span], matrix.data[span]
        chosen = repeated[columns] if repeated[columns].any() else specific[columns]
        counted = {phrases[column]: int(n) for column, n in zip(columns[chosen], counts[chosen], strict=True)}
        weights = _choose_heaviest(counted, (1 + np.log(counts[chosen])) * idf[columns[chosen]], limit)
        mentions.append(_describe_phrases(document, weights, joining))
        if row % 256 == 255 or row + 1 == total:
            progress("reading phrases", row + 1, total)
    return mentions


def find_joining_words(texts: Iterable[str]) -> frozenset[str]:
    """Find the joining words in texts: frequent words that say nothing about a topic, such as "of"."""
    documents_with: Counter[str] = Counter()
    occurrences: Counter[str] = Counter()
    total = 0
    for text in texts:
        total += 1
        counts = Counter(split_words(text))
        documents_with.update(counts.keys())
        occurrences.update(counts)
    threshold = max(ALWAYS_KEPT, MIN_SHARE_COMMON * total)
    return frozenset(
        word
        for word, count in documents_with.items()
        if count > threshold and _residual_idf(count, occurrences[word], total) < MAX_RESIDUAL_IDF
    )


def _residual_idf(documents_with: int, occurrences: int, documents: int) -> float:
    """Compute the residual IDF of a word in bits: its IDF minus the IDF expected by chance from its count."""
    return log2(documents * -expm1(-occurrences / documents) / documents_with)


def list_phrases(text: str, joining: Collection[str] = frozenset()) -> Iterator[str]:
    """Yield each occurrence of a phrase that may name a thing.

    Parameters
    ----------
    joining: joining words of the corpus, besides the English words.
    """
    for piece in CUTS.split(text):
        text_words = split_words(piece)
        for start in range(len(text_words)):
            for length in range(1, min(MAX_PHRASE_WORDS, len(text_words) - start) + 1):
                phrase = text_words[start : start + length]
                if _can_name_entity(phrase, joining):
                    yield " ".join(phrase)


def _can_name_entity(phrase: Sequence[str], joining: Collection[str]) -> bool:
    if len(phrase) > 1 and any(map(is_unspaced, phrase)):
        return False  # neighbouring grams overlap anyway
    return all(_can_be_edge(word) and word not in joining for word in (phrase[0], phrase[-1]))


def _can_be_edge(word: str) -> bool:
    return word not in _EDGE and (len(word) > 1 or is_unspaced(word)) and not word.isnumeric()


def _count_phrases(documents: Iterable[Document], joining: Collection[str]) -> tuple[list[str], Any]:
    """Count the phrases, in alphabetical order, in a CSR matrix of shape (documents, phrases)."""
    try:
        from sklearn.feature_extraction.text import CountVectorizer
    except ImportError as error:
        raise RefusedError("Coverage needs scikit-learn: pip install scikit-learn.") from error
    counter = CountVectorizer(analyzer=partial(_phrases_of_document, joining))
    try:
        matrix = counter.fit_transform(documents).tocsr()
    except ValueError:  # the documents have no phrases
        from scipy.sparse import csr_array

        return [], csr_array((sum(1 for _ in documents), 0), dtype=np.int64)
    matrix.sort_indices()
    return [str(phrase) for phrase in counter.get_feature_names_out()], matrix


def _phrases_of_document(joining: Collection[str], document: Document) -> Iterator[str]:
    yield from list_phrases(strip_markup(document.title), joining)
    yield from list_phrases(strip_markup(document.body), joining)


def _choose_heaviest(counted: Mapping[str, int], weights: Floats, limit: int) -> dict[str, float]:
    """Choose a document's phrases with the largest weights, and return these weights. `counted` maps each
    phrase to its count."""
    rounded = dict(zip(counted, np.round(weights, 9).tolist(), strict=True))
    contained = _find_contained(counted)
    ordered = sorted(rounded.keys() - contained, key=lambda phrase: (-rounded[phrase], phrase))
    return {phrase: rounded[phrase] for phrase in ordered[:limit]}


def _find_contained(counted: Mapping[str, int]) -> set[str]:
    """Find the phrases that occur as often as a longer phrase that contains them."""
    contained = set()
    for phrase, count in counted.items():
        parts = phrase.split(" ")
        for length in range(1, len(parts)):
            for start in range(len(parts) - length + 1):
                shorter = " ".join(parts[start : start + length])
                if counted.get(shorter) == count:
                    contained.add(shorter)
    return contained


def _describe_phrases(document: Document, weights: Mapping[str, float], joining: Collection[str]) -> Mentions:
    """Turn a document's phrases into entities with descriptions and weights."""
    best: dict[str, tuple[float, str]] = {}
    for sentence in _split_sentences(document):
        phrases = set(list_phrases(sentence, joining)) & weights.keys()
        total = sum(sorted(weights[phrase] for phrase in phrases))
        worth = round(total / sqrt(len(split_words(sentence)) or 1), 9)
        for phrase in phrases:
            if phrase not in best or worth > best[phrase][0]:
                best[phrase] = (worth, sentence)
    return {
        Entity(phrase, shorten_sentence(best[phrase][1]) if phrase in best else ""): weight
        for phrase, weight in weights.items()
    }


def _split_sentences(document: Document) -> Iterator[str]:
    for text in (document.title, document.body):
        for sentence in _SENTENCES.split(strip_markup(text)):
            if sentence.strip(" |"):
                yield " ".join(sentence.replace("|", " ").split())
