"""What annotators may know of their own work: settled pairs only, and nothing of anybody else."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from curation.agreement.mine import REVIEWER, my_differences, my_work
from curation.agreement.rule import MAJORITY
from curation.labeling.adjudication import decide
from curation.labeling.judgments import Submission, submit
from curation.labeling.lifecycle import close_round
from curation.store import Store, append, utc_now
from curation.text import digest

PEOPLE = ("ada", "ben", "cleo")
DOCUMENTS = ("one", "two", "three", "four", "five")


def show(
    store: Store, name: str, showings: list[tuple[str, str, str | None]], kind: str = "labeling"
) -> None:
    """A round whose presentations are given: annotator, document, and the first showing's document."""
    with store.transaction() as cursor:
        cursor.execute(
            "INSERT INTO rounds SELECT ?, ?, ?, value, '{}', ? FROM settings WHERE name = 'guide'",
            [name, name, kind, utc_now()],
        )
        ids = [ident(name, who, document, bool(again)) for who, document, again in showings]
        append(
            cursor,
            "presentations",
            {
                "presentation_id": ids,
                "round_id": [name] * len(ids),
                "annotator": [who for who, _, _ in showings],
                "query_id": ["q"] * len(ids),
                "document_id": [document for _, document, _ in showings],
                "content_hash": [digest(document) for _, document, _ in showings],
                "position": list(range(len(ids))),
                "duplicate_of": [
                    ident(name, who, again, False) if again else None for who, _, again in showings
                ],
            },
        )


def ident(name: str, who: str, document: str, again: bool) -> str:
    return f"{name} {who} {document} {again}"


def give(
    store: Store, who: str, document: str, grade: int | None, name: str = "first", again: bool = False
) -> None:
    one = ident(name, who, document, again)
    kind = "cannot_tell" if grade is None else "grade"
    (done,) = submit(store, who, [Submission(one, 0, kind, f"key {one}", grade)])
    assert done.status == "saved"


@pytest.fixture
def judged(store: Store) -> Store:
    """Three people over one query: everything open."""
    with store.transaction() as cursor:
        append(
            cursor,
            "documents",
            {
                "content_hash": [digest(one) for one in DOCUMENTS],
                "document_id": list(DOCUMENTS),
                "title": list(DOCUMENTS),
                "body": ["text"] * len(DOCUMENTS),
                "metadata": ["{}"] * len(DOCUMENTS),
            },
        )
        query = {"query_id": ["q"], "text": ["the query"], "normalised": ["the query"], "source": ["written"]}
        append(cursor, "queries", {**query, "metadata": ["{}"]})
        names = {"name": list(PEOPLE), "role": ["annotator"] * 3, "imported": [False] * 3}
        append(cursor, "annotators", {**names, "added_at": [utc_now()] * 3})
    show(store, "first", [(who, document, None) for who in PEOPLE for document in DOCUMENTS])
    return store


def vote(store: Store, document: str, *grades: int | None) -> None:
    for who, grade in zip(PEOPLE, grades, strict=False):
        give(store, who, document, grade)


def told(store: Store, who: str = "ada") -> list[tuple[str, int | None, int | None, str, str | None]]:
    found = my_differences(store, who).differences
    return sorted((one.title, one.mine, one.settled, one.how, one.reason) for one in found)


def test_a_majority_is_told_once_everybody_has_judged_the_pair(judged: Store) -> None:
    vote(judged, "one", 0, 2)
    assert told(judged) == []
    give(judged, "cleo", "one", 2)
    assert told(judged) == [("one", 0, 2, MAJORITY, None)]
    assert told(judged, "ben") == []


def test_in_a_closed_round_those_who_judged_decide(judged: Store) -> None:
    vote(judged, "one", 0, 2)
    give(judged, "cleo", "one", 2)
    vote(judged, "two", 1)
    close_round(judged, "first")
    assert told(judged) == [("one", 0, 2, MAJORITY, None)]
    found = my_differences(judged, "ada")
    assert (found.settled, found.alike) == (1, 0), "what only ada judged is settled by nobody else"


