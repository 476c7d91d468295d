"""Judgments made elsewhere: the same way in, nothing twice, nothing half."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.labeling.judging import Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.reassignment import reassign
from curation.labeling.rounds.status import read_round_status
from curation.labeling.session.item_views import read_previous_answer
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.people.annotators import find_annotator, list_annotators
from curation.people.passwords import authenticate
from curation.store import Store
from curation.store.row_types import Annotator, Query
from tests.support.projects import PASSWORD, add_pairs, add_people, change_text, grid, open_for, rows_of

A, B = ("query 0", "document 0.0"), ("query 0", "document 0.1")


def judged(*rows: tuple[tuple[str, str], str, int | None]) -> list[ImportedJudgment]:
    return [ImportedJudgment(*pair, who, grade, line=n) for n, (pair, who, grade) in enumerate(rows, start=2)]


def counted(store: Store) -> list[tuple[str, str, str, int | None]]:
    return rows_of(
        store, "SELECT annotator, query_id, document_id, grade FROM counted_judgments ORDER BY ALL"
    )


def test_unknown_annotators_become_imported_ones_who_cannot_sign_in(store: Store) -> None:
    add_pairs(store, grid(1, 2))
    result = add_judgments(store, judged((A, "rater 1", 3), (B, "rater 1", None)), "old.csv")
    assert (result.judgments, result.filled, result.added_annotators) == (2, 0, ["rater 1"])
    with store.reading() as cursor:
        assert [(a.name, a.imported) for a in list_annotators(cursor)] == [("rater 1", True)]
    assert counted(store) == [("rater 1", *A, 3), ("rater 1", *B, None)]


def test_a_pair_that_no_pool_holds_is_added_with_the_source_imported(store: Store) -> None:
    add_pairs(store, {**grid(1, 1), "other": ["document 9"]})
    pair = ("query 0", "document 9")
    assert add_judgments(store, judged((pair, "rater", 1)), "old.csv").added_pairs == 1
    sources = rows_of(store, "SELECT query_id, document_id, system, rank FROM candidate_sources")
    assert sources == [(*pair, "imported", None)]


def test_a_judgment_answers_the_open_presentation_that_waits_for_it(store: Store) -> None:
    open_for(store, grid(1, 2), "ada")
    result = add_judgments(store, judged((A, "ada", 3), (A, "rater", 2)), "old.csv")
    assert (result.judgments, result.filled) == (2, 1)
    assert read_round_status(store, "first").annotators[0].answered == 1
    assert len(read_queue(store, "ada").showings) == 1


def test_another_grade_is_a_correction_and_the_old_one_stays_on_record(store: Store) -> None:
    add_pairs(store, grid(1, 2))
    add_judgments(store, judged((A, "ada", 3)), "old.csv")
    result = add_judgments(store, judged((A, "ada", 1), (B, "ada", 2)), "new.csv")
    assert (result.judgments, result.changed) == (1, 1)
    assert counted(store) == [("ada", *A, 1), ("ada", *B, 2)]
    assert rows_of(store, "SELECT count(*) FROM judgment_events") == [(3,)]


def test_more_rows_of_a_source_join_its_round(store: Store) -> None:
    add_pairs(store, grid(1, 2))
    first = add_judgments(store, judged((A, "ada", 3)), "old.csv")
    second = add_judgments(store, judged((A, "ada", 3), (B, "ada", 2)), "old.csv")
    assert first.round == second.round == "imported: old.csv"
    assert rows_of(store, "SELECT position FROM presentations ORDER BY position") == [(0,), (1,)]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([(A, "ada", 1), (B, "ada", 7)], "line 3: grade 7 is not on the guide's scale (0, 1, 2, 3)"),
        (
            [(A, "ada", 1), (A, "ada", 2)],
            "line 3: ada gives the pair (query 0, document 0.0) 2, but 1 on line 2",
        ),
        ([(("query 0", "nowhere"), "ada", 1)], "line 2: the corpus has no document 'nowhere'"),
    ],
)
def test_one_bad_row_refuses_the_whole_import(
    store: Store, rows: list[tuple[tuple[str, str], str, int | None]], told: str
) -> None:
    add_pairs(store, grid(1, 2))
    new_query = Query("new", "new", "new", "imported")
    with pytest.raises(InputError) as caught:
        add_judgments(store, judged(*rows), "old.csv", [new_query])
    assert told in str(caught.value)
    assert counted(store) == []
    with store.reading() as cursor:
        assert cursor.execute("SELECT count(*) FROM queries").fetchone() == (1,)
        assert list_annotators(cursor) == []


def test_a_repeated_row_is_counted_not_doubled(store: Store) -> None:
    add_pairs(store, grid(1, 2))
    result = add_judgments(store, judged((A, "ada", 3), (A, "ada", 3)), "old.csv")
    assert (result.judgments, result.left_out) == (1, {"repeated judgment": 1})


@pytest.mark.slow
def test_an_import_never_takes_back_what_the_annotator_said_since(store: Store) -> None:
    open_for(store, grid(1, 2), "ada")
    rows = judged((A, "ada", 1), (B, "ada", 2))
    assert add_judgments(store, rows, "old.csv").filled == 2
    last = read_previous_answer(store, "ada")
    assert last is not None
    change = Submission(last.showing.presentation_id, 1, "grade", "changed-in-the-app", grade=3)
    assert submit_judgments(store, "ada", [change])[0].status == "saved"
    before = counted(store)
    again = add_judgments(store, rows, "old.csv")
    assert (again.judgments, again.changed, again.unchanged, again.superseded) == (0, 0, 1, 1)
    assert counted(store) == before


def test_what_somebody_judges_during_an_import_is_not_lost(store: Store) -> None:
    """The import reads, works and writes in turns of its own; judgments in between make it start again."""
    open_for(store, grid(60, 10), "ada", "grace")
    pairs = [(query, document) for query, documents in grid(60, 10).items() for document in documents]
    rows = judged(*((pair, "ada", 1) for pair in pairs[:300]))
    importing = threading.Thread(target=add_judgments, args=(store, rows, "old.csv"))
    importing.start()
    pressed = 0
    while importing.is_alive():
        showing = read_queue(store, "grace", 1).showings[0]
        pressed += (
            submit_judgments(
                store,
                "grace",
                [Submission(showing.presentation_id, 0, "grade", f"press-{pressed:05}", grade=2)],
            )[0].status
            == "saved"
        )
    importing.join()
    counts = Counter(row[0] for row in counted(store))
    assert counts == {"ada": 300, "grace": pressed}


def test_somebody_known_from_an_import_can_be_given_a_password_and_keeps_the_judgments(store: Store) -> None:
    add_pairs(store, grid(1, 2))
    add_judgments(store, judged((A, "ada", 3)), "old.csv")
    add_people(store, "ada")
    assert authenticate(store, "ada", PASSWORD)
    with store.reading() as cursor:
        assert find_annotator(cursor, "ada") == Annotator("ada", "annotator", False)
    assert counted(store) == [("ada", *A, 3)]


@pytest.mark.slow
def test_of_imports_the_last_counts_also_where_it_repeats_an_earlier_one(store: Store) -> None:
    add_pairs(store, grid(1, 1))
    for grade in (1, 3, 1, 3, 1):
        result = add_judgments(store, judged((A, "rater", grade)), "again.csv")
        assert (result.superseded, result.unchanged) == (0, 0)
        assert counted(store) == [("rater", *A, grade)]
    assert add_judgments(store, judged((A, "rater", 1)), "again.csv").unchanged == 1


@pytest.mark.slow
def test_what_was_said_on_screen_between_two_equal_imports_stays(store: Store) -> None:
    open_for(store, grid(1, 1), "ada")
    for grade in (3, 1, 3):
        add_judgments(store, judged((A, "ada", grade)), "again.csv")
    last = read_previous_answer(store, "ada")
    assert last is not None
    change = Submission(last.showing.presentation_id, 3, "grade", "changed-in-the-app", grade=2)
    assert submit_judgments(store, "ada", [change])[0].status == "saved"
    assert add_judgments(store, judged((A, "ada", 3)), "again.csv").superseded == 1
    assert counted(store) == [("ada", *A, 2)]


def test_a_judgment_of_a_pair_that_was_moved_to_somebody_else_is_refused(store: Store) -> None:
    add_pairs(store, grid(1, 2))
    add_people(store, "ada", "ben")
    open_round(store, RoundRequest("first", ["ada"], overlap=1, duplicates=0))
    reassign(store, "first", "ada", ["ben"])
    with pytest.raises(
        InputError, match=r"line 2: the pair .* was moved from ada to a different annotator.*first"
    ):
        add_judgments(store, judged((A, "ada", 3)), "late.csv")
    assert counted(store) == []
    assert add_judgments(store, judged((A, "ben", 3)), "late.csv").filled == 1


def texts(store: Store) -> list[tuple[str, int, str]]:
    """Who gave which grade about which text of A's document."""
    names = {digest(A[1]): "first", digest(A[1], "second"): "second"}
    found = rows_of(store, "SELECT annotator, grade, content_hash FROM current_judgments")
    return sorted((who, grade, names[content_hash]) for who, grade, content_hash in found)


