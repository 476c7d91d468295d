"""Signals: rare where nothing is the matter, likely where something is; tests of one person are corrected."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from benchmarks import bench_raters
from curation.agreement.agreement_with_others import OthersAgreement
from curation.agreement.annotator_metrics import AnnotatorMetrics, Finding, compute_metrics
from curation.agreement.bias import AnnotatorBias
from curation.agreement.fast_answers import MIN_ANSWERS, AnswerTimes
from curation.agreement.feedback import FALSE_SHARE, find_feedback
from curation.agreement.grades import Grades, make_grades
from curation.agreement.round_findings import FALSE_ROUNDS
from curation.agreement.signals import ROUND_SIGNALS, SignalResults, run_signals
from curation.core.statistics.intervals import wilson_interval
from tests.support import examples

PEOPLE = ["ada", "ben", "cleo", "dora"]
ROUNDS = 150
NO_TIMES, NO_GRADES = AnswerTimes([], [], []), make_grades([])
Random = np.random.Generator


def looked(people: list[str], times: AnswerTimes = NO_TIMES, grades: Grades = NO_GRADES) -> SignalResults:
    return run_signals(compute_metrics(people, grades, times), ROUND_SIGNALS, FALSE_ROUNDS)


def raised(results: SignalResults) -> dict[str, Finding]:
    """Annotator → the finding; there must be at most one."""
    assert len({name for name, _ in results.findings}) == len(results.findings)
    return dict(results.findings)


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


def noisy_grades(random: Random, stuck: bool = False) -> Grades:
    """Grades around a truth, with leanings; who is stuck gives 1 nineteen times of twenty."""
    n = 120
    truth = random.choice(4, n, p=[0.4, 0.25, 0.2, 0.15])
    noise = random.normal(random.normal(0, 0.3, len(PEOPLE))[:, None], 0.7, (len(PEOPLE), n))
    given = np.clip(np.round(truth + noise), 0, 3).astype(int)
    if stuck:
        given[0] = np.where(random.random(n) < 0.95, 1, given[0])
    return given_grades(given)


def one_sided(random: Random) -> Grades:
    """Nearly all pairs are 0, whoever grades: one grade all the time, and rightly so."""
    n = 120
    truth = random.random(n) < 0.05
    return given_grades(np.where(random.random((len(PEOPLE), n)) < 0.06, 1, truth).astype(int))


def given_grades(given: np.ndarray | list[list[int]]) -> Grades:
    """Everybody's grades of the same pairs, ten a query."""
    return make_grades(
        (f"q{pair // 10:03}", f"d{pair:04}", name, int(grade))
        for name, row in zip(PEOPLE, given, strict=False)
        for pair, grade in enumerate(row)
    )


@pytest.mark.slow
@pytest.mark.parametrize("grading", [noisy_grades, one_sided])
def test_signals_are_raised_in_at_most_the_stated_share_of_rounds_without_cause(grading) -> None:
    random = np.random.Generator(np.random.PCG64(11))
    alarms: Counter[str] = Counter()
    for _ in range(ROUNDS):
        findings = looked(PEOPLE, times(random), grading(random)).findings
        alarms.update({finding.about for _, finding in findings})
        alarms["anything"] += bool(findings)
    for about, count in alarms.items():
        assert binomtest(count, ROUNDS, 0.05, alternative="greater").pvalue > 0.01, f"{about}: {count}"


@pytest.mark.slow
@pytest.mark.parametrize("about", ["speed", "one grade"])
def test_a_signal_finds_who_does_it(about: str) -> None:
    random = np.random.Generator(np.random.PCG64(12))
    found = 0
    for _ in range(ROUNDS):
        planted = looked(PEOPLE, times(random, about == "speed"), noisy_grades(random, about == "one grade"))
        found += ("ada", about) in {(name, finding.about) for name, finding in planted.findings}
    assert binomtest(found, ROUNDS).proportion_ci(0.99).low > 0.95, f"{found} of {ROUNDS}"


@pytest.mark.slow
def test_good_annotators_are_not_named_for_what_three_bad_ones_do() -> None:
    counts = bench_raters.simulate(3, 8)
    low, _ = wilson_interval(counts["good: named"], counts["good"])
    assert low <= FALSE_SHARE
    assert counts["good: left out"] == 0
    for kind in ("random", "always 1", "upside down", "hasty"):
        assert counts[f"{kind}: named"] == counts[kind] > 0


