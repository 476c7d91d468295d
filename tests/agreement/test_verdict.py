"""The verdict on ordinal alpha: what it says, and the one next action for each state."""

from __future__ import annotations

import pytest

from curation.agreement.gate import ALPHA, CONSISTENCY, Gate, GateCheck
from curation.agreement.grades import make_grades
from curation.agreement.inter_annotator import FEW_QUERIES, NO_UNITS, compute_agreement
from curation.agreement.verdict import advise, judge_alpha
from curation.core.statistics.estimate import Estimate

MORE = "Have two annotators grade more of the same pairs."


@pytest.mark.parametrize(
    ("alpha", "advice"),
    [
        (Estimate(0.498, 0.267, 0.68, 88), "Change the guide: people confuse 1 and 2."),
        (Estimate(0.5, 0.45, 0.55, 88), "Change the guide: people confuse 1 and 2."),
        (Estimate(0.7, 0.6, 0.8, 88), MORE),
        (Estimate(0.4, -0.1, 0.8, 88), MORE),
        (Estimate(0.4, 0.3, 0.5, 9), MORE),
        (Estimate(0.4, None, None, 30, FEW_QUERIES), MORE),
        (Estimate(why=NO_UNITS), MORE),
        (Estimate(0.02, -0.3, 0.3, 88), "First check what was graded and how fast, then check the guide."),
        (Estimate(0.8, 0.7, 0.9, 88), ""),
    ],
)
def test_a_low_alpha_needs_another_guide_and_a_wide_interval_more_pairs(alpha: Estimate, advice: str) -> None:
    assert advise(alpha, (1, 2)) == advice


def test_the_verdict_names_the_grades_that_people_confuse_most() -> None:
    said = [(f"query {n}", "document", who, grade) for n in range(40) for who, grade in CONFUSED[n % 4]]
    verdict = judge_alpha(compute_agreement(make_grades(said), (0, 1, 2, 3), 0))
    assert verdict.state == "too low"
    assert verdict.sentence.endswith("Change the guide: people confuse 1 and 2.")


CONFUSED = [
    (("ann", 1), ("ben", 2)),
    (("ann", 2), ("ben", 1)),
    (("ann", 0), ("ben", 0)),
    (("ann", 2), ("ben", 2)),
]


def test_the_gate_advises_on_its_first_shut_check() -> None:
    met = GateCheck(ALPHA, 0.667, 0.8, 0.7, 0.9, 88, "met")
    unsteady = GateCheck(CONSISTENCY, 0.8, 0.53, 0.4, 0.6, 40, "missed")
    few = GateCheck(CONSISTENCY, 0.8, None, None, None, 0, "undefined", "no blind duplicate")
    assert Gate((met, unsteady)).advice == "Change the guide: annotators do not repeat their own grades."
    assert Gate((met, few)).advice == "Have annotators grade more blind duplicates."
    assert Gate((met,)).advice == ""
