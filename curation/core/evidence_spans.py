"""The stored form of evidence: ranges of a document's body with their quotations."""

from __future__ import annotations

from collections.abc import Iterable

from curation.core.digests import digest
from curation.core.spans import Span, union
from curation.core.text import pluralize

QUOTE_COLUMNS = ("start_at", "end_at", "quote", "quote_hash")  # columns of a stored range of evidence


def describe_outside_spans(body: str, spans: Iterable[Span]) -> str:
    """Describe the first evidence range outside a document's body, as a reason for rejection; '' if all are
    inside."""
    for start, end in spans:
        if not 0 <= start < end <= len(body):
            length = pluralize(len(body), "character")
            return f"evidence from {start:,} to {end:,} lies outside the document, which has {length}"
    return ""


def quote_spans(body: str, spans: Iterable[Span]) -> list[tuple[int, int, str, str]]:
    """Convert ranges of evidence to their stored form (`QUOTE_COLUMNS`); overlapping ranges are joined."""
    return [(start, end, body[start:end], digest(body[start:end])) for start, end in union(spans)]
