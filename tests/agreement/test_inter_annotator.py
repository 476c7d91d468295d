"""Agreement between annotators: published values, the fast bootstrap against the package, and evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.coverage_agreement import EVEN, SKEWED, Population, coverage
from curation.agreement.coefficients import compute_alpha, count_coincidences
from curation.agreement.grades import Grades, make_grades
from curation.agreement.inter_annotator import (
    FEW_QUERIES,
    MINIMUM_UNITS,
    NO_UNITS,
    NO_VARIATION,
    RARE_VARIATION,
    InterAgreement,
    compute_agreement,
    why_not_shown,
)
from curation.core.errors import RefusedError
from curation.core.statistics.bootstrap import resample_sums
from tests.support import examples
from tests.support.icecat import given_grades

SCALE = (0, 1, 2, 3)
LEVELS = ("nominal", "ordinal")
N = None
# K. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section "nominal data, any number of
# observers, missing data": four observers, twelve units; the same data in Hayes and Krippendorff (2007).
KRIPPENDORFF_2011 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
# Wikipedia, "Krippendorff's alpha", A computational example: three observers, fifteen units.
WIKIPEDIA = [
    [N, N, N, N, N, 3, 4, 1, 2, 1, 1, 3, 3, N, 3],
    [1, N, 2, 1, 3, 3, 4, 3, N, N, N, N, N, N, N],
    [N, N, 2, 1, 3, 4, 4, N, 2, 1, 1, 3, 3, N, 4],
]
judged = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from("12345"),
        st.sampled_from(["ada", "ben", "cyd"]),
        st.sampled_from(SCALE),
    ),
    min_size=1,
    max_size=60,
    unique_by=lambda row: row[:3],
)
counted = st.lists(
    st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(lambda row: sum(row) >= 2),
    min_size=2,
    max_size=25,
).filter(lambda rows: np.count_nonzero(np.sum(rows, axis=0)) > 1)


def of_table(table: Sequence[Sequence[int | None]]) -> Grades:
    """Grades from annotators × units, each unit a query of its own."""
    return make_grades(
        (f"q{unit:02}", "d", f"a{who}", grade)
        for who, row in enumerate(table)
        for unit, grade in enumerate(row)
        if grade is not None
    )


def figures(result: InterAgreement) -> list[float | None]:
    return [result.figures[level].value for level in LEVELS]


def test_krippendorffs_example_has_the_published_alphas() -> None:
    result = compute_agreement(of_table(KRIPPENDORFF_2011), (1, 2, 3, 4, 5), seed=0)
    assert [round(value, 3) for value in figures(result)] == [0.743, 0.815]
    assert (result.units, result.single, result.annotators, result.judgments) == (11, 1, 4, 41)


def test_wikipedias_example_has_the_published_alphas() -> None:
    result = compute_agreement(of_table(WIKIPEDIA), (1, 2, 3, 4), seed=0)
    assert result.figures["nominal"].value == pytest.approx(0.691, abs=5e-4)
    assert {estimate.n for estimate in result.figures.values()} == {result.units}
    assert result.marginals == (7, 4, 10, 5)


def test_real_ratings_have_the_alphas_that_two_libraries_gave(shared: Path) -> None:
    result = compute_agreement(make_grades(given_grades(shared)), SCALE, seed=0)
    assert [round(value, 4) for value in figures(result)] == [0.6426, 0.7695]
    assert (result.units, result.queries, result.annotators, result.judgments) == (3188, 135, 3, 9564)
    for level in LEVELS:
        alpha = result.figures[level]
        assert alpha.low < alpha.value < alpha.high
        assert 0.02 < alpha.high - alpha.low < 0.3


@settings(max_examples=examples(60))
@given(counted, st.sampled_from([(0, 1, 2, 3), (0, 1, 5, 20)]))
def test_the_fast_path_is_the_packages_alpha(rows: list[list[int]], scale: tuple[int, ...]) -> None:
    counts = np.array(rows)
    queries = np.arange(len(counts)) // 3
    matrices = count_coincidences(counts, queries, queries[-1] + 1).coincidences.sum(axis=0, keepdims=True)
    for level in LEVELS:
        fast = compute_alpha(matrices, level)[0]
        slow = krippendorff.alpha(value_counts=counts, value_domain=scale, level_of_measurement=level)
        assert fast == pytest.approx(slow, abs=1e-12)


def test_a_resample_is_the_packages_alpha_of_the_queries_drawn() -> None:
    random = np.random.default_rng(5)
    queries = np.sort(random.integers(0, 12, size=80))
    queries = np.unique(queries, return_inverse=True)[1]
    counts = random.multinomial(3, [0.4, 0.3, 0.2, 0.1], size=80)
    per_query = count_coincidences(counts, queries, queries.max() + 1).coincidences.reshape(-1, 16)
    (sums,) = resample_sums(per_query, seed=9, resamples=50)
    drawn = np.random.Generator(np.random.PCG64(9)).integers(len(per_query), size=(50, len(per_query)))
    for matrix, draw in zip(sums, drawn, strict=True):
        again = np.concatenate([counts[queries == query] for query in draw])
        for level in LEVELS:
            fast = compute_alpha(matrix.reshape(1, 4, 4), level)[0]
            slow = krippendorff.alpha(value_counts=again, value_domain=range(4), level_of_measurement=level)
            assert fast == pytest.approx(slow, abs=1e-12)


@settings(max_examples=examples(40))
@given(judged, st.randoms())
def test_names_and_order_of_rows_change_nothing(rows: list[tuple[str, str, str, int]], random) -> None:
    shuffled = random.sample(rows, len(rows))
    renamed = [
        (query, document, {"ada": "x", "ben": "w", "cyd": "v"}[who], grade)
        for query, document, who, grade in shuffled
    ]
    assert compute_agreement(make_grades(renamed), SCALE, 3, 50) == compute_agreement(
        make_grades(rows), SCALE, 3, 50
    )


@settings(max_examples=examples(40))
@given(judged, st.sampled_from(SCALE))
def test_a_pair_with_one_grade_changes_no_alpha(rows: list[tuple[str, str, str, int]], grade: int) -> None:
    before = compute_agreement(make_grades(rows), SCALE, 3, 50)
    after = compute_agreement(make_grades([*rows, ("d", "9", "ada", grade)]), SCALE, 3, 50)
    assert [after.figures[level] for level in LEVELS] == [before.figures[level] for level in LEVELS]
    assert after.raw == before.raw
    assert after.single == before.single + 1


@settings(max_examples=examples(40))
@given(st.lists(st.sampled_from(SCALE), min_size=2, max_size=40).filter(lambda given: len(set(given)) > 1))
def test_perfect_agreement_with_variation_is_one(given_grades: list[int]) -> None:
    result = compute_agreement(of_table([given_grades, given_grades]), SCALE, 0, 50)
    assert [figure.value for figure in result.figures.values()] == [1.0] * 4


@settings(max_examples=examples(40))
@given(judged)
def test_every_figure_is_a_number_in_range_or_undefined_with_a_reason(
    rows: list[tuple[str, str, str, int]],
) -> None:
    result = compute_agreement(make_grades(rows), SCALE, 0, 50)
    for alpha in (result.figures["nominal"], result.ordinal):
        assert alpha.value is not None or alpha.why
        if alpha.value is not None:
            assert -1 <= alpha.value <= 1
            assert (alpha.low is None) == (alpha.high is None) == (alpha.why is not None)
        if alpha.low is not None and alpha.high is not None:
            assert -1 <= alpha.low <= alpha.high <= 1 + 1e-12


@pytest.mark.parametrize(("table", "single"), [([], 0), ([[0, 1, 2]], 3)])
def test_without_a_doubly_judged_pair_figures_are_undefined_with_a_reason(
    table: list[list[int]], single: int
) -> None:
    result = compute_agreement(of_table(table), SCALE, 0)
    assert {figure.why for figure in result.figures.values()} == {NO_UNITS}
    assert (result.units, result.queries, result.judgments, result.single) == (0, 0, single, single)


def test_without_variation_alpha_is_undefined_but_gwets_figure_and_the_raw_share_are_not() -> None:
    result = compute_agreement(of_table([[2] * 20, [2] * 20]), SCALE, 0)
    assert {result.figures["nominal"].why, result.ordinal.why} == {NO_VARIATION}
    assert (result.raw.value, result.pairs, result.ordinal.n) == (1.0, 20, 20)
    assert result.marginals == (0, 0, 40, 0)
    assert result.figures["ac2"][:3] == (1.0, 1.0, 1.0)


def test_pairs_of_one_query_have_an_alpha_without_an_interval() -> None:
    rows = [("q", str(document), who, document % 3) for document in range(12) for who in ("ada", "ben")]
    alpha = compute_agreement(make_grades(rows), SCALE, 0).ordinal
    assert (alpha.value, alpha.low, alpha.high, alpha.why) == (1.0, None, None, FEW_QUERIES)


def test_variation_that_most_resamples_miss_gives_no_interval() -> None:
    grades = [3] * 19 + [0]
    alpha = compute_agreement(of_table([grades, grades]), SCALE, 0).figures["nominal"]
    assert (alpha.value, alpha.low, alpha.why) == (1.0, None, RARE_VARIATION)


def test_fewer_units_than_the_minimum_are_marked() -> None:
    grades = [0, 1] * MINIMUM_UNITS
    few = compute_agreement(of_table([grades[: MINIMUM_UNITS - 1]] * 2), SCALE, 0).ordinal
    assert "too few" in (why_not_shown(few) or "")
    assert why_not_shown(compute_agreement(of_table([grades[:MINIMUM_UNITS]] * 2), SCALE, 0).ordinal) is None


def test_raw_agreement_counts_pairs_of_grades() -> None:
    result = compute_agreement(of_table([[0, 1, 2], [0, 1, 1], [0, 2, None]]), SCALE, 0)
    assert result.pairs == 3 + 3 + 1
    assert result.raw.value == pytest.approx((3 + 1 + 0) / 7)


@pytest.mark.slow
def test_intervals_depend_on_the_seed_only() -> None:
    random = np.random.default_rng(1)
    table = random.integers(0, 4, size=(2, 60)).tolist()
    first, again, other = (compute_agreement(of_table(table), SCALE, seed).ordinal for seed in (4, 4, 5))
    assert first == again
    assert first.value == other.value
    assert (first.low, first.high) != (other.low, other.high)


def test_documents_of_one_query_are_drawn_together() -> None:
    """Twenty copies of one document under each query add no information: the interval stays as wide."""
    random = np.random.default_rng(2)
    grades = random.integers(0, 4, size=(40, 2))
    rows = [
        (f"q{query:02}", str(copy), who, int(grades[query, int(who == "ben")]))
        for query in range(40)
        for copy in range(20)
        for who in ("ada", "ben")
    ]
    many = compute_agreement(make_grades(rows), SCALE, 0).ordinal
    few = compute_agreement(make_grades([row for row in rows if row[1] == "0"]), SCALE, 0).ordinal
    assert many.high - many.low == pytest.approx(few.high - few.low, rel=0.1)


def test_a_grade_outside_the_scale_is_refused_with_its_number() -> None:
    with pytest.raises(RefusedError, match=r"scale \(0, 1\): 3 \(2 times\)"):
        compute_agreement(of_table([[0, 1, 3], [0, 1, 3]]), (0, 1), 0)


def test_cannot_tell_is_counted_apart() -> None:
    rows = [(f"q{n}", "d", who, None if n < 5 else 1) for n in range(20) for who in ("ada", "ben")]
    rows += [(f"r{n}", "d", who, None if who == "ada" else 1) for n in range(5) for who in ("ada", "ben")]
    result = compute_agreement(make_grades(rows), SCALE, 0)
    assert (result.units, result.single, result.cannot_tell, result.judgments) == (15, 5, 15, 35)


def test_two_judgments_of_one_annotator_on_one_pair_are_refused() -> None:
    with pytest.raises(RefusedError, match="by ada: query 'q' and document 'd'"):
        make_grades([("q", "d", "ada", 1), ("q", "d", "ben", 1), ("q", "d", "ada", 2)])


@pytest.mark.slow
@pytest.mark.parametrize(("of", "queries"), [(EVEN[2], 30), (SKEWED[0], 40)])
def test_the_interval_covers_about_as_often_as_it_says(of: Population, queries: int) -> None:
    """A smaller run of benchmarks/coverage_agreement.py; docs/agreement-method.md has the full one.

    Of 120 intervals that cover with probability 0.95, fewer than 106 do once in 500 times.
    """
    for row in coverage(queries, of, ("nominal", "ordinal"), 120, seed=1, resamples=400):
        assert row.none == 0
        assert row.held >= 106, row


@pytest.mark.parametrize(("queries", "is_small"), [(4, False), (8, True), (49, True), (50, False)])
def test_small_sets_say_that_intervals_can_be_too_narrow(queries: int, is_small: bool) -> None:
    grades = [query % 4 for query in range(queries)]
    result = compute_agreement(of_table([grades, grades]), SCALE, 1, 50)
    assert (result.small_set is not None) is is_small
