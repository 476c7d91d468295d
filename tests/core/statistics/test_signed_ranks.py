"""The signed-rank test on Darwin's plants and with equal sizes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from curation.core.statistics.paired_differences import wilcoxon_ps
from tests.core.statistics.test_differences import DARWIN


def test_darwins_plants_have_the_published_p() -> None:
    """W = 24 of 15 pairs, p = 0.0413 (the example of `scipy.stats.wilcoxon`)."""
    assert wilcoxon_ps(DARWIN[:, None])[0] == pytest.approx(0.041259765625)


@pytest.mark.slow
@pytest.mark.parametrize("queries", [12, 200], ids=["counted", "normal"])
def test_equal_sizes_share_their_ranks_and_level_queries_are_left_out(queries: int) -> None:
    random = np.random.default_rng(3)
    differences = random.choice([-0.5, -0.25, 0.0, 0.1, 0.25, 0.3], (queries, 3))
    expected = [stats.wilcoxon(column).pvalue for column in differences.T]
    noisy = differences * (1 + 1e-15 * random.normal(size=differences.shape))
    assert wilcoxon_ps(noisy).tolist() == pytest.approx(expected)