@pytest.fixture
def changed(store: Store) -> Store:
    """Ada's 3 was imported, and then the document got another text."""
    add_pairs(store, grid(1, 1))
    add_judgments(store, judged((A, "ada", 3)), "old.csv")
    change_text(store, A[1])
    return store


def test_a_grade_that_may_be_about_either_text_is_refused_until_that_is_said(changed: Store) -> None:
    with pytest.raises(InputError) as caught:
        add_judgments(changed, judged((A, "ada", 0)), "new.csv")
    assert "line 2: ada judged a different text of the document 'document 0.0' than the corpus" in str(
        caught.value
    )
    assert "--about current" in str(caught.value)
    assert texts(changed) == [("ada", 3, "first")]


@pytest.mark.parametrize("source", ["new.csv", "old.csv"])
def test_a_judgment_of_the_text_of_now_stands_beside_that_of_the_earlier_one(
    changed: Store, source: str
) -> None:
    """Also from a file of the same name, whose round has a presentation of the earlier text."""
    result = add_judgments(changed, judged((A, "ada", 0)), source, about="current")
    assert (result.judgments, result.changed) == (1, 0)
    assert texts(changed) == [("ada", 0, "second"), ("ada", 3, "first")]
    assert counted(changed) == [("ada", *A, 0)]
    again = add_judgments(changed, judged((A, "ada", 0)), source, about="current")
    assert (again.judgments, again.unchanged) == (0, 1)


