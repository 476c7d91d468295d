"""Label noise learned from pairs that several annotators judged."""

from __future__ import annotations

import numpy as np
import pytest

from curation.errors import InputError
from curation.evaluation.comparison.order import grade_noise, relabelled

# K. Krippendorff (2011), Computing Krippendorff's alpha-reliability: twelve units with grades from 1 to 5.
KRIPPENDORFF = [
    *([1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4], [4, 4, 4, 4]),
    *([1, 1, 2, 1], [2, 2, 2, 2], [5, 5, 5], [1, 1], [3]),
]


def test_the_shares_are_those_of_krippendorffs_coincidence_matrix() -> None:
    """His matrix: 7 4/3 1/3 1/3 0 / 4/3 10 4/3 1/3 0 / 1/3 4/3 8 1/3 0 / 1/3 1/3 1/3 4 0 / 0 0 0 0 3."""
    noise = grade_noise(KRIPPENDORFF, range(1, 6))
    assert noise.shares[0] == pytest.approx(np.array([7, 4 / 3, 1 / 3, 1 / 3, 0]) / 9)
    assert noise.shares[1] == pytest.approx(np.array([4 / 3, 10, 4 / 3, 1 / 3, 0]) / 13)
    assert noise.shares[4].tolist() == [0, 0, 0, 0, 1]
    assert (noise.judged, noise.grades, noise.unmeasured) == (11, 40, ())


def test_grades_drawn_again_have_the_shares_of_the_noise() -> None:
    noise = grade_noise(KRIPPENDORFF, range(1, 6))
    drawn = relabelled(np.full(20_000, 2), noise, np.random.default_rng(1))
    counts = np.bincount(drawn, minlength=6)[1:]
    assert counts / 20_000 == pytest.approx(noise.shares[1], abs=0.01)


def test_a_grade_that_was_never_judged_twice_remains_and_is_named() -> None:
    noise = grade_noise([(0, 1), (1, 1)], (0, 1, 2))
    assert noise.unmeasured == (2,)
    assert relabelled(np.full(9, 2), noise, np.random.default_rng(1)).tolist() == [2] * 9


def test_without_pairs_judged_twice_or_with_other_grades_there_is_no_noise() -> None:
    with pytest.raises(InputError, match="No pair was judged by two annotators"):
        grade_noise([(1,), ()], (0, 1))
    with pytest.raises(InputError, match="grade 7 is not of the scale"):
        grade_noise([(1, 7)], (0, 1))
    with pytest.raises(InputError, match="outside of the scale 0, 1"):
        relabelled(np.array([3]), grade_noise([(0, 1)], (0, 1)), np.random.default_rng(1))