@settings(max_examples=examples(60))
@given(st.lists(st.integers(0, 3), min_size=30, max_size=60), st.integers(2, 4))
def test_whoever_says_what_the_others_say_is_never_unusual(grades: list[int], people: int) -> None:
    assert not looked(PEOPLE[:people], grades=given_grades([grades] * people)).findings


def test_a_warning_carries_its_figures_and_accuses_nobody() -> None:
    n = 60
    findings = raised(looked(PEOPLE, grades=given_grades([[1] * n, *[[pair % 4 for pair in range(n)]] * 3])))
    warning = findings.pop("ada")
    assert not findings
    counts = [warning.evidence[name] for name in ("times", "pairs", "others_times", "others_grades")]
    assert counts == [60, 60, 45, 180]
    assert warning.evidence["p"] <= FALSE_ROUNDS / 4
    assert warning.sentence.startswith("Look at these together: ada gave grade 1 to 60 of 60 pairs")


def test_long_texts_excuse_nobody_and_short_ones_accuse_nobody() -> None:
    """Who has the short texts is compared with the others' times over short texts."""
    n = 60
    who = [name for name in PEOPLE for _ in range(n)]
    lengths = [50] * n + ([50] * (n // 2) + [700] * (n // 2)) * 3
    seconds = [1.0] * n + ([1.2] * (n // 2) + [20.0] * (n // 2)) * 3
    assert not looked(PEOPLE, AnswerTimes(who, seconds, lengths)).findings
    lengths[:n], seconds[:n] = [700] * n, [1.0] * n
    assert list(raised(looked(PEOPLE, AnswerTimes(who, seconds, lengths)))) == ["ada"]


def test_less_than_a_second_is_too_fast_even_where_everybody_hurries() -> None:
    who = [name for name in PEOPLE for _ in range(40)]
    findings = raised(looked(PEOPLE, AnswerTimes(who, [0.7] * len(who), [300] * len(who))))
    assert list(findings) == PEOPLE
    assert (findings["ada"].evidence["below_second"], findings["ada"].evidence["others_fast"]) == (40, 120)
    assert "40 of them in less than 1 second" in findings["ada"].sentence
    alone = looked(["ada"], AnswerTimes(["ada"] * 40, [0.7] * 40, [300] * 40))
    assert "too few others to compare with" in raised(alone)["ada"].sentence


def test_too_little_is_not_checked_and_says_so() -> None:
    def why(signal: str, answers: int, grades: Grades = NO_GRADES) -> dict[str, str]:
        who = [name for name in PEOPLE[:2] for _ in range(answers)]
        results = looked(PEOPLE[:2], AnswerTimes(who, [1.0] * len(who), [9] * len(who)), grades)
        assert not results.findings
        return {name: reason for about, name, reason in results.not_checked if about == signal}

    few = dict.fromkeys(("ada", "ben"), "29 timed answers; 30 are needed")
    assert why("speed", MIN_ANSWERS - 1) == few
    assert why("speed", MIN_ANSWERS) == {}
    alone = why("one grade", 1, given_grades([[1] * 99]))
    assert alone == {
        "ada": "0 pairs that other annotators graded, too; 30 are needed",
        "ben": "no grades were read",
    }


@pytest.mark.parametrize(
    ("agreement_p", "bias", "expected"),
    [
        (1.0, {"trend_p": 0.05}, set()),  # a doubtful finding alone among three
        (1.0, {"trend_p": 0.03}, {"drift"}),
        (1e-6, {"trend_p": 0.06}, {"agreement", "drift"}),  # a clear one makes room for a doubtful one
        (1.0, {"bias": 0.09, "bias_p": 1e-9}, set()),  # a small bias, however certain
        (1.0, {"bias": 0.11, "bias_p": 1e-9}, {"bias"}),
    ],
)
def test_what_is_told_depends_on_all_tests_together(
    agreement_p: float, bias: dict[str, float], expected: set[str]
) -> None:
    agreement = OthersAgreement("ada", 300, 60, kappa=0.3, low=0.2, high=0.4, others=0.7, p=agreement_p)
    figures = {"bias": 0.0, "low": -0.1, "high": 0.1, "bias_p": 1.0, "trend": 0.3, "trend_p": 1.0}
    person = AnnotatorMetrics("ada", agreement, AnnotatorBias("ada", 300, 60, **{**figures, **bias}))
    assert {finding.about for finding in find_feedback(person)} == expected
