"""Texts that an embedding model cannot read.

For example, an English model cuts Thai into unknown words, so that all
Thai queries may have the same embedding. A word is not read if the tokenizer does not know a part of the
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

# A model that reads about fifty languages and has about the size of the default model
MULTILINGUAL = "paraphrase-multilingual-MiniLM-L12-v2"
SINGLE = 0.75  # pieces for each letter of a word from which the word counts as cut into letters
SHORTEST = 2  # minimum number of letters of a word whose pieces are counted
UNREAD = 0.5  # share of a text's letters in unread words above which the text is unread
_SAME = 0.99995


def unread_texts(texts: Sequence[str], vectors: Vectors, model: str) -> list[int]:
    """Find the positions of the texts that the model cannot read, in ascending order.

    Parameters
    ----------
    vectors: unit embeddings of the texts by the model, shape (texts, d).
    """
    rows = [number for number, text in enumerate(texts) if not text.isascii()]
    if not rows:
        return []
    unread = {rows[index] for index in _with_one_embedding([texts[index] for index in rows], vectors[rows])}
    file = model_file(find_model(model).location, "tokenizer.json")
    if file is not None:
        tokenizer = _Tokenizer(file)
        unread |= {number for number in rows if tokenizer.unread_share(texts[number]) > UNREAD}
    return sorted(unread)


class _Tokenizer:
    """A model's tokenizer, loaded without torch."""

    def __init__(self, file: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(file))
        model = json.loads(file.read_text(encoding="utf-8"))["model"]
        self._unknown = model.get("unk_id")
        if self._unknown is None and model.get("unk_token"):
            self._unknown = self._tokenizer.token_to_id(model["unk_token"])

    def unread_share(self, text: str) -> float:
        """Compute the share of the text's letters in unread words."""
        cut: Any = self._tokenizer.encode(text, add_special_tokens=False)
        pieces: Counter[int] = Counter()
        spans: dict[int, tuple[int, int]] = {}
        unknown = set()
        for token, word, (start, end) in zip(cut.ids, cut.word_ids, cut.offsets, strict=True):
            pieces[word] += end > start
            spans[word] = (min(start, spans.get(word, (start, end))[0]), end)
            if token == self._unknown:
                unknown.add(word)
        letters = {word: _letters(text[slice(*span)]) for word, span in spans.items()}
        unread = sum(
            count
            for word, count in letters.items()
            if word in unknown or _is_cut_into_letters(text[slice(*spans[word])], pieces[word])
        )
        return unread / max(1, sum(letters.values()))


def _is_cut_into_letters(word: str, pieces: int) -> bool:
    letters = _letters(word)
    if word.isascii() or letters < SHORTEST or any(map(_is_chinese, word)):
        return False
    return pieces >= SINGLE * letters


def _is_chinese(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("CJK")


def _letters(word: str) -> int:
    """Count letters without combining marks. A Korean syllable counts as its letters."""
    return sum(map(str.isalpha, unicodedata.normalize("NFD", word)))


def _with_one_embedding(texts: Sequence[str], vectors: Vectors) -> set[int]:
    """Find the positions of texts that have the same embedding as a text with different words. Ignores
    accents.
    """
    words = np.unique([_plain(text) for text in texts], return_inverse=True)[1]
    alike: set[int] = set()
    for number, vector in enumerate(vectors):
        twins = np.flatnonzero(vectors[number:] @ vector >= _SAME) + number
        others = twins[words[twins] != words[number]]
        if len(others):
            alike |= {number, *others.tolist()}
    return alike


def _plain(text: str) -> str:
    """Cut a text into words without the accents of Latin, Greek and Cyrillic letters."""
    letters = unicodedata.normalize("NFKD", " ".join(split_whole_words(text)))
    return "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")
