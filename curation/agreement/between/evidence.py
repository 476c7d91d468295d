"""Agreement on evidence: whether annotators mark the same characters of a document.

A unit is a pair of which two annotators or more marked something. Each figure is a function of sums over
queries, as those of grades are.

    F1   of each two annotators of a pair, their common characters: 2 |A ∩ B| / (|A| + |B|); the mean
    αU   Krippendorff's unitising alpha of marked against unmarked. By chance alone, ranges of the same
         lengths would be anywhere in the text.

αU is |uα of K. Krippendorff, Y. Mathet, S. Bouvry and A. Widlöcher (2016), On the reliability of unitizing
textual continua: Further developments, Quality & Quantity 50, with the texts of all pairs one after the
other. A pair with m annotators weighs as m of its lengths.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from curation.agreement.between.inter_annotator import (
    AgreementFigure,
    Size,
    ends_of,
    figure_of,
    studentised,
    times_drawn,
)
from curation.settling.decisions import Pair
from curation.settling.evidence import PairMarks
from curation.spans import Span, intersection, size
from curation.statistics.arrays import Floats
from curation.statistics.intervals import MINIMUM_QUERIES, RESAMPLES, Sums, resampled_figures


@dataclass(frozen=True)
class EvidenceAgreement:
    """What can be said about the marks of annotators.

    Attributes
    ----------
    apart: units of which some two annotators have no character in common.
    f1, alpha_u: with their 95 % intervals, by query.
    """

    units: int
    queries: int
    apart: int
    f1: AgreementFigure
    alpha_u: AgreementFigure


class _Overlaps(NamedTuple):
    """What a unit adds to the sums of its query.

    f1, meetings: the F1 of each two annotators, summed, and how many there are. length: characters of the
    text, once an annotator. marked: characters that were marked, once an annotator. apart: of these the ones
    that another did not mark, as the share of the others. squares: of the lengths of ranges.
    """

    f1: float
    meetings: int
    length: int
    marked: int
    apart: float
    squares: int


def evidence_agreement(
    marks: Mapping[Pair, PairMarks],
    lengths: Mapping[str, int],
    seed: int,
    among: Collection[str] | None = None,
    resamples: int = RESAMPLES,
) -> EvidenceAgreement | None:
    """The agreement of those who marked; None where nobody marked anything.

    Parameters
    ----------
    lengths: content hash → characters of the body. among: only these annotators; None is everybody.
    """
    if not marks:
        return None
    found: list[tuple[str, _Overlaps]] = []
    apart = 0
    for (query_id, _), one in sorted(marks.items()):
        people = [each.spans for each in one.people if among is None or each.annotator in among]
        if len(people) >= 2:
            found.append((query_id, overlaps(people, lengths[one.content_hash])))
            apart += any(not intersection(*two) for two in combinations(people, 2))
    names = {name: place for place, name in enumerate(dict.fromkeys(name for name, _ in found))}
    sums = np.zeros((len(names), len(_Overlaps._fields)))
    for name, row in found:
        sums[names[name]] += row
    counts = Size(units=len(found), pairs=int(sums[:, 1].sum()), queries=len(names))
    return EvidenceAgreement(len(found), len(names), apart, *_figures(sums, counts, seed, resamples))


def overlaps(people: Sequence[Iterable[Span]], length: int) -> _Overlaps:
    """The sums of one text that two people or more marked.

    Parameters
    ----------
    people: the ranges of each; ranges that touch are units of their own. length: of the text.
    """
    ranges = [list(spans) for spans in people]
    sizes = [size(spans) for spans in ranges]
    common = {
        two: size(intersection(*(ranges[one] for one in two))) for two in combinations(range(len(ranges)), 2)
    }
    return _Overlaps(
        f1=sum(2 * both / (sizes[one] + sizes[other]) for (one, other), both in common.items()),
        meetings=len(common),
        length=length * len(ranges),
        marked=sum(sizes),
        apart=sum(sizes) - 2 * sum(common.values()) / (len(ranges) - 1),
        squares=sum((end - start) ** 2 for spans in ranges for start, end in spans),
    )


def figures_of_sums(sums: Floats) -> Floats:
    """Sums as of `_Overlaps`, shape (r, 6) → F1 and αU, shape (r, 2); NaN where one is undefined."""
    f1, meetings, length, marked, apart, squares = sums.T
    unmarked = length - marked
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = length * marked * unmarked / (length**2 - squares - unmarked)
        return np.stack([f1 / meetings, np.where(chance > 0, 1 - apart / chance, np.nan)], axis=1)


def _figures(sums: Floats, counts: Size, seed: int, resamples: int) -> list[AgreementFigure]:
    # Each column in units of its own total: the studentised intervals move all columns by the same step.
    totals = np.maximum(sums.sum(axis=0), 1)

    def figures(drawn: Floats) -> Floats:
        return figures_of_sums(drawn * totals)

    shares, queries = sums / totals, len(sums)
    drawn = np.empty((0, 2))
    if queries >= MINIMUM_QUERIES:
        (drawn,) = resampled_figures([Sums(np.arange(queries), shares, figures)], queries, seed, resamples)
    points = figures(shares.sum(axis=0, keepdims=True))[0]
    student = studentised(shares, times_drawn(queries, seed, resamples), figures)
    return [
        figure_of(float(points[place]), drawn[:, place], counts, student=ends_of(student, place))
        for place in range(2)
    ]