def test_a_dispute_is_not_told_before_the_reviewer_decides_and_then_with_the_reason(judged: Store) -> None:
    vote(judged, "one", 0, 2, 3)
    assert told(judged) == []
    decide(judged, "q", "one", 3, "It is the whole answer")
    assert told(judged) == [("one", 0, 3, REVIEWER, "It is the whole answer")]
    decide(judged, "q", "one", None, "The document is cut off")
    assert told(judged) == [("one", 0, None, REVIEWER, "The document is cut off")]
    assert my_differences(judged, "cleo").differences[0].settled is None


def test_cannot_tell_differs_from_every_grade(judged: Store) -> None:
    vote(judged, "one", None, 2, 2)
    assert told(judged) == [("one", None, 2, MAJORITY, None)]


def test_one_others_grade_is_not_told_as_settled(judged: Store) -> None:
    vote(judged, "one", None, None, 2)
    assert told(judged) == []


def test_nothing_tells_who_else_graded_or_how_many(judged: Store) -> None:
    vote(judged, "one", 0, 2, 2)
    decide(judged, "q", "one", 2, "why")
    found = my_differences(judged, "ada")
    assert not {"ben", "cleo"} & set(str(asdict(found)).replace("'", " ").split())
    assert set(found.differences[0]._fields) == {
        "query",
        "title",
        "mine",
        "settled",
        "how",
        "reason",
        "answered_at",
    }


def test_a_pair_that_may_come_back_is_held_back(judged: Store) -> None:
    show(judged, "more", [("ada", "one", None), ("ada", "two", None), ("ada", "one", "one")])
    vote(judged, "one", 0, 2, 2)
    give(judged, "ada", "one", 0, "more")
    decide(judged, "q", "one", 2, "why")
    assert told(judged) == [], "its blind duplicate is still to be judged"
    give(judged, "ada", "one", 1, "more", again=True)
    assert told(judged) == [("one", 0, 2, REVIEWER, "why")], "once, by the first showing"


def test_pilot_practice_and_known_answers_are_not_among_them(judged: Store) -> None:
    for kind in ("pilot", "practice"):
        show(judged, kind, [("ada", "five", None)], kind)
        give(judged, "ada", "five", 0, kind)
    give(judged, "ben", "five", 3)
    give(judged, "ada", "four", 0)
    for document in ("four", "five"):
        give(judged, "cleo", document, 3)
        decide(judged, "q", document, 3, "why")
    with judged.transaction() as cursor:
        cursor.execute("INSERT INTO known_answers VALUES ('first', 'q', 'four', 3, '')")
    assert told(judged) == []


def test_a_share_needs_ten_settled_pairs(judged: Store) -> None:
    for document in DOCUMENTS:
        vote(judged, document, 1, 1, 1)
    found = my_differences(judged, "ada")
    assert (found.alike, found.settled, found.share, found.low) == (5, 5, None, None)
    names = [f"more {n}" for n in range(2)]
    for name in names:
        with judged.transaction() as cursor:
            new = [f"{name} {document}" for document in DOCUMENTS]
            columns = {"content_hash": [digest(one) for one in new], "document_id": new, "title": new}
            append(cursor, "documents", {**columns, "body": ["x"] * 5, "metadata": ["{}"] * 5})
        show(judged, name, [(who, document, None) for who in PEOPLE for document in new])
        for who in PEOPLE:
            for document in new:
                give(judged, who, document, 2 if (who, name) == ("ada", "more 0") else 1, name)
    found = my_differences(judged, "ada")
    assert (found.alike, found.settled, found.share) == (10, 15, pytest.approx(2 / 3))
    assert found.low is not None
    assert found.low < 2 / 3


def test_somebody_without_items_has_neither_pace_nor_consistency(store: Store) -> None:
    assert my_work(store, "nobody") == (None, 0, None)
    assert my_differences(store, "nobody").settled == 0
