"""Agreement with the others: who is at chance is named, and the good are not measured by the bad."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from benchmarks import bench_raters
from curation.agreement.agreement_with_others import NO_VARIATION, NOBODY_ELSE, compute_agreement_with_others
from curation.agreement.annotator_metrics import compute_metrics
from curation.agreement.bias import compute_biases
from curation.agreement.feedback import compute_annotator_details, find_feedback
from curation.agreement.gate import compute_gate
from curation.agreement.grades import Grades, make_grades
from curation.agreement.outliers import find_outliers, find_uninformative
from curation.agreement.report import make_agreement_report
from curation.agreement.report_findings import list_findings
from curation.store import Store
from tests.support.grades import import_grades

Random = np.random.Generator


def graded(**given: np.ndarray) -> Grades:
    """Everybody's grades of the same pairs, ten a query."""
    return make_grades(
        (f"q{pair // 10:03}", f"d{pair:04}", name, int(grade))
        for name, grades in given.items()
        for pair, grade in enumerate(grades)
    )


def good(random: Random, true: np.ndarray, accuracy: float = 0.85) -> np.ndarray:
    wrong = random.random(len(true)) >= accuracy
    return np.clip(true + wrong * random.choice([-1, 1], len(true)), 0, 3)


def team(seed: int = 0, pairs: int = 300) -> tuple[Random, np.ndarray, dict[str, np.ndarray]]:
    random = np.random.default_rng(seed)
    true = random.choice(4, pairs, p=[0.4, 0.3, 0.2, 0.1])
    return random, true, {name: good(random, true) for name in ("ada", "ben", "cleo")}


def test_kappa_with_one_other_is_that_of_scikit_learn() -> None:
    _, _, people = team()
    agreements = compute_agreement_with_others(graded(ada=people["ada"], ben=people["ben"]))["ada"]
    expected = cohen_kappa_score(people["ada"], people["ben"], weights="quadratic")
    assert agreements.kappa == pytest.approx(expected)
    assert agreements.low < agreements.kappa < agreements.high
    assert (agreements.pairs, agreements.p, agreements.undefined) == (300, None, NOBODY_ELSE)


@pytest.mark.parametrize("kind", ["random", "always 1", "upside down"])
def test_who_is_at_chance_is_left_out_and_nobody_else_is(kind: str) -> None:
    random, true, people = team()
    bad, _ = bench_raters.answers(random, kind, 0.9, true)
    grades = graded(**people, dora=bad)
    assert list(find_outliers(grades)) == ["dora"]
    agreements = compute_agreement_with_others(grades, ["dora"])
    assert agreements["dora"].p < 1e-6
    assert agreements["dora"].kappa == pytest.approx(
        {"random": 0, "always 1": 0, "upside down": -0.6}[kind], abs=0.2
    )
    assert all(agreements[name].p > 0.5 and agreements[name].kappa > 0.7 for name in people)


def test_all_bad_ones_are_left_out_and_nobody_good_looks_biased_by_them() -> None:
    """Compared with everybody, good ones differ from three bad of thirteen by a tenth of a grade or more."""
    grades, times = bench_raters.project(7, ("random", "a grade too high", "upside down"))
    bad = set(bench_raters.PEOPLE[:3])
    left_out = find_outliers(grades)
    assert set(left_out) == bad
    assert left_out["person 01"] == "bias"

    def biased(among: dict[str, str]) -> list[str]:
        biases = compute_biases(grades, {}, among)
        return [name for name, one in biases.items() if name not in bad and abs(one.bias) >= 0.1]

    assert len(biased({})) >= 3
    assert biased(dict(left_out)) == []
    people = compute_metrics(bench_raters.PEOPLE, grades, times, {})
    assert {one.annotator for one in people if find_feedback(one)} >= bad


def test_nobody_is_said_to_be_at_chance_where_nobody_can_say_who_is_right() -> None:
    random, true, people = team()
    bad = [bench_raters.answers(random, "random", 0.9, true)[0] for _ in range(3)]
    assert not find_outliers(graded(ada=people["ada"], ben=bad[0]))
    outnumbered = graded(ada=people["ada"], **dict(zip("xyz", bad, strict=True)))
    assert not find_uninformative(outnumbered)


def test_who_gives_one_grade_where_it_is_right_is_more_careful_and_not_worse() -> None:
    random = np.random.default_rng(1)
    rare = random.random(300) < 0.05
    people = {
        name: np.where(random.random(300) < 0.06, 1, rare).astype(int) for name in ("ada", "ben", "cleo")
    }
    assert not find_outliers(graded(**people, dora=rare))
    never = graded(**people, dora=np.zeros(300, dtype=int))
    assert find_outliers(never) == {"dora": "one grade"}
    agreements = compute_agreement_with_others(
        graded(ada=np.zeros(300, dtype=int), ben=np.zeros(300, dtype=int))
    )
    assert (agreements["ada"].kappa, agreements["ada"].undefined) == (None, NO_VARIATION)


@pytest.mark.slow
def test_a_rater_at_chance_is_named_in_feedback_report_and_warned_of_before_a_freeze(store: Store) -> None:
    random, _, people = team(pairs=60)
    said = {**people, "dora": random.integers(0, 4, 60), "emil": np.ones(60, dtype=int)}
    import_grades(
        store, [(f"q{n // 5}", f"d{n}", name, int(said[name][n])) for name in said for n in range(60)]
    )
    details = {one.annotator: one for one in compute_annotator_details(store)}
    assert {name for name, one in details.items() if one.feedback} == {"dora", "emil"}
    (said_of_dora,) = [row for row in details["dora"].feedback if row.about == "agreement"]
    assert "weighted kappa" in said_of_dora.sentence
    assert "(95 % interval" in said_of_dora.sentence
    assert "60 pairs of 12 queries" in said_of_dora.sentence
    report = make_agreement_report(store)
    assert report.uninformative == ("dora", "emil")
    assert "The share leaves out dora, emil" in list_findings(report)[0]
    assert not compute_gate(store).open
