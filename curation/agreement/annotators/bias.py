"""One annotator's grades against the others' on the same pairs.

What a grade is compared with never contains it: the reviewer's decision on the pair, or without one the
others' grades (their mean for a difference, their strict majority for right or wrong). A consensus that holds
the annotator's own grade would hide a bias, wholly so where two people judge a pair.

The bias of one annotator against the others, its course over time, and pace against accuracy.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.agreement.annotators.intra_annotator import weeks_of
from curation.labeling.judgments.events import EVENT
from curation.presentation.excerpts import LONGEST
from curation.statistics.arrays import Floats, Ints, Mask
from curation.statistics.intervals import MINIMUM_QUERIES, percentile_interval, resampled
from curation.statistics.p_values import mean_p, permuted_p
from curation.store import Cursor
from curation.store.documents import LENGTH, VERSION
from curation.text import amount

MINIMUM_GRADES = 30
"""Grades with something to compare with, below which nothing is said."""


class Differences(NamedTuple):
    """One annotator's grades against the others', in parallel, in the order in which they were given.

    Attributes
    ----------
    query: numbers, the same for the same query.
    at: when, UTC, datetime64[us]; NaT for what was imported without a time, which comes last.
    off: the grade less what it is compared with; NaN where there is nothing.
    right: 1 where it is the decided or the others' grade, 0 where not, -1 where there is none.
    seconds: on screen before the first answer; NaN where unknown.
    length: characters of the text that was shown; 0 where unknown.
    """

    annotator: str
    query: Ints
    at: NDArray[np.datetime64]
    off: Floats
    right: Ints
    seconds: Floats
    length: Ints


class Comparable(NamedTuple):
    """Everybody's grades, in parallel, each annotator's in the order in which they were given.

    `wanted`: those asked about; the others are there to be compared with. `decision`: the reviewer's, NaN
    where there is none or no grade; `decided`: whether there is one. The rest is as in `Differences`.
    """

    annotator: NDArray[np.object_]
    query: Ints
    pair: Ints
    grade: Ints
    at: NDArray[np.datetime64]
    seconds: Floats
    length: Ints
    decided: NDArray[np.bool_]
    decision: Floats
    wanted: NDArray[np.bool_]


def read_comparable(cursor: Cursor, round_id: str | None = None) -> Comparable:
    """Everybody's grades; of the round, if one is given, and all others of the same pairs."""
    rows = cursor.execute(_GIVEN, [LONGEST, round_id, round_id]).fetchnumpy()
    query, pair, grade, length = (
        np.asarray(rows[name]).astype(np.int64) for name in ("query", "pair", "grade", "length")
    )
    seconds, decision = (
        np.ma.filled(np.ma.asarray(rows[name], dtype=np.float64), np.nan) for name in ("seconds", "decision")
    )
    at = np.ma.filled(np.ma.asarray(rows["given_at"]), np.datetime64("NaT"))
    decided, wanted = (np.asarray(rows[name]).astype(bool) for name in ("decided", "wanted"))
    who = np.asarray(rows["annotator"], dtype=object)
    return Comparable(who, query, pair, grade, at, seconds, length, decided, decision, wanted)


def differences_of(given: Comparable, left_out: Collection[str] = ()) -> list[Differences]:
    """Everybody's wanted grades and those of the others who are not left out, by name."""
    off, right = _against_others(given, ~np.isin(given.annotator, list(left_out)))
    columns = (given.query, given.at, off, right, given.seconds, given.length)
    return [
        Differences(str(name), *(column[(given.annotator == name) & given.wanted] for column in columns))
        for name in sorted(set(given.annotator[given.wanted]))
    ]


def _against_others(given: Comparable, counted: NDArray[np.bool_]) -> tuple[Floats, Ints]:
    """Own less reference, and right or wrong."""
    pair, grade, decided, decision = given.pair, given.grade, given.decided, given.decision
    # `others[i, g]`: how many others gave grade g to the pair of row i.
    values, value = np.unique(grade, return_inverse=True)
    number = int(pair.max(initial=-1)) + 1
    tally = np.bincount((pair * len(values) + value)[counted], minlength=number * len(values))
    others = tally.reshape(number, len(values))[pair]
    others[np.arange(len(pair)), value] -= counted
    judgments = others.sum(axis=1)
    with np.errstate(invalid="ignore"):
        mean = np.where(judgments > 0, (others @ values) / np.maximum(judgments, 1), np.nan)
    off: Floats = grade.astype(np.float64) - np.where(decided, decision, mean)
    agreed = 2 * others.max(axis=1, initial=0) > judgments
    theirs = values[others.argmax(axis=1)] if len(values) else grade
    right = np.where(agreed, (theirs == grade).astype(np.int64), -1)
    as_decided = np.where(np.isnan(decision), -1, (decision == grade).astype(np.int64))
    return off, np.where(decided, as_decided, right)


