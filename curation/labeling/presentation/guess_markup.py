"""The markup of texts, guessed from their tags and symbols: HTML, Markdown or plain text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from curation.guides.guide import BodyKind

MIN_SHARE = 0.3
"""Smallest share of texts with one kind of markup from which this kind is proposed for all texts."""
MAX_TEXT_READ = 20_000
"""Characters at the start of a text that are searched for markup."""
_HTML = re.compile(
    r"<(?:p|br ?/?)>|</(?:p|div|span|a|b|i|em|strong|su[bp]|[uo]l|li|h[1-6]|t[dhr]|table|pre|code|body)>",
    re.IGNORECASE,
)
_MARKDOWN_SIGNS = tuple(
    re.compile(sign, re.MULTILINE)
    for sign in (r"^#{1,6} \S", r"^ {0,3}[-*+] \S", r"\*\*\S", r"\]\(\S", r"^```", r"^\|[ :|-]+\|$", r"`\S")
)


def guess_markup(texts: Iterable[str]) -> BodyKind:
    """Guess the markup of texts: HTML by its tags, Markdown by at least two kinds of Markdown syntax in one
    text."""
    counts = Counter(_guess_text_markup(text[:MAX_TEXT_READ]) for text in texts if text.strip())
    kinds: tuple[BodyKind, ...] = ("html", "markdown")
    return next((kind for kind in kinds if counts[kind] >= MIN_SHARE * counts.total() > 0), "plain")


def _guess_text_markup(text: str) -> BodyKind:
    if _HTML.search(text):
        return "html"
    return "markdown" if sum(bool(sign.search(text)) for sign in _MARKDOWN_SIGNS) > 1 else "plain"
