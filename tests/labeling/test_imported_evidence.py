"""Evidence: what a person marked is checked, stored with the grade, and counts as long as it does."""

from __future__ import annotations

import pytest

from curation.core.spans import Spans
from curation.guides.guide_text import parse_guide
from curation.labeling.judging import Outcome, Submission, read_evidence_marks
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.use_guide import use_guide
from curation.labeling.session.history import read_history_page
from curation.labeling.session.item_views import read_previous_answer
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.marking import GUIDE
from tests.support.projects import add_names, add_pairs, built_once, rows_of

BODY = "The body of 😀 ข้อความ עברית."


@built_once
def opened(store: Store) -> Store:
    """One item for ada, of a document with astral, Thai and Hebrew letters."""
    add_pairs(store, {"q": ["😀 ข้อความ עברית"]})
    add_names(store, "ada")
    use_guide(store, parse_guide(GUIDE.format(ask="required")))
    open_round(store, RoundRequest("first", ["ada"], overlap=1, duplicates=0))
    return store


def item(store: Store) -> str:
    return str(rows_of(store, "SELECT presentation_id FROM presentations")[0][0])


def answer(
    store: Store, revision: int, grade: int | None, evidence: Spans = (), kind: str = "grade"
) -> Outcome:
    key = f"press-{revision}-{kind}-{grade}-{evidence}"
    return submit_judgments(
        store, "ada", [Submission(item(store), revision, kind, key, grade=grade, evidence=evidence)]
    )[0]


def marked(store: Store) -> Spans | None:
    name = item(store)
    with store.reading() as cursor:
        return read_evidence_marks(cursor, [name]).get(name)


def test_marks_are_stored_with_the_grade_as_code_points_with_their_quote(opened: Store) -> None:
    assert answer(opened, 0, 3, ((22, 27), (12, 13), (12, 14))).status == "saved"
    rows = rows_of(opened, "SELECT revision, start_at, end_at, quote FROM evidence_marks ORDER BY start_at")
    assert rows == [(0, 12, 14, "😀 "), (0, 22, 27, "עברית")]
    assert all(BODY[start:end] == quote for _, start, end, quote in rows)


def test_other_marks_are_a_new_revision_and_a_grade_without_any_ends_them(opened: Store) -> None:
    answer(opened, 0, 3, ((0, 3),))
    answer(opened, 1, 3, ((4, 8),))
    assert marked(opened) == ((4, 8),)
    assert answer(opened, 2, 0).status == "saved"
    assert marked(opened) is None
    assert rows_of(opened, "SELECT count(*) FROM evidence_marks") == [(2,)]


def test_marks_come_back_to_the_screen_after_undo_and_in_the_history(opened: Store) -> None:
    answer(opened, 0, 2, ((0, 3),))
    last = read_previous_answer(opened, "ada")
    assert last is not None
    assert (last.grade, last.evidence) == (None, ((0, 3),))
    (listed,) = read_history_page(opened, "ada").answers
    assert (listed.grade, listed.evidence) == (2, ((0, 3),))
    answer(opened, 1, None, kind="undo")
    assert read_queue(opened, "ada").showings
    assert marked(opened) == ((0, 3),)


@pytest.mark.parametrize(
    ("grade", "evidence", "kind", "message"),
    [
        (3, (), "grade", "grade 3 needs evidence: mark the passage of the document that shows it"),
        (
            1,
            ((0, 3),),
            "grade",
            "grade 1 cannot have evidence: in this guide, only grades of 2 or more take evidence",
        ),
        (
            None,
            ((0, 3),),
            "cannot_tell",
            "an answer without a grade cannot have evidence: in this guide, only",
        ),
        (2, ((0, 29),), "grade", "evidence from 0 to 29 lies outside the document, which has 28 characters"),
        (2, ((-1, 3),), "grade", "evidence from -1 to 3 lies outside"),
        (2, ((3, 3),), "grade", "evidence from 3 to 3 lies outside"),
    ],
)
def test_marks_that_cannot_be_are_refused_with_a_sentence(
    opened: Store, grade: int | None, evidence: Spans, kind: str, message: str
) -> None:
    outcome = answer(opened, 0, grade, evidence, kind)
    assert outcome.status == "refused"
    assert outcome.message.startswith(message)
    assert rows_of(opened, "SELECT 1 FROM judgment_events UNION ALL SELECT 1 FROM evidence_marks") == []
