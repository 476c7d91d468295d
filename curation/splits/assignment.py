"""Balanced assignment of whole leakage groups to the parts of a split, close to the requested fractions.

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
from itertools import permutations
from typing import NamedTuple

import numpy as np

from curation.core.digests import digest
from curation.core.statistics.arrays import Floats, Ints

STARTS = 32
MAX_GROUPS_OF_ALL_STARTS = 5_000
"""With more leakage groups, the search makes only a quarter of its starts."""
STEPS = 1_000
"""Maximum number of moves and swaps that improve one start of the search."""
WINDOW = 96
"""Number of group types of a part that one step tries for a swap; later steps try the other types."""
ALL = "all"
_ROUNDING = 1e-9
_SPREAD = 1e-3  # of the tables with equal cost, prefers one whose gaps are spread over the parts
_Move = tuple[int, int, int]
"""Type of a leakage group, the part of the split that the group leaves, and the part that it joins."""
Fractions = Mapping[str, float]
"""Map from part of the split to its fraction of the queries; the fractions sum to 1."""
Groups = Mapping[str, str]
"""Map from query id to its leakage group."""
Parts = Mapping[str, str]
"""Map from query id, or from leakage group, to its part of the split."""
Levels = Mapping[str, Collection[tuple[str, str]]]
"""Map from query id to the query's (dimension, level) pairs, for each dimension to balance."""


@dataclass(frozen=True)
class PartShare:
    """The ideal and the actual number of queries with one level, such as one stratum, in a part of the split.

    The dimension 'all' has one level, 'all'.
    """

    part: str
    dimension: str
    level: str
    ideal: float
    reached: int


@dataclass(frozen=True)
class Distance:
    """The distance between a split's actual and ideal numbers of queries, in one dimension such as strata.

    Attributes
    ----------
    queries: half the sum of |reached − ideal| over parts and levels: queries in the wrong part.
    least: the least distance that any split of these queries can have, because queries are whole.
    """

    dimension: str
    queries: float
    least: float


class _Table(NamedTuple):
    """Leakage groups to assign, by type, and how many queries each part of the split still lacks.

    Attributes
    ----------
    counts: shape (types, columns), queries of a column in one group of the type; column 0 is 'all'.
    groups: for each type the ids of its groups.
    targets: shape (parts, columns), the ideal numbers less the carried-over queries.
    weights: shape (columns,).
    """

    counts: Floats
    groups: list[list[str]]
    targets: Floats
    weights: Floats


def assign_parts(
    groups: dict[str, str], levels: Levels, parts: Fractions, seed: int, carried: dict[str, str] | None = None
) -> dict[str, str]:
    """Assign every leakage group to a part of the split, and return query id → part.

    Parameters
    ----------
    groups: query id → leakage group.
    parts: part → fraction; the fractions sum to 1.
    carried: group → part, for groups whose part is carried over.
    """
    part_of_group = dict(carried or {})
    table = _tabulate_groups(groups, levels, parts, seed, part_of_group)
    cells = _find_best_cells(table, list(parts.values()), seed)
    for group_ids, counts in zip(table.groups, cells.tolist(), strict=True):
        assigned_parts = [part for part, count in zip(parts, counts, strict=True) for _ in range(count)]
        part_of_group |= dict(zip(group_ids, assigned_parts, strict=True))
    return {query_id: part_of_group[group_id] for query_id, group_id in sorted(groups.items())}


def list_members(groups: Groups) -> dict[str, list[str]]:
    """Map each leakage group to its queries, with groups and queries in order."""
    members: dict[str, list[str]] = defaultdict(list)
    for query_id in sorted(groups):
        members[groups[query_id]].append(query_id)
    return dict(sorted(members.items()))


def count_shares(assigned: Parts, levels: Levels, parts: Fractions) -> tuple[PartShare, ...]:
    """Count the ideal and the actual number of queries in each part of the split, in total and for each
    level."""
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


