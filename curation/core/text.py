"""Text, hashes and seeded order: the few functions on which "same inputs, same bytes" rests."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
APART: Mapping[str, Any] = {"apart": True}
"""The metadata of a dataclass's field that is no part of its JSON."""

MAX_NOTE_LENGTH = 4_000
"""Characters of a note, a reason or a question that a person writes."""

_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
ISOLATES = re.compile("[\u2066-\u2069]")
"""The marks of `isolated`."""

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
)
"""The characters below U+10000 that nobody sees, as ranges of a character class.

These are Unicode's default ignorable code points, and the marks of interlinear annotations.
"""

CASE = "upper and lower case"
TINY_P = "<\u00a00.001"
"""What is shown of a p that three decimals would show as nothing."""


_CONTROLS |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)


_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def quote_formula(cell: str) -> str:
    """The cell of a CSV as no spreadsheet takes it for a formula; `unquote_formula` gives the cell back.

    An apostrophe goes before one that begins with = + - @, a tab or a carriage return, apostrophes before it
    or none. Numbers stay as they are.
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def unquote_formula(cell: str) -> str:
    """The cell without the apostrophe of `quote_formula`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


_INVISIBLE = re.compile(f"[{INVISIBLE}]")


_FAR_INVISIBLE = re.compile(
    "(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)|"  # the flags of England, Scotland and Wales stay
    "[\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)


def without_invisible(text: str) -> str:
    """The text without the characters that nobody sees, such as U+200B, U+FEFF and soft hyphens."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    return _FAR_INVISIBLE.sub(r"\1", text) if _FAR_INVISIBLE.search(text) else text


def normalise_query(text: str) -> str:
    """What makes two queries one: no invisible characters, NFKC, casefolded, white space folded."""
    return " ".join(unicodedata.normalize("NFKC", without_invisible(text)).casefold().split())


def alike(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Each name that people would read as a known one → that known name; see `difference_of_form`."""
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(normalise_query(name), []).append(name)
    folded: dict[str, str] = {}
    for other in known if by_form else ():
        to_json_value = other.isascii() and " " not in other
        for name in by_form.get(other.lower() if to_json_value else normalise_query(other), ()):
            if name != other:
                folded[name] = min(folded.get(name, other), other)
    return folded


def difference_of_form(name: str, other: str) -> str:
    """By what alone two names differ that people read as one, such as "its Unicode form".

    '' where the names are the same, or where people see that they differ.
    """
    if name == other or normalise_query(name) != normalise_query(other):
        return ""
    needed = [what for what in _FORMS if _but_for(what, name) != _but_for(what, other)]
    return " and ".join(needed or list(_FORMS)[-1:])


def _but_for(what: str, text: str) -> str:
    """The text with all differences folded but this one."""
    for form, fold in _FORMS.items():
        text = text if form == what else fold(text)
    return text


_FORMS: Mapping[str, Callable[[str], str]] = {
    "characters that nobody sees": without_invisible,
    "its Unicode form": lambda text: unicodedata.normalize("NFKC", text),
    CASE: str.casefold,
    "white space": lambda text: " ".join(text.split()),
}
"""What may differ between two names that people read as one → how that difference is folded."""


def pluralize(number: int, one: str, many: str = "") -> str:
    """A number of things in words: "1 query", "1,200 queries"; without `many`, `one` takes an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


_PLURAL = re.compile(r"\b\w{3,}s\b")


def counted(number: int, label: str) -> str:
    """A number with a label whose first plural becomes a singular for 1: "2 new queries", "1 new query"."""
    return f"{number:,} {_PLURAL.sub(_singular, label, count=1) if number == 1 else label}"


def _singular(plural: re.Match[str]) -> str:
    word = plural[0]
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


def left_out_sentences(left_out: Mapping[str, int], unit: str = "") -> list[str]:
    """What was left out, reason → number, a sentence each; `unit` is what is counted, if no reason has it."""
    return [
        f"Left out: {counted(number, unit)}: {why}." if unit else f"Left out: {why} ({number:,})."
        for why, number in left_out.items()
    ]


def percent(share: float | None, places: int = 0) -> str:
    """A share as people read it: "95 %", with a space that breaks no line; a dash where it is unknown."""
    return "–" if share is None else f"{100 * share:.{places}f}\u00a0%"


def points(share: float) -> str:
    """A difference of shares in percentage points: "12 points"."""
    return f"{100 * share:.0f}\u00a0points"


def decimal(value: float | None, places: int = 3, sign: str = "") -> str:
    """A number as people read it: "1,234.500", "−0.123"; a dash where it is unknown.

    sign: "+" puts a plus before positive numbers.
    """
    return "–" if value is None else f"{value:{sign},.{places}f}".replace("-", "\u2212")


def interval_text(low: float | None, high: float | None, places: int = 3, sign: str = "") -> str:
    """An interval as people read it: "0.100 to 0.200"; a dash without both ends."""
    known = low is not None and high is not None
    return f"{decimal(low, places, sign)} to {decimal(high, places, sign)}" if known else "–"


def join_words(names: Sequence[str], most: int = 5) -> str:
    """The first names for a sentence, and how many more there are: "ada, ben and 4 more"."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def p_cell(p: float | None) -> float | str | None:
    """A p value for a table for people, where figures have three decimals: never 0.000."""
    return TINY_P if p is not None and p < 0.001 else p


def p_text(p: float | None) -> str:
    """A p value in a sentence: "0.012", "< 0.001"; a dash where it is unknown."""
    return TINY_P if p is not None and p < 0.001 else decimal(p)


def isolated(text: str) -> str:
    """The text in a first-strong isolate (Unicode UAX #9): no override in it reorders the text around it."""
    return f"\u2068{ISOLATES.sub('', text)}\u2069"


def printable(text: str) -> str:
    """The text with visible signs for control characters, which would command a terminal (ECMA-48)."""
    return text.translate(_CONTROLS)


def json_pointer(field: str) -> str:
    """The JSON pointer (RFC 6901) to a field of an object, with any characters in its name."""
    return "/" + field.replace("~", "~0").replace("/", "~1")


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces and real characters: one text for one value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(*parts: Any) -> str:
    """The first 32 hex digits of the SHA-256 of the parts' canonical JSON."""
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class ListDigest:
    """`digest` of a list whose items come one at a time."""

    def __init__(self) -> None:
        self._hash, self._before = hashlib.sha256(b"[["), ""

    def add(self, item: Any) -> None:
        """The next item of the list."""
        text = f"{self._before}{canonical_json(item)}"
        self._hash.update(text.encode("utf-8", "surrogatepass"))
        self._before = ","

    def value(self) -> str:
        """The digest of the items up to now."""
        final = self._hash.copy()
        final.update(b"]]")
        return final.hexdigest()[:32]


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seeded(items: Iterable[Item], seed: int, key: Callable[[Item], Any]) -> list[Item]:
    """The items in an order that depends on the seed and each item's key only.

    A random order for everyone who does not know the seed; the same on any machine and whatever the
    order of arrival, as long as keys differ.
    """
    return sorted(items, key=lambda item: digest(seed, key(item)))


def to_json_value(value: Any) -> Any:
    """The value as JSON knows it: dataclasses and NamedTuples become objects, dates ISO texts.

    A field whose metadata is `APART` is left out.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        written = [field.name for field in dataclasses.fields(value) if field.metadata != APART]
        return {name: to_json_value(getattr(value, name)) for name in written}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: to_json_value(item) for name, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [
            to_json_value(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)
        ]
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value
