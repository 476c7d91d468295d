"""What texts of documents are written in: how people call it, and how it is known by its signs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from curation.guides.presentation_template import BodyKind

MARKUPS: dict[str, str] = {"plain": "Plain text", "html": "HTML", "markdown": "Markdown", "code": "Code"}
"""What the text of a corpus may be written in, as people call it."""
SHARE = 0.3
"""The share of texts that must have a markup before it is proposed for all."""
LONGEST = 20_000
"""Characters of a text that are looked at."""
_HTML = re.compile(
    r"<(?:p|br ?/?)>|</(?:p|div|span|a|b|i|em|strong|su[bp]|[uo]l|li|h[1-6]|t[dhr]|table|pre|code|body)>",
    re.IGNORECASE,
)
_MARKDOWN = tuple(
    re.compile(sign, re.MULTILINE)
    for sign in (r"^#{1,6} \S", r"^ {0,3}[-*+] \S", r"\*\*\S", r"\]\(\S", r"^```", r"^\|[ :|-]+\|$", r"`\S")
)


def markup_of(texts: Iterable[str]) -> BodyKind:
    """What texts are written in: HTML by its tags, Markdown where a text has two kinds of its signs."""
    counter = Counter(_markup(text[:LONGEST]) for text in texts if text.strip())
    kinds: tuple[BodyKind, ...] = ("html", "markdown")
    return next((kind for kind in kinds if counter[kind] >= SHARE * counter.total() > 0), "plain")


def _markup(text: str) -> BodyKind:
    if _HTML.search(text):
        return "html"
    return "markdown" if sum(bool(sign.search(text)) for sign in _MARKDOWN) > 1 else "plain"
