"""Shingles of texts for the exhaustive check of a split: runs of three letters, and runs of three words.

The search for ties defines shingles a second time, so that a mistake in either definition is found. This
definition uses the Unicode name and category of each letter, but the search uses ranges and patterns. A test
checks that both definitions give the same shingles of any text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import filterfalse, pairwise

_UNSPACED = (
    *("THAI ", "LAO ", "MYANMAR ", "KHMER ", "HANGUL ", "CJK ", "KANGXI ", "HIRAGANA ", "KATAKANA"),
    *("HENTAIGANA ", "BOPOMOFO ", "HANGZHOU ", "MASU ", "VERTICAL KANA ", "VERTICAL IDEOGRAPHIC "),
    *(f"IDEOGRAPHIC {kind} " for kind in ("ITERATION", "CLOSING", "NUMBER", "ANNOTATION")),
)
"""Beginnings of the Unicode names of letters in scripts without spaces between words."""
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
"""Parts of the Unicode names of invisible characters that are not in the category of formats."""
_VISIBLE_FORMATS = ("ARABIC ", "SYRIAC ", "KAITHI ", "EGYPTIAN ")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)


def character_shingles(text: str) -> frozenset[str]:
    """Collect all character 3-grams of the folded text.

    A text of fewer than three letters is a single shingle, and an empty text has no shingle.
    """
    folded = " ".join(_fold_text(text).split())
    if len(folded) < 3:
        return frozenset([folded]) if folded else frozenset()
    return frozenset(map("".join, zip(folded, folded[1:], folded[2:], strict=False)))


def word_shingles(text: str) -> frozenset[str]:
    """Collect all word 3-grams of a text.

    A text of fewer than three words is a single shingle, and a text without words has no shingle. In scripts
    without spaces, such as Japanese, each pair of neighboring letters counts as a word.
    """
    words = _find_words(text)
    if len(words) < 3:
        return frozenset([" ".join(words)]) if words else frozenset()
    return frozenset(map(" ".join, zip(words, words[1:], words[2:], strict=False)))


def sorted_shingles(text: str) -> frozenset[str]:
    """Collect the `character_shingles` of a text's words in alphabetical order, without punctuation."""
    return character_shingles(" ".join(sorted(_find_whole_words(text))))


def numbers_and_signs(text: str) -> str:
    """Collect a text's words that contain a digit, and every + or # at the end of a word, as in c++ and
    c#."""
    numbers = [word for word in _find_whole_words(text) if any(letter.isdigit() for letter in word)]
    signs = []
    folded = _fold_text(text)
    for sign in re.finditer("[+#]+", folded):
        previous, following = folded[: sign.start()][-1:], folded[sign.end() :][:1]
        if _is_letter(previous) and not _is_letter(following):
            signs.append(sign.group())
    return " ".join(sorted(numbers + signs))


def _fold_text(text: str) -> str:
    """Fold a text for comparing queries: NFKC and casefolded, without invisible characters."""
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


def _find_whole_words(text: str) -> list[str]:
    """Find the words of a text, keeping runs of scripts without spaces whole.

    A run of letters of a script without spaces is one word, and an apostrophe does not end a word.
    """
    without_apostrophes = "".join(
        letter
        for index, letter in enumerate(text)
        if letter not in "'’" or not (_is_letter(text[:index][-1:]) and _is_letter(text[index + 1 :][:1]))
    )
    return ["".join(run) for run, _ in _find_runs(without_apostrophes)]


def _find_words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    words = []
    for run, is_pair_script in _find_runs(text):
        pairs = ["".join(pair) for pair in pairwise(run)] if is_pair_script else []
        words += pairs or ["".join(run)]
    return words


def _find_runs(text: str) -> Iterator[tuple[list[str], bool]]:
    """Find each run of letters and marks in a text, and whether the run's script has no spaces between
    words."""
    run: list[str] = []
    is_pair_script = False
    for letter in f"{unicodedata.normalize('NFKC', text).casefold()} ":
        kind = _classify_letter(letter)
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


@cache
def _classify_letter(letter: str) -> str:
    """Classify a character: 'word' for a letter in a script with spaces, 'pair' for any other letter.

    Other results are 'mark', 'other', and 'nothing' for an invisible character.
    """
    name = unicodedata.name(letter, "")
    if name.startswith(_WITHOUT_MEANING) or (name.startswith("ARABIC ") and name[7:] in _ARABIC):
        return "nothing"
    if unicodedata.category(letter).startswith("M"):
        return "mark"
    if _is_letter(letter):
        return "pair" if name.startswith(_UNSPACED) else "word"
    return "other"
