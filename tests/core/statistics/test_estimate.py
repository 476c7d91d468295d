"""An estimate in words: with its interval, without one, and without a figure."""

from __future__ import annotations

import pytest

from curation.core.statistics.estimate import Estimate, share_estimate
from curation.core.statistics.intervals import wilson_interval


@pytest.mark.parametrize(
    ("estimate", "text", "percent"),
    [
        (
            Estimate(0.5, 0.25, 0.75, 8),
            "0.500 (95 % interval 0.250 to 0.750)",
            "50 % (95 % interval 25 % to 75 %)",
        ),
        (Estimate(0.5, why="one query"), "0.500 (one query)", "50 % (one query)"),
        (Estimate(0.5), "0.500", "50 %"),
        (Estimate(why="too few"), "– (too few)", "– (too few)"),
    ],
)
def test_words(estimate: Estimate, text: str, percent: str) -> None:
    assert estimate.text() == text
    assert estimate.percent_text().replace("\u00a0", " ") == percent


def test_share() -> None:
    assert share_estimate(3, 10) == (0.3, *wilson_interval(3, 10), 10, None)
    assert share_estimate(3, 9, minimum=10, why="too few") == Estimate(n=9, why="too few")
    assert share_estimate(0, 0).value is None
