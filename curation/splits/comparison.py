"""All texts of one part compared with all texts of another: shingles, Jaccard or cosine, and the sieve.

Two texts are compared by the sets of their shingles (Jaccard), through a product of the sparse incidence
matrices of two parts; embeddings by the product of the vectors themselves. The sieve keeps the closest pairs.
A. Broder (1997), On the resemblance and containment of documents.

The certificate has its own definition of a shingle, so that a mistake in the search's cannot hide. It
reads each letter's name and category in Unicode's tables, where the search has ranges and patterns. A test
checks that the two definitions agree on any text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, filterfalse, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from curation.core.progress import Progress
from curation.core.statistics.arrays import Floats, Ints
from curation.splits.request import DECIMALS

Block = tuple[Ints, Ints, Floats]
"""Numbers of the first texts, of the second texts, and the similarity of each pair."""
PartPair = tuple[Ints, Ints]
"""Numbers of the texts in two parts that are compared with each other."""
NumberedPair = tuple[float, int, int]
"""Similarity and the numbers of two texts, the smaller number first."""
_ROWS = 256
_UNSPACED = (
    *("THAI ", "LAO ", "MYANMAR ", "KHMER ", "HANGUL ", "CJK ", "KANGXI ", "HIRAGANA ", "KATAKANA"),
    *("HENTAIGANA ", "BOPOMOFO ", "HANGZHOU ", "MASU ", "VERTICAL KANA ", "VERTICAL IDEOGRAPHIC "),
    *(f"IDEOGRAPHIC {kind} " for kind in ("ITERATION", "CLOSING", "NUMBER", "ANNOTATION")),
)
"""How the names of letters begin that form words without spaces between them."""
_WITHOUT_MEANING = (
    *("SOFT HYPHEN", "ZERO WIDTH NO", "ZERO WIDTH JOINER", "WORD JOINER", "LEFT-TO-RIGHT", "RIGHT-TO-LEFT"),
    *("POP DIRECTIONAL", "FIRST STRONG ISOLATE", "VARIATION SELECTOR-", "COMBINING ENCLOSING KEYCAP"),
    *(f"HEBREW {kind} " for kind in ("POINT", "ACCENT", "MARK")),
)
_ARABIC = frozenset(
    "LETTER MARK,TATWEEL,FATHATAN,DAMMATAN,KASRATAN,FATHA,DAMMA,KASRA,SHADDA,SUKUN,"
    "LETTER SUPERSCRIPT ALEF".split(",")
)
_INVISIBLE = (
    *("VARIATION SELECTOR", "HANGUL FILLER", "CHOSEONG FILLER", "JUNGSEONG FILLER", "GRAPHEME JOINER"),
    "KHMER VOWEL INHERENT",
)
"""Parts of the names of what nobody sees, besides Unicode's category of formats."""
_VISIBLE_FORMATS = ("ARABIC ", "SYRIAC ", "KAITHI ", "EGYPTIAN ")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)


def part_pairs(part_of: Sequence[str]) -> list[PartPair]:
    """Each two parts; `part_of` is the part of each text."""
    labels = np.array(part_of, dtype=object)
    numbers = [np.flatnonzero(labels == part).astype(np.int64) for part in sorted(set(part_of))]
    return list(combinations(numbers, 2))


def pairs_compared(part_pairs: Iterable[PartPair]) -> int:
    """How many pairs of texts there are across the parts."""
    return sum(len(first) * len(second) for first, second in part_pairs)


def jaccard_blocks(
    sets: Sequence[frozenset[str]], part_pairs: Sequence[PartPair], what: str, progress: Progress
) -> Iterator[Block]:
    """The Jaccard similarity of all pairs that share a shingle."""
    sizes = np.array([len(shingles) for shingles in sets], dtype=np.int64)
    vocabulary = {shingle: index for index, shingle in enumerate(sorted(frozenset[str]().union(*sets)))}
    rows = np.repeat(np.arange(len(sets)), sizes)
    columns = np.fromiter((vocabulary[s] for shingles in sets for s in shingles), np.int64, int(sizes.sum()))
    ones = np.ones(len(rows), dtype=np.int32)
    has = sparse.coo_array((ones, (rows, columns)), shape=(len(sets), max(1, len(vocabulary)))).tocsr()
    for one_part, other_part in part_pairs:
        other = has[other_part].T.tocsr()
        for start in range(0, len(one_part), _ROWS):
            numbers = one_part[start : start + _ROWS]
            shared = (has[numbers] @ other).tocoo()
            first, second = numbers[shared.coords[0]], other_part[shared.coords[1]]
            yield first, second, shared.data / (sizes[first] + sizes[second] - shared.data)
            progress(f"checking {what} across the parts", start + len(numbers), len(one_part))


