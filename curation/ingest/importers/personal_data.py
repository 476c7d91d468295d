"""Redaction of personal data: placeholders such as `[email]` replace personal data in texts.

A text is searched in a normalized form: NFKC, white space folded, without invisible characters, and digits of
every script as 0 to 9. A text without personal data stays unchanged. The time of the search is proportional
to the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import NamedTuple

from curation.core.characters import normalise_query, remove_invisible
from curation.ingest.importers.personal_data_rules import DIGIT, RULES

_LETTER = re.compile(r"[^\W_]")
_PLACEHOLDER = re.compile(r"\[[a-z-]+\]")
_SUSPECT = re.compile(r"@|-----|(?i:[(\[]at[)\]])|[0-9](?:[^0-9]{0,4}[0-9]){5}|(?:[0-9]+\.){3}|:.*:|\S{16}")
"""Pattern that matches every ASCII text with personal data, for a quick first test."""
_NOTHING: Counter[str] = Counter()  # making a Counter takes longer than reading most texts


class Redacted(NamedTuple):
    """A text with placeholders for personal data, and the number of replacements of each kind."""

    text: str
    kinds: Counter[str]

    @property
    def is_empty(self) -> bool:
        """Return whether the text contains nothing but placeholders and punctuation."""
        return bool(self.kinds) and not _LETTER.search(_PLACEHOLDER.sub("", self.text))


def redact(text: str) -> Redacted:
    """Replace personal data in a text with placeholders such as `[email]`.

    The rules are applied until no rule matches, so that redacting the result again changes nothing.
    """
    if text.isascii() and not _SUSPECT.search(text):
        return Redacted(text, _NOTHING)
    kinds: Counter[str] = Counter()
    count = -1
    while count < (count := kinds.total()):
        for fold in (_folded_text,) if text.isascii() else (_folded_text, _visible_text, normalise_query):
            earlier_count = kinds.total()
            replaced = _replace_matches(fold(text), kinds)
            text = replaced if kinds.total() > earlier_count else text
    return Redacted(text, kinds)


def _replace_matches(text: str, kinds: Counter[str]) -> str:
    digits = len(DIGIT.findall(text))
    for rule in RULES:
        if digits < rule.digits:
            continue
        pieces, position = [], 0
        for start, end in rule.spans(text):
            pieces += [text[position:start], rule.placeholder]
            position = end
            kinds[rule.kind] += 1
        text = "".join([*pieces, text[position:]])
    return text


def _folded_text(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _visible_text(text: str) -> str:
    visible = (sign for sign in remove_invisible(text) if unicodedata.category(sign) != "Cf")
    return _folded_text("".join(map(_ascii_digit, visible)))


def _ascii_digit(sign: str) -> str:
    return str(unicodedata.decimal(sign)) if sign.isdecimal() else sign
