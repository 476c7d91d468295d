"""Early warnings: rare where nothing is the matter, likely where something is, always with their figures."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from curation.agreement.annotators.fast_answers import FEWEST_ANSWERS, AnswerTimes, RoundGrades
from curation.agreement.annotators.intra_annotator import Showings
from curation.agreement.annotators.signals import FALSE_ROUNDS, Finding, Raised
from curation.agreement.report.quality import FEWEST_REPEATS, early_warnings, look_at_round
from curation.store import Store
from tests.support import examples

PEOPLE = ["ada", "ben", "cleo", "dora"]
ROUNDS = 150
NO_TIMES, NO_GRADES = AnswerTimes([], [], []), RoundGrades([], [], [])
Random = np.random.Generator


def times(random: Random, speeder: bool = False) -> AnswerTimes:
    """Reading times with people who differ; a speeder takes about a second whatever the text."""
    n = 150
    base = random.lognormal(0, 0.25, len(PEOPLE))
    lengths = random.integers(80, 700, (len(PEOPLE), n))
    seconds = base[:, None] * (2 + lengths / 80) * random.lognormal(0, 0.5, lengths.shape)
    if speeder:
        seconds[0] = random.lognormal(0, 0.4, n)
    who = [name for name in PEOPLE for _ in range(n)]
    return AnswerTimes(who, list(seconds.ravel()), list(map(int, lengths.ravel())))


def grades(random: Random, stuck: bool = False) -> RoundGrades:
    """Grades around a truth, with leanings; who is stuck gives 1 nineteen times of twenty."""
    n = 120
    truth = random.choice(4, n, p=[0.4, 0.25, 0.2, 0.15])
    noise = random.normal(random.normal(0, 0.3, len(PEOPLE))[:, None], 0.7, (len(PEOPLE), n))
    given = np.clip(np.round(truth + noise), 0, 3).astype(int)
    if stuck:
        given[0] = np.where(random.random(n) < 0.95, 1, given[0])
    return given_grades(given)


def one_sided(random: Random) -> RoundGrades:
    """Pairs of which nearly all are 0, whoever grades: one grade all the time, and rightly so."""
    n = 120
    truth = random.random(n) < 0.05
    return given_grades(np.where(random.random((len(PEOPLE), n)) < 0.06, 1, truth).astype(int))


def given_grades(given: np.ndarray) -> RoundGrades:
    """Everybody's grades of the same pairs."""
    who = [name for name in PEOPLE for _ in range(given.shape[1])]
    return RoundGrades(who, list(range(given.shape[1])) * len(PEOPLE), list(map(int, given.ravel())))


def repeats(random: Random, tiring: bool = False) -> dict[str, Showings]:
    """Sixty repeats, three of four alike; who tires goes from 95 to 20 of a hundred."""
    shares = {name: np.full(60, 0.75) for name in PEOPLE}
    if tiring:
        shares["ada"] = np.linspace(0.95, 0.2, 60)
    return {name: showings(name, random.random(60) < p) for name, p in shares.items()}


def showings(name: str, alike: np.ndarray | list[bool]) -> Showings:
    """Repeats that were graded alike, or a step off."""
    first = np.ones(len(alike), dtype=np.int64)
    at = np.arange(len(alike)).astype("datetime64[h]").astype("datetime64[us]")
    return Showings(name, first, np.where(alike, 1, 2), np.full(len(alike), 30), at)


def raised(looked: Raised) -> dict[str, Finding]:
    """Annotator → the finding; there must be at most one."""
    assert len({name for name, _ in looked.findings}) == len(looked.findings)
    return dict(looked.findings)


@pytest.mark.slow
@pytest.mark.parametrize("grading", [grades, one_sided])
def test_signals_are_raised_in_at_most_the_stated_share_of_rounds_without_cause(grading) -> None:
    random = np.random.Generator(np.random.PCG64(11))
    alarms: Counter[str] = Counter()
    for _ in range(ROUNDS):
        shown = repeats(random) if grading is grades else {}  # once is enough: they take longest
        found = look_at_round(PEOPLE, times(random), grading(random), shown).findings
        alarms.update({finding.about for _, finding in found})
        alarms["anything"] += bool(found)
    for about, count in alarms.items():
        assert binomtest(count, ROUNDS, 0.05, alternative="greater").pvalue > 0.01, f"{about}: {count}"


@pytest.mark.slow
@pytest.mark.parametrize(("about", "at_least"), [("speed", 0.95), ("one grade", 0.95), ("change", 0.5)])
def test_a_signal_finds_who_does_it(about: str, at_least: float) -> None:
    random = np.random.Generator(np.random.PCG64(12))
    found = 0
    for _ in range(ROUNDS):
        planted = look_at_round(
            PEOPLE,
            times(random, about == "speed"),
            grades(random, about == "one grade"),
            repeats(random, tiring=True) if about == "change" else {},
        )
        found += ("ada", about) in {(name, finding.about) for name, finding in planted.findings}
    low = binomtest(found, ROUNDS).proportion_ci(0.99).low
    assert low > at_least, f"{found} of {ROUNDS}"


@settings(max_examples=examples(60))
@given(
    grades=st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=4), min_size=30, max_size=60),
)
def test_swapping_who_gave_which_grade_of_a_pair_is_what_chance_means(grades: list[list[int]]) -> None:
    """Whoever always gave the same as the others on every pair is never unusual."""
    alike = [[votes[0]] * len(votes) for votes in grades]
    who = [PEOPLE[n] for votes in alike for n in range(len(votes))]
    units = [unit for unit, votes in enumerate(alike) for _ in votes]
    flat = [grade for votes in alike for grade in votes]
    assert not look_at_round(PEOPLE, NO_TIMES, RoundGrades(who, units, flat), {}).findings


