"""Blind duplicates that an annotator graded twice, each of a query of its own."""

from __future__ import annotations

from curation.agreement.intra_annotator import Repeats


def repeats(
    annotator: str, planted: int, graded: int, identical: int, cannot_tell: int, distance: float | None
) -> Repeats:
    """The repeats of an annotator; `identical` of the `graded` ones got the same grade twice."""
    alike = [1] * identical + [0] * (graded - identical)
    return Repeats(annotator, planted, [1] * graded, alike, cannot_tell, distance)
