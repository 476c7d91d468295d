"""Agreement between annotators: Krippendorff's alpha, and the plain share beside it.

A unit is a (query, document) pair with at least two grades. Blind duplicates never enter, cannot-tell is
counted apart. The point estimates are the krippendorff package's; the bootstrap sums coincidence matrices
that were computed once per query, which is the same formula some thousand times faster.

K. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import krippendorff
import numpy as np
from numpy.typing import NDArray

from curation.agreement.intervals import RESAMPLES, Floats, percentile_interval, resampled
from curation.errors import RefusedError
from curation.store import Cursor

Ints = NDArray[np.int64]

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
MINIMUM_UNITS = 10
"""With fewer units a figure is marked as resting on too few."""

NO_UNITS = "no pair has grades of two annotators"
NO_VARIATION = "no variation: every grade of the doubly judged pairs is the same, so chance explains all"
ONE_QUERY = "no interval: all units belong to one query"
RARE_VARIATION = "no interval: too many resamples have no variation"


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha at one level of measurement with its 95 % interval.

    Attributes
    ----------
    alpha, low, high: None where undefined.
    units: pairs with at least two grades.
    undefined: why there is no alpha; None when there is one.
    no_interval: why there is an alpha without an interval.
    too_few: fewer than `MINIMUM_UNITS` units: not a figure to show.
    """

    alpha: float | None
    low: float | None
    high: float | None
    units: int
    undefined: str | None = None
    no_interval: str | None = None
    too_few: bool = False


@dataclass(frozen=True)
class RawAgreement:
    """The share of equal grades among all pairs of grades that one document got for one query.

    `pairs` is the number of such pairs of grades; three annotators on one document make three.
    """

    share: float | None
    low: float | None
    high: float | None
    pairs: int
    units: int
    undefined: str | None = None
    no_interval: str | None = None
    too_few: bool = False


@dataclass(frozen=True)
class Between:
    """Agreement between annotators, and what it rests on.

    Attributes
    ----------
    units: pairs with at least two grades, from `queries` queries.
    single: pairs with one grade only, which say nothing about agreement.
    annotators, judgments: who graded and how often, single pairs included.
    cannot_tell: judgments without a grade, kept apart.
    """

    nominal: Alpha
    ordinal: Alpha
    interval: Alpha
    raw: RawAgreement
    units: int
    queries: int
    single: int
    annotators: int
    judgments: int
    cannot_tell: int


class Grades(NamedTuple):
    """Grades in long form, one voice per annotator and pair.

    Attributes
    ----------
    queries, units: shape (J,), the query and the (query, document) pair of each grade, numbered from 0
        in the order of their ids.
    grades: shape (J,).
    """

    queries: Ints
    units: Ints
    grades: Ints
    annotators: int
    cannot_tell: int


def read_grades(cursor: Cursor, round_id: str | None = None) -> Grades:
    """The grades that count: of the whole project, or those that were given in one round."""
    voices, parameters = voices_of(round_id)
    columns = cursor.execute(
        f"""
        SELECT dense_rank() OVER (ORDER BY query_id) - 1 AS query,
               dense_rank() OVER (ORDER BY query_id, document_id) - 1 AS unit,
               dense_rank() OVER (ORDER BY annotator) - 1 AS annotator,
               kind = 'grade' AS graded, coalesce(grade, 0) AS grade
        FROM {voices} ORDER BY unit, annotator
        """,  # noqa: S608
        parameters,
    ).fetchnumpy()
    graded = np.asarray(columns["graded"], dtype=bool)
    queries, units, grades = (
        np.asarray(columns[name], dtype=np.int64)[graded] for name in ("query", "unit", "grade")
    )
    annotators = int(np.max(columns["annotator"], initial=-1)) + 1
    return Grades(queries, units, grades, annotators, int((~graded).sum()))


def voices_of(round_id: str | None) -> tuple[str, list[str]]:
    """The relation with one voice per annotator and pair, and its parameters.

    For a round these are the judgments given in it, also where a later round has asked again.
    """
    if round_id is None:
        return "counted_judgments", []
    return "(SELECT * FROM current_judgments WHERE duplicate_of IS NULL AND round_id = ?)", [round_id]


