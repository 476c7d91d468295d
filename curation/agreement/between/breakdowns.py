"""Agreement in parts: by query type, by grade boundary, by week, and with one annotator left out.

Every part is drawn with the whole: a resample draws queries of all the doubly judged ones, and a part gets
those of them that are its own. So the interval of a part takes in that its size is chance too, and a part
can be compared with the whole resample by resample.
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
from curation.agreement.between.inter_annotator import (
    AgreementFigure,
    Alpha,
    Basis,
    RawAgreement,
    Size,
    alpha_figure,
    basis_of,
    ends_of,
    figure_of,
    raw_figure,
    studentised,
    times_drawn,
)
from curation.statistics.arrays import Floats, Ints
from curation.statistics.intervals import RESAMPLES, Sums, resampled_figures

NO_TAG = "no tag"
ROWS_AT_ONCE = 50_000
"""Grades of annotators whose sums are made together."""


@dataclass(frozen=True)
class Part:
    """Agreement on a part of the doubly judged pairs.

    Attributes
    ----------
    kind: 'tag', 'stratum', 'segment', 'boundary', 'without' (an annotator left out) or 'week'.
    name: the tag, the stratum, '0|1', the annotator, or the week's Monday.
    queries: how many the part's pairs belong to.
    alpha: ordinal; at a boundary of the two sides, where all levels of measurement are one.
    raw: the share of equal grades; at a boundary, of grades on the same side.
    marginals: how often each grade was given; at a boundary, each side.
    difference: the part's alpha less the whole's, on the same resamples; for an annotator left out.
    boundaries: of a week: agreement at each boundary in that week.
    """

    kind: str
    name: str
    queries: int
    alpha: Alpha
    raw: RawAgreement
    marginals: tuple[int, ...]
    difference: AgreementFigure | None = None
    boundaries: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Breakdown:
    """Parts by kind. A query with two tags is in both parts; a pair is in the week of its latest grade.

    `untimed` pairs are in no week, because all their grades were imported without a time.
    """

    type: tuple[Part, ...]
    boundary: tuple[Part, ...]
    annotator: tuple[Part, ...]
    week: tuple[Part, ...]
    untimed: int = 0


class _Slice(NamedTuple):
    """A part's size and grades, and what it sums to per query of the whole (or, for an annotator left out,
    what is taken away from the whole's sums)."""

    kind: str
    name: str
    size: Size
    marginals: Ints
    sums: Sums


def breakdown(
    grades: Grades, scale: Sequence[int], types: Types, seed: int, resamples: int = RESAMPLES
) -> Breakdown:
    """Agreement by query type, boundary, annotator left out and week.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    counts = value_counts(grades, scale)
    basis = basis_of(counts, grades.unit_queries)
    if not len(basis.counts):
        return Breakdown((), (), (), ())
    whole = _slice("whole", "", basis, np.ones(len(basis.counts), dtype=bool))
    weeks = _weeks(basis, grades)
    slices = [*_by_type(basis, grades, types), *_by_week(basis, weeks)]
    without = list(_without_each(basis, grades, scale))
    parts = [one.sums for one in (whole, *slices, *without)]
    first, *drawn = resampled_figures(parts, basis.number, seed, resamples)
    values = np.asarray(scale, dtype=np.float64)
    times = times_drawn(basis.number, seed, resamples)
    found = [
        _part(one, _per_query(one), _both(sums, values), values, times)
        for one, sums in zip(slices, drawn, strict=False)
    ]
    rest = zip(without, drawn[len(slices) :], strict=True)
    alpha = float(_both(_per_query(whole).sum(axis=0, keepdims=True), values)[0, 0])
    everybody = _Everybody(whole, first, alpha, _both(first, values)[:, 0])
    return Breakdown(
        type=tuple(part for part in found if part.kind != "week"),
        boundary=_boundaries(whole, first, scale, times),
        annotator=tuple(_left_out(one, everybody, sums, values, times) for one, sums in rest),
        week=tuple(
            replace(part, boundaries=_boundaries(one, sums, scale, times))
            for part, one, sums in zip(found, slices, drawn, strict=False)
            if part.kind == "week"
        ),
        untimed=int(np.isnat(weeks).sum()),
    )


def _by_type(basis: Basis, grades: Grades, types: Types) -> list[_Slice]:
    asked = grades.unit_queries[basis.units]
    tagged = frozenset[str]().union(*types.tags.values())
    untagged = {NO_TAG: frozenset(grades.query_ids) - tagged} if types.tags else {}
    groups = [
        *(("tag", name, found) for name, found in {**types.tags, **untagged}.items()),
        *(("stratum", name, found) for name, found in types.strata.items()),
        *(("segment", name, found) for name, found in types.segments.items()),
    ]
    masks = [
        (kind, name, np.fromiter((query in found for query in grades.query_ids), bool)[asked])
        for kind, name, found in groups
    ]
    return [_slice(kind, name, basis, mask) for kind, name, mask in masks if mask.any()]


def _weeks(basis: Basis, grades: Grades) -> NDArray[np.datetime64]:
    """The week of each pair's latest grade; NaT, which is the smallest integer, where none has a time."""
    latest = np.full(len(grades.documents), np.iinfo(np.int64).min)
    np.maximum.at(latest, grades.units[grades.graded], grades.weeks[grades.graded].astype(np.int64))
    return latest[basis.units].astype("datetime64[D]")


