"""Assignment: whole leakage groups to parts, balanced or by time.

Balanced: groups with the same numbers of the same kinds of query are one type. The result is a table of whole
numbers: how many groups of each type each part gets. Several seeded starts, each greedy from the largest
group down, are improved by single moves and swaps until none helps.

    cost = Σ over parts and columns of weight × |reached − ideal| / 2

A column is the whole ('all', as heavy as all dimensions together) or one level of one dimension, such as the
stratum 'head · shop'. Half the sum of a dimension is the number of queries in the wrong part. No part ends
further from its ideal than the size of the largest group: the greedy start gives a group to a part that it
does not overfill, or else to one that still lacks queries, and no later step breaks that. Groups with a
carried-over part keep it, and the others make up for them.

By time: the parts in their order, each with the queries that were first asked next. The first query of a
leakage group that was asked decides the group's part. So nothing in a part, nor anything tied to it, was
asked before the part begins. Groups that began at the same moment are never separated: the cut is before or
after all of them, whichever is nearer to the fractions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, groupby
from typing import NamedTuple

import numpy as np

from curation.core.digests import digest
from curation.core.statistics.arrays import Floats, Ints
from curation.core.text import pluralize

STARTS = 32
MAX_GROUPS_OF_ALL_STARTS = 5_000
"""Sets with more groups than this have a quarter of the starts."""
STEPS = 1_000
"""Moves and swaps after which a start is as good as it gets."""
WINDOW = 96
"""Types of a part that are tried for a swap at one time; others are tried later."""
ALL = "all"
_ROUNDING = 1e-9
_SPREAD = 1e-3  # of two tables with one cost, the one whose distances are spread
Levels = Mapping[str, Collection[tuple[str, str]]]
"""Query id → (dimension, level) of all dimensions in which the parts should be alike."""


@dataclass(frozen=True)
class PartShare:
    """How many queries of one level a part should have and has; the dimension 'all' has one level, 'all'."""

    part: str
    dimension: str
    level: str
    ideal: float
    reached: int


@dataclass(frozen=True)
class Distance:
    """How far a dimension is from its ideal.

    Attributes
    ----------
    queries: half the sum of |reached − ideal| over parts and levels: queries in the wrong part.
    least: what no split of this set goes below, because queries are whole.
    """

    dimension: str
    queries: float
    least: float


class _Table(NamedTuple):
    """The groups to assign, by type, and the numbers that each part still lacks.

    Attributes
    ----------
    counts: shape (types, columns), queries of a column in one group of the type; column 0 is 'all'.
    groups: the ids of each type's groups.
    wanted: shape (parts, columns), the ideal less what is carried over.
    weights: shape (columns,).
    """

    counts: Floats
    groups: list[list[str]]
    wanted: Floats
    weights: Floats

    @property
    def times(self) -> Ints:
        return np.array([len(groups) for groups in self.groups], dtype=np.int64)


def members_of(groups: Mapping[str, str]) -> dict[str, list[str]]:
    """Group id → its queries, both ordered."""
    members: dict[str, list[str]] = defaultdict(list)
    for query_id in sorted(groups):
        members[groups[query_id]].append(query_id)
    return dict(sorted(members.items()))


def assign_parts(
    groups: Mapping[str, str],
    levels: Levels,
    parts: Mapping[str, float],
    seed: int,
    carried: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Assign every group to a part: query id → part.

    Parameters
    ----------
    groups: query id → leakage group.
    parts: part → fraction; they sum to 1.
    carried: group → part, of groups whose part is carried over.
    """
    fixed = carried or {}
    table = _table(groups, levels, parts, seed, fixed)
    cells = _best(table, list(parts.values()), seed)
    part_of = dict(fixed)
    for names, row in zip(table.groups, cells.tolist(), strict=True):
        places = [part for part, number in zip(parts, row, strict=True) for _ in range(number)]
        part_of |= dict(zip(names, places, strict=True))
    return {query_id: part_of[group_id] for query_id, group_id in sorted(groups.items())}


