"""Spans: sets of characters of a text, as half-open ranges in order.

A set of characters has one normal form: ranges that are not empty, in order, and that neither overlap nor
touch. So two sets are equal if their normal forms are equal. All functions here take ranges in any order and
return the normal form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

Span = tuple[int, int]  # the position of the first character, and the position after the last
Spans = tuple[Span, ...]  # a set of characters in normal form


def union(spans: Iterable[Span]) -> Spans:
    """Compute the union of the ranges: the characters that are in at least one range."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)


def intersection(spans: Iterable[Span], other: Iterable[Span]) -> Spans:
    """Compute the intersection: the characters that are in both sets."""
    return covered_by_at_least([spans, other], 2)


def difference(spans: Iterable[Span], other: Iterable[Span]) -> Spans:
    """Compute the characters of the first set that are not in the other set."""
    first = union(spans)
    edges = [0, *chain.from_iterable(union(other)), max((end for _, end in first), default=0)]
    return intersection(first, zip(edges[::2], edges[1::2], strict=True))


def covered_by_at_least(sets: Sequence[Iterable[Span]], least: int) -> Spans:
    """Compute the characters that are in at least `least` of the sets."""
    changes = sorted(
        (position, step)
        for spans in sets
        for start, end in union(spans)
        for position, step in ((start, 1), (end, -1))
    )
    covered: list[Span] = []
    depth = begin = 0
    for position, step in changes:
        if depth + step >= least > depth:
            begin = position
        elif depth >= least > depth + step:
            covered.append((begin, position))
        depth += step
    return union(covered)


def trim_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """Remove white space at the ends of ranges; ranges with only white space are left out."""
    inner = []
    for start, end in spans:
        if piece := text[start:end].lstrip():
            inner.append((end - len(piece), end - len(piece) + len(piece.rstrip())))
    return inner


def count_characters(spans: Iterable[Span]) -> int:
    """Count the characters of the set."""
    return sum(end - start for start, end in union(spans))
