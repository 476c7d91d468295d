"""Signals: all tests of one person are corrected together."""

from __future__ import annotations

import pytest

from curation.agreement.annotators.agreement_with_others import OthersAgreement
from curation.agreement.annotators.bias import AnnotatorBias
from curation.agreement.annotators.signals import AnnotatorMetrics, feedback


@pytest.mark.parametrize(
    ("agreement_p", "bias", "told"),
    [
        (1.0, {"trend_p": 0.05}, set()),  # a doubtful finding alone among three
        (1.0, {"trend_p": 0.03}, {"drift"}),
        (1e-6, {"trend_p": 0.06}, {"agreement", "drift"}),  # a clear one makes room for a doubtful one
        (1.0, {"bias": 0.09, "bias_p": 1e-9}, set()),  # a small bias, however certain
        (1.0, {"bias": 0.11, "bias_p": 1e-9}, {"bias"}),
    ],
)
def test_what_is_told_depends_on_all_tests_together(
    agreement_p: float, bias: dict[str, float], told: set[str]
) -> None:
    agreement = OthersAgreement("ada", 300, 60, kappa=0.3, low=0.2, high=0.4, others=0.7, p=agreement_p)
    figures = {"bias": 0.0, "low": -0.1, "high": 0.1, "bias_p": 1.0, "trend": 0.3, "trend_p": 1.0}
    person = AnnotatorMetrics("ada", agreement, AnnotatorBias("ada", 300, 60, **{**figures, **bias}))
    assert {finding.about for finding in feedback(person)} == told
