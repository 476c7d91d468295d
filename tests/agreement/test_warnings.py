"""Early warnings: rare where nothing is the matter, likely where something is, always with their figures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from curation.agreement.warnings import (
    FEWEST_ANSWERS,
    FEWEST_REPEATS,
    LEVEL,
    Checked,
    Given,
    Times,
    early_warnings,
    falling,
    one_grade,
    speeding,
)
from curation.store import Store

PEOPLE = ["ada", "ben", "cleo", "dora"]
ROUNDS = 150
Random = np.random.Generator


def times(random: Random, speeder: bool) -> Checked:
    """Reading times with people who differ; a speeder takes about a second whatever the text."""
    n = 150
    base = random.lognormal(0, 0.25, len(PEOPLE))
    lengths = random.integers(80, 700, (len(PEOPLE), n))
    seconds = base[:, None] * (2 + lengths / 80) * random.lognormal(0, 0.5, lengths.shape)
    if speeder:
        seconds[0] = random.lognormal(0, 0.4, n)
    who = [name for name in PEOPLE for _ in range(n)]
    return speeding(PEOPLE, Times(who, list(seconds.ravel()), list(map(int, lengths.ravel()))))


def grades(random: Random, stuck: bool) -> Checked:
    """Grades around a truth, with leanings; who is stuck gives 1 nineteen times of twenty."""
    n = 120
    truth = random.choice(4, n, p=[0.4, 0.25, 0.2, 0.15])
    noise = random.normal(random.normal(0, 0.3, len(PEOPLE))[:, None], 0.7, (len(PEOPLE), n))
    given = np.clip(np.round(truth + noise), 0, 3).astype(int)
    if stuck:
        given[0] = np.where(random.random(n) < 0.95, 1, given[0])
    who = [name for name in PEOPLE for _ in range(n)]
    return one_grade(PEOPLE, Given(who, list(range(n)) * len(PEOPLE), list(map(int, given.ravel()))))


def one_sided(random: Random, stuck: bool) -> Checked:
    """Pairs of which nearly all are 0, whoever grades: one grade all the time, and rightly so."""
    n = 120
    truth = random.random(n) < 0.05
    given = np.where(random.random((len(PEOPLE), n)) < 0.06, 1, truth).astype(int)
    who = [name for name in PEOPLE for _ in range(n)]
    return one_grade(PEOPLE, Given(who, list(range(n)) * len(PEOPLE), list(map(int, given.ravel()))))


def repeats(random: Random, tiring: bool) -> Checked:
    """Sixty repeats, three of four alike; who tires goes from 95 to 20 of a hundred."""
    shares = {name: np.full(60, 0.75) for name in PEOPLE}
    if tiring:
        shares["ada"] = np.linspace(0.95, 0.2, 60)
    return falling(PEOPLE, {name: list(map(bool, random.random(60) < p)) for name, p in shares.items()})


@pytest.mark.parametrize("simulate", [times, grades, one_sided, repeats])
def test_a_rule_warns_in_at_most_the_stated_share_of_rounds_without_cause(
    simulate: Callable[[Random, bool], Checked],
) -> None:
    random = np.random.Generator(np.random.PCG64(11))
    alarms = sum(bool(simulate(random, False).found) for _ in range(ROUNDS))
    assert binomtest(alarms, ROUNDS, LEVEL, alternative="greater").pvalue > 0.01, f"{alarms} of {ROUNDS}"


@pytest.mark.parametrize(
    ("simulate", "at_least"),
    [(times, 0.95), (grades, 0.95), (repeats, 0.5)],
    ids=["speed", "one grade", "consistency"],
)
def test_a_rule_finds_who_does_it(simulate: Callable[[Random, bool], Checked], at_least: float) -> None:
    random = np.random.Generator(np.random.PCG64(12))
    found = sum(any(one.annotator == "ada" for one in simulate(random, True).found) for _ in range(ROUNDS))
    low = binomtest(found, ROUNDS).proportion_ci(0.99).low
    assert low > at_least, f"{found} of {ROUNDS}"


@settings(max_examples=60, deadline=None)
@given(
    grades=st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=4), min_size=30, max_size=60),
)
def test_swapping_who_gave_which_grade_of_a_pair_is_what_chance_means(grades: list[list[int]]) -> None:
    """Whoever always gave the same as the others on every pair is never unusual."""
    alike = [[votes[0]] * len(votes) for votes in grades]
    who = [PEOPLE[n] for votes in alike for n in range(len(votes))]
    units = [unit for unit, votes in enumerate(alike) for _ in votes]
    flat = [grade for votes in alike for grade in votes]
    assert not one_grade(PEOPLE, Given(who, units, flat)).found


def test_a_warning_carries_its_figures_and_accuses_nobody() -> None:
    n = 60
    who = [name for name in PEOPLE for _ in range(n)]
    given = [1] * n + [grade % 4 for _ in PEOPLE[1:] for grade in range(n)]
    (warning,) = one_grade(PEOPLE, Given(who, list(range(n)) * 4, given)).found
    assert (warning.annotator, warning.count, warning.n) == ("ada", 60, 60)
    assert (warning.usual_count, warning.usual_n) == (45, 180)
    assert warning.p <= warning.level == LEVEL / 4
    assert warning.sentence.startswith("Look at these together: ada gave grade 1 to 60 of 60 pairs")
    assert "longest run of one grade is 60, among the others 1" in warning.sentence


def test_long_texts_excuse_nobody_and_short_ones_accuse_nobody() -> None:
    """Who has the short texts is compared with the others' times over short texts."""
    n = 60
    who = [name for name in PEOPLE for _ in range(n)]
    lengths = [50] * n + ([50] * (n // 2) + [700] * (n // 2)) * 3
    seconds = [1.0] * n + ([1.2] * (n // 2) + [20.0] * (n // 2)) * 3
    assert not speeding(PEOPLE, Times(who, seconds, lengths)).found
    lengths[:n], seconds[:n] = [700] * n, [1.0] * n
    assert [one.annotator for one in speeding(PEOPLE, Times(who, seconds, lengths)).found] == ["ada"]


def test_consistency_falls_by_exact_counts() -> None:
    alike = [True] * 14 + [False] * 14
    (warning,) = falling(["ada"], {"ada": alike}).found
    assert (warning.count, warning.n, warning.usual_count, warning.usual_n) == (0, 14, 14, 14)
    assert not falling(["ada"], {"ada": alike[::-1]}).found, "getting better is no warning"


def test_too_little_is_not_checked_and_says_so() -> None:
    few = FEWEST_ANSWERS - 1
    who = [name for name in PEOPLE[:2] for _ in range(few)]
    assert speeding(PEOPLE[:2], Times(who, [1.0] * len(who), [9] * len(who))).not_checked.keys() == {
        "ada",
        "ben",
    }
    two = [name for name in PEOPLE[:2] for _ in range(FEWEST_ANSWERS)]
    alone = speeding(PEOPLE[:2], Times(two, [1.0] * len(two), [9] * len(two)))
    assert (alone.checked, alone.not_checked["ada"]) == (
        0,
        "to compare with there are 30 timed answers, by 1 other people",
    )
    single = one_grade(["ada"], Given(["ada"] * 99, list(range(99)), [1] * 99))
    assert single.not_checked == {"ada": "0 pairs that others graded, too; 30 are needed"}
    short = falling(["ada"], {"ada": [True] * (FEWEST_REPEATS - 1)})
    assert (short.found, short.not_checked) == (
        (),
        {"ada": "19 blind duplicates judged twice; 20 are needed"},
    )


def test_a_round_of_nothing_has_no_warnings_and_nobody_is_checked(store: Store) -> None:
    with store.transaction() as cursor:
        cursor.execute(
            """
            INSERT INTO rounds SELECT 'r', 'first', 'labeling', value, '{}', TIMESTAMP '2026-01-01'
            FROM settings WHERE name = 'guide'
            """
        )
    found = early_warnings(store, "first")
    assert (found.found, [check.checked for check in found.checks]) == ((), [0, 0, 0])
