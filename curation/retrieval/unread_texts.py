"""The search for texts that an embedding model cannot read, such as texts in another language.

For example, an English model cuts Thai into unknown words, so that all Thai queries may have the same
embedding. A word is not read if the tokenizer does not know a part of the
word, or cuts the word into about as many pieces as the word has letters. A text is not read if most of its
letters are in such words, or if a text with other words has the same embedding. All models read ASCII, so
ASCII texts are not checked.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from curation.core.words import split_whole_words
from curation.retrieval.embedding_model import Vectors, find_model, model_file

MULTILINGUAL = "paraphrase-multilingual-MiniLM-L12-v2"
"""A model that reads about fifty languages and has about the size of the default model."""
MIN_PIECES_PER_LETTER = 0.75
"""Number of pieces for each letter of a word from which the word counts as cut into letters."""
MIN_LETTERS = 2
"""Fewest letters of a word whose pieces are counted."""
MAX_UNREAD_SHARE = 0.5
"""Share of a text's letters in unread words above which the text is unread."""
_MIN_EQUAL_COSINE = 0.99995


def find_unread_texts(texts: Sequence[str], vectors: Vectors, model: str) -> list[int]:
    """Find the positions of the texts that the model cannot read, in ascending order.

    Parameters
    ----------
    vectors: unit embeddings of the texts by the model, shape (texts, d).
    """
    rows = [row for row, text in enumerate(texts) if not text.isascii()]
    if not rows:
        return []
    unread = {rows[index] for index in _find_equal_embeddings([texts[row] for row in rows], vectors[rows])}
    file = model_file(find_model(model).location, "tokenizer.json")
    if file is not None:
        tokenizer = _Tokenizer(file)
        unread |= {row for row in rows if tokenizer.compute_unread_share(texts[row]) > MAX_UNREAD_SHARE}
    return sorted(unread)


class _Tokenizer:
    """A model's tokenizer, loaded without torch."""

    def __init__(self, file: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(file))
        model = json.loads(file.read_text(encoding="utf-8"))["model"]
        self._unknown_id = model.get("unk_id")
        if self._unknown_id is None and model.get("unk_token"):
            self._unknown_id = self._tokenizer.token_to_id(model["unk_token"])

    def compute_unread_share(self, text: str) -> float:
        """Compute the share of the text's letters in unread words."""
        encoding: Any = self._tokenizer.encode(text, add_special_tokens=False)
        pieces: Counter[int] = Counter()
        spans: dict[int, tuple[int, int]] = {}
        unknown = set()
        for token, word, (start, end) in zip(encoding.ids, encoding.word_ids, encoding.offsets, strict=True):
            pieces[word] += end > start
            spans[word] = (min(start, spans.get(word, (start, end))[0]), end)
            if token == self._unknown_id:
                unknown.add(word)
        letters = {word: _count_letters(text[slice(*span)]) for word, span in spans.items()}
        unread = sum(
            count
            for word, count in letters.items()
            if word in unknown or _is_cut_into_letters(text[slice(*spans[word])], pieces[word])
        )
        return unread / max(1, sum(letters.values()))


def _is_cut_into_letters(word: str, pieces: int) -> bool:
    """Return whether the tokenizer cuts a word into about as many pieces as it has letters."""
    letters = _count_letters(word)
    if word.isascii() or letters < MIN_LETTERS or any(map(_is_chinese, word)):
        return False
    return pieces >= MIN_PIECES_PER_LETTER * letters


def _is_chinese(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("CJK")


def _count_letters(word: str) -> int:
    """Count letters without combining marks. A Korean syllable counts as several letters."""
    return sum(map(str.isalpha, unicodedata.normalize("NFD", word)))


def _find_equal_embeddings(texts: Sequence[str], vectors: Vectors) -> set[int]:
    """Find the positions of texts whose embedding equals that of a text with different words.

    Words that differ only by accents are equal.
    """
    text_codes = np.unique([_join_plain_words(text) for text in texts], return_inverse=True)[1]
    equal: set[int] = set()
    for row, vector in enumerate(vectors):
        twins = np.flatnonzero(vectors[row:] @ vector >= _MIN_EQUAL_COSINE) + row
        others = twins[text_codes[twins] != text_codes[row]]
        if len(others):
            equal |= {row, *others.tolist()}
    return equal


def _join_plain_words(text: str) -> str:
    """Join the words of a text with spaces, without the accents of Latin, Greek and Cyrillic letters."""
    letters = unicodedata.normalize("NFKD", " ".join(split_whole_words(text)))
    return "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")
