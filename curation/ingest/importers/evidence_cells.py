"""Evidence in a file: ranges of a document's text that annotators marked.

A cell is a JSON list of ranges with quotes, of ranges without quotes, or of quotes without ranges:
`[{"start": 27, "end": 60, "quote": "…"}]`, `["…", "…"]`, or one quote as plain text. Offsets of a range count
code points of the document's text, without its title.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from curation.core.errors import InputError, refuse_problems
from curation.core.evidence_spans import describe_outside_spans
from curation.core.similarity.quotes import find_quote
from curation.core.spans import Span, Spans, union
from curation.ingest.readers.problems import excerpt
from curation.ingest.readers.values import parse_whole_number, to_text

PART_NAMES = {
    "start": ("start", "start_index", "start_char"),
    "end": ("end", "end_index", "end_char"),
    "quote": ("quote", "content", "text"),
}

"""Names in files for each part of a range of evidence."""

FORM = 'expected a list such as [{"start": 27, "end": 60, "quote": "…"}], or of quotes'

WAY_OUT = (
    "Offsets count characters (Unicode code points) of the document's text, without the title, so import "
    "exactly the text that was marked. A quote that occurs only once does not need offsets."
)


class StatedEvidence(NamedTuple):
    """One range of evidence as a file states it: by offsets, by a quote, or by both.

    line: line of the range of evidence, if the judgment is on a different line; else 0.
    """

    start: int | None
    end: int | None
    quote: str
    line: int = 0


def parse_evidence(value: Any) -> tuple[StatedEvidence, ...]:
    """Parse the ranges of evidence that a cell of a file states.

    Raises
    ------
    InputError: the cell is not in a known form of evidence.
    """
    content = value
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            content = json.loads(value)
        except ValueError as error:
            raise InputError(f"the evidence is not JSON ({error}); {FORM}") from None
    if isinstance(content, str) and not content.strip():
        return ()
    items = content if isinstance(content, Sequence) and not isinstance(content, str) else [content]
    return tuple(_parse_range(item) for item in items if item is not None)


def _parse_range(item: Any) -> StatedEvidence:
    if isinstance(item, str):
        if not item.strip():
            raise InputError(f"the evidence has an empty quote; {FORM}")
        return StatedEvidence(None, None, item)
    if not isinstance(item, Mapping):
        raise InputError(f"evidence {to_text(item)!r}; {FORM}")
    texts = {
        part: next((to_text(item[name]) for name in names if item.get(name) is not None), "")
        for part, names in PART_NAMES.items()
    }
    start, end = parse_whole_number(texts["start"]), parse_whole_number(texts["end"])
    if (start is None or end is None) and (texts["start"] or texts["end"] or not texts["quote"]):
        raise InputError(
            f"evidence {excerpt(to_text(dict(item)))} has offsets that are not whole numbers; {FORM}"
        )
    return StatedEvidence(start, end, texts["quote"])


def locate_evidence(stated: Sequence[StatedEvidence], document_id: str, body: str, line: int = 0) -> Spans:
    """Return the evidence as spans of the document's body; `line` is the judgment's line in its file.

    Raises
    ------
    InputError: a range is outside the body or differs from its quote, or a quote does not occur exactly once;
    the error lists all problems.
    """
    spans, problems = [], []
    for stated_range in stated:
        try:
            spans.append(_locate_range(stated_range, body))
        except ValueError as error:
            where = f"line {stated_range.line or line}: " if line else ""
            problems.append(f"{where}{error} (document {document_id!r})")
    refuse_problems(problems)
    return union(spans)


def select_evidence_in_text(stated: Sequence[StatedEvidence], body: str) -> tuple[StatedEvidence, ...]:
    """Return the ranges of evidence, except those given only by a quote that is not in the body."""
    return tuple(span for span in stated if span.start is not None or find_quote(span.quote, body))


def _locate_range(evidence: StatedEvidence, body: str) -> Span:
    if evidence.start is None or evidence.end is None:
        occurrences = find_quote(evidence.quote, body)
        if len(occurrences) == 1:
            return occurrences[0]
        times = f"{len(occurrences):,} times" if occurrences else "not"
        raise ValueError(f"the quote “{excerpt(evidence.quote)}” is {times} in the text; expected once")
    if outside := describe_outside_spans(body, [(evidence.start, evidence.end)]):
        raise ValueError(outside)
    quoted_text = body[evidence.start : evidence.end]
    if evidence.quote and evidence.quote.split() != quoted_text.split():
        raise ValueError(
            f"the text has “{excerpt(quoted_text)}” from {evidence.start:,} to {evidence.end:,}; "
            f"expected the quote “{excerpt(evidence.quote)}”"
        )
    return evidence.start, evidence.end
