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
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from curation.agreement.between.inter_annotator import AgreementFigure, Ends, Size, figure_of
from curation.settling.decisions import Pair
from curation.settling.evidence import PairMarks
from curation.spans import Span, intersection, size
from curation.statistics.arrays import Floats

LOWEST = np.array([0.0, -1.0])
"""The least values of F1 and αU."""
FEWEST_QUERIES = 25
"""With fewer queries the intervals of αU held the truth in 88 to 91 % of samples of real marks."""
FEW_FOR_ALPHA_U = f"no interval: of fewer than {FEWEST_QUERIES} queries it holds too rarely"


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
    among: Collection[str] | None = None,
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
    return EvidenceAgreement(len(found), len(names), apart, *_figures(sums, counts))


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


def _figures(sums: Floats, counts: Size) -> list[AgreementFigure]:
    """F1 and αU with their intervals: Student's t on the logit, from the figures without each query.

    On real marks these held as often as studentised ones at half the width, see docs/agreement.md.
    """
    from scipy.special import expit, logit, stdtrit

    queries, total = len(sums), sums.sum(axis=0, keepdims=True)
    value, without = figures_of_sums(total)[0], figures_of_sums(total - sums)
    error = np.sqrt((queries - 1) * without.var(axis=0)) if queries > 1 else np.full(2, np.nan)
    share, reach = (value - LOWEST) / (1 - LOWEST), stdtrit(max(queries - 1, 1), 0.975)
    with np.errstate(divide="ignore", invalid="ignore"):
        half = reach * error / ((1 - LOWEST) * share * (1 - share))
        low, high = (LOWEST + (1 - LOWEST) * expit(logit(share) + sign * half) for sign in (-1, 1))
    known = np.where((error < 1e-9) | np.isfinite(low + high), value, np.nan)
    f1, alpha_u = (
        figure_of(float(value[at]), known[at : at + 1], counts, student=Ends(low[at], high[at]))
        for at in range(2)
    )
    if alpha_u.low is not None and queries < FEWEST_QUERIES:
        alpha_u = replace(alpha_u, low=None, high=None, no_interval=FEW_FOR_ALPHA_U)
    return [f1, alpha_u]
