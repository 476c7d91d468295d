"""Spans: sets of characters in a text, as half-open ranges in order.

A set of characters has one normal form: ranges that are not empty, in order, and that neither overlap nor
touch. So two sets are equal if their normal forms are equal. All functions here take ranges in any order and
return the normal form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

Span = tuple[int, int]  # position of the first character, and position after the last character
Spans = tuple[Span, ...]  # set of characters in normal form


def union(spans: Iterable[Span]) -> Spans:
    """Compute the union of ranges: the characters that are in at least one range."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def intersection(spans: Iterable[Span], other: Iterable[Span]) -> Spans:
    """Compute the intersection of two sets of ranges: the characters that are in both sets."""
    return covered_by_at_least([spans, other], 2)


def difference(spans: Iterable[Span], other: Iterable[Span]) -> Spans:
    """Compute the characters of the first set that are not in the other set."""
    minuend = union(spans)
    edges = [0, *chain.from_iterable(union(other)), max((end for _, end in minuend), default=0)]
    return intersection(minuend, zip(edges[::2], edges[1::2], strict=True))


def covered_by_at_least(sets: Sequence[Iterable[Span]], minimum: int) -> Spans:
    """Compute the characters that are in at least `minimum` of several sets."""
    changes = sorted(
        (position, step)
        for spans in sets
        for start, end in union(spans)
        for position, step in ((start, 1), (end, -1))
    )
    covered: list[Span] = []
    depth = begin = 0
    for position, step in changes:
        if depth + step >= minimum > depth:
            begin = position
        elif depth >= minimum > depth + step:
            covered.append((begin, position))
        depth += step
    return union(covered)


def trim_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """Remove white space from the ends of ranges; ranges that hold only white space are left out."""
    parts = []
    for start, end in spans:
        if tail := text[start:end].lstrip():
            parts.append((end - len(tail), end - len(tail) + len(tail.rstrip())))
    return parts


def count_characters(spans: Iterable[Span]) -> int:
    """Count the characters in a set of ranges."""
    return sum(end - start for start, end in union(spans))
