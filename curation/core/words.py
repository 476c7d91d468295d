"""The splitting of texts into words by script, for search, highlighting, tags and shingles.

A word is a run of letters, digits and underscores with the marks on them (vowel signs, accents). Scripts
without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), and Korean, which joins particles
to words, form runs of signs; a sign is a letter with its marks. In these scripts the words are grams, each
two signs in a row.

Texts are folded first: NFKC, case, the dotted İ, and signs that change no meaning (soft hyphens, joiners,
direction marks, Arabic and Hebrew vowel points). An ASCII text is cut by the fast pattern `\\w+`.

Unicode UAX #29 (what extends a word); Lucene's CJKAnalyzer (overlapping grams).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from operator import add
from typing import NamedTuple

# Name of this tokenization, stored with results that depend on it.
TOKENIZATION = "by script 1"

_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_DOTTED_I = re.compile("i\u0307+")
_SIMPLE_WORD = re.compile(r"\w+")
_UNSPACED_LETTERS = (
    "\u0e01-\u0edf\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9fe\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\ua960-\ua97c\uac00-\ud7fb"  # Hangul
    "\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001aff0-\U0001b16f\U00020000-\U0003fffd"  # kana, Bopomofo and Han
)
_IGNORED_CHARACTERS = (
    "\u00ad\u061c\u200c-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufe00-\ufe0f\u20e3\U000e0100-\U000e01ef"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\ufb1e\u0640\u064b-\u0652\u0670"
)


class LocatedWord(NamedTuple):
    """A folded word, sign or gram, with its position in the text."""

    word: str
    start: int
    end: int


class _Patterns(NamedTuple):
    mark: re.Pattern[str]
    special: re.Pattern[str]
    ignored: re.Pattern[str]
    run: re.Pattern[str]
    sign: re.Pattern[str]
    raw_run: re.Pattern[str]
    raw_sign: re.Pattern[str]
    joining: re.Pattern[str]


def split_words(text: str) -> list[str]:
    """Cut a text into folded words, in order; scripts without spaces give grams."""
    whole_words = split_whole_words(text)
    if text.isascii() or not any(map(is_unspaced, set(whole_words))):
        return whole_words
    words: list[str] = []
    for word in whole_words:
        words += _make_grams(word) if is_unspaced(word) else [word]
    return words


def split_whole_words(text: str) -> list[str]:
    """Cut a text like `split_words`, but keep runs of scripts without spaces whole."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    normal = _normalise(text)
    if not any(map(_is_special, set(normal))):
        return _SIMPLE_WORD.findall(normal)
    return _compile_patterns().run.findall(_remove_ignored(normal))


def split_signs(run: str) -> list[str]:
    """Cut a folded run of a script without spaces into signs: letters with their marks."""
    return _compile_patterns().sign.findall(run) if _compile_patterns().mark.search(run) else list(run)


def is_unspaced(word: str) -> bool:
    """Return whether a folded word is in a script without spaces."""
    return not word.isascii() and _is_unspaced_letter(word[0])


def is_cut_differently(text: str, whole: bool = False) -> bool:
    """Return whether older versions of goldgrade, which knew neither marks nor grams, cut a text differently.

    Parameters
    ----------
    whole: runs of scripts without spaces count as whole words, as in older goldgrades.
    """
    if text.isascii():
        return False
    text_words = split_whole_words(text)
    return text_words != _SIMPLE_WORD.findall(_normalise(text)) or (
        not whole and any(map(is_unspaced, text_words))
    )


def fold(word: str) -> str:
    """Fold a word or text in the same way as `split_words`."""
    return word.lower() if word.isascii() else _remove_ignored(_normalise(word))


def locate_words(text: str, select: Callable[[str], bool] = lambda word: True) -> Iterator[LocatedWord]:
    """Yield the words of a text with their positions; scripts without spaces give each sign and each gram.

    Parameters
    ----------
    select: function that selects the words; called once for each distinct run of the text.
    """
    folded: dict[str, str] = {}  # run → word, or '' for a run that is not wanted
    for match in _choose_run_pattern(text).finditer(text):
        run = match[0]
        word = folded.get(run)
        if word is None:
            if match.lastgroup == "unspaced":
                yield from _locate_signs(run, match.start(), select)
                continue
            word = fold(run)
            folded[run] = word = word if select(word) else ""
        if word:
            yield LocatedWord(word, *match.span())


def find_word_starts(text: str) -> list[int]:
    """List the positions of the words of a text, in order; in scripts without spaces each sign is a word."""
    if text.isascii():
        return [match.start() for match in _ASCII_WORD.finditer(text)]
    return list(dict.fromkeys(located_word.start for located_word in locate_words(text)))


def _choose_run_pattern(text: str) -> re.Pattern[str]:
    """Choose the fastest pattern that splits this unfolded text into runs of letters."""
    if text.isascii():
        return _ASCII_WORD
    return _compile_patterns().raw_run if any(map(_is_special, set(text))) else _SIMPLE_WORD


