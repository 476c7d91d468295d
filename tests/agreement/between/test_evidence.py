"""Agreement on evidence, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from curation.agreement.between.evidence import evidence_agreement
from curation.agreement.report.report import agreement_findings, agreement_report
from curation.agreement.report.sections import evidence_sections
from curation.core.spans import Spans
from curation.guides.parse_guide import parse_guide
from curation.labeling.consensus.evidence import MarkedEvidence, PairMarks
from curation.labeling.judgments.judging import Submission
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.guide_in_force import put_in_force
from curation.labeling.session.submit import submit
from curation.store import Store
from tests.support.marking import GUIDE
from tests.support.projects import add_names, add_pairs, rows_of


def marked(*people: Spans) -> PairMarks:
    return PairMarks("v", tuple(MarkedEvidence(f"a{place}", 3, one, ()) for place, one in enumerate(people)))


def test_f1_is_of_each_two_annotators() -> None:
    found = evidence_agreement({("q", "d"): marked(((0, 10),), ((5, 15),), ((5, 15), (20, 30)))})
    assert found is not None
    by_hand = [2 * 5 / 20, 2 * 5 / 30, 2 * 10 / 30]
    assert found.f1.value == pytest.approx(np.mean(by_hand))
    assert (found.units, found.apart, found.f1.no_interval is not None) == (1, 0, True)


def test_equal_marks_are_1_and_marks_without_a_common_character_are_0() -> None:
    same = {("q", str(row)): marked(((row, row + 9),), ((row, row + 9),)) for row in range(40)}
    other = {(str(row), "d"): marked(((0, 5),), ((5, 9),)) for row in range(10)}
    equal, apart = evidence_agreement(same), evidence_agreement(other)
    assert equal is not None
    assert apart is not None
    assert (equal.f1.value, equal.apart) == (1, 0)
    assert (apart.f1.value, apart.apart) == (0, 10)


def test_only_those_asked_for_are_compared() -> None:
    both = {("q", "d"): marked(((0, 10),), ((0, 10),), ((30, 40),))}
    found = evidence_agreement(both, among={"a0", "a1"})
    assert found is not None
    assert found.f1.value == 1
    alone = evidence_agreement(both, among={"a0"})
    assert alone is not None
    assert alone.f1.value is None
    assert evidence_agreement({}) is None


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