# The first answer's time: a grade that is changed later takes a moment only.
_GIVEN = f"""
WITH times AS (
    SELECT presentation_id, arg_min(active_ms, revision) / 1000 AS seconds FROM judgment_events
    WHERE kind IN ('grade', 'cannot_tell') GROUP BY presentation_id)
SELECT j.annotator AS annotator, dense_rank() OVER (ORDER BY j.query_id) - 1 AS query,
       dense_rank() OVER (ORDER BY j.query_id, j.document_id) - 1 AS pair, j.grade AS grade,
       CASE WHEN e.time_known THEN j.submitted_at END AS given_at, t.seconds AS seconds,
       coalesce({LENGTH}, 0) AS length,
       a.revision IS NOT NULL AS decided, a.grade AS decision,
       ?::TEXT IS NULL OR j.round_id = ? AS wanted
FROM counted_judgments j {EVENT}
LEFT JOIN times t ON t.presentation_id = j.presentation_id
LEFT JOIN {VERSION}
LEFT JOIN counted_adjudications a ON a.query_id = j.query_id AND a.document_id = j.document_id
WHERE j.kind = 'grade' AND j.same_text
ORDER BY j.annotator, given_at, j.position, j.presentation_id
"""  # noqa: S608


ONE_TIME = "all grades carry one time, so their order is unknown"
NO_TIMES = "{untimed:,} of {grades:,} grades were imported without a time; in order are too few"


class BiasWeek(NamedTuple):
    """Bias in one week; `p`: how probable one as far from the other weeks' is, were weeks all alike.

    `low` and `high` are a 95 % interval; None below 5 queries.
    """

    monday: date
    grades: int
    queries: int
    bias: float
    low: float | None
    high: float | None
    p: float


class PaceAccuracy(NamedTuple):
    """The share of right grades in the faster and the slower half, after what the texts' length explains.

    `difference` is fast less slow, with a 95 % interval by bootstrap over queries; `p`: how probable one as
    far from 0 is, were there none.
    """

    fast: float
    fast_grades: int
    slow: float
    slow_grades: int
    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class AnnotatorBias:
    """One annotator's grades against the others'.

    Attributes
    ----------
    grades, queries: with something to compare with.
    bias: mean of own less others' grades, with a 95 % interval by bootstrap over queries; `bias_p`: how
        probable one as far from 0 is, were there none.
    undefined: why there is no bias.
    untimed: grades without a time, which are in the bias, but have no place in the trend and in the weeks.
    trend: how far the bias moved from the first to the last query, in grades, on a straight line;
        `trend_p`: how probable a move as clear is, did the order of the queries not matter. None where
        `no_trend` says why.
    weeks: in order; one alone has nothing to be compared with, and p 1.
    pace: None where `no_pace` says why.
    """

    annotator: str
    grades: int
    queries: int
    bias: float | None = None
    low: float | None = None
    high: float | None = None
    bias_p: float | None = None
    undefined: str | None = None
    untimed: int = 0
    trend: float | None = None
    trend_p: float | None = None
    no_trend: str | None = None
    weeks: tuple[BiasWeek, ...] = ()
    pace: PaceAccuracy | None = None
    no_pace: str | None = None


class _Visits(NamedTuple):
    """Queries in the order in which they were begun: sums of differences, grades, and first times."""

    sums: Floats
    grades: Floats
    at: NDArray[np.datetime64]

    @property
    def bias(self) -> float:
        return float(self.sums.sum() / self.grades.sum())


def annotator_bias(given: Differences, seed: int = 0) -> AnnotatorBias:
    """Bias, its course, and pace against accuracy."""
    compared = ~np.isnan(given.off)
    queries, query = np.unique(given.query[compared], return_inverse=True)
    grades = int(compared.sum())
    if grades < MINIMUM_GRADES or len(queries) < MINIMUM_QUERIES:
        why = (
            f"{amount(grades, 'grade')} of {amount(len(queries), 'query', 'queries')} can be compared; "
            f"{MINIMUM_GRADES} of {MINIMUM_QUERIES} are needed"
        )
        return AnnotatorBias(given.annotator, grades, len(queries), undefined=why, no_trend=why, no_pace=why)
    visits = _visits(query, given.at[compared], given.off[compared])
    bias = visits.bias
    ends = _ratio_interval(visits.sums, visits.grades, seed)
    timed = compared & ~np.isnat(given.at)
    in_order, no_trend = _in_order(given, timed, grades)
    trend, p = _trend(in_order, seed) if in_order is not None else (None, None)
    pace = _pace_accuracy(given, seed)
    return AnnotatorBias(
        annotator=given.annotator,
        grades=grades,
        queries=len(queries),
        bias=bias,
        low=ends[0],
        high=ends[1],
        bias_p=mean_p(bias, (visits.sums - visits.grades * bias) / visits.grades.sum()),
        untimed=grades - int(timed.sum()),
        trend=trend,
        trend_p=p,
        no_trend=no_trend,
        weeks=_weeks(in_order, seed) if in_order is not None else (),
        pace=pace if isinstance(pace, PaceAccuracy) else None,
        no_pace=pace if isinstance(pace, str) else None,
    )