def shares(assigned: Mapping[str, str], levels: Levels, parts: Mapping[str, float]) -> tuple[PartShare, ...]:
    """Ideal and reached number of queries, for each part as a whole and in each level."""
    totals = Counter(column for query_id in assigned for column in levels[query_id])
    totals[ALL, ALL] = len(assigned)
    reached = Counter((part, column) for query_id, part in assigned.items() for column in levels[query_id])
    reached.update((part, (ALL, ALL)) for part in assigned.values())
    columns = sorted(totals, key=lambda column: (column[0] != ALL, column))
    return tuple(
        PartShare(part, *column, fraction * totals[column], reached[part, column])
        for part, fraction in parts.items()
        for column in columns
    )


def distances(
    assigned: Mapping[str, str], levels: Levels, parts: Mapping[str, float]
) -> tuple[Distance, ...]:
    """The distance of each dimension, 'all' first."""
    gaps_of: dict[str, list[float]] = {}
    for share in shares(assigned, levels, parts):
        gaps_of.setdefault(share.dimension, []).append(abs(share.reached - share.ideal) / 2)
    totals = Counter(column for query_id in assigned for column in levels[query_id])
    least = dict.fromkeys(gaps_of, 0.0)
    for (dimension, _), total in totals.items():
        least[dimension] += _rounding(total, parts)
    least[ALL] = _rounding(len(assigned), parts)
    return tuple(
        Distance(dimension, round(sum(gaps), 6), round(least[dimension], 6))
        for dimension, gaps in gaps_of.items()
    )


def _rounding(total: int, parts: Mapping[str, float]) -> float:
    """The least distance of whole numbers from the ideals of one column: by largest remainder."""
    ideals = [fraction * total for fraction in parts.values()]
    rests = sorted((ideal % 1.0 for ideal in ideals), reverse=True)
    up = round(sum(rests))
    return sum(1.0 - rest if index < up else rest for index, rest in enumerate(rests)) / 2


def _table(
    groups: Mapping[str, str], levels: Levels, parts: Mapping[str, float], seed: int, fixed: Mapping[str, str]
) -> _Table:
    columns = sorted({column for query_id in groups for column in levels[query_id]})
    index = {column: number for number, column in enumerate(columns, 1)}
    dimensions = len({dimension for dimension, _ in columns})
    wanted = np.zeros((len(parts), len(columns) + 1))
    number = {part: row for row, part in enumerate(parts)}
    total = np.zeros(len(columns) + 1)
    types: dict[tuple[int, ...], list[str]] = {}
    for group_id, members in members_of(groups).items():
        counts = [len(members)] + [0] * len(columns)
        for query_id in members:
            for column in set(levels[query_id]):
                counts[index[column]] += 1
        total += counts
        if group_id in fixed:
            wanted[number[fixed[group_id]]] -= counts
        else:
            types.setdefault(tuple(counts), []).append(group_id)
    wanted += np.outer(list(parts.values()), total)
    ordered = sorted(types.items(), key=lambda item: ([-count for count in item[0]], item[1]))
    return _Table(
        np.array([counts for counts, _ in ordered], dtype=np.float64).reshape(-1, len(columns) + 1),
        [sorted(names, key=lambda name: digest("deal", seed, name)) for _, names in ordered],
        wanted,
        np.array([max(1, dimensions)] + [1] * len(columns), dtype=np.float64),
    )


def _best(table: _Table, fractions: Sequence[float], seed: int) -> Ints:
    """The table of lowest cost that was found, shape (types, parts)."""
    if not table.groups:
        return np.zeros((0, len(fractions)), dtype=np.int64)
    number = STARTS if table.times.sum() <= MAX_GROUPS_OF_ALL_STARTS else STARTS // 4
    starts = [_greedy(table, fractions, digest("assign", seed, start)) for start in range(number)]
    limit = max(float(table.counts[:, 0].max()), *(_furthest(table, start) for start in starts))
    tried = [_improved(table, start, limit) for start in starts]
    return min(tried, key=lambda cells: _cost(table, cells))


def _gaps(table: _Table, cells: Ints) -> Floats:
    """Reached less wanted, shape (parts, columns)."""
    return cells.T @ table.counts - table.wanted


def _furthest(table: _Table, cells: Ints) -> float:
    return float(np.abs(_gaps(table, cells)[:, 0]).max())