def cosine_blocks(vectors: Floats, part_pairs: Sequence[PartPair], progress: Progress) -> Iterator[Block]:
    """The rounded cosine of all pairs; `vectors`: shape (texts, d), of length 1."""
    for one_part, other_part in part_pairs:
        for start in range(0, len(one_part), _ROWS):
            numbers = one_part[start : start + _ROWS]
            cosines = np.round(vectors[numbers] @ vectors[other_part].T, DECIMALS)
            first = np.repeat(numbers, len(other_part))
            yield first, np.tile(other_part, len(numbers)), cosines.ravel()
            progress("checking paraphrases across the parts", start + len(numbers), len(one_part))


class Sieve:
    """Keeps of all pairs the highest, and those at or above the threshold: of each text the closest.

    Attributes
    ----------
    highest, told_apart: similarity and the two numbers, the smaller one first.
        Told apart are two texts that both have a group: the group decides of them.
    leaks, residual: the same, in a list; `residual` are pairs in `cut`.
    """

    def __init__(
        self,
        threshold: float | None,
        size: int,
        cut: set[tuple[int, int]],
        grouped: NDArray[np.bool_] | None = None,
    ) -> None:
        self.highest: NumberedPair | None = None
        self.told_apart: NumberedPair | None = None
        self.leaks: list[NumberedPair] = []
        self.residual: list[NumberedPair] = []
        self._threshold = threshold
        self._size = size
        self._cut = np.array(sorted(low * size + high for low, high in cut), dtype=np.int64)
        self._grouped = np.zeros(size, dtype=bool) if grouped is None else grouped

    def take(self, first: Ints, second: Ints, similarity: Floats) -> None:
        """Look at some pairs, by their numbers."""
        low, high = np.minimum(first, second), np.maximum(first, second)
        cut = np.zeros(len(low), dtype=bool)
        apart = self._grouped[low] & self._grouped[high]
        if len(self._cut):
            cut = np.isin(low * self._size + high, self._cut)
        self.told_apart = _higher(self.told_apart, low, high, similarity, apart & ~cut)
        free = ~apart & ~cut
        self.highest = _higher(self.highest, low, high, similarity, free)
        if self._threshold is None:
            return
        over = similarity >= self._threshold
        self.residual += _listed(low, high, similarity, np.flatnonzero(over & cut & ~apart))
        places = np.flatnonzero(over & free)
        order = places[np.lexsort((high[places], -similarity[places], first[places]))]
        closest = np.unique(first[order], return_index=True)[1]
        self.leaks += _listed(low, high, similarity, order[closest])


def _listed(low: Ints, high: Ints, similarity: Floats, places: Ints) -> list[NumberedPair]:
    return list(zip(similarity[places].tolist(), low[places].tolist(), high[places].tolist(), strict=True))


def _higher(
    known: NumberedPair | None, low: Ints, high: Ints, similarity: Floats, among: NDArray[np.bool_]
) -> NumberedPair | None:
    """The higher of a pair that is known and the highest of a block; of equal ones the first by number."""
    places = np.flatnonzero(among)
    if not len(places):
        return known
    top = similarity[places].max()
    if top <= 0 or (known is not None and top < known[0]):
        return known
    highest = min(_listed(low, high, similarity, places[similarity[places] == top]))
    return highest if known is None else min(known, highest, key=lambda pair: (-pair[0], pair[1:]))


