"""Characters: those that nobody sees, those that terminals and spreadsheets act on, and names that differ in
them alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping

CASE = "upper and lower case"
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
)
"""The characters below U+10000 that nobody sees, as ranges of a character class.

These are Unicode's default ignorable code points, and the marks of interlinear annotations.
"""
ISOLATES = re.compile("[\u2066-\u2069]")
"""The marks of `isolated`."""
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_FAR_INVISIBLE = re.compile(
    "(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)|"  # the flags of England, Scotland and Wales stay
    "[\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
_CONTROLS |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
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


def isolated(text: str) -> str:
    """The text in a first-strong isolate (Unicode UAX #9): no override in it reorders the text around it."""
    return f"\u2068{ISOLATES.sub('', text)}\u2069"


def printable(text: str) -> str:
    """The text with visible signs for control characters, which would command a terminal (ECMA-48)."""
    return text.translate(_CONTROLS)
