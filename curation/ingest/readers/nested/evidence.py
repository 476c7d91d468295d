"""Evidence in files: ranges of a document's text with their quotes, ranges alone, or quotes alone.

A cell is a list of them, as JSON: `[{"start": 27, "end": 60, "quote": "…"}]`, `["…", "…"]`, or one quote as
plain text. Offsets count code points of the document's text, without its title.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from curation.core.errors import InputError, refuse_problems
from curation.core.similarity.quotes import outside_of, places_of
from curation.core.spans import Span, Spans, union
from curation.ingest.readers.values import text_of, whole_number

NAMES = {
    "start": ("start", "start_index", "start_char"),
    "end": ("end", "end_index", "end_char"),
    "quote": ("quote", "content", "text"),
}
"""What files call the parts of a range."""
FORM = 'expected a list such as [{"start": 27, "end": 60, "quote": "…"}], or of quotes'
WAY_OUT = (
    "Offsets count characters (Unicode code points) of the document's text, without its title: import the "
    "text that was marked. A quote needs no offsets where the text has it once."
)


class StatedEvidence(NamedTuple):
    """A range as a file states it: by offsets, by its quote ('' where it has none), or by both.

    line: where it is not on the line of its judgment.
    """

    start: int | None
    end: int | None
    quote: str
    line: int = 0


def stated_evidence(value: Any) -> tuple[StatedEvidence, ...]:
    """The ranges in a cell.

    Raises
    ------
    InputError: it has another form.
    """
    said = value
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            said = json.loads(value)
        except ValueError as error:
            raise InputError(f"the evidence is no JSON ({error}); {FORM}") from None
    if isinstance(said, str) and not said.strip():
        return ()
    items = said if isinstance(said, Sequence) and not isinstance(said, str) else [said]
    return tuple(_stated(item) for item in items if item is not None)


def _stated(item: Any) -> StatedEvidence:
    if isinstance(item, str):
        if not item.strip():
            raise InputError(f"the evidence has an empty quote; {FORM}")
        return StatedEvidence(None, None, item)
    if not isinstance(item, Mapping):
        raise InputError(f"evidence {text_of(item)!r}; {FORM}")
    said = {
        part: next((text_of(item[name]) for name in names if item.get(name) is not None), "")
        for part, names in NAMES.items()
    }
    start, end = whole_number(said["start"]), whole_number(said["end"])
    if (start is None or end is None) and (said["start"] or said["end"] or not said["quote"]):
        raise InputError(f"evidence {_short(text_of(dict(item)))} has no whole numbers as offsets; {FORM}")
    return StatedEvidence(start, end, said["quote"])


def located_evidence(stated: Sequence[StatedEvidence], document_id: str, body: str, line: int = 0) -> Spans:
    """The characters of a document's body that are meant; `line` is that of the judgment in its file.

    Raises
    ------
    InputError: ranges are outside the body, or have other characters than their quotes; quotes are not in
        it, or more than once. All of them together.
    """
    spans, problems = [], []
    for one in stated:
        try:
            spans.append(_located(one, body))
        except ValueError as error:
            at = f"line {one.line or line}: " if line else ""
            problems.append(f"{at}{error} (document {document_id!r})")
    refuse_problems(problems)
    return union(spans)


def in_text(stated: Sequence[StatedEvidence], body: str) -> tuple[StatedEvidence, ...]:
    """The ranges without the quotes alone that a document's body does not have."""
    return tuple(one for one in stated if one.start is not None or places_of(one.quote, body))


def _located(one: StatedEvidence, body: str) -> Span:
    if one.start is None or one.end is None:
        places = places_of(one.quote, body)
        if len(places) == 1:
            return places[0]
        times = f"{len(places):,} times" if places else "not"
        raise ValueError(f"the quote “{_short(one.quote)}” is {times} in the text; expected once")
    if outside := outside_of(body, [(one.start, one.end)]):
        raise ValueError(outside)
    there = body[one.start : one.end]
    if one.quote and one.quote.split() != there.split():
        raise ValueError(
            f"the text has “{_short(there)}” from {one.start:,} to {one.end:,}; expected the quote "
            f"“{_short(one.quote)}”"
        )
    return one.start, one.end


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:59]}…"
