"""Agreement on evidence: whether annotators mark the same characters of a document.

A unit is a pair of which two annotators or more marked something. Each two annotators of a pair are compared
by the F1 of their characters: 2 |A ∩ B| / (|A| + |B|). The figure is the mean over all comparisons.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from curation.agreement.between.inter_annotator import (
    FEW_QUERIES,
    MINIMUM_UNITS,
    NO_UNITS,
    RARE_VARIATION,
    AgreementFigure,
)
from curation.core.spans import Span, intersection, size
from curation.core.statistics.arrays import Floats
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.labeling.consensus.decisions import Pair
from curation.labeling.consensus.evidence import PairMarks


@dataclass(frozen=True)
class EvidenceAgreement:
    """What can be said about the marks of annotators.

    Attributes
    ----------
    apart: units of which some two annotators have no character in common.
    f1: with its 95 % interval, by query.
    """

    units: int
    queries: int
    apart: int
    f1: AgreementFigure


def evidence_agreement(
    marks: Mapping[Pair, PairMarks], among: Collection[str] | None = None
) -> EvidenceAgreement | None:
    """The agreement of those who marked; None where nobody marked anything.

    Parameters
    ----------
    among: only these annotators are compared; None is everybody.
    """
    if not marks:
        return None
    sums: dict[str, Floats] = {}
    units = apart = 0
    for (query_id, _), pair in sorted(marks.items()):
        people = [list(each.spans) for each in pair.people if among is None or each.annotator in among]
        if len(people) >= 2:
            sums[query_id] = sums.get(query_id, np.zeros(2)) + f1_sums(people)
            units += 1
            apart += any(not intersection(*two) for two in combinations(people, 2))
    table = np.array(list(sums.values())).reshape(-1, 2)
    return EvidenceAgreement(units, len(table), apart, _figure(table, units))


def f1_sums(people: Sequence[Iterable[Span]]) -> tuple[float, int]:
    """The F1 of each two people of one text, summed, and how many comparisons there are."""
    comparisons = list(combinations([list(spans) for spans in people], 2))
    return (
        sum(2 * size(intersection(*two)) / (size(two[0]) + size(two[1])) for two in comparisons),
        len(comparisons),
    )


def _figure(sums: Floats, units: int) -> AgreementFigure:
    """The mean F1 with its interval: Student's t on the logit, from the figures without each query.

    Parameters
    ----------
    sums: F1 summed and comparisons of each query, shape (queries, 2).
    """
    from scipy.special import expit, logit, stdtrit

    queries, total = len(sums), sums.sum(axis=0)
    pairs = int(total[1])
    if not pairs:
        return AgreementFigure(None, None, None, units, pairs, NO_UNITS)
    value, few = float(total[0] / total[1]), units < MINIMUM_UNITS
    if queries < MINIMUM_QUERIES:
        return AgreementFigure(value, None, None, units, pairs, None, FEW_QUERIES, few)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = (total[0] - sums[:, 0]) / (total[1] - sums[:, 1])
        error = np.sqrt((queries - 1) * without.var())
        half = stdtrit(queries - 1, 0.975) * error / (value * (1 - value))
        low, high = expit(logit(value) - half), expit(logit(value) + half)
    if error < 1e-9:
        low = high = value
    if not np.isfinite(low + high):
        return AgreementFigure(value, None, None, units, pairs, None, RARE_VARIATION, few)
    return AgreementFigure(value, float(low), float(high), units, pairs, None, None, few)
