"""Personal data in logged text: what is found, and the placeholder that replaces it.

A query log is full of things that people pasted. Each kind has a rule: a pattern and, where digits alone
would say little, a check (Luhn, modulo 97, check digits of identity numbers). As the text is a search, a rule
that is wrong about a part number costs a good query, so `redaction.patterns` asks for evidence.

After a word that announces another number (rfc, ean, part no, commit), what only its shape or check digits
would show stays. Names, street addresses and what is spelled out in words are not found. A text is searched
as it would be read: NFKC, white space folded, invisible characters left out, digits of every script as 0 to
9. Where nothing is found it stays as it is. The time is in proportion to the length.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import NamedTuple

from curation.core.text import normalise_query, without_invisible
from curation.ingest.importers.redaction.patterns import DIGIT, RULES

_LETTER = re.compile(r"[^\W_]")
_PLACEHOLDER = re.compile(r"\[[a-z-]+\]")
_WORTH_A_LOOK = re.compile(
    r"@|-----|(?i:[(\[]at[)\]])|[0-9](?:[^0-9]{0,4}[0-9]){5}|(?:[0-9]+\.){3}|:.*:|\S{16}"
)
LONGEST_PLAIN = 15
"""Signs in a row in which no key can be."""
_NOTHING: Counter[str] = Counter()  # to make one costs more than to read most texts
_DIGIT_LIKE = bytes.maketrans(b"-.", b"00")
_HARMLESS = bytes(byte for byte in range(128) if byte not in b"0123456789-.:@([")


class Redacted(NamedTuple):
    """A text without personal data, and how much of which kind was in it."""

    text: str
    kinds: Counter[str]

    @property
    def is_empty(self) -> bool:
        """Whether nothing but placeholders and signs is left."""
        return bool(self.kinds) and not _LETTER.search(_PLACEHOLDER.sub("", self.text))


def redact(text: str) -> Redacted:
    """The text with a placeholder such as `[email]` for each personal thing.

    Redacting the result again changes nothing: the rules are applied until none finds anything.
    """
    if text.isascii() and (is_plain(text) or not _WORTH_A_LOOK.search(text)):
        return Redacted(text, _NOTHING)
    kinds: Counter[str] = Counter()
    found = -1
    while found < (found := kinds.total()):
        for form in (_folded,) if text.isascii() else (_folded, _visible, normalise_query):
            before = kinds.total()
            replaced = _replace(form(text), kinds)
            text = replaced if kinds.total() > before else text
    return Redacted(text, kinds)


def is_plain(text: str) -> bool:
    """Whether an ASCII text's bytes show that no pattern matches it: few digits, no sign of an address.

    Most texts are plain, and this takes a fraction of the time of a search. The least that a pattern needs is
    one of `@([`, two colons, five hyphens in a row, six digits, three with three dots, or 16 signs in a row.
    """
    rest = text.encode().translate(_DIGIT_LIKE, _HARMLESS)
    if rest and (len(rest) > 5 or not rest.isdigit() or "-----" in text):
        return False
    return len(text) <= LONGEST_PLAIN or max(map(len, text.split()), default=0) <= LONGEST_PLAIN


def _replace(text: str, kinds: Counter[str]) -> str:
    digits = len(DIGIT.findall(text))
    for rule in RULES:
        if digits < rule.digits:
            continue
        parts, done = [], 0
        for start, end in rule.spans(text):
            parts += [text[done:start], rule.placeholder]
            done = end
            kinds[rule.kind] += 1
        text = "".join([*parts, text[done:]])
    return text


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _visible(text: str) -> str:
    visible = (sign for sign in without_invisible(text) if unicodedata.category(sign) != "Cf")
    return _folded("".join(map(_ascii_digit, visible)))


def _ascii_digit(sign: str) -> str:
    return str(unicodedata.decimal(sign)) if sign.isdecimal() else sign
