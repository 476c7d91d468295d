"""Ranks and letters: which systems the corrected tests of all pairs tell apart.

Systems that cannot be distinguished share a letter: if two systems have no common letter, one is better. The
letters come from inserting each difference into the groups and absorbing groups that are part of others
(H.-P. Piepho (2004), An algorithm for a letter-based representation of all-pairwise comparisons, Journal of
Computational and Graphical Statistics 13). A system may have every rank below all systems that are better and
above all that are worse; with 95 % all of these ranges are right at once (M. Mogstad, J. P. Romano, A. M.
Shaikh and D. Wilhelm (2024), Inference for ranks, Review of Economic Studies 91).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from string import ascii_lowercase
from typing import NamedTuple

from curation.evaluation.figures.comparison import Comparison


class LeaderboardRow(NamedTuple):
    """A system on the leaderboard.

    Attributes
    ----------
    groups: numbers from 1 of the groups of systems that it is not distinguished from.
    letters: the same as letters, or as numbers in brackets beyond z.
    best_rank, worst_rank: the ranks that it may have.
    better_than: how many systems it is better than, beyond noise.
    """

    system: str
    value: float
    groups: tuple[int, ...]
    letters: str
    best_rank: int
    worst_rank: int
    better_than: int


def leaderboard(values: Mapping[str, float], comparisons: Iterable[Comparison]) -> tuple[LeaderboardRow, ...]:
    """The systems by falling value, equal ones by name.

    Parameters
    ----------
    values: system → mean.
    comparisons: all pairs of the systems, of one measure and stratum. Pairs that are missing or have no
        tests are not distinguished.
    """
    better: dict[str, set[str]] = {system: set() for system in values}
    for comparison in comparisons:
        if comparison.distinguished and comparison.difference:
            winner, loser = (
                (comparison.system, comparison.other)
                if comparison.difference > 0
                else (comparison.other, comparison.system)
            )
            better[winner].add(loser)
    order = sorted(values, key=lambda system: (-values[system], system))
    apart = [(winner, loser) for winner in order for loser in order if loser in better[winner]]
    groups = groups_of(order, apart)
    rows = []
    for system in order:
        numbers = tuple(number for number, group in enumerate(groups, 1) if system in group)
        above, below = sum(system in losers for losers in better.values()), len(better[system])
        ranks = 1 + above, len(order) - below
        rows.append(LeaderboardRow(system, values[system], numbers, _letters(numbers), *ranks, below))
    return tuple(rows)


def groups_of(order: Sequence[str], apart: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """The largest groups without two distinguished systems, in the order of their members."""
    groups = [frozenset(order)]
    for first, second in apart:
        split = [
            smaller
            for group in groups
            for smaller in (
                (group - {first}, group - {second}) if first in group and second in group else (group,)
            )
        ]
        groups = _absorbed(split)
    index = {system: number for number, system in enumerate(order)}
    return sorted(groups, key=lambda group: sorted(index[system] for system in group))


def _absorbed(groups: Collection[frozenset[str]]) -> list[frozenset[str]]:
    """Without those that are part of another."""
    distinct = list(dict.fromkeys(groups))
    return [group for group in distinct if not any(group < other for other in distinct)]


def _letters(groups: Sequence[int]) -> str:
    return "".join(
        ascii_lowercase[number - 1] if number <= len(ascii_lowercase) else f"({number})" for number in groups
    )