def compute_distances(assigned: Parts, levels: Levels, parts: Fractions) -> tuple[Distance, ...]:
    """Compute how far the parts of the split are from the ideal parts in each dimension, 'all' first."""
    gaps_by_dimension: dict[str, list[float]] = {}
    ideals_by_column: dict[tuple[str, str], list[float]] = {}
    for share in count_shares(assigned, levels, parts):
        gaps_by_dimension.setdefault(share.dimension, []).append(abs(share.reached - share.ideal) / 2)
        ideals_by_column.setdefault((share.dimension, share.level), []).append(share.ideal)
    lower_bounds = dict.fromkeys(gaps_by_dimension, 0.0)
    for (dimension, _), ideals in ideals_by_column.items():
        lower_bounds[dimension] += _compute_least_distance(ideals)
    return tuple(
        Distance(dimension, round(sum(gaps), 6), round(lower_bounds[dimension], 6))
        for dimension, gaps in gaps_by_dimension.items()
    )


def _compute_least_distance(ideals: Sequence[float]) -> float:
    """Compute how close whole numbers can come to one column's ideal numbers, by largest remainders."""
    remainders = sorted((ideal % 1.0 for ideal in ideals), reverse=True)
    rounded_up = round(sum(remainders))
    return sum([1.0 - remainder for remainder in remainders[:rounded_up]] + remainders[rounded_up:]) / 2


def _tabulate_groups(groups: Groups, levels: Levels, parts: Fractions, seed: int, carried: Parts) -> _Table:
    columns = sorted({column for query_id in groups for column in levels[query_id]})
    column_index = {column: index for index, column in enumerate(columns, 1)}
    dimensions = len({dimension for dimension, _ in columns})
    targets = np.zeros((len(parts), len(columns) + 1))
    part_index = {part: index for index, part in enumerate(parts)}
    totals = np.zeros(len(columns) + 1)
    types: dict[tuple[int, ...], list[str]] = {}
    for group_id, members in list_members(groups).items():
        counts = [len(members)] + [0] * len(columns)
        for query_id in members:
            for column in set(levels[query_id]):
                counts[column_index[column]] += 1
        totals += counts
        if group_id in carried:
            targets[part_index[carried[group_id]]] -= counts
        else:
            types.setdefault(tuple(counts), []).append(group_id)
    targets += np.outer(list(parts.values()), totals)
    ordered_types = sorted(types.items(), key=lambda item: ([-count for count in item[0]], item[1]))
    return _Table(
        np.array([counts for counts, _ in ordered_types], dtype=np.float64).reshape(-1, len(columns) + 1),
        [sorted(group_ids, key=lambda name: digest("deal", seed, name)) for _, group_ids in ordered_types],
        targets,
        np.array([max(1, dimensions)] + [1] * len(columns), dtype=np.float64),
    )


def _find_best_cells(table: _Table, fractions: Sequence[float], seed: int) -> Ints:
    """Search for the assignment with the lowest cost: the number of groups of each type in each part, shape
    (types, parts)."""
    if not table.groups:
        return np.zeros((0, len(fractions)), dtype=np.int64)
    count = STARTS if sum(map(len, table.groups)) <= MAX_GROUPS_OF_ALL_STARTS else STARTS // 4
    starts = [_assign_greedily(table, fractions, digest("assign", seed, number)) for number in range(count)]
    size_gaps = [float(np.abs(_compute_gaps(table, start)[:, 0]).max()) for start in starts]
    limit = max(float(table.counts[:, 0].max()), *size_gaps)
    improved = [_improve_cells(table, start, limit) for start in starts]
    costs = [float((np.abs(_compute_gaps(table, cells)) @ table.weights).sum() / 2) for cells in improved]
    return improved[costs.index(min(costs))]


def _compute_gaps(table: _Table, cells: Ints) -> Floats:
    """Compute how far each part's number of queries is above its target, shape (parts, columns)."""
    return cells.T @ table.counts - table.targets


