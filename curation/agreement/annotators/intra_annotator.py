"""Agreement of each annotator with themselves, on blind duplicates.

A repeat is a pair that was shown to the same annotator twice and graded both times. Of the showing that was
answered first, the answer counts that was in force when the other one was answered: a later change is made by
somebody who has seen both. Repeats close together look falsely consistent. So the distance between the
showings is reported with the share, and the nearer half is compared with the farther one.

Change points: where the share of an annotator's repeats that are graded alike changed, and stayed changed.

At most `LEVEL` of annotators of whom nothing changed get any. Random orders of the same repeats decide, so
that this holds for small numbers too; their seed is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.statistics.arrays import Floats, Ints, Mask
from curation.statistics.intervals import (
    clustered_share,
    effective_size,
    percentile_interval,
    resampled,
    wilson,
)
from curation.statistics.p_values import PERMUTATIONS, sign_p
from curation.store import Cursor, fetch

AnyInts = NDArray[np.integer[Any]]
Times = NDArray[np.datetime64]

LEVEL = 0.05
SHORTEST = 8
"""Repeats on either side of a change point."""


class ChangePoint(NamedTuple):
    """A change point: the shares before and after it, within the stretch that it divides.

    Attributes
    ----------
    place: the number of repeats before it.
    at: when the first repeat after it was graded.
    p: how probable a change as clear, anywhere in the stretch, is where nothing changed; of a change within
        a side of another one no less than that one's.
    """

    place: int
    at: datetime
    before: float
    after: float
    p: float


def change_points(alike: Mask, at: Times, seed: int = 0, falls_only: bool = False) -> tuple[ChangePoint, ...]:
    """Where the share of identical grades changed, by order.

    Binary segmentation: the place with the largest likelihood ratio is a change when a random order has as
    large a one anywhere in at most `LEVEL` of `PERMUTATIONS` cases; then both sides are looked at likewise.
    Where nothing changed, at most `LEVEL` of annotators get any. With `falls_only` a rise is no change, not
    even in the random orders, so falls are found more often.

    A. J. Scott and M. Knott (1974), A cluster analysis method for grouping means, Biometrics 30.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    return tuple(sorted(_changes(alike.astype(np.int8), at, 0, 0.0, random, falls_only)))


def _changes(
    alike: AnyInts, at: Times, start: int, least: float, random: np.random.Generator, falls_only: bool
) -> Iterator[ChangePoint]:
    if len(alike) < 2 * SHORTEST or alike.min() == alike.max():
        return
    ratios = likelihood_ratios(alike[None, :], falls_only)[0]
    place = int(np.round(ratios, 9).argmax())
    p = max(least, _order_p(alike, float(ratios[place]), random, falls_only))
    split = place + SHORTEST
    if p > LEVEL:
        return
    sides = alike[:split], alike[split:]
    yield ChangePoint(start + split, moment(at[split]), float(sides[0].mean()), float(sides[1].mean()), p)
    yield from _changes(sides[0], at[:split], start, p, random, falls_only)
    yield from _changes(sides[1], at[split:], start + split, p, random, falls_only)


def _order_p(alike: AnyInts, ratio: float, random: np.random.Generator, falls_only: bool) -> float:
    """How often a random order has as large a ratio; ten times as many orders where none of the first has.

    Many people are looked at together in a round, so a p of 1 / (1 + `PERMUTATIONS`) would be too coarse.
    """
    found = 1.0
    for number in (PERMUTATIONS, 10 * PERMUTATIONS):
        orders = random.permuted(np.tile(alike, (number, 1)), axis=1)
        as_clear = int((likelihood_ratios(orders, falls_only).max(axis=1) >= ratio - 1e-9).sum())
        found = min(found, (1 + as_clear) / (1 + number))
        if as_clear:
            break
    return found


def likelihood_ratios(rows: AnyInts, falls_only: bool = False) -> Floats:
    """Log-likelihood ratios of a change at each place that leaves `SHORTEST` on both sides; rows are 0, 1.

    With `falls_only` they are 0 where the share after the place is no lower than before it.
    """
    length = rows.shape[1]
    left = np.cumsum(rows, axis=1, dtype=np.int32)[:, SHORTEST - 1 : length - SHORTEST]
    before = np.arange(SHORTEST, length - SHORTEST + 1)
    right = rows.sum(axis=1, keepdims=True) - left
    # Bernoulli's log-likelihood at its maximum is made of k log k for counts k.
    counts = np.arange(length + 1, dtype=np.float64)
    terms = counts * np.log(np.maximum(counts, 1))
    ends: Floats = terms[left] + terms[before - left] + terms[right] + terms[length - before - right]
    whole = terms[left[:, :1] + right[:, :1]] + terms[length - left[:, :1] - right[:, :1]] - terms[length]
    found: Floats = ends - terms[before] - terms[length - before] - whole
    return np.where(right * before < left * (length - before), found, 0.0) if falls_only else found