def _locate_signs(run: str, start: int, select: Callable[[str], bool]) -> Iterator[LocatedWord]:
    """Yield the wanted signs and the wanted grams of an unfolded run, with their positions."""
    run_signs, places = _split_unfolded(run)
    grams = list(map(add, run_signs, run_signs[1:]))
    selected = {word for word in {*run_signs, *grams} if select(word)}
    if not selected:
        return
    for index, word in enumerate(run_signs):
        if word in selected:
            yield LocatedWord(word, start + places[index][0], start + places[index][1])
    for index, word in enumerate(grams):
        if word in selected:
            yield LocatedWord(word, start + places[index][0], start + places[index + 1][1])


def _split_unfolded(run: str) -> tuple[list[str], list[tuple[int, int]]]:
    """Cut an unfolded run into folded signs, each with the part of the run that it comes from."""
    if _compile_patterns().joining.search(run) is None:
        letters = list(map(_fold_sign, run))
        if all(len(letter) == 1 and _is_unspaced_letter(letter) for letter in set(letters)):
            return letters, list(pairwise(range(len(run) + 1)))
    folded: list[str] = []
    spans_of_letters: list[tuple[int, int]] = []
    for match in _compile_patterns().raw_sign.finditer(run):
        sign_text = _fold_sign(match[0])
        folded.append(sign_text)
        spans_of_letters += [match.span()] * len(sign_text)
    matches = list(_compile_patterns().sign.finditer("".join(folded)))
    spans = [(spans_of_letters[sign.start()][0], spans_of_letters[sign.end() - 1][1]) for sign in matches]
    return [sign[0] for sign in matches], spans


def _make_grams(run: str) -> list[str]:
    run_signs = split_signs(run)
    return list(map("".join, pairwise(run_signs))) if len(run_signs) > 1 else run_signs


@lru_cache(maxsize=65_536)
def _fold_sign(letters: str) -> str:
    return fold(letters)


def _normalise(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _remove_ignored(normal: str) -> str:
    return _DOTTED_I.sub("i", _compile_patterns().ignored.sub("", normal))


@cache
def _is_special(letter: str) -> bool:
    return not letter.isascii() and _compile_patterns().special.match(letter) is not None


@cache
def _is_unspaced_letter(letter: str) -> bool:
    return _compile_patterns().sign.match(letter) is not None


@lru_cache(maxsize=1)
def _compile_patterns() -> _Patterns:
    """Compile the patterns only at the first non-ASCII text, because this takes a tenth of a second."""
    near, far = range(0x300, 0x10000), (*range(0x10000, 0x32000), *range(0xE0100, 0xE01F0))
    marks, far_marks = _make_character_class(near, _is_mark), _make_character_class(far, _is_mark)
    unspaced = re.compile(rf"[{_UNSPACED_LETTERS}]")
    near_signs, far_signs = (
        _make_character_class(codes, lambda letter: letter.isalnum() and unspaced.match(letter) is not None)
        for codes in (near, far)
    )
    signs = f"(?:[{near_signs}]|[{far_signs}])"
    letters = rf"[^\W{_UNSPACED_LETTERS}]+"
    mark = f"(?:[{marks}]|[{far_marks}])"  # separate: `re` looks up a class without far signs in a table
    extended = f"(?:[{marks}{_IGNORED_CHARACTERS}]|[{far_marks}])"
    return _Patterns(
        mark=re.compile(mark),
        special=re.compile(rf"{mark}|[{_IGNORED_CHARACTERS}{_UNSPACED_LETTERS}]"),
        ignored=re.compile(rf"[{_IGNORED_CHARACTERS}]"),
        run=re.compile(
            rf"(?:[{near_signs}]+{mark}*|[{far_signs}]{mark}*)+|{letters}(?:{mark}+(?:{letters})?)*"
        ),
        sign=re.compile(rf"{signs}{mark}*"),
        raw_run=re.compile(rf"(?P<unspaced>(?:{signs}{extended}*)+)|{letters}(?:{extended}+(?:{letters})?)*"),
        raw_sign=re.compile(
            rf"[\u1100-\u115f][\u1160-\u11a7]*[\u11a8-\u11ff]*|.(?:{extended}|[\uff9e\uff9f])*", re.DOTALL
        ),
        joining=re.compile(rf"{extended}|[\u1100-\u11ff\uff9e\uff9f]"),
    )


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter).startswith("M")


def _make_character_class(codes: Iterable[int], belongs: Callable[[str], bool]) -> str:
    """Write the letters that meet a condition as ranges for a character class."""
    members = [code for code in codes if belongs(chr(code))]
    starts = [code for code, before in zip(members, [0, *members], strict=False) if code != before + 1]
    ends = [code for code, after in zip(members, [*members[1:], 0], strict=True) if after != code + 1]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))
