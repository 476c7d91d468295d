"""Pairs of systems: which are compared, what is corrected together, which test decides, and no verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from curation.core.errors import InputError
from curation.core.request import find_option
from curation.core.statistics.multiple_tests import correct_by_holm
from curation.evaluation.figures.comparison import (
    BEFORE_CORRECTION,
    INTERVAL_ALONE,
    TEST_ALONE,
    TESTS,
    Comparison,
    StratumName,
    refuse_unknown_test,
)
from curation.evaluation.figures.paired_comparisons import compare_systems, pair_systems
from curation.evaluation.request import EvaluateRequest
from tests.support.command_line import invoke
from tests.support.evaluated_project import evaluated_project, ranked, write_run

HEAD, TAIL, FEW = StratumName("band", "head"), StratumName("band", "tail"), StratumName("tag", "question")
QUERIES = 60
STRATA = {HEAD: np.arange(QUERIES) < 30, TAIL: np.arange(QUERIES) >= 30, FEW: np.arange(QUERIES) < 9}


SYSTEMS, MEASURES = ("a", "b", "c"), ("ndcg@10", "mrr@10")


def three_systems() -> np.ndarray:
    """c is better than a and b by about a standard deviation; b has no figure for two queries."""
    random = np.random.default_rng(1)
    base = random.random(QUERIES)
    noise = random.normal(0, 0.1, (3, QUERIES))
    values = np.clip(base * 0.6 + noise + np.array([0, 0, 0.1])[:, None], 0, 1)
    values[1, :2] = np.nan
    return np.stack([values, values**2], axis=2)


@pytest.fixture(scope="module")
def compared() -> tuple[Comparison, ...]:
    return compare_systems(SYSTEMS, MEASURES, three_systems(), STRATA, seed=1)


def rows(compared: tuple[Comparison, ...], measure: str, stratum: StratumName | None) -> list[Comparison]:
    return [one for one in compared if (one.measure, one.stratum) == (measure, stratum)]


def test_all_pairs_are_the_later_system_minus_the_earlier_and_a_baseline_is_subtracted_from_each() -> None:
    assert pair_systems(("a", "b", "c")) == [(1, 0), (2, 0), (2, 1)]
    assert pair_systems(("a", "b", "c"), "b") == [(0, 1), (2, 1)]


def test_a_query_without_a_figure_is_left_out_of_its_pairs_only(compared: tuple[Comparison, ...]) -> None:
    comparisons = rows(compared, "ndcg@10", None)
    assert [(one.n, one.left_out) for one in comparisons] == [(58, 2), (60, 0), (58, 2)]


def test_the_tests_are_those_of_the_differences(compared: tuple[Comparison, ...]) -> None:
    values = three_systems()[:, :, 0]
    one = rows(compared, "ndcg@10", None)[1]
    expected = stats.ttest_rel(values[2], values[0])
    assert one.difference == pytest.approx((values[2] - values[0]).mean())
    interval = expected.confidence_interval()
    assert (one.low, one.high) == pytest.approx((interval.low, interval.high), abs=0.005)


def test_the_family_is_the_pairs_of_a_measure_and_in_the_strata_the_pairs_of_all_strata(
    compared: tuple[Comparison, ...],
) -> None:
    overall = rows(compared, "mrr@10", None)
    assert [one.family for one in overall] == [3, 3, 3]
    assert [one.family for one in rows(compared, "mrr@10", HEAD)] == [6, 6, 6]
    ordered = sorted((one.p or 0, one.p_corrected or 0) for one in overall)
    assert ordered[0][1] == pytest.approx(3 * ordered[0][0])
    assert ordered[2][1] == pytest.approx(max(ordered[2][0], ordered[1][1]))


def test_systems_that_differ_are_distinguished_and_others_are_not(compared: tuple[Comparison, ...]) -> None:
    assert [one.distinguished for one in rows(compared, "ndcg@10", None)] == [False, True, True]


def test_a_note_says_where_interval_and_test_disagree() -> None:
    counts = Comparison("b", "a", "map", None, 30, 0, 9, 20, 1, no_verdict=None)
    tested = replace(counts, difference=0.1, low=0.01, high=0.2, p=0.01, p_corrected=0.01)
    assert tested.note == ""
    assert replace(tested, p_corrected=0.06).note == BEFORE_CORRECTION.format("Holm's correction")
    assert replace(tested, p=0.06, p_corrected=0.06).note == INTERVAL_ALONE
    assert replace(tested, low=-0.01).note == TEST_ALONE
    assert replace(tested, low=-0.01, p=0.5, p_corrected=0.5).note == ""
    assert Comparison("b", "a", "map", None, 3, 0, 1, 1, 1).note == "fewer than 10 queries: counts only"


def test_fewer_than_ten_queries_are_counts_and_no_verdict(compared: tuple[Comparison, ...]) -> None:
    for one in rows(compared, "ndcg@10", FEW):
        assert (one.difference, one.p, one.family) == (None, None, None)
        assert not one.distinguished
        assert one.no_verdict == "fewer than 10 queries: counts only"
        assert one.wins + one.ties + one.losses == one.n == 9 - one.left_out


def test_the_same_seed_gives_the_same_rows_and_the_order_of_measures_does_not_matter() -> None:
    of = three_systems()
    comparisons = compare_systems(SYSTEMS, MEASURES, of, STRATA, seed=1)
    again = compare_systems(SYSTEMS, MEASURES[::-1], of[:, :, ::-1], STRATA, seed=1)
    assert sorted(map(repr, again)) == sorted(map(repr, comparisons))


def test_the_same_system_twice_is_a_tie_with_p_1() -> None:
    values = np.tile(np.random.default_rng(2).random(40), (2, 1))[:, :, None]
    (one,) = compare_systems(("a", "b"), ("map",), values, {}, seed=1)
    assert (one.ties, one.p, one.queries_needed) == (40, 1.0, None)
    assert one.low < 0


def test_an_unknown_baseline_and_names_twice_are_named_together() -> None:
    with pytest.raises(InputError, match=r"'a' is named 2 times.*\n.*'z' is not one of the systems"):
        pair_systems(("a", "b", "a"), "z")


@pytest.mark.parametrize("test", TESTS)
def test_the_test_that_decides_is_the_one_that_is_asked_for(test: str) -> None:
    values = three_systems()
    comparisons = compare_systems(SYSTEMS, MEASURES, values, STRATA, seed=1, test=test)
    overall = rows(comparisons, "ndcg@10", None)
    expected = {"t": stats.ttest_rel, "wilcoxon": stats.wilcoxon}.get(test)
    assert expected is None or overall[1].p == pytest.approx(expected(*values[[2, 0], :, 0]).pvalue)
    ps = np.array([one.p for one in overall])
    assert [one.p_corrected for one in overall] == correct_by_holm(ps).tolist()


@pytest.mark.parametrize("test", ["anova", "tukey", "sign"])
def test_what_there_is_not_is_refused(test: str) -> None:
    with pytest.raises(InputError, match=f"no test '{test}'; expected one of randomisation, t, wilcoxon"):
        refuse_unknown_test(test)


def test_the_help_names_every_test() -> None:
    about = find_option(EvaluateRequest, "test").help
    assert [name for name in TESTS if name not in about] == []


def test_the_report_names_the_test_that_decides(tmp_path: Path) -> None:
    store = evaluated_project(tmp_path)
    command = ["--project", str(store.path), "evaluate", "v1", "--measures", "map"]
    for name in "ab":
        command += ["--run", str(write_run(tmp_path / f"{name}.trec", ranked(name)))]
    store.close()
    shown = " ".join(invoke([*command, "--significance-test", "t"]).stdout.split())
    assert (
        "map: differences; a difference is significant if p Holm, from Student's t test, is below 0.05"
        in shown
    )
