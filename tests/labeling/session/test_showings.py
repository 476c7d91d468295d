"""An annotator's session beside the grades: history, pace, and whether the corpus answers a query."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.guides.guide_text import read_guide
from curation.guides.questions import ask_about_pair, list_questions
from curation.labeling.judging import Submission
from curation.labeling.rounds.extension import extend_round
from curation.labeling.rounds.pace import read_annotators_work
from curation.labeling.rounds.remarks import list_remarks
from curation.labeling.rounds.round_states import read_open_states, read_round_state, set_round_state
from curation.labeling.rounds.status import read_round_status
from curation.labeling.rounds.upcoming import NEAR_REPEATS, count_unshown, read_rounds
from curation.labeling.rounds.use_guide import use_guide
from curation.labeling.session.history import LAST_ITEMS, HistoryFilter, read_history_page
from curation.labeling.session.item_views import read_previous_answer
from curation.labeling.session.query_answers import answer_query
from curation.labeling.session.queue import read_queue, read_skipped_items
from curation.labeling.session.submit import submit_judgments
from curation.queries.stored_tags import set_tags
from curation.queries.unanswerable import count_answers, count_unanswerable, find_unanswered
from curation.store import Store, append, put_setting
from tests.support import ROOT
from tests.support.drawn import outline
from tests.support.projects import (
    add_names,
    add_pairs,
    built_once,
    grade_next,
    grid,
    open_for,
    rows_of,
    turn_clock_back,
)


@built_once
def opened(store: Store) -> Store:
    """Two queries with three documents each, for ada, grace and joan."""
    open_for(store, grid(2, 3), "ada", "grace", "joan", ask_from=1)
    return store


class AskedOutsideLeases(frozenset[str]):
    """Image hosts that can be asked about only while one's own thread does not hold the project's file."""

    store: Store

    def __contains__(self, host: object) -> bool:
        with self.store.reading():  # an error within another lease
            return super().__contains__(host)


@pytest.mark.slow
def test_documents_are_drawn_after_the_file_was_let_go(opened: Store, tmp_path: Path) -> None:
    hosts = AskedOutsideLeases({"shop.example"})
    hosts.store = opened
    field = "presentation:\n  fields:\n    - {field: url, as: image}\nscale:"
    text = (ROOT / "labeling_guides" / "graded-relevance.md").read_text(encoding="utf-8")
    (tmp_path / "guide.md").write_text(text.replace("scale:", field, 1), encoding="utf-8")
    use_guide(opened, read_guide(tmp_path / "guide.md"), open_rounds="switch")
    with opened.transaction() as cursor:
        cursor.execute("UPDATE documents SET url = 'https://shop.example/1.png'")
    first, second = read_queue(opened, "ada", 2, image_hosts=hosts).showings
    submit_judgments(opened, "ada", [Submission(first.presentation_id, 0, "later", "press-0001")])
    submit_judgments(opened, "ada", [Submission(second.presentation_id, 0, "grade", "press-0002", grade=1)])
    put_off = read_skipped_items(opened, "ada", hosts)
    last = read_previous_answer(opened, "ada", hosts)
    answered = read_history_page(opened, "ada", image_hosts=hosts).answers
    assert last is not None
    for showing in (first, second, *put_off, last.showing, *(one.showing for one in answered)):
        assert showing.facts is not None
        assert "src=https://shop.example/1.png" in outline(showing.facts[0].value)


@pytest.mark.slow
def test_history_has_the_newest_first_and_a_change_is_a_new_event(opened: Store) -> None:
    items = [one.presentation_id for one in read_queue(opened, "ada", 3).showings]
    for item in items:
        submit_judgments(opened, "ada", [Submission(item, 0, "grade", f"press-{item}", grade=1)])
    found = read_history_page(opened, "ada").answers
    assert [one.showing.presentation_id for one in found] == items[::-1]
    oldest = found[-1]
    submit_judgments(
        opened, "ada", [Submission(items[0], oldest.showing.revision, "grade", "change-0001", grade=3)]
    )
    last = read_previous_answer(opened, "ada")
    set_round_state(opened, "first", "closed")
    again = read_history_page(opened, "ada").answers
    assert [one.showing.presentation_id for one in again] == items[::-1]
    assert (again[-1].grade, again[-1].showing.revision) == (3, 2)
    assert rows_of(opened, "SELECT count(*) FROM judgment_events") == [(4,)]
    assert last is not None
    assert last.showing.presentation_id == items[0]


def test_an_item_says_which_of_its_query_it_is_also_after_it_was_put_off(opened: Store) -> None:
    first, second, *_ = items = read_queue(opened, "ada", 6).showings
    assert [(one.item_number, one.item_count) for one in items] == [(1, 3), (2, 3), (3, 3)] * 2
    assert len({one.query for one in items[:3]}) == 1
    submit_judgments(opened, "ada", [Submission(first.presentation_id, 0, "later", "put-off-0001")])
    assert read_queue(opened, "ada", 1).showings[0].item_number == second.item_number
    last = read_queue(opened, "ada", 6).showings[-1]
    assert (last.presentation_id, last.item_number, last.item_count) == (first.presentation_id, 1, 3)


def test_a_repeat_is_counted_among_the_items_of_its_query_like_any_other(store: Store) -> None:
    open_for(store, grid(40, 3), "ada", duplicates=0.1, seed=3)
    repeats = {row[0] for row in rows_of(store, REPEATS)}
    assert repeats
    found: dict[str, list[tuple[int, int]]] = {}
    for one in read_queue(store, "ada", 200).showings:
        found.setdefault(one.query, []).append((one.item_number, one.item_count))
    assert any(len(places) > 3 for places in found.values())
    for places in found.values():
        assert places == [(place, len(places)) for place in range(1, len(places) + 1)]


REPEATS = "SELECT presentation_id FROM presentations WHERE duplicate_of IS NOT NULL"


@pytest.mark.slow
def test_what_was_written_last_comes_first_whatever_the_clock_said(opened: Store) -> None:
    items = [one.presentation_id for one in read_queue(opened, "ada", 3).showings]
    for item in items:
        submit_judgments(
            opened, "ada", [Submission(item, 0, "grade", f"press-{item}", grade=1, flagged=True)]
        )
    ask_about_pair(opened, "query 0", "document 0.0", "What of this?")
    ask_about_pair(opened, "query 0", "document 0.1", "And of that?")
    turn_clock_back(opened)
    assert [one.showing.presentation_id for one in read_history_page(opened, "ada").answers] == items[::-1]
    last = read_previous_answer(opened, "ada")
    assert last is not None
    assert last.showing.presentation_id == items[-1]
    with opened.reading() as cursor:
        assert [one.words for one in list_questions(cursor)] == ["And of that?", "What of this?"]
    documents = dict(rows_of(opened, "SELECT presentation_id, document_id FROM presentations"))
    assert [one.title for one in list_remarks(opened, "first")[0]] == [
        documents[item] for item in items[::-1]
    ]


def test_what_was_put_off_comes_back_in_that_order_whatever_the_clock_said(opened: Store) -> None:
    items = coming(opened)
    put_off(opened, items[2], items[0], items[4])
    expected = [items[place] for place in (1, 3, 5, 2, 0, 4)]
    assert coming(opened) == expected, "as the cache has it"
    turn_clock_back(opened)
    assert coming(opened) == expected, "as the database has it"


@pytest.mark.slow
def test_history_is_filtered_by_words_answer_and_marks(opened: Store) -> None:
    items = read_queue(opened, "ada", 4).showings
    sent = [
        {"kind": "grade", "grade": 3, "note": "a note"},
        {"kind": "cannot_tell", "flagged": True},
        {"kind": "grade", "grade": 0},
        {"kind": "grade", "grade": 3},
    ]
    for item, more in zip(items, sent, strict=True):
        submit_judgments(
            opened, "ada", [Submission(item.presentation_id, 0, client_key=f"k-{item[0]}", **more)]
        )
    submit_judgments(
        opened, "ada", [Submission(items[2].presentation_id, 1, "grade", "change-0001", grade=1)]
    )
    set_round_state(opened, "first", "closed")

    def places(**wanted: str | int | bool) -> list[int]:
        found = read_history_page(opened, "ada", HistoryFilter(**wanted))
        ids = [one.presentation_id for one in items]
        assert found.total == len(found.answers)
        return [ids.index(one.showing.presentation_id) for one in found.answers]

    assert places() == [3, 2, 1, 0]
    assert (places(grade=3), places(grade=0), places(cannot_tell=True)) == ([3, 0], [], [1])
    assert (places(noted=True), places(flagged=True), places(changed=True)) == ([0], [1], [2])
    title = "".join(text for text, _ in items[0].title)
    assert places(text=title.upper()) == [0]
    assert places(text=items[3].query.replace("e", "é")) == [3]
    assert places(text=items[3].query, grade=0) == []
    assert [one.changed for one in read_history_page(opened, "ada").answers] == [False, True, False, False]


def test_history_has_each_grade_as_the_guide_has_it_under_which_it_was_given(
    opened: Store, tmp_path: Path
) -> None:
    grade_next(opened, "ada")
    guide = tmp_path / "guide.md"
    shipped = (ROOT / "labeling_guides" / "graded-relevance.md").read_text(encoding="utf-8")
    guide.write_text(shipped.replace("name: Useful", "name: In part"), encoding="utf-8")
    use_guide(opened, read_guide(guide), open_rounds="switch")
    grade_next(opened, "ada")
    set_round_state(opened, "first", "closed")
    found = read_history_page(opened, "ada")
    named = {(one["guide_hash"], one["value"]): one["name"] for one in found.grades}
    assert [named[one.guide_hash or "", 2] for one in found.answers] == ["In part", "Useful"]
    assert len({one.showing.guide_hash for one in found.answers}) == 1, "the guide of the round"
    assert read_history_page(opened, "grace").grades == []


def test_what_was_put_off_is_listed_and_asks_only_as_the_last_of_its_query(opened: Store) -> None:
    items = coming(opened)
    put_off(opened, items[2], items[0])
    assert read_queue(opened, "ada", 1).skipped == 2
    assert [(one.presentation_id, one.asks_about_query) for one in read_skipped_items(opened, "ada")] == [
        (items[2], False),
        (items[0], False),
    ]
    grade_next(opened, "ada", 4)
    submit_judgments(opened, "ada", [Submission(items[2], 1, "grade", "taken-up-1", grade=1)])
    [last] = read_skipped_items(opened, "ada")
    assert (last.presentation_id, last.asks_about_query, last.skipped) == (items[0], True, True)
    assert read_skipped_items(opened, "grace") == []


def test_history_is_ones_own_and_by_pages_of_twenty(store: Store) -> None:
    open_for(store, grid(6, 5), "ada", "grace")
    grade_next(store, "ada", 15)
    assert len(read_history_page(store, "ada").answers) == LAST_ITEMS
    grade_next(store, "ada", 15)
    assert len(read_history_page(store, "ada").answers) == 20
    second = read_history_page(store, "ada", HistoryFilter(page=7))
    assert (len(second.answers), second.total, second.page, second.pages) == (10, 30, 1, 2)
    assert read_history_page(store, "grace").answers == []


def put_off_a_first_showing(store: Store) -> tuple[str, str]:
    """A round in which the first showing of one blind duplicate is put off."""
    open_for(store, grid(10, 5), "ada", duplicates=0.2)
    first, repeat = rows_of(
        store,
        "SELECT duplicate_of, presentation_id FROM presentations WHERE duplicate_of <> '' "
        "ORDER BY position DESC LIMIT 1",
    )[0]
    put_off(store, first)
    return first, repeat


def put_off(store: Store, *items: str) -> None:
    submit_judgments(store, "ada", [Submission(item, 0, "later", f"later-{item}") for item in items])


def coming(store: Store) -> list[str]:
    return [one.presentation_id for one in read_queue(store, "ada", 100).showings]


def test_a_repeat_too_near_to_what_was_put_off_is_not_shown(store: Store) -> None:
    first, _ = put_off_a_first_showing(store)
    others = len(coming(store)) - 1
    grade_next(store, "ada", others)
    assert coming(store) == [first]
    before = read_queue(store, "ada")
    assert (before.done, before.total) == (others, others + 2), "no number tells that the repeat is gone"
    grade_next(store, "ada")
    after = read_queue(store, "ada")
    assert (after.showings, after.done, after.total) == ([], others + 1, others + 1)
    assert after.message.startswith("You have answered all your items")


@pytest.mark.slow
def test_a_repeat_that_cannot_come_back_is_left_out_and_the_round_is_done(store: Store) -> None:
    first, _ = put_off_a_first_showing(store)
    everything = read_round_status(store, "first").annotators[0].presentations
    grade_next(store, "ada", len(coming(store)) - 1)
    assert coming(store) == [first]
    assert read_round_status(store, "first").left_out == {}, "the first showing is still open"
    grade_next(store, "ada")
    status = read_round_status(store, "first")
    (ada,) = status.annotators
    assert status.left_out == {NEAR_REPEATS: 1}
    assert (ada.answered, ada.presentations) == (everything - 1, everything - 1)
    assert (status.complete, status.candidates) == (50, 50)
    assert [work.open for work in read_annotators_work(store, "first")] == [0]
    with store.reading() as cursor:
        assert read_round_state(cursor, "first").open_items == 0
        assert read_open_states(cursor) == []
        assert [(who, count) for (_, who), count in count_unshown(cursor).items()] == [("ada", 1)]


@pytest.mark.slow
def test_a_repeat_that_was_left_out_is_open_again_when_more_work_comes(store: Store) -> None:
    put_off_a_first_showing(store)
    grade_next(store, "ada", len(coming(store)))
    add_pairs(store, {f"more {q}": [f"more {q}.{d}" for d in range(5)] for q in range(6)})
    extend_round(store, "first")
    assert read_round_status(store, "first").left_out == {}
    while grade_next(store, "ada", 5):
        pass
    assert read_round_status(store, "first").left_out == {}
    (ada,) = read_round_status(store, "first").annotators
    assert ada.answered == ada.presentations


@pytest.mark.slow
def test_a_repeat_of_what_was_put_off_waits_for_20_others_whatever_the_clock_said(store: Store) -> None:
    _, repeat = put_off_a_first_showing(store)
    grade_next(store, "ada", len(coming(store)))
    add_pairs(store, {f"more {q}": [f"more {q}.{d}" for d in range(5)] for q in range(6)})
    extend_round(store, "first")
    grade_next(store, "ada", 5)
    assert repeat not in coming(store)
    turn_clock_back(store)
    assert repeat not in coming(store), "45 answers came before the first showing, and 5 after it"


@pytest.mark.slow
def test_a_repeat_of_what_was_put_off_comes_once_20_others_lie_between(store: Store) -> None:
    first, repeat = put_off_a_first_showing(store)
    *others, last = coming(store)
    assert last == first
    put_off(store, *others[-20:])
    grade_next(store, "ada", len(others) - 20 + 1)  # all that was not put off, and the first showing
    for _ in range(20):
        assert repeat not in coming(store)
        grade_next(store, "ada")
    assert coming(store) == [repeat]


def test_the_last_item_of_a_query_asks_whether_the_corpus_answers_it(opened: Store) -> None:
    showings = read_queue(opened, "ada", 6).showings
    assert [one.asks_about_query for one in showings] == [False, False, True, False, False, True]
    held = [one.presentation_id for one in showings[:2]]
    assert read_queue(opened, "ada", 1, after=held).showings[0].asks_about_query
    answer_query(opened, "ada", showings[2].presentation_id, "no", "answer-0001")
    assert [one.asks_about_query for one in read_queue(opened, "ada", 6).showings] == [False] * 5 + [True]


def test_a_round_asks_from_its_number_of_documents_on_and_an_older_one_always(store: Store) -> None:
    open_for(store, {**grid(1, 5), "q2": ["d1", "d2"]}, "ada")

    def asking() -> list[int]:
        return [one.item_count for one in read_queue(store, "ada", 9).showings if one.asks_about_query]

    assert asking() == [5]
    item = read_queue(store, "ada", 1).showings[0]
    submit_judgments(store, "ada", [Submission(item.presentation_id, 0, "grade", "grade-0001", 1)])
    assert asking() == [5], "an answered document is seen, too"
    with store.reading() as cursor:
        assert [(one.ask_from, one.shows_lists) for one in read_rounds(cursor).values()] == [(5, False)]
    for parameters, found in (("{}", [5, 2]), ('{"ask_from":0}', [])):
        with store.transaction() as cursor:
            cursor.execute("UPDATE rounds SET parameters = ?", [parameters])
        assert sorted(asking(), reverse=True) == found
    refused = answer_query(store, "ada", item.presentation_id, "no", "answer-0001")
    assert (refused.status, refused.message) == (
        "refused",
        "this round does not ask whether the corpus answers a query",
    )


def test_what_is_put_off_asks_when_it_comes_back_as_the_last(opened: Store) -> None:
    item = read_queue(opened, "ada", 1).showings[0]
    submit_judgments(opened, "ada", [Submission(item.presentation_id, 0, "later", "later-0001")])
    showings = read_queue(opened, "ada", 6).showings
    assert [one.asks_about_query for one in showings] == [False, False, False, False, True, True]


def test_an_answer_about_a_query_counts_once_and_can_be_changed(opened: Store) -> None:
    item = read_queue(opened, "ada", 3).showings[2]
    sent = [answer_query(opened, "ada", item.presentation_id, "no", "answer-0001").status for _ in range(3)]
    assert sent == ["saved", "repeated", "repeated"]
    assert answer_query(opened, "ada", item.presentation_id, "yes", "answer-0002").status == "saved"
    assert rows_of(opened, "SELECT answer FROM current_query_answers") == [("yes",)]
    assert rows_of(opened, "SELECT count(*) FROM query_answers") == [(2,)]


def test_answers_that_make_no_sense_are_refused(opened: Store) -> None:
    item = read_queue(opened, "ada", 1).showings[0].presentation_id
    other = read_queue(opened, "grace", 1).showings[0].presentation_id
    answer_query(opened, "grace", other, "no", "answer-0001")
    tried = [
        (other, "no", "answer-0009"),
        (item, "maybe", "answer-0009"),
        (item, "no", "short"),
        (item, "no", "answer-0001"),
    ]
    outcomes = [answer_query(opened, "ada", *one) for one in tried]
    assert {one.status for one in outcomes} == {"refused"}
    assert "not assigned to you" in outcomes[0].message
    assert "already used" in outcomes[3].message
    assert rows_of(opened, "SELECT count(*) FROM query_answers") == [(1,)]


def test_more_than_half_no_makes_a_query_unanswerable(opened: Store) -> None:
    says = {"ada": "no", "grace": "partly", "joan": "no"}
    for who, answer in says.items():
        item = read_queue(opened, who, 1).showings[0]
        answer_query(opened, who, item.presentation_id, answer, f"answer-{who}")
    with opened.reading() as cursor:
        counts = count_answers(cursor)
        expected = {query_id for query_id, (yes, partly, no) in counts.items() if no > yes + partly}
        assert sum(no for _, _, no in counts.values()) == 2
        assert find_unanswered(cursor) == expected
        assert len(expected) >= 1


def test_the_answer_in_the_newest_round_counts_whatever_the_clock_said(opened: Store) -> None:
    item = read_queue(opened, "ada", 1).showings[0]
    answer_query(opened, "ada", item.presentation_id, "no", "answer-0001")
    with opened.transaction() as cursor:
        for table, changes in {
            "rounds": "'again' AS round_id, 'again' AS name, sequence + 1 AS sequence",
            "presentations": "'again' || presentation_id AS presentation_id, 'again' AS round_id",
            "query_answers": "'again' AS round_id, 'yes' AS answer, 'answer-0002' AS client_key, "
            "answered_at - INTERVAL 1 DAY AS answered_at",
        }.items():
            cursor.execute(f"INSERT INTO {table} SELECT * REPLACE ({changes}) FROM {table}")
        assert [*count_answers(cursor).values()] == [(1, 0, 0)]


def test_what_annotators_answer_feeds_the_unanswerable_share_of_the_sample(opened: Store) -> None:
    with opened.transaction() as cursor:
        rows = {"sample_id": ["s"] * 2, "query_id": ["query 0", "query 1"], "stratum": ["head"] * 2}
        append(cursor, "sample_queries", {**rows, "traffic": [1, 1], "inclusion_probability": [1.0, 1.0]})
        put_setting(cursor, "sample", "s")
        assert count_unanswerable(cursor) is None
    for who in ("ada", "grace"):
        item = next(one for one in read_queue(opened, who, 6).showings if one.query == "query 1")
        answer_query(opened, who, item.presentation_id, "no", f"answer-{who}")
    with opened.reading() as cursor:
        assert count_unanswerable(cursor) == (1, 2)


def test_a_persons_word_that_a_query_is_answerable_outweighs_the_answers(opened: Store) -> None:
    with opened.transaction() as cursor:
        row = {"sample_id": ["s"], "query_id": ["query 1"], "stratum": ["head"]}
        append(cursor, "sample_queries", {**row, "traffic": [1], "inclusion_probability": [1.0]})
        put_setting(cursor, "sample", "s")
    item = next(one for one in read_queue(opened, "ada", 6).showings if one.query == "query 1")
    answer_query(opened, "ada", item.presentation_id, "no", "answer-ada")
    set_tags(opened, "query 1", [], ["unanswerable"])
    with opened.reading() as cursor:
        assert count_unanswerable(cursor) == (0, 1)
    set_tags(opened, "query 1", ["unanswerable"], [])
    with opened.reading() as cursor:
        assert count_unanswerable(cursor) == (1, 1)


@pytest.mark.parametrize("kind", ["audit", "pilot"])
def test_audits_and_pilots_ask_like_any_other_round_and_their_answers_do_not_count(
    opened: Store, kind: str
) -> None:
    with opened.transaction() as cursor:
        cursor.execute("UPDATE rounds SET kind = ?", [kind])
    item = read_queue(opened, "ada", 3).showings[2]
    assert item.asks_about_query
    assert answer_query(opened, "ada", item.presentation_id, "no", "answer-0001").status == "saved"
    with opened.reading() as cursor:
        assert count_answers(cursor) == {}


def test_an_empty_queue_says_that_the_round_was_closed(opened: Store) -> None:
    add_names(opened, "mary")
    assert read_queue(opened, "mary").message.startswith("You have no items yet.")
    set_round_state(opened, "first", "closed")
    queue = read_queue(opened, "ada")
    assert queue.message.startswith("The lead has closed your round. Your answers are kept")
    assert (queue.done, queue.total) == (0, 0)
    assert read_queue(opened, "mary").message.startswith("You have no items yet.")