def _cost(table: _Table, cells: Ints) -> float:
    return float((np.abs(_gaps(table, cells)) @ table.weights).sum() / 2)


def _greedy(table: _Table, fractions: Sequence[float], salt: str) -> Ints:
    """Largest groups first, each to the part that needs its queries most for the part's size."""
    sizes = table.counts[:, 0]
    order = sorted(
        (-sizes[kind], digest(salt, name), kind) for kind, names in enumerate(table.groups) for name in names
    )
    part_order = np.array(sorted(range(len(fractions)), key=lambda part: digest(salt, part)))
    lacking = table.wanted[part_order].copy()
    rate = table.weights / np.array(fractions)[part_order, None]
    cells = np.zeros((len(sizes), len(fractions)), dtype=np.int64)
    for _, _, kind in order:
        counts = table.counts[kind]
        room = lacking[:, 0]
        fitting = room >= counts[0] - _ROUNDING
        choices = fitting if fitting.any() else room > _ROUNDING
        need = ((lacking * rate) @ counts) if choices.any() else room
        part = int(np.where(choices if choices.any() else True, need, -np.inf).argmax())
        cells[kind, part_order[part]] += 1
        lacking[part] -= counts
    return cells


def _improved(table: _Table, start: Ints, limit: float) -> Ints:
    """The table after the moves and swaps that help, the best one each time."""
    cells = start.copy()
    gaps = _gaps(table, cells)
    kinds, parts = cells.shape
    turns = -(-kinds // WINDOW) if parts > 1 else 0
    idle = turn = 0
    for _ in range(STEPS):
        if idle >= max(1, turns) or parts < 2:
            break
        window = (np.arange(min(WINDOW, kinds)) + turn * WINDOW) % kinds
        turn += 1
        gain, step = min(
            (
                _best_step(table, cells, gaps, giver, taker, window, limit)
                for giver in range(parts)
                for taker in range(parts)
                if giver != taker
            ),
            key=lambda step: step[0],
        )
        if gain >= -1e-7:
            idle += 1
            continue
        idle = 0
        turn -= 1
        given, taken, giver, taker = step
        for kind, source, target in ((given, giver, taker), (taken, taker, giver)):
            if kind >= 0:
                cells[kind, source] -= 1
                cells[kind, target] += 1
                gaps[source] -= table.counts[kind]
                gaps[target] += table.counts[kind]
    return cells


def _best_step(
    table: _Table, cells: Ints, gaps: Floats, giver: int, taker: int, window: Ints, limit: float
) -> tuple[float, tuple[int, int, int, int]]:
    """The best move from `giver` to `taker`, or swap of a group in the window: gain (negative is good), and
    the kinds that go and come, -1 for none."""
    gives = np.flatnonzero(cells[:, giver])
    takes = window[cells[window, taker] > 0]
    gives = gives[np.isin(gives, window)] if len(gives) > WINDOW else gives
    coming = np.vstack([np.zeros_like(table.counts[:1]), table.counts[takes]])
    if not len(gives):
        return 0.0, (-1, -1, giver, taker)
    change = coming[None, :, :] - table.counts[gives][:, None, :]
    first, second = gaps[giver] + change, gaps[taker] - change
    cost = _heights(first, table.weights) + _heights(second, table.weights)
    cost[(np.abs(first[..., 0]) > limit + _ROUNDING) | (np.abs(second[..., 0]) > limit + _ROUNDING)] = np.inf
    before = _heights(gaps[[giver, taker]], table.weights).sum()
    at = int(cost.argmin())
    given, taken = divmod(at, len(coming))
    kind = int(takes[taken - 1]) if taken else -1
    return float(cost.flat[at] - before), (int(gives[given]), kind, giver, taker)


def _heights(gaps: Floats, weights: Floats) -> Floats:
    """The cost of gaps, columns last, with a little of their squares so that they are spread."""
    heights: Floats = (np.abs(gaps) + _SPREAD * gaps**2) @ weights / 2
    return heights


@dataclass(frozen=True)
class ByTime:
    """A cut by time.

    Attributes
    ----------
    begins: part → when its first group was first asked; parts without a dated group are absent.
    spanning: groups with a query that was first asked after the next part begins.
    late: such queries.
    undated: queries in groups without a known time, which are in the first part.
    against: groups whose carried-over part is not the one of the cut.
    """

    begins: dict[str, datetime]
    spanning: int
    late: int
    undated: int
    against: int

    @property
    def sentences(self) -> list[str]:
        """When each part begins, and what is on the wrong side of its beginning."""
        begins = "; ".join(f"{part} from {time:%Y-%m-%d %H:%M:%S}" for part, time in self.begins.items())
        late = pluralize(self.late, "query", "queries")
        undated = pluralize(self.undated, "query has", "queries have")
        against = pluralize(self.against, "group stays", "groups stay")
        return [
            f"By time: {begins}. {self.spanning:,} groups span a cut and went by their first query, with "
            f"{late} that were first asked after the next part begins.",
            *([f"{undated} no time and went to the first part."] if self.undated else []),
            *([f"{against} where a release has them, against the cut."] if self.against else []),
        ]


def assign_by_time(
    groups: Mapping[str, str],
    times: Mapping[str, datetime],
    parts: Mapping[str, float],
    carried: Mapping[str, str] | None = None,
) -> tuple[dict[str, str], ByTime]:
    """Query id → part, and the report of the cut.

    Parameters
    ----------
    parts: part → fraction, the earliest first; groups without a known time go to it.
    carried: group → part, of groups whose part is carried over.
    """
    fixed = carried or {}
    members = members_of(groups)
    began = {
        name: min(times[query] for query in queries if query in times)
        for name, queries in members.items()
        if any(query in times for query in queries)
    }
    unknown = [name for name in members if name not in began and name not in fixed]
    by_cut = _cut({name: len(members[name]) for name in began}, began, parts)
    part_of = dict.fromkeys(unknown, next(iter(parts))) | by_cut | dict(fixed)
    report = ByTime(
        begins=_begins(by_cut, began),
        **_spanning(members, times, by_cut, began, list(parts)),
        undated=sum(len(members[name]) for name in unknown),
        against=sum(by_cut[name] != part for name, part in fixed.items() if name in by_cut),
    )
    return {query_id: part_of[group_id] for query_id, group_id in sorted(groups.items())}, report


def _cut(
    sizes: Mapping[str, int], began: Mapping[str, datetime], parts: Mapping[str, float]
) -> dict[str, str]:
    """Group → part: of the moments between groups those that leave the parts nearest to their fractions, and
    none empty where there are as many moments as parts."""
    ordered = sorted(began, key=lambda name: (began[name], name))
    moments = [(moment, list(names)) for moment, names in groupby(ordered, began.__getitem__)]
    after = [0, *accumulate(sum(sizes[name] for name in names) for _, names in moments)]
    part_of: dict[str, str] = {}
    start, share = 0, 0.0
    for index, (part, fraction) in enumerate(parts.items(), 1):
        share += fraction
        last = len(moments) - len(parts) + index
        choices = range(start + 1, last + 1) if len(moments) >= len(parts) else range(start, len(after))
        end = min(choices, key=lambda at: (abs(after[at] - share * after[-1]), at))
        end = len(moments) if index == len(parts) else end
        part_of |= {name: part for _, names in moments[start:end] for name in names}
        start = end
    return part_of


def _begins(by_cut: Mapping[str, str], began: Mapping[str, datetime]) -> dict[str, datetime]:
    begins: dict[str, datetime] = {}
    for name, part in by_cut.items():
        begins[part] = min(began[name], begins.get(part, began[name]))
    return begins


def _spanning(
    members: Mapping[str, list[str]],
    times: Mapping[str, datetime],
    by_cut: Mapping[str, str],
    began: Mapping[str, datetime],
    order: list[str],
) -> dict[str, int]:
    begins = _begins(by_cut, began)
    late = 0
    spanning = 0
    for name, part in by_cut.items():
        later = [begins[other] for other in order[order.index(part) + 1 :] if other in begins]
        behind = sum(query in times and bool(later) and times[query] >= later[0] for query in members[name])
        late += behind
        spanning += bool(behind)
    return {"spanning": spanning, "late": late}