def weeks_of(at: Times) -> NDArray[np.int64]:
    """Weeks from Monday to Sunday in UTC, numbered as days of their Monday since 1970."""
    days = at.astype("datetime64[D]").astype(np.int64)
    monday: NDArray[np.int64] = days - (days + 3) % 7  # 1970-01-01 was a Thursday
    return monday


def moment(at: np.datetime64) -> datetime:
    """A time of an array as Python's."""
    found: datetime = at.astype("datetime64[us]").astype(datetime)
    return found


MINIMUM_REPEATS = 10
"""With fewer repeats a share is marked as resting on too few."""

NOT_PLANTED = "no blind duplicate was planted"
NOT_JUDGED = "no blind duplicate judged twice yet"
ONE_GRADE = "no variation: one grade on all showings, so chance explains all"


@dataclass(frozen=True)
class IntraAgreement:
    """One annotator's consistency.

    Attributes
    ----------
    identical: share of repeats with the same grade; None where n is 0. Its 95 % interval takes the repeats of
        a query as a cluster.
    n: repeats with a grade on both showings.
    undefined: why there is no share.
    too_few: fewer than `MINIMUM_REPEATS` repeats: not a figure to show.
    planted: blind duplicates among this annotator's presentations, judged or not.
    cannot_tell: repeats with a cannot-tell on either showing, kept apart.
    distance: mean distance between the two showings, in presentations.
    queries, effective: how many queries the repeats are of, and how many independent repeats would tell as
        much; None in releases of earlier goldsets, whose intervals took repeats as independent.
    """

    annotator: str
    identical: float | None
    low: float | None
    high: float | None
    n: int
    undefined: str | None
    too_few: bool
    planted: int
    cannot_tell: int
    distance: float | None
    queries: int | None = None
    effective: float | None = None

    @property
    def why(self) -> str | None:
        """Why there is no figure to rely on; None where there is one."""
        few = f"too few: {self.n} of at least {MINIMUM_REPEATS} blind duplicates judged twice"
        return self.undefined or (few if self.too_few else None)


_ANSWERED_TWICE = """
WITH began AS (
    SELECT presentation_id, min(rowid) AS at FROM judgment_events
    WHERE kind IN ('grade', 'cannot_tell') GROUP BY presentation_id),
shown AS (
    SELECT presentation_id, presentation_id AS showing, true AS repeated FROM presentations
    WHERE duplicate_of IS NOT NULL
    UNION ALL
    SELECT presentation_id, duplicate_of, false FROM presentations WHERE duplicate_of IS NOT NULL),
answered AS (
    SELECT s.presentation_id, s.repeated, arg_max({'kind': e.kind, 'grade': e.grade, 'at': e.submitted_at},
               e.rowid) FILTER (other.at < own.at OR e.rowid < other.at) AS answer
    FROM shown s
    JOIN shown o ON o.presentation_id = s.presentation_id AND o.repeated <> s.repeated
    JOIN began own ON own.presentation_id = s.showing
    JOIN began other ON other.presentation_id = o.showing
    JOIN judgment_events e ON e.presentation_id = s.showing
    GROUP BY ALL),
twice AS (
    SELECT a.presentation_id, a.position - f.position AS distance, one.answer AS one, two.answer AS two
    FROM presentations a JOIN presentations f ON f.presentation_id = a.duplicate_of
    JOIN answered one ON one.presentation_id = a.presentation_id AND NOT one.repeated
    JOIN answered two ON two.presentation_id = a.presentation_id AND two.repeated)
"""


class Repeats(NamedTuple):
    """What one annotator did with their blind duplicates, counted.

    Attributes
    ----------
    graded, identical: repeats with a grade on both showings, and with the same grade, of each query.
    """

    annotator: str
    planted: int
    graded: Sequence[int]
    identical: Sequence[int]
    cannot_tell: int
    distance: float | None


