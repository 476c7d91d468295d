"""Agreement in parts: by query type, by grade boundary and by week.

Every part is drawn with the whole: a resample draws queries of all the doubly judged ones, and a part gets
those of them that are its own. So the interval of a part takes in that its size is chance too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.agreement.between.coefficients import alpha_of, meetings, raw_of
from curation.agreement.between.grades import Grades, Types, value_counts
from curation.agreement.between.inter_annotator import AgreementFigure, Basis, Size, basis_of, figure_of
from curation.core.statistics.arrays import Floats, Mask
from curation.core.statistics.intervals import RESAMPLES, Sums, resampled_figures

NO_TAG = "no tag"


@dataclass(frozen=True)
class Part:
    """Agreement on a part of the doubly judged pairs.

    Attributes
    ----------
    kind: 'tag', 'stratum', 'segment', 'boundary' or 'week'.
    name: the tag, the stratum, the segment, '0|1', or the week's Monday.
    queries: how many the part's pairs belong to.
    alpha: ordinal; at a boundary of the two sides, where all levels of measurement are one.
    raw: the share of equal grades; at a boundary, of grades on the same side.
    boundaries: of the whole and of a week: agreement at each boundary.
    """

    kind: str
    name: str
    queries: int
    alpha: AgreementFigure
    raw: AgreementFigure
    boundaries: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Breakdown:
    """Parts by kind. A query with two tags is in both parts; a pair is in the week of its latest grade.

    `untimed` pairs are in no week, because all their grades were imported without a time.
    """

    type: tuple[Part, ...]
    boundary: tuple[Part, ...]
    week: tuple[Part, ...]
    untimed: int = 0


class _Slice(NamedTuple):
    """A part before it has figures: its size, and what its queries sum to, shape (q, 2 · values²)."""

    kind: str
    name: str
    size: Size
    sums: Sums


def breakdown(
    grades: Grades, scale: Sequence[int], types: Types, seed: int, resamples: int = RESAMPLES
) -> Breakdown:
    """Agreement by query type, boundary and week.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    basis = basis_of(value_counts(grades, scale), grades.unit_queries)
    if not len(basis.counts):
        return Breakdown((), (), ())
    weeks = _weeks(basis, grades)
    found = np.unique(weeks[~np.isnat(weeks)])
    slices = [
        _slice("whole", "", basis, np.ones(len(basis.counts), dtype=bool)),
        *_by_type(basis, grades, types),
        *(_slice("week", str(week), basis, weeks == week) for week in found),
    ]
    drawn = resampled_figures([one.sums for one in slices], basis.number, seed, resamples)
    whole, *parts = [
        replace(_part(one, sums, len(scale)), boundaries=_boundaries(one, sums, scale))
        for one, sums in zip(slices, drawn, strict=True)
    ]
    return Breakdown(
        type=tuple(part for part in parts if part.kind != "week"),
        boundary=whole.boundaries,
        week=tuple(part for part in parts if part.kind == "week"),
        untimed=int(np.isnat(weeks).sum()),
    )


def _by_type(basis: Basis, grades: Grades, types: Types) -> Iterator[_Slice]:
    asked = grades.unit_queries[basis.units]
    tagged = frozenset[str]().union(*types.tags.values())
    untagged = {NO_TAG: frozenset(grades.query_ids) - tagged} if types.tags else {}
    kinds = {"tag": {**types.tags, **untagged}, "stratum": types.strata, "segment": types.segments}
    for kind, groups in kinds.items():
        for name, queries in groups.items():
            mask = np.fromiter((query in queries for query in grades.query_ids), bool)[asked]
            if mask.any():
                yield _slice(kind, name, basis, mask)


def _weeks(basis: Basis, grades: Grades) -> NDArray[np.datetime64]:
    """The week of each pair's latest grade; NaT, which is the smallest integer, where none has a time."""
    latest = np.full(len(grades.documents), np.iinfo(np.int64).min)
    np.maximum.at(latest, grades.units[grades.graded], grades.weeks[grades.graded].astype(np.int64))
    return latest[basis.units].astype("datetime64[D]")


def _slice(kind: str, name: str, basis: Basis, mask: Mask) -> _Slice:
    """Meetings and coincidences of each query, side by side in one row."""
    counts = basis.counts[mask]
    queries, local = np.unique(basis.queries[mask], return_inverse=True)
    size = Basis(basis.units[mask], counts, local, len(queries)).size
    met = meetings(counts, local, len(queries))
    columns = [matrix.reshape(len(queries), -1) for matrix in (met.meetings, met.coincidences)]
    sums = Sums(queries, np.concatenate(columns, axis=1), lambda drawn: drawn)
    return _Slice(kind, name, size, sums)


def _part(one: _Slice, drawn: Floats, values: int) -> Part:
    """A part with its figures, from the sums of each resample, shape (R, 2 · values²)."""
    assert isinstance(one.sums.sums, np.ndarray)
    points = _alpha_and_raw(one.sums.sums.sum(axis=0, keepdims=True), values)[0].tolist()
    resampled = _alpha_and_raw(drawn, values).T
    alpha, raw = (figure_of(point, some, one.size) for point, some in zip(points, resampled, strict=True))
    return Part(one.kind, one.name, one.size.queries, alpha, raw)


def _alpha_and_raw(sums: Floats, values: int) -> Floats:
    """Alpha and raw agreement of stacked sums, shape (R, 2)."""
    stacked = sums.reshape(-1, 2, values, values)
    return np.stack([alpha_of(stacked[:, 1], "ordinal"), raw_of(stacked[:, 0])], axis=1)


def _boundaries(whole: _Slice, drawn: Floats, scale: Sequence[int]) -> tuple[Part, ...]:
    """The two sides of each boundary as a scale of two."""
    if whole.kind not in ("whole", "week"):
        return ()
    values, found = len(scale), []
    for cut, (lower, upper) in enumerate(pairwise(scale), start=1):
        side = np.stack([np.arange(values) < cut, np.arange(values) >= cut]).astype(np.float64)
        own, resampled = (
            (side @ sums.reshape(-1, 2, values, values) @ side.T).reshape(len(sums), -1)
            for sums in (whole.sums.sums, drawn)
        )
        one = whole._replace(name=f"{lower}|{upper}", kind="boundary", sums=whole.sums._replace(sums=own))
        found.append(_part(one, resampled, 2))
    return tuple(found)
