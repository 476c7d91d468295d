"""The certificate's own definition of a shingle, so that a mistake in that of the search cannot hide.

It reads each letter's name and category in Unicode's tables, where the search has ranges and patterns. A test
checks that the two definitions agree on any text.
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
    found = _words(text)
    if len(found) < 3:
        return frozenset([" ".join(found)]) if found else frozenset()
    return frozenset(map(" ".join, zip(found, found[1:], found[2:], strict=False)))


def sorted_shingles(text: str) -> frozenset[str]:
    """As `character_shingles`, of the words in the order of the alphabet, without punctuation."""
    return character_shingles(" ".join(sorted(_whole(text))))


def numbers_and_signs(text: str) -> str:
    """The words of a text with a digit, and each + or # that ends a word, as in c++ and c#."""
    numbers = [word for word in _whole(text) if any(letter.isdigit() for letter in word)]
    signs = []
    folded = _folded(text)
    for found in re.finditer("[+#]+", folded):
        before, after = folded[: found.start()][-1:], folded[found.end() :][:1]
        if _is_letter(before) and not _is_letter(after):
            signs.append(found.group())
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
        for place, letter in enumerate(text)
        if letter not in "'’" or not (_is_letter(text[:place][-1:]) and _is_letter(text[place + 1 :][:1]))
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
        return [one + other for one, other in pairwise(run)]
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
