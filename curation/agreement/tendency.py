"""How one annotator's grades lie beside the others': bias, its course over time, and pace against accuracy.

What a grade is compared with never contains it: the reviewer's decision on the pair, or without one the
others' grades (their mean for a difference, their strict majority for right or wrong). A consensus that holds
the annotator's own vote would hide a bias, wholly so where two people judge a pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from curation.agreement.drift import permuted_p, weeks_of
from curation.agreement.intervals import MINIMUM_QUERIES, Floats, percentile_interval, resampled
from curation.labeling.excerpts import LONGEST
from curation.store import Cursor

Ints = NDArray[np.int64]

MINIMUM_GRADES = 30
"""Grades with something to compare with, below which nothing is said."""

ONE_TIME = "all grades carry one time, so their order is unknown"


class Differences(NamedTuple):
    """One annotator's grades beside the others', in parallel, in the order in which they were given.

    Attributes
    ----------
    query: numbers, the same for the same query.
    at: when, UTC, datetime64[us].
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


class Week(NamedTuple):
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


class Pace(NamedTuple):
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
class Tendency:
    """One annotator's grades beside the others'.

    Attributes
    ----------
    grades, queries: with something to compare with.
    bias: mean of own less others' grades, with a 95 % interval by bootstrap over queries; `bias_p`: how
        probable one as far from 0 is, were there none.
    undefined: why there is no bias.
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
    trend: float | None = None
    trend_p: float | None = None
    no_trend: str | None = None
    weeks: tuple[Week, ...] = ()
    pace: Pace | None = None
    no_pace: str | None = None


class _Visits(NamedTuple):
    """Queries in the order in which they were begun: sums of differences, grades, and weeks."""

    sums: Floats
    grades: Floats
    week: Ints
    timed: bool


def read_differences(cursor: Cursor, round_id: str | None = None) -> list[Differences]:
    """Everybody's grades (of the round, if one is given) beside all others' on the same pairs, by name."""
    rows = cursor.execute(_GIVEN, [LONGEST, round_id, round_id]).fetchnumpy()
    pair, grade = (np.asarray(rows[name]).astype(np.int64) for name in ("pair", "grade"))
    decided = np.asarray(rows["decided"]).astype(bool)
    decision = np.ma.filled(np.ma.asarray(rows["decision"], dtype=np.float64), np.nan)
    off, right = _beside(pair, grade, decided, decision)
    seconds = np.ma.filled(np.ma.asarray(rows["seconds"], dtype=np.float64), np.nan)
    columns = [np.asarray(rows["query"]).astype(np.int64), np.asarray(rows["at"]), off, right, seconds]
    columns.append(np.asarray(rows["length"]).astype(np.int64))
    who, wanted = np.asarray(rows["annotator"], dtype=object), np.asarray(rows["wanted"]).astype(bool)
    return [
        Differences(str(name), *(column[mine] for column in columns))
        for name in sorted(set(who[wanted]))
        for mine in [np.flatnonzero((who == name) & wanted)]
    ]


def tendency(given: Differences, seed: int = 0) -> Tendency:
    """Bias, its course, and pace against accuracy."""
    compared = ~np.isnan(given.off)
    queries, query = np.unique(given.query[compared], return_inverse=True)
    grades = int(compared.sum())
    if grades < MINIMUM_GRADES or len(queries) < MINIMUM_QUERIES:
        why = (
            f"{grades:,} grades of {len(queries):,} queries can be compared; {MINIMUM_GRADES} of "
            f"{MINIMUM_QUERIES} are needed"
        )
        return Tendency(given.annotator, grades, len(queries), undefined=why, no_trend=why, no_pace=why)
    visits = _visits(query, given.at[compared], given.off[compared])
    bias = float(visits.sums.sum() / visits.grades.sum())
    ends = _ratio_interval(visits.sums, visits.grades, seed)
    trend, p = _trend(visits, bias, seed) if visits.timed else (None, None)
    pace = _pace(given, seed)
    return Tendency(
        annotator=given.annotator,
        grades=grades,
        queries=len(queries),
        bias=bias,
        low=ends[0],
        high=ends[1],
        bias_p=mean_p(bias, (visits.sums - visits.grades * bias) / visits.grades.sum()),
        trend=trend,
        trend_p=p,
        no_trend=None if visits.timed else ONE_TIME,
        weeks=_weeks(visits, bias, seed) if visits.timed else (),
        pace=pace if isinstance(pace, Pace) else None,
        no_pace=pace if isinstance(pace, str) else None,
    )


def mean_p(value: float, off: Floats) -> float:
    """How probable a figure as far from 0 is, were 0 the truth (Student's t over queries); 1 for 0 itself.

    Parameters
    ----------
    off: shape (Q,), what each query adds to the figure's deviation from its mean, to first order (the
        linearised variance of a ratio: W. G. Cochran (1977), Sampling Techniques, section 6.3).
    """
    queries = len(off)
    error = sqrt(queries / (queries - 1) * float(off @ off))
    if error < 1e-12:
        return 1.0 if abs(value) < 1e-12 else 0.0
    return 2 * float(stdtr(queries - 1, -abs(value) / error))


def _beside(pair: Ints, grade: Ints, decided: NDArray[np.bool_], decision: Floats) -> tuple[Floats, Ints]:
    """Own less reference, and right or wrong."""
    values, value = np.unique(grade, return_inverse=True)
    number = int(pair.max(initial=-1)) + 1
    tally = np.bincount(pair * len(values) + value, minlength=number * len(values))
    others = tally.reshape(number, len(values))[pair]
    others[np.arange(len(pair)), value] -= 1
    voices = others.sum(axis=1)
    with np.errstate(invalid="ignore"):
        mean = np.where(voices > 0, (others @ values) / np.maximum(voices, 1), np.nan)
    off: Floats = grade.astype(np.float64) - np.where(decided, decision, mean)
    agreed = 2 * others.max(axis=1, initial=0) > voices
    theirs = values[others.argmax(axis=1)] if len(values) else grade
    right = np.where(agreed, (theirs == grade).astype(np.int64), -1)
    told = np.where(np.isnan(decision), -1, (decision == grade).astype(np.int64))
    return off, np.where(decided, told, right)


def _visits(query: Ints, at: NDArray[np.datetime64], off: Floats) -> _Visits:
    _, first = np.unique(query, return_index=True)  # grades are in the order of their times
    order = np.argsort(first, kind="stable")
    sums = np.bincount(query, off).astype(np.float64)
    grades = np.bincount(query).astype(np.float64)
    return _Visits(sums[order], grades[order], weeks_of(at[first[order]]), bool(at.min() < at.max()))


def _trend(visits: _Visits, bias: float, seed: int) -> tuple[float, float]:
    rank = np.arange(len(visits.sums), dtype=np.float64)
    centred = rank - float(visits.grades @ rank) / float(visits.grades.sum())
    slope = float(centred @ visits.sums) / float(visits.grades @ centred**2)
    return slope * float(rank[-1]), permuted_p(rank, visits.sums - visits.grades * bias, seed)


def _weeks(visits: _Visits, bias: float, seed: int) -> tuple[Week, ...]:
    found = []
    for monday in np.unique(visits.week).tolist():
        mine = visits.week == monday
        sums, grades = visits.sums[mine], visits.grades[mine]
        queries = int(mine.sum())
        ends = _ratio_interval(sums, grades, seed) if queries >= MINIMUM_QUERIES else (None, None)
        p = permuted_p(mine.astype(np.float64), visits.sums - visits.grades * bias, seed)
        mean = float(sums.sum() / grades.sum())
        day = date(1970, 1, 1) + timedelta(days=monday)
        found.append(Week(day, int(grades.sum()), queries, mean, *ends, p))
    return tuple(found)


def _pace(given: Differences, seed: int) -> Pace | str:
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
    return Pace(shares[0], int(fast.sum()), shares[1], int((~fast).sum()), shares[0] - shares[1], *ends, p)


def _faster_half(seconds: Floats, length: Ints) -> NDArray[np.bool_]:
    """Faster than half of the annotator's own answers, after what the length explains (on logarithms)."""
    took, long = np.log(seconds + 0.1), np.log1p(length)
    long = long - long.mean()
    spread = float(long @ long)
    rest = took - (float(long @ took) / spread * long if spread else 0.0)
    faster: NDArray[np.bool_] = rest < np.median(rest)
    return faster


