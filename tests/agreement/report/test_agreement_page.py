"""The page of a report: nothing from outside, nothing hidden, words of people as words."""

from __future__ import annotations

import re
from datetime import datetime
from xml.etree import ElementTree

from curation.agreement.annotators.signals import AnnotatorMetrics, Finding
from curation.agreement.report.report import agreement_report
from curation.agreement.report.sections import (
    agreement_page,
    feedback_section,
    layers,
    overview,
    parts,
    sections,
)
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.judgments.imported import add_judgments
from curation.store import Store
from tests.support.grades import noisy
from tests.support.projects import add_pairs, grid
from tests.support.terminal import broken

HOSTILE = "<img src=x onerror=alert(1)>"


def judged(store: Store, queries: int = 12, people: int = 3, names: str = "annotator") -> None:
    rows = noisy(queries, people=people)
    pairs: dict[str, list[str]] = {}
    for query, document, _, _ in rows:
        if f"{query}.{document}" not in pairs.setdefault(query, []):
            pairs[query].append(f"{query}.{document}")
    add_pairs(store, pairs)
    said = [
        ImportedJudgment(q, f"{q}.{d}", who.replace("annotator", names), g, submitted_at=datetime(2026, 3, 2))
        for q, d, who, g in rows
    ]
    add_judgments(store, said, "ratings.csv")


def elements(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<both>{svg}</both>")[0]


def test_the_page_needs_no_script_and_no_network(store: Store) -> None:
    judged(store)
    page = agreement_page(agreement_report(store, details=True))
    assert "<script" not in page
    assert "http:" not in page
    assert "https:" not in page
    assert "default-src 'none'" in page
    assert not re.search(r"\b(src|href)=", page)


def test_the_same_report_gives_the_same_bytes(store: Store) -> None:
    judged(store)
    first, again = (agreement_page(agreement_report(store, details=True)) for _ in range(2))
    assert first == again


def test_what_people_wrote_is_text(store: Store) -> None:
    judged(store, names=HOSTILE)
    page = agreement_page(agreement_report(store, details=True))
    assert "<img" not in page
    assert "&lt;img" in page


def test_every_section_has_a_sentence_and_well_formed_drawings_that_a_terminal_has_as_tables(
    store: Store,
) -> None:
    judged(store)
    report = agreement_report(store, details=True)
    found = sections(report)
    assert all(section.sentence.endswith(".") for section in found)
    drawn = [elements(drawing) for section in found for drawing in section.drawings]
    assert len(drawn) >= 4
    assert all(drawing.get("aria-label") for drawing in drawn)
    page = agreement_page(report)
    for section in found:
        assert section.heading in page
        assert len(section.charted) == len(section.drawings)
    assert broken(found, 110) == broken(found, 60) == []


def test_an_empty_project_has_a_page_that_says_why(store: Store) -> None:
    add_pairs(store, grid(2, 2))
    page = agreement_page(agreement_report(store, details=True))
    assert "no pair has grades of two annotators" in page
    assert "Agreement between annotators has no figure: undefined" in page


def test_what_is_undefined_is_one_sentence_and_no_row_of_a_chart(store: Store) -> None:
    add_pairs(store, grid(2, 2))
    origins, (overall, *_) = layers(agreement_report(store, details=True))
    assert origins == []
    assert overall.drawings == ()
    assert overall.remark.count("no pair has grades of two annotators") == 1


def test_a_query_opens_the_pairs_on_which_its_grades_differ(store: Store) -> None:
    add_pairs(store, {"q": ["a", "b", "c"]})
    grades = {"a": (1, 1), "b": (0, 3), "c": (1, 2)}
    said = [
        ImportedJudgment("q", d, who, g)
        for d, two in grades.items()
        for who, g in zip("xy", two, strict=True)
    ]
    add_judgments(store, said, "few.csv")
    (query,) = agreement_report(store, details=True).details.sources.queries
    assert [(one.document_id, one.said) for one in query.opinions] == [
        ("b", (("x", 0), ("y", 3))),
        ("c", (("x", 1), ("y", 2))),
    ]


def test_no_finding_is_drawn_from_figures_that_are_not_shown(store: Store) -> None:
    """Two pairs are too few for every figure: no sentence may name one."""
    add_pairs(store, {"q": ["a", "b"]})
    said = [
        ImportedJudgment("q", doc, who, grade) for doc, grade in (("a", 0), ("b", 3)) for who in ("x", "y")
    ]
    add_judgments(store, said, "few.csv")
    report = agreement_report(store, details=True)
    for section in (overview(report)[0], *parts(report, report.details).values()):
        assert not re.search(r"\d\.\d\d", section.sentence), section.sentence


def test_what_to_talk_about_is_told_and_names_are_text() -> None:
    finding = Finding("bias", "Grades are 0.5 higher.", {})
    people = [AnnotatorMetrics("ben"), AnnotatorMetrics(HOSTILE, feedback=(finding,))]
    found = feedback_section(people)
    assert "1 of 2 annotators" in found.sentence
    assert found.tables[0].rows == ((HOSTILE, "bias", "Grades are 0.5 higher."),)


def test_of_nobody_and_of_faultless_people_there_is_nothing_to_talk_about() -> None:
    assert feedback_section([]).sentence == "Nobody has items here."
    found = feedback_section([AnnotatorMetrics("ben")])
    assert "No findings about the work of 1 annotator." in found.sentence
    assert found.tables == ()