@pytest.mark.parametrize(
    ("row", "source", "about", "counts", "known"),
    [
        ((A, "ada", 3), "new.csv", "current", (1, 0, 0), [("ada", 3, "first"), ("ada", 3, "second")]),
        ((A, "ada", 0), "new.csv", "earlier", (0, 1, 0), [("ada", 0, "first")]),
        ((A, "ada", 3), "old.csv", None, (0, 0, 1), [("ada", 3, "first")]),
        ((A, "ben", 1), "new.csv", None, (1, 0, 0), [("ada", 3, "first"), ("ben", 1, "second")]),
    ],
    ids=["the same grade of the new text", "a correction", "the same file again", "who had no other text"],
)
def test_a_judgment_is_about_the_text_that_is_said_or_clear(
    changed: Store,
    row: tuple[tuple[str, str], str, int],
    source: str,
    about: str | None,
    counts: tuple[int, int, int],
    known: list[tuple[str, int, str]],
) -> None:
    result = add_judgments(changed, judged(row), source, about=about)
    assert (result.judgments, result.changed, result.unchanged) == counts
    assert texts(changed) == known


def test_an_open_showing_of_an_earlier_text_is_not_filled_unasked(store: Store) -> None:
    open_for(store, grid(1, 1), "ada")
    change_text(store, A[1])
    with pytest.raises(InputError, match="ada judged a different text"):
        add_judgments(store, judged((A, "ada", 3)), "new.csv")
    assert add_judgments(store, judged((A, "ada", 3)), "new.csv", about="current").filled == 0
    assert texts(store) == [("ada", 3, "second")]