def between(grades: Grades, scale: Sequence[int], seed: int, resamples: int = RESAMPLES) -> Between:
    """Agreement between annotators on an ordered scale.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    counts, unit_queries = value_counts(grades, scale)
    given = counts.sum(axis=1)
    units = given >= 2
    counts, (_, queries) = counts[units], np.unique(unit_queries[units], return_inverse=True)
    alphas = _alphas(counts, queries, np.asarray(scale, dtype=np.float64), seed, resamples)
    return Between(
        **alphas,
        raw=_raw(counts, queries, seed, resamples),
        units=len(counts),
        queries=int(queries.max(initial=-1)) + 1,
        single=int((given == 1).sum()),
        annotators=grades.annotators,
        judgments=len(grades.grades),
        cannot_tell=grades.cannot_tell,
    )


def value_counts(grades: Grades, scale: Sequence[int]) -> tuple[Ints, Ints]:
    """How often each unit got each grade of the scale, shape (units, values), and each unit's query.

    Raises
    ------
    RefusedError: grades that are not on the scale.
    """
    values = np.asarray(scale, dtype=np.int64)
    _refuse_outside(grades.grades, values)
    number = int(grades.units.max(initial=-1)) + 1
    cells = grades.units * len(values) + np.searchsorted(values, grades.grades)
    counts = np.bincount(cells, minlength=number * len(values)).reshape(number, len(values))
    queries = np.zeros(number, dtype=np.int64)
    queries[grades.units] = grades.queries
    return counts.astype(np.int64), queries


def coincidences(counts: Ints, queries: Ints) -> Floats:
    """Coincidence matrices per query, shape (queries, values²), from the counts of units with ≥ 2 grades.

    A unit with m grades adds each ordered pair of its grades with weight 1 / (m − 1).
    """
    number, values = int(queries.max()) + 1, counts.shape[1]
    shares = counts / (counts.sum(axis=1, keepdims=True) - 1)
    matrix = np.empty((number, values, values))
    for one in range(values):
        for other in range(one, values):
            pairs = shares[:, one] * (counts[:, other] - (one == other))
            matrix[:, one, other] = matrix[:, other, one] = np.bincount(queries, pairs, number)
    return matrix.reshape(number, values * values)


def alpha_of(matrices: Floats, scale: Floats, level: Level) -> Floats:
    """Alpha of coincidence matrices, shape (R, values, values) → (R,); NaN where there is no variation.

    Ordinal distances are interval distances between the values' middle ranks.
    """
    marginals = matrices.sum(axis=2)
    total = marginals.sum(axis=1)
    if level == "nominal":
        distances = np.broadcast_to(1.0 - np.eye(len(scale)), matrices.shape)
    else:
        middle = np.cumsum(marginals, axis=1) - marginals / 2
        places = middle if level == "ordinal" else np.broadcast_to(scale, marginals.shape)
        distances = (places[:, :, None] - places[:, None, :]) ** 2
    observed = (matrices * distances).sum(axis=(1, 2))
    expected = np.einsum("rc,rk,rck->r", marginals, marginals, distances) / (total - 1)
    share: Floats = np.divide(observed, expected, out=np.full(len(total), np.nan), where=expected > 0)
    return 1 - share


def _alphas(counts: Ints, queries: Ints, scale: Floats, seed: int, resamples: int) -> dict[str, Alpha]:
    units = len(counts)
    if units == 0 or np.count_nonzero(counts.sum(axis=0)) < 2:
        reason = NO_UNITS if units == 0 else NO_VARIATION
        return {level: Alpha(None, None, None, units, reason) for level in LEVELS}
    per_query = coincidences(counts, queries)
    shape = (-1, len(scale), len(scale))
    values: dict[str, list[Floats]] = {level: [] for level in LEVELS}
    if len(per_query) > 1:
        for block in resampled(per_query, seed, resamples):
            for level in LEVELS:
                values[level].append(alpha_of(block.reshape(shape), scale, level))
    return {level: _alpha(counts, scale, level, values[level]) for level in LEVELS}


def _alpha(counts: Ints, scale: Floats, level: Level, values: list[Floats]) -> Alpha:
    point = krippendorff.alpha(value_counts=counts, value_domain=scale, level_of_measurement=level)
    low, high, why = _interval(values, RARE_VARIATION)
    few = len(counts) < MINIMUM_UNITS
    return Alpha(float(point), low, high, len(counts), no_interval=why, too_few=few)


def _interval(values: list[Floats], rare: str) -> tuple[float | None, float | None, str | None]:
    if not values:
        return None, None, ONE_QUERY
    ends = percentile_interval(np.concatenate(values))
    return (*ends, None) if ends else (None, None, rare)


def _raw(counts: Ints, queries: Ints, seed: int, resamples: int) -> RawAgreement:
    if len(counts) == 0:
        return RawAgreement(None, None, None, 0, 0, NO_UNITS)
    given = counts.sum(axis=1)
    equal, pairs = (counts * (counts - 1)).sum(axis=1) / 2, given * (given - 1) / 2
    sums = [np.bincount(queries, weights=values) for values in (equal, pairs)]
    per_query = np.stack(sums, axis=1).astype(np.float64)
    blocks = resampled(per_query, seed, resamples) if len(per_query) > 1 else ()
    low, high, why = _interval([block[:, 0] / block[:, 1] for block in blocks], RARE_VARIATION)
    share = float(equal.sum() / pairs.sum())
    few = len(counts) < MINIMUM_UNITS
    return RawAgreement(share, low, high, int(pairs.sum()), len(counts), no_interval=why, too_few=few)


def _refuse_outside(grades: Ints, scale: Ints) -> None:
    outside, times = np.unique(grades[~np.isin(grades, scale)], return_counts=True)
    if len(outside):
        found = ", ".join(f"{grade} ({count:,} times)" for grade, count in zip(outside, times, strict=True))
        raise RefusedError(
            f"Grades that are not on the guide's scale ({', '.join(map(str, scale))}): {found}. Grades of "
            "two scales cannot be compared: look at one round at a time with --round NAME."
        )