def _assign_greedily(table: _Table, fractions: Sequence[float], salt: str) -> Ints:
    """Assign the largest groups first, each to the part of the split that lacks the most queries for its
    size."""
    sizes = table.counts[:, 0]
    largest_first = sorted(
        (-sizes[group_type], digest(salt, group_id), group_type)
        for group_type, group_ids in enumerate(table.groups)
        for group_id in group_ids
    )
    part_order = np.array(sorted(range(len(fractions)), key=lambda part: digest(salt, part)))
    lacking = table.targets[part_order].copy()
    need_weights = table.weights / np.array(fractions)[part_order, None]
    cells = np.zeros((len(sizes), len(fractions)), dtype=np.int64)
    for _, _, group_type in largest_first:
        counts = table.counts[group_type]
        room = lacking[:, 0]
        has_room = room >= counts[0] - _ROUNDING
        allowed = has_room if has_room.any() else room > _ROUNDING
        need = ((lacking * need_weights) @ counts) if allowed.any() else room
        part = int(np.where(allowed if allowed.any() else True, need, -np.inf).argmax())
        cells[group_type, part_order[part]] += 1
        lacking[part] -= counts
    return cells


def _improve_cells(table: _Table, start: Ints, limit: float) -> Ints:
    """Improve the assignment by moves and swaps of groups, choosing the best step each time."""
    cells = start.copy()
    gaps = _compute_gaps(table, cells)
    types, parts = cells.shape
    windows = -(-types // WINDOW) if parts > 1 else 0
    idle_windows = window_number = 0
    for _ in range(STEPS):
        if idle_windows >= max(1, windows) or parts < 2:
            break
        window = (np.arange(min(WINDOW, types)) + window_number * WINDOW) % types
        steps = (
            _find_best_step(table, cells, gaps, source, target, window, limit)
            for source, target in permutations(range(parts), 2)
        )
        change, moves = min(steps, key=lambda step: step[0])
        if change >= -1e-7:
            idle_windows += 1
            window_number += 1
            continue
        idle_windows = 0
        for group_type, source, target in moves:
            cells[group_type, source] -= 1
            cells[group_type, target] += 1
            gaps[source] -= table.counts[group_type]
            gaps[target] += table.counts[group_type]
    return cells


def _find_best_step(
    table: _Table, cells: Ints, gaps: Floats, source: int, target: int, window: Ints, limit: float
) -> tuple[float, list[_Move]]:
    """Find the best move of a group from part `source` to part `target`, or the best swap in the window.

    Returns the change of the cost (a negative change is good), and the moves of the step.
    """
    leaving = np.flatnonzero(cells[:, source])
    leaving = leaving[np.isin(leaving, window)] if len(leaving) > WINDOW else leaving
    returning = window[cells[window, target] > 0]
    if not len(leaving):
        return 0.0, []
    returning_counts = np.vstack([np.zeros_like(table.counts[:1]), table.counts[returning]])
    count_change = returning_counts[None, :, :] - table.counts[leaving][:, None, :]
    source_gaps, target_gaps = gaps[source] + count_change, gaps[target] - count_change
    cost = _compute_gap_costs(source_gaps, table.weights) + _compute_gap_costs(target_gaps, table.weights)
    for part_gaps in (source_gaps, target_gaps):
        cost[np.abs(part_gaps[..., 0]) > limit + _ROUNDING] = np.inf
    present_cost = _compute_gap_costs(gaps[[source, target]], table.weights).sum()
    best = int(cost.argmin())
    leaving_index, returning_index = divmod(best, len(returning_counts))
    moves = [(int(leaving[leaving_index]), source, target)]
    if returning_index:
        moves.append((int(returning[returning_index - 1]), target, source))
    return float(cost.flat[best] - present_cost), moves


def _compute_gap_costs(gaps: Floats, weights: Floats) -> Floats:
    """Compute the cost of gaps between the actual and the target numbers of queries; columns are the last
    axis.

    A small term of squared gaps spreads the gaps over the parts.
    """
    costs: Floats = (np.abs(gaps) + _SPREAD * gaps**2) @ weights / 2
    return costs