def _by_week(basis: Basis, weeks: NDArray[np.datetime64]) -> list[_Slice]:
    found = np.unique(weeks[~np.isnat(weeks)])
    return [_slice("week", str(week), basis, weeks == week) for week in found]


def _slice(kind: str, name: str, basis: Basis, mask: NDArray[np.bool_]) -> _Slice:
    counts = basis.counts[mask]
    queries, local = np.unique(basis.queries[mask], return_inverse=True)
    size = Basis(basis.units[mask], counts, local, len(queries)).size
    sums = Sums(queries, _columns(counts, local, len(queries)), _same)
    return _Slice(kind, name, size, counts.sum(axis=0), sums)


def _without_each(basis: Basis, grades: Grades, scale: Sequence[int]) -> Iterator[_Slice]:
    """What each annotator adds to the sums, to be taken away again: their own pairs only, so that many
    annotators cost as much as few."""
    place = np.full(len(grades.documents), -1)
    place[basis.units] = np.arange(len(basis.units))
    rows = np.flatnonzero(grades.graded & (place[grades.units] >= 0))
    rows = rows[np.argsort(grades.people[rows], kind="stable")]
    people, steps = grades.people[rows], np.searchsorted(scale, grades.grades[rows])
    units, per_query = place[grades.units[rows]], np.bincount(basis.queries)
    starts = np.flatnonzero(np.diff(people, prepend=-1))
    blocks = np.unique(starts // ROWS_AT_ONCE, return_index=True)[1].tolist()
    for first, last in pairwise([*blocks, len(starts)]):
        own = slice(starts[first], starts[last] if last < len(starts) else len(people))
        yield from _without(basis, grades.names, people[own], units[own], steps[own], per_query)


def _without(
    basis: Basis, names: Sequence[str], people: Ints, units: Ints, steps: Ints, per_query: Ints
) -> Iterator[_Slice]:
    """The slices of some annotators, whose grades follow each other; their sums are made at once."""
    before = basis.counts[units]
    after = before.copy()
    after[np.arange(len(units)), steps] -= 1
    whose, local = np.unique(people * len(per_query) + basis.queries[units], return_inverse=True)
    change = _columns(before, local, len(whose)) - _columns(after, local, len(whose))
    lone = after.sum(axis=1) < 2
    owners, queries = np.divmod(whose, len(per_query))
    gone = np.bincount(local[lone], minlength=len(whose)) == per_query[queries]
    for person in np.unique(people):
        own = slice(np.searchsorted(people, person), np.searchsorted(people, person, "right"))
        asked = slice(np.searchsorted(owners, person), np.searchsorted(owners, person, "right"))
        left = after[own]
        size = Size(int(lone[own].sum()), int(left.sum()), int(gone[asked].sum()))
        dropped = before[own].sum(axis=0) - (left * ~lone[own, None]).sum(axis=0)
        sums = Sums(queries[asked], change[asked], _same)
        yield _Slice("without", names[person], size, dropped, sums)


def _columns(counts: Ints, queries: Ints, number: int) -> Floats:
    """Meetings and coincidences of each query, shape (queries, 2 · values²)."""
    met = meetings(counts, queries, number)
    both = (met.meetings.reshape(number, -1), met.coincidences.reshape(number, -1))
    return np.concatenate(both, axis=1)


def _same(sums: Floats) -> Floats:
    return sums


def _per_query(part: _Slice) -> Floats:
    sums = part.sums.sums
    assert isinstance(sums, np.ndarray)
    return sums


def _both(sums: Floats, scale: Floats) -> Floats:
    """Alpha and raw agreement of stacked sums, shape (R, 2)."""
    stacked = sums.reshape(-1, 2, len(scale), len(scale))
    return np.stack([alpha_of(stacked[:, 1], scale, "ordinal"), raw_of(stacked[:, 0])], axis=1)


def _part(one: _Slice, per_query: Floats, values: Floats, scale: Floats, times: Floats | None) -> Part:
    """A part of what its queries sum to, shape (q, K), and the figures of its resamples, shape (R, 2)."""
    points = _both(per_query.sum(axis=0, keepdims=True), scale)[0]
    drawn_of_part = None if times is None else times[:, one.sums.queries]
    student = studentised(per_query, drawn_of_part, lambda sums: _both(sums, scale))
    return Part(
        kind=one.kind,
        name=one.name,
        queries=one.size.queries,
        alpha=alpha_figure(points[0], values[:, 0], one.size, ends_of(student, 0)),
        raw=raw_figure(points[1], values[:, 1], one.size, ends_of(student, 1)),
        marginals=tuple(one.marginals.tolist()),
    )


class _Everybody(NamedTuple):
    """The whole that annotators are left out of, with its alpha and those of its resamples: made once."""

    whole: _Slice
    drawn: Floats
    alpha: float
    alphas: Floats


def _left_out(one: _Slice, everybody: _Everybody, drawn: Floats, scale: Floats, times: Floats | None) -> Part:
    """The part without an annotator, from what is taken away."""
    whole = everybody.whole
    size = Size(*(all_ - gone for all_, gone in zip(whole.size, one.size, strict=True)))
    per_query = _per_query(whole).copy()
    per_query[one.sums.queries] = np.maximum(per_query[one.sums.queries] - _per_query(one), 0.0)
    left = whole._replace(kind=one.kind, name=one.name, size=size, marginals=whole.marginals - one.marginals)
    values = _both(np.maximum(everybody.drawn - drawn, 0.0), scale)
    part = _part(left, per_query, values, scale, times)
    alpha = np.nan if part.alpha.alpha is None else part.alpha.alpha
    return replace(part, difference=figure_of(alpha - everybody.alpha, values[:, 0] - everybody.alphas, size))


def _boundaries(whole: _Slice, drawn: Floats, scale: Sequence[int], times: Floats | None) -> tuple[Part, ...]:
    """The two sides of each boundary as a scale of two."""
    values, two, found = len(scale), np.arange(2.0), []
    for cut, (lower, upper) in enumerate(pairwise(scale), start=1):
        side = np.stack([np.arange(values) < cut, np.arange(values) >= cut]).astype(np.float64)
        per_query, resampled = (
            (side @ sums.reshape(-1, 2, values, values) @ side.T).reshape(len(sums), -1)
            for sums in (_per_query(whole), drawn)
        )
        marginals = (side @ whole.marginals).astype(np.int64)
        one = whole._replace(kind="boundary", name=f"{lower}|{upper}", marginals=marginals)
        found.append(_part(one, per_query, _both(resampled, two), two, times))
    return tuple(found)
