"""Agreement on evidence: the F1 of marked characters, by hand and in the report of a project."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from curation.agreement.evidence_agreement import compute_evidence_agreement
from curation.agreement.report import make_agreement_report
from curation.agreement.report_findings import list_findings
from curation.agreement.report_sections import make_evidence_sections
from curation.core.spans import Spans
from curation.guides.guide_text import parse_guide
from curation.labeling.consensus.marks import MarkedEvidence, PairMarks
from curation.labeling.judging import Submission
from curation.labeling.rounds.use_guide import use_guide
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.marking import GUIDE
from tests.support.projects import open_for, rows_of


def marked(*people: Spans) -> PairMarks:
    return PairMarks("v", tuple(MarkedEvidence(f"a{place}", 3, one, ()) for place, one in enumerate(people)))


def test_f1_is_of_each_two_annotators() -> None:
    evidence = compute_evidence_agreement({("q", "d"): marked(((0, 10),), ((5, 15),), ((5, 15), (20, 30)))})
    by_hand = [2 * 5 / 20, 2 * 5 / 30, 2 * 10 / 30]
    assert evidence.f1.value == pytest.approx(np.mean(by_hand))
    assert (evidence.units, evidence.apart, evidence.f1.why is not None) == (1, 0, True)


def test_equal_marks_are_1_and_marks_without_a_common_character_are_0() -> None:
    same = {("q", str(row)): marked(((row, row + 9),), ((row, row + 9),)) for row in range(40)}
    other = {(str(row), "d"): marked(((0, 5),), ((5, 9),)) for row in range(10)}
    equal, apart = compute_evidence_agreement(same), compute_evidence_agreement(other)
    assert (equal.f1.value, equal.apart) == (1, 0)
    assert (apart.f1.value, apart.apart) == (0, 10)


def test_one_persons_marks_have_no_agreement() -> None:
    alone = compute_evidence_agreement({("q", "d"): marked(((0, 10),))})
    assert alone.f1.value is None
    assert compute_evidence_agreement({}) is None


def test_the_report_of_a_project_says_how_far_marks_agree(store: Store) -> None:
    use_guide(store, parse_guide(GUIDE.format(ask="required")))
    open_for(store, {"q": ["d"]}, "ada", "ben")
    for who, marks in (("ada", ((0, 8),)), ("ben", ((4, 8),))):
        (item,) = rows_of(store, "SELECT presentation_id FROM presentations WHERE annotator = ?", who)
        submit_judgments(
            store, who, [Submission(item[0], 0, "grade", f"key of {who}", grade=3, evidence=marks)]
        )
    report = make_agreement_report(store)
    assert report.evidence.f1.value == pytest.approx(2 * 4 / 12)
    (section,) = make_evidence_sections(report.evidence)
    assert section.sentence.startswith("1 pair has evidence by two or more annotators. 0 pairs have")
    assert make_agreement_report(store, "first").evidence is None
    assert "No pair is disputed (1 judged)." in list_findings(report)
    apart = replace(report.evidence, apart=1)
    assert "these pairs wait on the page Adjudicate" in make_evidence_sections(apart)[0].sentence