def test_another_word_than_current_or_earlier_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="--about 'now': expected current or earlier"):
        add_judgments(store, judged((A, "ada", 3)), "new.csv", about="now")


def test_a_second_pass_leaves_the_first_as_it_was_and_its_votes_count(store: Store) -> None:
    add_pairs(store, grid(1, 2))
    first, again = judged((A, "ada", 3), (B, "ada", 0), (A, "ben", 3)), judged((A, "ada", 1), (B, "ada", 0))
    add_judgments(store, first, "first.csv")
    made = add_judgments(store, again, "again.csv", round_name="second")
    assert (made.round, made.judgments, made.changed) == ("second", 2, 0)
    assert counted(store) == [("ada", *A, 1), ("ada", *B, 0), ("ben", *A, 3)], (
        "of each person the newest pass"
    )
    for rows, source, name in ((again, "again.csv", "second"), (first, "first.csv", None)):
        repeated = add_judgments(store, rows, source, round_name=name)
        assert (repeated.judgments, repeated.changed) == (0, 0), "no pass is written to by another's file"
    assert repeated.unchanged == 3
    corrected = add_judgments(store, judged((A, "ada", 2)), "again.csv", round_name="second")
    assert (corrected.judgments, corrected.changed) == (0, 1), "within the pass another grade is a correction"
    assert counted(store)[0] == ("ada", *A, 2)
    kept = rows_of(
        store,
        "SELECT r.name, j.grade FROM current_judgments j JOIN rounds r USING (round_id) "
        "WHERE annotator = 'ada' AND document_id = 'document 0.0' ORDER BY sequence",
    )
    assert kept == [("imported: first.csv", 3), ("second", 2)]


def test_a_pass_answers_nothing_that_is_open_and_takes_no_name_of_a_round_in_the_app(store: Store) -> None:
    open_for(store, grid(1, 2), "ada")
    with pytest.raises(RefusedError, match="A round 'first' already exists"):
        add_judgments(store, judged((A, "ada", 3)), "old.csv", round_name="first")
    with pytest.raises(InputError, match="--round: found an empty name"):
        add_judgments(store, judged((A, "ada", 3)), "old.csv", round_name=" ")
    assert add_judgments(store, judged((A, "ada", 3)), "old.csv", round_name="again").filled == 0
    assert read_round_status(store, "first").annotators[0].answered == 0


@pytest.mark.parametrize(("about", "text"), [(None, "new"), ("current", "new"), ("earlier", "old")])
def test_a_pass_is_about_the_current_text_unless_it_says_otherwise(
    store: Store, about: str | None, text: str
) -> None:
    """Whatever the first pass read. After a further change the pass may be its own correction: unclear."""
    add_pairs(store, grid(1, 1))
    rows = judged((A, "ada", 3))
    add_judgments(store, rows, "old.csv")
    change_text(store, A[1])
    add_judgments(store, rows, "again.csv", round_name="second", about=about)
    count = {"new": 2, "old": 1}[text]
    assert rows_of(store, "SELECT count(DISTINCT content_hash) FROM current_judgments") == [(count,)]
    assert add_judgments(store, rows, "again.csv", round_name="second", about=about).judgments == 0
    if text == "new":
        change_text(store, A[1], version="third")
        with pytest.raises(InputError, match="judged a different text"):
            add_judgments(store, judged((A, "ada", 0)), "again.csv", round_name="second")