def read_repeats(cursor: Cursor, round_id: str | None = None) -> list[Repeats]:
    """Everyone with presentations in the round, or in any but pilot and practice rounds, by name."""
    return fetch(
        cursor,
        Repeats,
        f"""
        {_ANSWERED_TWICE},
        of_query AS (
            SELECT p.annotator, p.query_id,
                   count(p.duplicate_of) AS planted,
                   count(*) FILTER (one.kind = 'grade' AND two.kind = 'grade') AS graded,
                   count(*) FILTER (one.grade = two.grade) AS identical,
                   count(*) FILTER ('cannot_tell' IN (one.kind, two.kind)) AS cannot_tell,
                   sum(distance) FILTER (one.kind = 'grade' AND two.kind = 'grade') AS distance
            FROM live_presentations p JOIN rounds r USING (round_id) LEFT JOIN twice USING (presentation_id)
            WHERE p.round_id = ? OR (?::TEXT IS NULL AND r.kind NOT IN ('pilot', 'practice'))
            GROUP BY ALL)
        SELECT annotator, sum(planted)::BIGINT,
               coalesce(list(graded ORDER BY query_id) FILTER (graded > 0), []),
               coalesce(list(identical ORDER BY query_id) FILTER (graded > 0), []),
               sum(cannot_tell)::BIGINT, sum(distance) / nullif(sum(graded), 0)
        FROM of_query GROUP BY annotator ORDER BY annotator
        """,  # noqa: S608
        [round_id, round_id],
    )


def intra_agreement(repeats: Repeats) -> IntraAgreement:
    """One annotator's consistency from their counts."""
    graded, identical = np.array(repeats.graded, dtype=np.int64), np.array(repeats.identical, dtype=np.int64)
    return _consistency(
        repeats,
        share=float(identical.sum() / graded.sum()) if len(graded) else None,
        n=int(graded.sum()),
        queries=len(graded),
        effective=effective_size(identical, graded) if len(graded) else 0.0,
    )


def pooled_consistency(people: Sequence[IntraAgreement]) -> IntraAgreement:
    """The repeats of all of them together: what the gate demands, and what reports say.

    What two annotators did with a query are two clusters.
    """
    with_repeats = [person for person in people if person.n]
    n = sum(person.n for person in with_repeats)
    same = sum((person.identical or 0.0) * person.n for person in with_repeats)
    planted, unclear = (
        sum(getattr(person, name) for person in people) for name in ("planted", "cannot_tell")
    )
    sizes = [(person.queries or person.n, person.effective or float(person.n)) for person in with_repeats]
    return _consistency(
        Repeats("", planted, (), (), unclear, None),
        share=round(same) / n if n else None,
        n=n,
        queries=sum(queries for queries, _ in sizes),
        effective=sum(effective for _, effective in sizes),
    )


def _consistency(
    repeats: Repeats, share: float | None, n: int, queries: int, effective: float
) -> IntraAgreement:
    low, high = (None, None) if share is None else clustered_share(share, effective, queries)
    return IntraAgreement(
        annotator=repeats.annotator,
        identical=share,
        low=low,
        high=high,
        n=n,
        undefined=None if n else NOT_JUDGED if repeats.planted else NOT_PLANTED,
        too_few=0 < n < MINIMUM_REPEATS,
        planted=repeats.planted,
        cannot_tell=repeats.cannot_tell,
        distance=repeats.distance,
        queries=queries,
        effective=effective,
    )


class Showings(NamedTuple):
    """One annotator's repeats in the order of the second grades, in parallel.

    Attributes
    ----------
    first, again: the two grades.
    distance: presentations between the showings.
    at: when the second grade was given, UTC, datetime64[us].
    """

    annotator: str
    first: Ints
    again: Ints
    distance: Ints
    at: NDArray[np.datetime64]


class DistanceShare(NamedTuple):
    """A share of identical grades with Wilson's 95 % interval, and the distances that it is about."""

    identical: int
    n: int
    share: float
    low: float
    high: float
    nearest: int
    farthest: int


@dataclass(frozen=True)
class SelfConsistency:
    """One annotator's repeats in detail. Intervals are at 95 %; the bootstrap draws repeats again.

    Attributes
    ----------
    off: how far the two grades are apart, mean of the absolute differences in grades.
    kappa: quadratically weighted, of the first and the second grades; None where `no_kappa` says why.
    shift: the second less the first grade, mean in grades: not 0 where people grade higher or lower the
        second time; `shift_p`: how probable one as far from 0 is, were each difference as likely to be up as
        down.
    near, far: the halves by distance, equal distances together; None where all are equal.
    near_far_p: how probable it is that the nearer half is so much more alike, were there no difference
        (Fisher's exact test, one-sided: memory makes near repeats alike, nothing makes far ones so).
    changes: where the share of identical grades changed.
    """

    annotator: str
    n: int
    off: float
    off_low: float
    off_high: float
    kappa: float | None
    no_kappa: str | None
    shift: float
    shift_low: float
    shift_high: float
    shift_p: float
    near: DistanceShare | None
    far: DistanceShare | None
    near_far_p: float | None
    changes: tuple[ChangePoint, ...]


