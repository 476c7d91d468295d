"""Questions about the guide, and their answers as annotators read them."""

from __future__ import annotations

import pytest

from curation.core.errors import InputError, NotFoundError
from curation.guides.questions import answer_question, ask_about_item, list_questions, list_readable_questions
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.queue import read_queue
from curation.store import Store
from tests.support.projects import add_names, add_pairs, built_once, grid, rows_of


@built_once
def asked(store: Store) -> Store:
    """Ada asks at her first item, ben about the guide as a whole."""
    add_pairs(store, grid(2, 3))
    add_names(store, "ada", "ben")
    add_names(store, "lee", role="lead")
    open_round(store, RoundRequest("first", ["ada", "ben"], overlap=2, duplicates=0))
    ask_about_item(store, "ada", " Do parts  count? ", read_queue(store, "ada").showings[0].presentation_id)
    ask_about_item(store, "ben", "What of old models?")
    return store


def ids(store: Store) -> dict[str, str]:
    with store.reading() as cursor:
        return {question.author: question.question_id for question in list_questions(cursor)}


def test_a_question_at_an_item_names_its_pair_to_the_lead_and_one_of_the_whole_guide_none(
    asked: Store,
) -> None:
    with asked.reading() as cursor:
        general, at_item = list_questions(cursor)
    assert (general.author, general.words) == ("ben", "What of old models?")
    assert general.query is general.title is None
    assert (at_item.author, at_item.words) == ("ada", "Do parts count?")
    assert at_item.query is not None
    assert at_item.title is not None
    assert at_item.title.startswith("document")


def test_the_same_question_sent_twice_is_one(asked: Store) -> None:
    ask_about_item(asked, "ben", "What of  old models?")
    assert rows_of(asked, "SELECT count(*) FROM guide_questions") == [(2,)]


def test_everyone_reads_an_answer_for_everyone_without_who_asked(asked: Store) -> None:
    assert list_readable_questions(asked, "lee") == []
    answer_question(asked, ids(asked)["ben"][:8], "Grade them as new ones.", "lee")
    (question,) = list_readable_questions(asked, "lee")
    assert question._asdict() == {
        "question_id": ids(asked)["ben"],
        "revision": 0,
        "words": "What of old models?",
        "answer": "Grade them as new ones.",
        "mine": False,
        "query": None,
    }
    assert [one.words for one in list_readable_questions(asked, "ada")] == [
        "What of old models?",
        "Do parts count?",
    ]


def test_an_answer_for_who_asked_alone_is_nobody_elses(asked: Store) -> None:
    answer_question(asked, ids(asked)["ada"], "Yes.", "lee", everyone=False)
    (mine,) = list_readable_questions(asked, "ada")
    assert (mine.answer, mine.mine, mine.query is not None) == ("Yes.", True, True)
    assert [question.answer for question in list_readable_questions(asked, "ben")] == [None]


def test_a_changed_answer_takes_the_place_of_the_first_and_both_are_kept(asked: Store) -> None:
    question = ids(asked)["ada"]
    for words in ("Yes.", "Yes.", "No:\nonly whole ones."):
        answer_question(asked, question, words, "lee")
    (mine,) = list_readable_questions(asked, "ada")
    assert (mine.answer, mine.revision) == ("No:\nonly whole ones.", 1)
    rows = rows_of(asked, "SELECT actor FROM events WHERE action = 'answer guide question'")
    assert rows == [("lee",), ("lee",)]


def test_what_is_not_theirs_is_refused(asked: Store) -> None:
    item = read_queue(asked, "ben").showings[0].presentation_id
    with pytest.raises(NotFoundError, match="This item is not one of yours"):
        ask_about_item(asked, "ada", "And this?", item)
    with pytest.raises(InputError, match="enter in a few words"):
        ask_about_item(asked, "ada", " ")
    with pytest.raises(NotFoundError, match="no question 'zz'"):
        answer_question(asked, "zz", "Yes.", "lee")
    with pytest.raises(InputError, match="enter the answer"):
        answer_question(asked, ids(asked)["ada"], "", "lee")
