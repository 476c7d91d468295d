"""The page of a report: nothing from outside, nothing hidden, words of people as words."""

from __future__ import annotations

import re
from datetime import datetime
from xml.etree import ElementTree

import pytest

from curation.agreement.annotator_metrics import AnnotatorMetrics, Finding
from curation.agreement.report import make_agreement_report
from curation.agreement.report_sections import (
    make_agreement_page,
    make_breakdown_sections,
    make_feedback_section,
    make_overview,
    make_section_layers,
    make_sections,
)
from curation.store import Store
from tests.support.grades import import_grades, noisy
from tests.support.projects import add_pairs, grid
from tests.support.terminal import broken

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)>"


def judged(store: Store, names: str = "annotator") -> None:
    rows = [(q, d, who.replace("annotator", names), grade) for q, d, who, grade in noisy(12)]
    import_grades(store, rows, at=datetime(2026, 3, 2))


def elements(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<both>{svg}</both>")[0]


def test_what_people_wrote_is_text(store: Store) -> None:
    judged(store, names=HOSTILE)
    page = make_agreement_page(make_agreement_report(store, details=True))
    assert "<img" not in page
    assert "&lt;img" in page


def test_every_section_has_a_sentence_and_well_formed_drawings_that_a_terminal_has_as_tables(
    store: Store,
) -> None:
    judged(store)
    report = make_agreement_report(store, details=True)
    shown = make_sections(report)
    assert all(section.sentence.endswith(".") for section in shown)
    drawn = [elements(drawing) for section in shown for drawing in section.drawings]
    assert len(drawn) >= 4
    assert all(drawing.get("aria-label") for drawing in drawn)
    page = make_agreement_page(report)
    for section in shown:
        assert section.heading in page
        assert len(section.charted) == len(section.drawings)
    assert broken(shown, 110) == broken(shown, 60) == []


def test_an_empty_project_has_a_page_that_says_why(store: Store) -> None:
    add_pairs(store, grid(2, 2))
    report = make_agreement_report(store, details=True)
    assert "Agreement between annotators could not be computed: undefined" in make_agreement_page(report)
    origins, (overall, *_) = make_section_layers(report)
    assert (origins, overall.drawings) == ([], ())
    assert overall.remark.count("no pair has grades of two annotators") == 1


def test_a_query_opens_the_pairs_on_which_its_grades_differ(store: Store) -> None:
    grades = {"a": (1, 1), "b": (0, 3), "c": (1, 2)}
    rows = [("q", d, who, grade) for d, two in grades.items() for who, grade in zip("xy", two, strict=True)]
    import_grades(store, rows)
    (query,) = make_agreement_report(store, details=True).details.sources.queries
    assert query.opinions == (("b", (("x", 0), ("y", 3))), ("c", (("x", 1), ("y", 2))))


def test_no_finding_is_drawn_from_figures_that_are_not_shown(store: Store) -> None:
    """Two pairs are too few for every figure: no sentence may name one."""
    import_grades(store, [("q", d, who, grade) for d, grade in (("a", 0), ("b", 3)) for who in ("x", "y")])
    report = make_agreement_report(store, details=True)
    for section in (make_overview(report)[0], *make_breakdown_sections(report, report.details).values()):
        assert not re.search(r"\d\.\d\d", section.sentence), section.sentence


def test_what_to_talk_about_is_told_and_names_are_text() -> None:
    finding = Finding("bias", "Grades are 0.5 higher.", {})
    people = [AnnotatorMetrics("ben"), AnnotatorMetrics(HOSTILE, feedback=(finding,))]
    section = make_feedback_section(people)
    assert "1 of 2 annotators" in section.sentence
    assert section.tables[0].rows == ((HOSTILE, "bias", "Grades are 0.5 higher."),)


def test_of_nobody_and_of_faultless_people_there_is_nothing_to_talk_about() -> None:
    assert make_feedback_section([]).sentence == "Nobody has items in this round."
    section = make_feedback_section([AnnotatorMetrics("ben")])
    assert "Nothing stands out in the work of 1 annotator." in section.sentence
    assert section.tables == ()
