"""The leaderboard: letters for systems that cannot be distinguished, and the ranks that each may have."""

from __future__ import annotations

import numpy as np

from curation.evaluation.comparison.leaderboard import groups_of, leaderboard
from curation.evaluation.comparison.pairs import Comparison, SystemValues, compare_systems


def pair(system: str, other: str, difference: float, p: float) -> Comparison:
    return Comparison(system, other, "map", None, 50, 0, 30, 0, 20, None, difference, p_corrected=p)


def test_the_groups_of_a_published_example() -> None:
    """J. Gramm et al. (2007), Computational Statistics & Data Analysis 52, Figure 2: five treatments."""
    apart = [("1", "5"), ("2", "3"), ("2", "5"), ("3", "5")]
    assert [sorted(group) for group in groups_of("12345", apart)] == [
        ["1", "2", "4"],
        ["1", "3", "4"],
        ["4", "5"],
    ]


def test_systems_share_a_letter_exactly_where_no_test_tells_them_apart() -> None:
    values = {"a": 0.3, "b": 0.4, "c": 0.5, "d": 0.51}
    compared = [
        pair("c", "a", 0.2, 0.001),
        pair("d", "a", 0.21, 0.001),
        pair("d", "b", 0.11, 0.04),
        pair("b", "a", 0.1, 0.06),
        pair("c", "b", 0.1, 0.05),
        pair("d", "c", 0.01, 1.0),
    ]
    rows = leaderboard(values, compared)
    assert [(row.system, row.letters) for row in rows] == [("d", "a"), ("c", "ab"), ("b", "bc"), ("a", "c")]
    assert [(row.best_rank, row.worst_rank) for row in rows] == [(1, 2), (1, 3), (2, 4), (3, 4)]
    assert [row.better_than for row in rows] == [2, 1, 0, 0]


def test_the_direction_of_the_difference_does_not_matter() -> None:
    up = leaderboard({"a": 1, "b": 0}, [pair("a", "b", 0.1, 0.01)])
    down = leaderboard({"a": 1, "b": 0}, [pair("b", "a", -0.1, 0.01)])
    assert up == down


def test_copies_of_one_system_are_one_group_and_a_better_one_leads() -> None:
    random = np.random.default_rng(3)
    base = random.random(80)
    values = np.clip(np.stack([base, base, base, base + random.normal(0.1, 0.1, 80)]), 0, 2)[:, :, None]
    systems = ("a", "b", "c", "better")
    compared = compare_systems(SystemValues(systems, ("map",), values), {}, seed=1)
    means = dict(zip(systems, values.mean(axis=1)[:, 0].tolist(), strict=True))
    rows = leaderboard(means, compared)
    assert [(row.system, row.letters) for row in rows] == [
        ("better", "a"),
        ("a", "b"),
        ("b", "b"),
        ("c", "b"),
    ]
    assert [(row.best_rank, row.worst_rank) for row in rows] == [(1, 1), (2, 4), (2, 4), (2, 4)]


def test_letters_beyond_z_are_numbers() -> None:
    """Thirty systems of which each is distinguished from all others."""
    names = [f"s{number:02}" for number in range(30)]
    values = {name: 1 - number / 100 for number, name in enumerate(names)}
    compared = [pair(names[i], names[j], 0.1, 0.001) for i in range(30) for j in range(i + 1, 30)]
    rows = leaderboard(values, compared)
    assert [rows[place].letters for place in (0, 1, -1)] == ["a", "b", "(30)"]