def _ratio_interval(sums: Floats, grades: Floats, seed: int) -> tuple[float | None, float | None]:
    blocks = resampled(np.stack([sums, grades], axis=1), seed)
    drawn = np.concatenate([block[:, 0] / block[:, 1] for block in blocks])
    return percentile_interval(drawn, len(sums)) or (None, None)


# The first answer's time: a grade that is changed later takes a moment only.
_GIVEN = """
WITH times AS (
    SELECT presentation_id, arg_min(active_ms, revision) / 1000 AS seconds FROM judgment_events
    WHERE kind IN ('grade', 'cannot_tell') GROUP BY presentation_id)
SELECT j.annotator AS annotator, dense_rank() OVER (ORDER BY j.query_id) - 1 AS query,
       dense_rank() OVER (ORDER BY j.query_id, j.document_id) - 1 AS pair, j.grade AS grade,
       j.submitted_at AS at, t.seconds AS seconds,
       coalesce(length(d.title) + least(length(d.body), ?), 0) AS length,
       a.revision IS NOT NULL AS decided, a.grade AS decision,
       ?::TEXT IS NULL OR j.round_id = ? AS wanted
FROM counted_judgments j
LEFT JOIN times t USING (presentation_id)
LEFT JOIN documents d USING (content_hash)
LEFT JOIN current_adjudications a ON a.query_id = j.query_id AND a.document_id = j.document_id
WHERE j.kind = 'grade'
ORDER BY j.annotator, j.submitted_at, j.position, j.presentation_id
"""
