"""Agreement on evidence against a published example, by hand, and on marks made at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from curation.agreement.between.evidence import FEW_FOR_ALPHA_U, evidence_agreement, figures_of_sums, overlaps
from curation.agreement.report.report import agreement_findings, agreement_report
from curation.agreement.report.sections import evidence_sections
from curation.guides.guide import parse_guide
from curation.labeling.judgments.judging import Submission
from curation.labeling.rounds.lifecycle import put_in_force
from curation.labeling.rounds.rounds import open_round
from curation.labeling.session.submit import submit
from curation.settling.evidence import MarkedEvidence, PairMarks
from curation.spans import Spans
from curation.store import Store
from tests.support.marking import GUIDE
from tests.support.projects import add_names, add_pairs, rows_of

EXAMPLE = [
    [(0, 7), (7, 13), (30, 32), (32, 37), (37, 44), (44, 60)],
    [(0, 7), (7, 13), (13, 21), (32, 44)],
    [(0, 7), (7, 13), (13, 21), (32, 37), (37, 41), (41, 44)],
]
"""Three observers of a continuum of 60: Krippendorff (2019), Content Analysis, 4th ed., fig. 12.11."""


def marked(*people: Spans) -> PairMarks:
    return PairMarks("v", tuple(MarkedEvidence(f"a{place}", 3, one, ()) for place, one in enumerate(people)))


def test_alpha_u_is_that_of_the_published_example() -> None:
    sums = np.array([overlaps(EXAMPLE, 60)], dtype=np.float64)
    assert figures_of_sums(sums)[0, 1] == pytest.approx(0.413, abs=0.001)


def test_f1_is_of_each_two_annotators() -> None:
    found = evidence_agreement({("q", "d"): marked(((0, 10),), ((5, 15),), ((5, 15), (20, 30)))}, {"v": 50})
    assert found is not None
    by_hand = [2 * 5 / 20, 2 * 5 / 30, 2 * 10 / 30]
    assert found.f1.value == pytest.approx(np.mean(by_hand))
    assert (found.units, found.apart, found.f1.no_interval is not None) == (1, 0, True)


def test_equal_marks_are_1_and_random_ones_are_near_0() -> None:
    random = np.random.default_rng(7)

    def drawn() -> Spans:
        start = int(random.integers(0, 900))
        return ((start, start + 100),)

    same = {("q", str(place)): marked(one, one) for place in range(40) for one in [drawn()]}
    chance = {(str(place % 50), str(place)): marked(drawn(), drawn()) for place in range(400)}
    equal, apart = (evidence_agreement(one, {"v": 1000}) for one in (same, chance))
    assert equal is not None
    assert apart is not None
    assert equal.alpha_u.value == pytest.approx(1)
    assert (equal.f1.value, equal.apart) == (1, 0)
    low, high = apart.alpha_u.low, apart.alpha_u.high
    assert low is not None
    assert high is not None
    assert low < 0 < high
    assert abs(apart.alpha_u.value or 1) < 0.1


def test_unitising_alpha_of_few_queries_has_no_interval() -> None:
    few = {(str(place), "d"): marked(((0, 10),), ((place, 10),)) for place in range(10)}
    found = evidence_agreement(few, {"v": 50})
    assert found is not None
    assert (found.alpha_u.low, found.alpha_u.no_interval) == (None, FEW_FOR_ALPHA_U)
    assert found.f1.low is not None


def test_only_those_asked_for_are_compared() -> None:
    both = {("q", "d"): marked(((0, 10),), ((0, 10),), ((30, 40),))}
    found = evidence_agreement(both, {"v": 50}, among={"a0", "a1"})
    assert found is not None
    assert found.f1.value == 1
    alone = evidence_agreement(both, {"v": 50}, among={"a0"})
    assert alone is not None
    assert alone.f1.value is None
    assert evidence_agreement({}, {}) is None


def test_the_report_of_a_project_says_how_far_marks_agree(store: Store) -> None:
    add_pairs(store, {"q": ["d"]})
    add_names(store, "ada", "ben")
    put_in_force(store, parse_guide(GUIDE.format(ask="required")))
    open_round(store, "first", ["ada", "ben"], overlap=2, duplicates=0)
    for who, marks in (("ada", ((0, 8),)), ("ben", ((4, 8),))):
        (item,) = rows_of(store, "SELECT presentation_id FROM presentations WHERE annotator = ?", who)
        submit(store, who, [Submission(item[0], 0, "grade", f"key of {who}", grade=3, evidence=marks)])
    report = agreement_report(store)
    assert report.evidence is not None
    assert report.evidence.f1.value == pytest.approx(2 * 4 / 12)
    (section,) = evidence_sections(report.evidence)
    assert section.sentence.startswith("1 pair has marks of two annotators or more. 0 pairs have")
    assert agreement_report(store, "first").evidence is None
    assert "None of the 1 judged pairs is disputed." in agreement_findings(report)
    apart = replace(report.evidence, apart=1)
    assert "wait on Adjudicate, among the disputed pairs" in evidence_sections(apart)[0].sentence
