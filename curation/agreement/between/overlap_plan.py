"""How much more double judging agreement needs, and what it costs.

The interval of alpha narrows with the square root of the number of queries behind it. From the interval of
now follows how many doubly judged pairs a narrower one takes, at as many pairs a query as now; a simulation
checks it: so many queries are drawn from those there are, and their own intervals are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np

from curation.agreement.between.coefficients import alpha_of, meetings
from curation.agreement.between.grades import Grades, read_grades, value_counts
from curation.agreement.between.inter_annotator import RARE_VARIATION
from curation.core.errors import InputError
from curation.core.statistics.arrays import Floats
from curation.core.statistics.intervals import MINIMUM_QUERIES, percentile_interval, resampled
from curation.guides.guide import current_guide
from curation.store import Cursor, Store

OVERLAPS = (1, 2, 3)

CHECKS = 20
"""Projects of the planned size that are drawn to check the plan."""

CHECK_RESAMPLES = 200

MOST_QUERIES = 20_000
"""A plan for more queries than this is not simulated."""

FEW = f"the interval of now is undefined: pairs of at least {MINIMUM_QUERIES} queries judged twice are needed"
SAME = "the interval of now has no width: everybody agrees, or nothing varies"
LARGE = f"more than {MOST_QUERIES:,} queries are not simulated"

_OPEN = """
SELECT count(*) FROM candidates c WHERE NOT EXISTS (
    FROM counted_judgments j WHERE j.query_id = c.query_id AND j.document_id = c.document_id)
"""

_PACE = """
SELECT avg(active_ms) / 1000 FROM judgment_events
WHERE kind IN ('grade', 'cannot_tell') AND active_ms IS NOT NULL
"""


class Overlap(NamedTuple):
    """The cost of judging all open pairs so many times.

    Attributes
    ----------
    judgments: in all.
    hours: at the pace of now, the mean seconds a judgment; None where no pace is known.
    doubly_judged: pairs with two grades or more that there would be then.
    half_width: of alpha's interval then; None where it cannot be planned.
    """

    overlap: int
    judgments: int
    hours: float | None
    doubly_judged: int
    half_width: float | None


@dataclass(frozen=True)
class OverlapPlan:
    """What a narrower interval of ordinal alpha takes.

    Attributes
    ----------
    half_width: half of the 95 % interval's width now; `wanted` is what it shall be.
    units, queries: doubly judged pairs now, and their queries.
    units_needed, queries_needed: in all; `more` is what is missing. None where `undefined` says why.
    simulated: mean half width of projects drawn with so many queries; None where `not_simulated` says why.
    open_pairs: candidates that nobody has judged.
    overlaps: what judging those costs, and what it brings.
    """

    wanted: float
    alpha: float | None
    half_width: float | None
    units: int
    queries: int
    units_needed: int | None
    queries_needed: int | None
    more: int | None
    simulated: float | None
    not_simulated: str | None
    undefined: str | None
    open_pairs: int
    overlaps: tuple[Overlap, ...]


def plan_overlap(store: Store, half_width: float, seed: int = 0) -> OverlapPlan:
    """Plan double judging for an interval of ± `half_width` around ordinal alpha.

    Raises
    ------
    InputError: the half width is not between 0.005 and 0.5.
    RefusedError: grades are not on the scale of the guide in force.
    """
    if not 0.005 <= half_width <= 0.5:
        raise InputError(f"A half-width of {half_width:g}: expected 0.005 to 0.5.")
    with store.reading() as cursor:
        grades, scale = read_grades(cursor), current_guide(cursor).values
        (open_pairs,) = cursor.execute(_OPEN).fetchall()[0]
        seconds = _seconds(cursor)
    return overlap_plan(grades, scale, half_width, open_pairs, seconds, seed)


def overlap_plan(
    grades: Grades,
    scale: Sequence[int],
    wanted: float,
    open_pairs: int = 0,
    seconds: float | None = None,
    seed: int = 0,
) -> OverlapPlan:
    """Plan from what was graded; `seconds` is the time that a judgment takes."""
    alpha, half, units, per_query = _now(grades, scale, seed)
    overlaps = tuple(_cost(times, half, units, open_pairs, seconds) for times in OVERLAPS)
    queries = len(per_query)
    if half is None or half == 0:
        why = FEW if half is None else SAME
        nothing = (None, None, None, None, why, why)
        return OverlapPlan(wanted, alpha, half, units, queries, *nothing, open_pairs, overlaps)
    times = (half / wanted) ** 2
    needed, planned = ceil(units * times), max(MINIMUM_QUERIES, ceil(queries * times))
    simulated = _simulated(per_query, len(scale), planned, seed) if planned <= MOST_QUERIES else None
    return OverlapPlan(
        wanted=wanted,
        alpha=alpha,
        half_width=half,
        units=units,
        queries=queries,
        units_needed=needed,
        queries_needed=planned,
        more=max(0, needed - units),
        simulated=simulated,
        not_simulated=None if simulated is not None else LARGE if planned > MOST_QUERIES else RARE_VARIATION,
        undefined=None,
        open_pairs=open_pairs,
        overlaps=overlaps,
    )


def _now(grades: Grades, scale: Sequence[int], seed: int) -> tuple[float | None, float | None, int, Floats]:
    """Alpha and its half width now, the units behind it, and each query's coincidences, flat."""
    counts = value_counts(grades, scale)
    twice = counts.sum(axis=1) >= 2
    units = int(twice.sum())
    queries, local = np.unique(grades.unit_queries[twice], return_inverse=True)
    matrices = meetings(counts[twice], local, len(queries)).coincidences
    per_query = matrices.reshape(len(queries), len(scale) ** 2)
    if units == 0:
        return None, None, 0, per_query
    shape = (-1, len(scale), len(scale))
    alpha = float(alpha_of(per_query.sum(axis=0).reshape(shape), "ordinal")[0])
    half = _half_width(per_query, len(scale), seed, 1000) if len(queries) >= MINIMUM_QUERIES else None
    return None if np.isnan(alpha) else alpha, half, units, per_query


def _half_width(per_query: Floats, values: int, seed: int, resamples: int) -> float | None:
    """Half of the width of ordinal alpha's interval."""
    drawn = [
        alpha_of(block.reshape(-1, values, values), "ordinal")
        for block in resampled(per_query, seed, resamples)
    ]
    ends = percentile_interval(np.concatenate(drawn), len(per_query))
    return (ends[1] - ends[0]) / 2 if ends else None


def _simulated(per_query: Floats, values: int, queries: int, seed: int) -> float | None:
    random = np.random.Generator(np.random.PCG64(seed))
    widths = []
    for number in range(CHECKS):
        drawn = per_query[random.integers(len(per_query), size=queries)]
        width = _half_width(drawn, values, seed + 1 + number, CHECK_RESAMPLES)
        if width is not None:
            widths.append(width)
    return float(np.mean(widths)) if widths else None


def _cost(times: int, half: float | None, now: int, open_pairs: int, seconds: float | None) -> Overlap:
    judgments, units = times * open_pairs, now + open_pairs * (times >= 2)
    then = half * (now / units) ** 0.5 if half is not None and units else None
    hours = judgments * seconds / 3600 if seconds is not None else None
    return Overlap(times, judgments, hours, units, then)


def _seconds(cursor: Cursor) -> float | None:
    """Mean seconds on screen before an answer; imported judgments have none."""
    (found,) = cursor.execute(_PACE).fetchall()[0]
    return None if found is None else float(found)
