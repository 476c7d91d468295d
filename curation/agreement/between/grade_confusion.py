"""Which grades are taken for which: the confusion table of all doubly judged pairs.

Nobody knows the true grade here, so the table has no true side: it is symmetric, and a row says what the
others said where one annotator gave this grade. Who of two grades higher is in `annotator_pairs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from curation.agreement.between.coefficients import meetings
from curation.agreement.between.inter_annotator import Basis


@dataclass(frozen=True)
class GradeConfusion:
    """How grades met.

    Attributes
    ----------
    pairs: pairs of grades of one unit, by the two grades: [row][column] and [column][row] are the same count.
    coincidences: the same with each grade counting alike (Krippendorff): a row sums to the grade's count.
    shares: where one annotator gave the row's grade, how often another gave the column's; None for a grade
        that nobody gave.
    """

    scale: tuple[int, ...]
    pairs: tuple[tuple[int, ...], ...]
    coincidences: tuple[tuple[float, ...], ...]
    shares: tuple[tuple[float, ...] | None, ...]


def confusion(basis: Basis, scale: Sequence[int]) -> GradeConfusion:
    """The confusion table of doubly judged pairs; counts in the order of the scale."""
    met = meetings(basis.counts, np.zeros(len(basis.counts), dtype=np.int64), 1)
    both = np.rint(met.meetings[0]).astype(np.int64)
    both[np.diag_indices(len(scale))] //= 2
    coincidences = met.coincidences[0]
    given = coincidences.sum(axis=1)
    return GradeConfusion(
        scale=tuple(scale),
        pairs=tuple(tuple(row) for row in both.tolist()),
        coincidences=tuple(tuple(row) for row in coincidences.tolist()),
        shares=tuple(
            tuple((row / total).tolist()) if total else None
            for row, total in zip(coincidences, given, strict=True)
        ),
    )