def test_a_warning_carries_its_figures_and_accuses_nobody() -> None:
    n = 60
    who = [name for name in PEOPLE for _ in range(n)]
    given = [1] * n + [grade % 4 for _ in PEOPLE[1:] for grade in range(n)]
    found = raised(look_at_round(PEOPLE, NO_TIMES, RoundGrades(who, list(range(n)) * 4, given), {}))
    warning = found.pop("ada")
    assert not found
    counts = [warning.evidence[name] for name in ("times", "pairs", "others_times", "others_grades")]
    assert counts == [60, 60, 45, 180]
    assert warning.evidence["p"] <= FALSE_ROUNDS / 4
    assert warning.sentence.startswith("Look at these together: ada gave grade 1 to 60 of 60 pairs")
    assert "longest run of one grade is 60, among the others 1" in warning.sentence


def test_long_texts_excuse_nobody_and_short_ones_accuse_nobody() -> None:
    """Who has the short texts is compared with the others' times over short texts."""
    n = 60
    who = [name for name in PEOPLE for _ in range(n)]
    lengths = [50] * n + ([50] * (n // 2) + [700] * (n // 2)) * 3
    seconds = [1.0] * n + ([1.2] * (n // 2) + [20.0] * (n // 2)) * 3
    assert not look_at_round(PEOPLE, AnswerTimes(who, seconds, lengths), NO_GRADES, {}).findings
    lengths[:n], seconds[:n] = [700] * n, [1.0] * n
    assert list(raised(look_at_round(PEOPLE, AnswerTimes(who, seconds, lengths), NO_GRADES, {}))) == ["ada"]


def test_less_than_a_second_is_too_fast_even_where_everybody_hurries() -> None:
    who = [name for name in PEOPLE for _ in range(40)]
    hurried = look_at_round(PEOPLE, AnswerTimes(who, [0.7] * len(who), [300] * len(who)), NO_GRADES, {})
    found = raised(hurried)
    assert list(found) == PEOPLE
    assert (found["ada"].evidence["below_second"], found["ada"].evidence["others_fast"]) == (40, 120)
    assert "40 of them in less than 1 second" in found["ada"].sentence
    alone = look_at_round(["ada"], AnswerTimes(["ada"] * 40, [0.7] * 40, [300] * 40), NO_GRADES, {})
    assert "too few others to compare with" in raised(alone)["ada"].sentence


def test_a_fall_of_consistency_is_found_at_its_place_and_a_rise_is_no_warning() -> None:
    alike = [True] * 14 + [False] * 14
    warning = raised(look_at_round(["ada"], NO_TIMES, NO_GRADES, {"ada": showings("ada", alike)}))["ada"]
    assert [warning.evidence[name] for name in ("place", "before", "after")] == [14, 1, 0]
    better = look_at_round(["ada"], NO_TIMES, NO_GRADES, {"ada": showings("ada", alike[::-1])})
    assert (better.findings, [row[0] for row in better.not_checked]) == (
        (),
        ["agreement", "one grade", "speed"],
    )


def test_too_little_is_not_checked_and_says_so() -> None:
    few, enough = (
        [name for name in PEOPLE[:2] for _ in range(n)] for n in (FEWEST_ANSWERS - 1, FEWEST_ANSWERS)
    )

    def why(signal: str, who: list[str], given: RoundGrades = NO_GRADES, alike: int = 0) -> dict[str, str]:
        answers = AnswerTimes(who, [1.0] * len(who), [9] * len(who))
        shown = {"ada": showings("ada", [True] * alike)}
        looked = look_at_round(PEOPLE[:2], answers, given, shown)
        assert not looked.findings
        return {name: reason for about, name, reason in looked.not_checked if about == signal}

    assert why("speed", few) == dict.fromkeys(("ada", "ben"), "29 timed answers, 30 are needed")
    assert why("speed", enough) == {}
    alone = RoundGrades(["ada"] * 99, list(range(99)), [1] * 99)
    assert why("one grade", few, alone)["ada"] == "0 pairs that others graded, too; 30 are needed"
    short = why("change", few, alike=FEWEST_REPEATS - 1)
    assert short["ada"] == "19 blind duplicates judged twice; 20 are needed"
    assert short["ben"] == "0 blind duplicates judged twice; 20 are needed"


def test_five_percent_of_rounds_is_the_share_however_many_people_are_looked_at() -> None:
    """Of 25 people one falls clearly: no coarse p value may hide that, and a doubtful fall raises nothing."""
    people = [f"person {n:02}" for n in range(25)]
    steady = [True] * 9 + [False] + [True] * 10
    shown = {name: showings(name, steady) for name in people}
    falling = {**shown, people[3]: showings(people[3], [True] * 30 + [False] * 30)}
    assert list(raised(look_at_round(people, NO_TIMES, NO_GRADES, falling))) == [people[3]]
    doubtful = {"ada": showings("ada", [True] * 10 + [False, True] * 2 + [True, False] * 3)}
    alone = look_at_round(["ada"], NO_TIMES, NO_GRADES, doubtful).findings
    assert [finding.about for _, finding in alone] == ["change"]
    assert not look_at_round(people, NO_TIMES, NO_GRADES, {**shown, "person 00": doubtful["ada"]}).findings


def test_a_round_of_nothing_has_no_warnings_and_nobody_is_checked(store: Store) -> None:
    with store.transaction() as cursor:
        cursor.execute(
            """
            INSERT INTO rounds SELECT 'r', 'first', 'labeling', value, '{}', TIMESTAMP '2026-01-01', 1
            FROM settings WHERE name = 'guide'
            """
        )
    found = early_warnings(store, "first")
    assert (found.findings, found.not_checked) == ((), ())
