"""Figures as the report writes them."""

from __future__ import annotations

from curation.core.statistics.estimate import Estimate
from curation.evaluation.report.cells import format_with_n


def test_a_figure_of_other_queries_than_those_beside_it_says_how_many() -> None:
    few, all_of_them = (format_with_n(Estimate(0.5, 0.25, 0.75, n), 315) for n in (14, 315))
    assert few.replace("\u00a0", " ") == "0.500 (0.250 to 0.750), n = 14"
    assert all_of_them.replace("\u00a0", " ") == "0.500 (0.250 to 0.750)"
    assert format_with_n(Estimate(), 315) == "–"
