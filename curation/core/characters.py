"""Deceptive characters in texts and names: removing, replacing and comparing them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping

CASE = "upper and lower case"
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
)
"""Invisible characters below U+10000, as ranges for a character class of a regular expression.

These are Unicode's default ignorable code points, and the marks of interlinear annotations.
"""
ISOLATES = re.compile("[\u2066-\u2069]")  # the direction marks that `isolate` puts around a text
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_FAR_INVISIBLE = re.compile(
    "(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)|"  # flag sequences of England, Scotland and Wales stay
    "[\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
_CONTROLS |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def quote_formula(cell: str) -> str:
    """Change a CSV cell so that no spreadsheet reads it as a formula; `unquote_formula` restores the cell.

    An apostrophe is added to a cell that begins with = + - @, a tab or a carriage return, also after
    apostrophes. Numbers do not change.
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def unquote_formula(cell: str) -> str:
    """Remove the apostrophe that `quote_formula` added."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def remove_invisible(text: str) -> str:
    """Remove invisible characters, such as U+200B, U+FEFF and soft hyphens."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    return _FAR_INVISIBLE.sub(r"\1", text) if _FAR_INVISIBLE.search(text) else text


def normalise_query(text: str) -> str:
    """Normalise a query: remove invisible characters, apply NFKC, fold case and white space."""
    return " ".join(unicodedata.normalize("NFKC", remove_invisible(text)).casefold().split())


def find_lookalikes(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Map each name that looks like a known name to the known name; see `describe_lookalike`."""
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(normalise_query(name), []).append(name)
    lookalikes: dict[str, str] = {}
    for known_name in known if by_form else ():
        is_simple = known_name.isascii() and " " not in known_name
        for name in by_form.get(known_name.lower() if is_simple else normalise_query(known_name), ()):
            if name != known_name:
                lookalikes[name] = min(lookalikes.get(name, known_name), known_name)
    return lookalikes


def describe_lookalike(name: str, other: str) -> str:
    """Describe the invisible difference between two names that look equal, such as "its Unicode form".

    The result is '' if the names are equal, or if people can see the difference.
    """
    if name == other or normalise_query(name) != normalise_query(other):
        return ""
    kinds = [kind for kind in _FORMS if _fold_all_but(kind, name) != _fold_all_but(kind, other)]
    return " and ".join(kinds or list(_FORMS)[-1:])


# Possible difference between two names that look equal → the function that removes this difference
_FORMS: Mapping[str, Callable[[str], str]] = {
    "invisible characters": remove_invisible,
    "its Unicode form": lambda text: unicodedata.normalize("NFKC", text),
    CASE: str.casefold,
    "white space": lambda text: " ".join(text.split()),
}


def isolate(text: str) -> str:
    """Wrap a text in a first-strong isolate (Unicode UAX #9), so that it cannot reorder text around it."""
    return f"\u2068{ISOLATES.sub('', text)}\u2069"


def show_controls(text: str) -> str:
    """Replace control characters, which could control a terminal (ECMA-48), with visible symbols."""
    return text.translate(_CONTROLS)


def _fold_all_but(kept_kind: str, text: str) -> str:
    """Remove all differences in form from a name, except the differences of one kind, `kept_kind`."""
    for form, fold in _FORMS.items():
        text = text if form == kept_kind else fold(text)
    return text
