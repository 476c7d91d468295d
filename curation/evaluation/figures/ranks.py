"""The ranking of systems, with groups of systems that corrected tests of all pairs cannot distinguish.

Systems that cannot be distinguished share a letter: if two systems have no common letter, one is better. The
letters come from inserting each difference into the groups and absorbing groups that are part of others
(Piepho 2004, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of
Computational and Graphical Statistics 13). The possible ranks of a system are all ranks below all better
systems and above all worse systems. With 95 % probability all of these ranges are right together (M. Mogstad,
J. P. Romano, A. M. Shaikh and D. Wilhelm (2024), Inference for ranks, Review of Economic Studies 91).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import ascii_lowercase
from typing import NamedTuple

from curation.evaluation.figures.comparison import Comparison


class LeaderboardRow(NamedTuple):
    """One row of the leaderboard: a system with its value, its possible ranks and its letters.

    Attributes
    ----------
    letters: the system's groups as letters, or as numbers in brackets after z; systems of one group are not
        distinguished.
    best_rank, worst_rank: the ranks that the system may have.
    """

    system: str
    value: float
    letters: str
    best_rank: int
    worst_rank: int


def rank_systems(means: Mapping[str, float], comparisons: Iterable[Comparison]) -> tuple[LeaderboardRow, ...]:
    """Rank the systems by descending value, and by name where values are equal.

    Parameters
    ----------
    means: system → mean.
    comparisons: all pairs of the systems by one measure in one stratum. Pairs that are missing or have no
        tests are not distinguished.
    """
    better: dict[str, set[str]] = {system: set() for system in means}
    for pair in comparisons:
        if pair.distinguished and pair.difference:
            is_above = pair.difference > 0
            better[pair.system if is_above else pair.other].add(pair.other if is_above else pair.system)
    order = sorted(means, key=lambda system: (-means[system], system))
    distinguished = [(winner, loser) for winner in order for loser in order if loser in better[winner]]
    groups = find_groups(order, distinguished)
    rows = []
    for system in order:
        letters = _write_letters([number for number, group in enumerate(groups, 1) if system in group])
        best = 1 + sum(system in losers for losers in better.values())
        worst = len(order) - len(better[system])
        rows.append(LeaderboardRow(system, means[system], letters, best, worst))
    return tuple(rows)


def find_groups(order: Sequence[str], pairs: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """Find the largest groups of systems in which no test distinguishes two systems, in the order of their
    members."""
    groups = [frozenset(order)]
    for pair in pairs:
        smaller_groups: dict[frozenset[str], None] = {}
        for group in groups:
            smaller = [group - {system} for system in pair] if group.issuperset(pair) else [group]
            smaller_groups |= dict.fromkeys(smaller)
        groups = [group for group in smaller_groups if not any(group < larger for larger in smaller_groups)]
    position = {system: rank for rank, system in enumerate(order)}
    return sorted(groups, key=lambda group: sorted(position[system] for system in group))


def _write_letters(numbers: Sequence[int]) -> str:
    last = len(ascii_lowercase)
    return "".join(ascii_lowercase[number - 1] if number <= last else f"({number})" for number in numbers)