def character_shingles(text: str) -> frozenset[str]:
    """Three letters in a row of the folded text; a shorter one is its own shingle, an empty one has none."""
    folded = " ".join(_folded(text).split())
    if len(folded) < 3:
        return frozenset([folded]) if folded else frozenset()
    return frozenset(map("".join, zip(folded, folded[1:], folded[2:], strict=False)))


def word_shingles(text: str) -> frozenset[str]:
    """Three words in a row; a shorter text is one shingle, a text without words has none.

    In scripts without spaces words are pairs of letters.
    """
    words = _words(text)
    if len(words) < 3:
        return frozenset([" ".join(words)]) if words else frozenset()
    return frozenset(map(" ".join, zip(words, words[1:], words[2:], strict=False)))


def sorted_shingles(text: str) -> frozenset[str]:
    """As `character_shingles`, of the words in the order of the alphabet, without punctuation."""
    return character_shingles(" ".join(sorted(_whole(text))))


def numbers_and_signs(text: str) -> str:
    """The words of a text with a digit, and each + or # that ends a word, as in c++ and c#."""
    numbers = [word for word in _whole(text) if any(letter.isdigit() for letter in word)]
    signs = []
    folded = _folded(text)
    for sign in re.finditer("[+#]+", folded):
        before, after = folded[: sign.start()][-1:], folded[sign.end() :][:1]
        if _is_letter(before) and not _is_letter(after):
            signs.append(sign.group())
    return " ".join(sorted(numbers + signs))


def _folded(text: str) -> str:
    """The text as a query is compared: without what nobody sees, NFKC and casefolded."""
    if not text.isascii():
        visible = ("".join(filterfalse(_is_invisible, part)) for part in _FLAG.split(text))
        text = "".join(map("".join, zip(visible, [*_FLAG.findall(text), ""], strict=True)))
    return unicodedata.normalize("NFKC", text).casefold()


@cache
def _is_invisible(letter: str) -> bool:
    name = unicodedata.name(letter, "")
    if unicodedata.category(letter) == "Cf":
        return name == "ARABIC LETTER MARK" or not name.startswith(_VISIBLE_FORMATS)
    return any(kind in name for kind in _INVISIBLE)


def _is_letter(letter: str) -> bool:
    return letter == "_" or letter.isalnum()


def _whole(text: str) -> list[str]:
    """The words; runs of scripts without spaces are whole, and an apostrophe parts no word."""
    joined = "".join(
        letter
        for index, letter in enumerate(text)
        if letter not in "'’" or not (_is_letter(text[:index][-1:]) and _is_letter(text[index + 1 :][:1]))
    )
    return ["".join(run) for run, _ in _runs(joined)]


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return [word for run, is_pair_script in _runs(text) for word in _of_run(run, is_pair_script)]


def _runs(text: str) -> Iterator[tuple[list[str], bool]]:
    """Each run of letters with their marks, and whether it is of a script without spaces."""
    run: list[str] = []
    is_pair_script = False
    for letter in f"{unicodedata.normalize('NFKC', text).casefold()} ":
        kind = _kind(letter)
        if kind == "nothing" or (letter == "\u0307" and run and run[-1][-1:] == "i"):
            continue
        if kind == "mark" and run:
            run[-1] += letter
        elif run and kind == ("pair" if is_pair_script else "word"):
            run.append(letter)
        else:
            if run:
                yield run, is_pair_script
            run = [letter] if kind in ("pair", "word") else []
            is_pair_script = kind == "pair"


def _of_run(run: list[str], is_pair_script: bool) -> list[str]:
    if is_pair_script and len(run) > 1:
        return [letter + other for letter, other in pairwise(run)]
    return ["".join(run)]


@cache
def _kind(letter: str) -> str:
    """'word' or 'pair' for a letter of a script with or without spaces, 'mark', 'nothing' or 'other'."""
    name = unicodedata.name(letter, "")
    if name.startswith(_WITHOUT_MEANING) or (name.startswith("ARABIC ") and name[7:] in _ARABIC):
        return "nothing"
    if unicodedata.category(letter).startswith("M"):
        return "mark"
    if _is_letter(letter):
        return "pair" if name.startswith(_UNSPACED) else "word"
    return "other"
