"""Balanced assignment of whole leakage groups to the parts of a split, near the requested fractions.

The parts should also be alike in each dimension of the queries. Groups with the same number of queries in
each stratum and each other level are one type. The result is a table with the number of groups of each type
in each part. The search makes several seeded greedy assignments, from the largest group down, and improves
each by moves and swaps of single groups until no step lowers the cost.

    cost = Σ over parts and columns of weight × |reached − ideal| / 2

A column counts all queries ('all', with the weight of all dimensions together) or the queries of one level of
a dimension, such as the stratum 'head · shop'. Half the sum over the columns of a dimension is the number of
queries in the wrong part. The size of a part differs from its ideal by at most the size of the largest group.
The greedy assignment gives a group to a part that the group does not overfill, or else to a part that still
lacks queries, and no later step breaks this rule. Groups whose part is carried over from a release keep this
part, and the other groups balance the sizes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.core.digests import digest
from curation.core.statistics.arrays import Floats, Ints

STARTS = 32
MAX_GROUPS_OF_ALL_STARTS = 5_000
"""Number of groups above which the search makes only a quarter of the starts."""
STEPS = 1_000
"""Maximum number of moves and swaps that improve one start."""
WINDOW = 96
"""Number of group types of a part that one step tries for a swap. Later steps try the other types."""
ALL = "all"
_ROUNDING = 1e-9
_SPREAD = 1e-3  # of two tables with one cost, the one whose distances are spread
Levels = Mapping[str, Collection[tuple[str, str]]]
"""Map from query id to the (dimension, level) pairs of the query, for each dimension to balance."""


@dataclass(frozen=True)
class PartShare:
    """The ideal and the reached number of queries of one level in a part.

    The dimension 'all' has one level, 'all'.
    """

    part: str
    dimension: str
    level: str
    ideal: float
    reached: int


@dataclass(frozen=True)
class Distance:
    """The distance of the assigned parts from the ideal parts in one dimension.

    Attributes
    ----------
    queries: half the sum of |reached − ideal| over parts and levels: queries in the wrong part.
    least: the least distance that any split of these queries can have, because queries are whole.
    """

    dimension: str
    queries: float
    least: float


class _Table(NamedTuple):
    """The groups to assign, by type, and the numbers of queries that each part still lacks.

    Attributes
    ----------
    counts: shape (types, columns), queries of a column in one group of the type; column 0 is 'all'.
    groups: for each type the ids of its groups.
    wanted: shape (parts, columns), the ideal numbers less the carried-over queries.
    weights: shape (columns,).
    """

    counts: Floats
    groups: list[list[str]]
    wanted: Floats
    weights: Floats


def list_members(groups: Mapping[str, str]) -> dict[str, list[str]]:
    """Return a map from group id to the queries of the group, both in order."""
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
    """Assign every group to a part, and return query id → part.

    Parameters
    ----------
    groups: query id → leakage group.
    parts: part → fraction; the fractions sum to 1.
    carried: group → part, for groups whose part is carried over.
    """
    fixed = carried or {}
    table = _tabulate_groups(groups, levels, parts, seed, fixed)
    cells = _find_best_cells(table, list(parts.values()), seed)
    part_of = dict(fixed)
    for names, row in zip(table.groups, cells.tolist(), strict=True):
        places = [part for part, number in zip(parts, row, strict=True) for _ in range(number)]
        part_of |= dict(zip(names, places, strict=True))
    return {query_id: part_of[group_id] for query_id, group_id in sorted(groups.items())}


def count_shares(
    assigned: Mapping[str, str], levels: Levels, parts: Mapping[str, float]
) -> tuple[PartShare, ...]:
    """Count the ideal and the reached queries of each part, of all queries and of each level."""
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


def compute_distances(
    assigned: Mapping[str, str], levels: Levels, parts: Mapping[str, float]
) -> tuple[Distance, ...]:
    """Compute the distance of the parts from the ideal parts in each dimension, 'all' first."""
    gaps_of: dict[str, list[float]] = {}
    ideals_of: dict[tuple[str, str], list[float]] = {}
    for share in count_shares(assigned, levels, parts):
        gaps_of.setdefault(share.dimension, []).append(abs(share.reached - share.ideal) / 2)
        ideals_of.setdefault((share.dimension, share.level), []).append(share.ideal)
    least = dict.fromkeys(gaps_of, 0.0)
    for (dimension, _), ideals in ideals_of.items():
        least[dimension] += _least_distance(ideals)
    return tuple(
        Distance(dimension, round(sum(gaps), 6), round(least[dimension], 6))
        for dimension, gaps in gaps_of.items()
    )


def _least_distance(ideals: Sequence[float]) -> float:
    """Compute the least distance that whole numbers of queries can have from the ideals of one column.

    The method is that of the largest remainder.
    """
    rests = sorted((ideal % 1.0 for ideal in ideals), reverse=True)
    up = round(sum(rests))
    return sum(1.0 - rest if index < up else rest for index, rest in enumerate(rests)) / 2


def _tabulate_groups(
    groups: Mapping[str, str], levels: Levels, parts: Mapping[str, float], seed: int, fixed: Mapping[str, str]
) -> _Table:
    columns = sorted({column for query_id in groups for column in levels[query_id]})
    index = {column: number for number, column in enumerate(columns, 1)}
    dimensions = len({dimension for dimension, _ in columns})
    wanted = np.zeros((len(parts), len(columns) + 1))
    number = {part: row for row, part in enumerate(parts)}
    total = np.zeros(len(columns) + 1)
    types: dict[tuple[int, ...], list[str]] = {}
    for group_id, members in list_members(groups).items():
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


def _find_best_cells(table: _Table, fractions: Sequence[float], seed: int) -> Ints:
    """Find the number of groups of each type in each part with the lowest cost, shape (types, parts)."""
    if not table.groups:
        return np.zeros((0, len(fractions)), dtype=np.int64)
    number = STARTS if sum(map(len, table.groups)) <= MAX_GROUPS_OF_ALL_STARTS else STARTS // 4
    starts = [_assign_greedily(table, fractions, digest("assign", seed, start)) for start in range(number)]
    furthest = [float(np.abs(_find_gaps(table, start)[:, 0]).max()) for start in starts]
    limit = max(float(table.counts[:, 0].max()), *furthest)
    tried = [_improve_cells(table, start, limit) for start in starts]
    return min(tried, key=lambda cells: float((np.abs(_find_gaps(table, cells)) @ table.weights).sum() / 2))


def _find_gaps(table: _Table, cells: Ints) -> Floats:
    """Return the reached minus the wanted numbers of queries, shape (parts, columns)."""
    return cells.T @ table.counts - table.wanted


def _assign_greedily(table: _Table, fractions: Sequence[float], salt: str) -> Ints:
    """Assign the largest groups first, each to the part that lacks most queries relative to its size."""
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


def _improve_cells(table: _Table, start: Ints, limit: float) -> Ints:
    """Improve the assignment by moves and swaps of groups, with the best step each time."""
    cells = start.copy()
    gaps = _find_gaps(table, cells)
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
    """Find the best move of a group from part `giver` to part `taker`, or the best swap within the window.

    Returns the change of the cost (a negative change is good), and the types of the groups that leave and
    join `giver`, where -1 means no group.
    """
    gives = np.flatnonzero(cells[:, giver])
    takes = window[cells[window, taker] > 0]
    gives = gives[np.isin(gives, window)] if len(gives) > WINDOW else gives
    coming = np.vstack([np.zeros_like(table.counts[:1]), table.counts[takes]])
    if not len(gives):
        return 0.0, (-1, -1, giver, taker)
    change = coming[None, :, :] - table.counts[gives][:, None, :]
    first, second = gaps[giver] + change, gaps[taker] - change
    cost = _gap_costs(first, table.weights) + _gap_costs(second, table.weights)
    cost[(np.abs(first[..., 0]) > limit + _ROUNDING) | (np.abs(second[..., 0]) > limit + _ROUNDING)] = np.inf
    before = _gap_costs(gaps[[giver, taker]], table.weights).sum()
    at = int(cost.argmin())
    given, taken = divmod(at, len(coming))
    kind = int(takes[taken - 1]) if taken else -1
    return float(cost.flat[at] - before), (int(gives[given]), kind, giver, taker)


def _gap_costs(gaps: Floats, weights: Floats) -> Floats:
    """Compute the cost of the gaps between reached and wanted queries; columns are the last axis.

    A small term of squared gaps spreads the gaps over the parts.
    """
    heights: Floats = (np.abs(gaps) + _SPREAD * gaps**2) @ weights / 2
    return heights