def _visits(query: Ints, at: NDArray[np.datetime64], off: Floats) -> _Visits:
    _, first = np.unique(query, return_index=True)  # grades are in the order of their times
    order = np.argsort(first, kind="stable")
    sums = np.bincount(query, off).astype(np.float64)
    grades = np.bincount(query).astype(np.float64)
    return _Visits(sums[order], grades[order], at[first[order]])


def _in_order(given: Differences, timed: Mask, grades: int) -> tuple[_Visits | None, str | None]:
    """The queries of the grades with a time; or why their order says nothing."""
    queries, query = np.unique(given.query[timed], return_inverse=True)
    if timed.sum() < MINIMUM_GRADES or len(queries) < MINIMUM_QUERIES:
        return None, NO_TIMES.format(untimed=grades - int(timed.sum()), grades=grades)
    at = given.at[timed]
    if at.min() == at.max():
        return None, ONE_TIME
    return _visits(query, at, given.off[timed]), None


def _trend(visits: _Visits, seed: int) -> tuple[float, float]:
    rank = np.arange(len(visits.sums), dtype=np.float64)
    centred = rank - float(visits.grades @ rank) / float(visits.grades.sum())
    slope = float(centred @ visits.sums) / float(visits.grades @ centred**2)
    return slope * float(rank[-1]), permuted_p(rank, visits.sums - visits.grades * visits.bias, seed)


def _weeks(visits: _Visits, seed: int) -> tuple[BiasWeek, ...]:
    found, week = [], weeks_of(visits.at)
    for monday in np.unique(week).tolist():
        mine = week == monday
        sums, grades = visits.sums[mine], visits.grades[mine]
        queries = int(mine.sum())
        ends = _ratio_interval(sums, grades, seed) if queries >= MINIMUM_QUERIES else (None, None)
        p = permuted_p(mine.astype(np.float64), visits.sums - visits.grades * visits.bias, seed)
        mean = float(sums.sum() / grades.sum())
        day = date(1970, 1, 1) + timedelta(days=monday)
        found.append(BiasWeek(day, int(grades.sum()), queries, mean, *ends, p))
    return tuple(found)


def _ratio_interval(sums: Floats, grades: Floats, seed: int) -> tuple[float | None, float | None]:
    blocks = resampled(np.stack([sums, grades], axis=1), seed)
    drawn = np.concatenate([block[:, 0] / block[:, 1] for block in blocks])
    return percentile_interval(drawn, len(sums)) or (None, None)


def _pace_accuracy(given: Differences, seed: int) -> PaceAccuracy | str:
    """Whether fast answers are right as often as the slow ones; or why that cannot be said."""
    timed = (given.right >= 0) & ~np.isnan(given.seconds)
    if timed.sum() < MINIMUM_GRADES:
        return f"{int(timed.sum()):,} timed grades can be compared; {MINIMUM_GRADES} are needed"
    fast = _faster_half(given.seconds[timed], given.length[timed])
    right = given.right[timed].astype(np.float64)
    queries, query = np.unique(given.query[timed], return_inverse=True)
    if len(queries) < MINIMUM_QUERIES or fast.all() or not fast.any():
        return "all answers took the same time, or are of too few queries"
    columns = [
        np.bincount(query, weights) for weights in (right * fast, 1.0 * fast, right * ~fast, 1.0 * ~fast)
    ]
    sums = np.stack(columns, axis=1).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = np.concatenate([b[:, 0] / b[:, 1] - b[:, 2] / b[:, 3] for b in resampled(sums, seed)])
    ends = percentile_interval(drawn, len(queries))
    if ends is None:
        return "no interval: too many resamples have no fast or no slow answers"
    shares = float(right[fast].mean()), float(right[~fast].mean())
    off = [(sums[:, 2 * half] - shares[half] * sums[:, 2 * half + 1]) for half in (0, 1)]
    p = mean_p(shares[0] - shares[1], off[0] / fast.sum() - off[1] / (~fast).sum())
    return PaceAccuracy(
        shares[0], int(fast.sum()), shares[1], int((~fast).sum()), shares[0] - shares[1], *ends, p
    )


def _faster_half(seconds: Floats, length: Ints) -> NDArray[np.bool_]:
    """Faster than half of the annotator's own answers, after what the length explains (on logarithms)."""
    took, long = np.log(seconds + 0.1), np.log1p(length)
    long = long - long.mean()
    spread = float(long @ long)
    rest = took - (float(long @ took) / spread * long if spread else 0.0)
    faster: NDArray[np.bool_] = rest < np.median(rest)
    return faster