def read_showings(cursor: Cursor, round_id: str | None = None) -> list[Showings]:
    """Everyone with repeats in the round, or in any but pilot and practice rounds, by name."""
    rows = cursor.execute(_SHOWINGS, [round_id, round_id]).fetchnumpy()
    who, at = np.asarray(rows["annotator"], dtype=object), np.asarray(rows["at"])
    first, again, distance = (
        np.asarray(rows[name]).astype(np.int64) for name in ("first", "again", "distance")
    )
    ends = np.flatnonzero(who[1:] != who[:-1]) + 1
    return [
        Showings(str(who[part[0]]), first[part], again[part], distance[part], at[part])
        for part in np.split(np.arange(len(who)), ends)
        if len(part)
    ]


def self_consistency(showings: Showings, scale: Sequence[int], seed: int = 0) -> SelfConsistency:
    """What repeats show beyond their identical share."""
    first, again = showings.first, showings.again
    alike = first == again
    off, off_low, off_high = _mean(np.abs(again - first), seed)
    shift, shift_low, shift_high = _mean(again - first, seed)
    near, far, p = _halves(alike, showings.distance)
    kappa = weighted_kappa(first, again, scale)
    return SelfConsistency(
        annotator=showings.annotator,
        n=len(alike),
        off=off,
        off_low=off_low,
        off_high=off_high,
        kappa=kappa,
        no_kappa=ONE_GRADE if kappa is None else None,
        shift=shift,
        shift_low=shift_low,
        shift_high=shift_high,
        shift_p=sign_p(again - first),
        near=near,
        far=far,
        near_far_p=p,
        changes=change_points(alike, showings.at, seed),
    )


def weighted_kappa(first: Ints, again: Ints, scale: Sequence[int]) -> float | None:
    """Quadratically weighted kappa of two columns of grades; None without variation.

    J. Cohen (1968), Weighted kappa, Psychological Bulletin 70; grades count by their values.
    """
    values = np.asarray(sorted({*scale, *first.tolist(), *again.tolist()}), dtype=np.float64)
    one, other = np.searchsorted(values, first), np.searchsorted(values, again)
    weights = (values[:, None] - values[None, :]) ** 2
    marginals = [np.bincount(column, minlength=len(values)) for column in (one, other)]
    expected = float((np.outer(*marginals) * weights).sum()) / len(first)
    return 1 - float(weights[one, other].sum()) / expected if expected else None


def _mean(values: Ints, seed: int) -> tuple[float, float, float]:
    each = np.stack([values, np.ones(len(values))], axis=1).astype(np.float64)
    drawn: Floats = np.concatenate([block[:, 0] / block[:, 1] for block in resampled(each, seed)])
    low, high = percentile_interval(drawn) or (np.nan, np.nan)
    return float(values.mean()), low, high


def _halves(
    alike: NDArray[np.bool_], distance: Ints
) -> tuple[DistanceShare | None, DistanceShare | None, float | None]:
    from scipy.stats import fisher_exact  # takes a second

    near = distance <= np.median(distance)
    if near.all():
        near = distance < np.median(distance)
    if near.all() or not near.any():
        return None, None, None
    table = [[int(alike[part].sum()), int((~alike[part]).sum())] for part in (near, ~near)]
    return (
        _share(alike, distance, near),
        _share(alike, distance, ~near),
        float(fisher_exact(table, "greater")[1]),
    )


def _share(alike: NDArray[np.bool_], distance: Ints, part: NDArray[np.bool_]) -> DistanceShare:
    same, n = int(alike[part].sum()), int(part.sum())
    far = distance[part]
    return DistanceShare(same, n, same / n, *wilson(same, n), int(far.min()), int(far.max()))


_SHOWINGS = f"""
{_ANSWERED_TWICE}
SELECT p.annotator, one.grade AS first, two.grade AS again, distance, two.at AS at
FROM twice JOIN presentations p USING (presentation_id) JOIN rounds r USING (round_id)
WHERE one.kind = 'grade' AND two.kind = 'grade'
  AND (p.round_id = ? OR (?::TEXT IS NULL AND r.kind NOT IN ('pilot', 'practice')))
ORDER BY p.annotator, two.at, p.position, presentation_id
"""  # noqa: S608
