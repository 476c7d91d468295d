"""Judgments: one key press, one judgment; nothing lost, nothing twice."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.errors import NotFoundError
from curation.labeling.judging import Outcome, Submission
from curation.labeling.rounds.status import read_round_status
from curation.labeling.session.item_views import draw_whole_document
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support import examples
from tests.support.projects import built_once, grid, new_project, open_for, rows_of


@built_once
def opened(store: Store) -> Store:
    """A project with a round of 12 items for each of ada and grace."""
    open_for(store, grid(4, 3), "ada", "grace")
    return store


def first_id(store: Store, annotator: str = "ada") -> str:
    return read_queue(store, annotator, 1).showings[0].presentation_id


def grade(
    store: Store, item: str, value: int | None, key: str, revision: int = 0, who: str = "ada"
) -> Outcome:
    return submit_judgments(store, who, [Submission(item, revision, "grade", key, grade=value)])[0]


def act(store: Store, item: str, kind: str, key: str, revision: int) -> Outcome:
    return submit_judgments(store, "ada", [Submission(item, revision, kind, key)])[0]


def events(store: Store) -> list[tuple[int, str, int | None]]:
    return rows_of(
        store, "SELECT revision, kind, grade FROM judgment_events ORDER BY presentation_id, revision"
    )


def current(store: Store) -> list[tuple[str, int | None]]:
    return rows_of(store, "SELECT kind, grade FROM current_judgments ORDER BY position")


def test_a_grade_is_saved_and_the_next_item_comes(opened: Store) -> None:
    item = first_id(opened)
    assert grade(opened, item, 2, "press-0001").status == "saved"
    queue = read_queue(opened, "ada")
    assert (queue.done, queue.total) == (1, 12)
    assert item not in [showing.presentation_id for showing in queue.showings]
    assert current(opened) == [("grade", 2)]


def test_a_retried_submit_counts_once(opened: Store) -> None:
    item = first_id(opened)
    statuses = [grade(opened, item, 2, "press-0001").status for _ in range(3)]
    assert statuses == ["saved", "repeated", "repeated"]
    assert events(opened) == [(0, "grade", 2)]


def test_the_second_of_two_tabs_learns_that_the_item_was_answered(opened: Store) -> None:
    item = first_id(opened)
    grade(opened, item, 2, "tab-one-press")
    late = grade(opened, item, 0, "tab-two-press")
    assert (late.status, late.revision) == ("stale", 1)
    assert current(opened) == [("grade", 2)]


def test_a_change_is_a_new_event_and_the_old_grade_stays_on_record(opened: Store) -> None:
    item = first_id(opened)
    grade(opened, item, 2, "press-0001")
    assert grade(opened, item, 3, "press-0002", revision=1).status == "saved"
    assert events(opened) == [(0, "grade", 2), (1, "grade", 3)]
    assert current(opened) == [("grade", 3)]


def test_a_change_to_cannot_tell_leaves_no_grade_behind(opened: Store) -> None:
    item = first_id(opened)
    grade(opened, item, 2, "press-0001")
    act(opened, item, "cannot_tell", "press-0002", 1)
    assert current(opened) == [("cannot_tell", None)]


def test_an_undone_item_is_open_again_and_comes_next(opened: Store) -> None:
    item = first_id(opened)
    grade(opened, item, 2, "press-0001")
    grade(opened, first_id(opened), 1, "press-0002")
    assert act(opened, item, "undo", "press-0003", 1).status == "saved"
    queue = read_queue(opened, "ada")
    assert (queue.showings[0].presentation_id, queue.showings[0].revision) == (item, 2)
    assert queue.done == 1


def test_undo_of_undo_is_refused_and_changes_nothing(opened: Store) -> None:
    item = first_id(opened)
    grade(opened, item, 2, "press-0001")
    act(opened, item, "undo", "press-0002", 1)
    again = act(opened, item, "undo", "press-0003", 2)
    assert (again.status, again.message) == ("refused", "this item has no answer to undo")
    assert len(events(opened)) == 2


@pytest.mark.parametrize(
    ("submission", "told"),
    [
        (("grade", 7), "grade 7 is not on the guide's scale (0, 1, 2, 3)"),
        (("grade", None), "grade None is not on the guide's scale (0, 1, 2, 3)"),
        (("cannot_tell", 2), "an answer of kind cannot_tell has no grade"),
        (("applause", None), "unknown kind 'applause'"),
        (("undo", None), "this item has no answer to undo"),
    ],
)
def test_what_makes_no_sense_is_refused(opened: Store, submission: tuple[str, int | None], told: str) -> None:
    kind, value = submission
    outcome = submit_judgments(
        opened, "ada", [Submission(first_id(opened), 0, kind, "press-0001", grade=value)]
    )[0]
    assert outcome.status == "refused"
    assert told in outcome.message
    assert events(opened) == []


def test_nobody_can_answer_or_read_somebody_elses_item(opened: Store) -> None:
    item = first_id(opened, "ada")
    assert grade(opened, item, 2, "press-0001", who="grace").status == "refused"
    assert grade(opened, "0" * 32, 2, "press-0002").status == "refused"
    with pytest.raises(NotFoundError):
        draw_whole_document(opened, "grace", item, frozenset())
    assert events(opened) == []


def test_a_key_of_somebody_else_cannot_be_used_to_hide_a_judgment(opened: Store) -> None:
    grade(opened, first_id(opened, "ada"), 2, "press-0001")
    mine = grade(opened, first_id(opened, "grace"), 1, "press-0001", who="grace")
    assert mine.status == "refused"
    assert events(opened) == [(0, "grade", 2)]


def test_a_key_used_for_another_item_is_refused_not_taken_for_a_retry(opened: Store) -> None:
    first, second = [showing.presentation_id for showing in read_queue(opened, "ada", 2).showings]
    grade(opened, first, 2, "press-0001")
    assert grade(opened, second, 2, "press-0001").status == "refused"
    assert len(events(opened)) == 1


def test_a_senseless_time_loses_no_answer_of_the_batch(opened: Store) -> None:
    first, second = [showing.presentation_id for showing in read_queue(opened, "ada", 2).showings]
    batch = [
        Submission(first, 0, "grade", "press-0001", grade=1, active_ms=2**31),
        Submission(second, 0, "grade", "press-0002", grade=1, active_ms=900),
    ]
    assert [outcome.status for outcome in submit_judgments(opened, "ada", batch)] == ["saved", "saved"]


def test_a_batch_is_answered_item_by_item(opened: Store) -> None:
    items = [showing.presentation_id for showing in read_queue(opened, "ada", 3).showings]
    batch = [
        Submission(items[0], 0, "grade", "press-0001", grade=1),
        Submission(items[1], 0, "grade", "press-0002", grade=9),
        Submission(items[0], 0, "grade", "press-0001", grade=1),
        Submission(items[0], 1, "undo", "press-0003"),
        Submission(items[2], 0, "cannot_tell", "press-0004", reason="query unclear"),
    ]
    statuses = [outcome.status for outcome in submit_judgments(opened, "ada", batch)]
    assert statuses == ["saved", "refused", "repeated", "saved", "saved"]


def test_of_racing_threads_exactly_one_judgment_is_kept(opened: Store) -> None:
    item = first_id(opened)
    outcomes: list[str] = []

    def press(number: int) -> None:
        outcomes.append(grade(opened, item, number % 4, f"thread-{number:04}").status)

    threads = [threading.Thread(target=press, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["saved"] + ["stale"] * 11
    assert len(events(opened)) == 1


presses = st.lists(
    st.tuples(
        st.sampled_from(["grade", "cannot_tell", "later", "undo"]),
        st.integers(0, 2),
        st.integers(-1, 4),
        st.integers(0, 8),
    ),
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=examples(15))
@given(presses)
def test_n_actions_give_at_most_n_events_and_one_state_per_item(
    tmp_path_factory: pytest.TempPathFactory, presses: list[tuple[str, int, int, int]]
) -> None:
    store = new_project(tmp_path_factory.mktemp("presses") / "project.duckdb")
    open_for(store, grid(1, 3), "ada")
    items = [showing.presentation_id for showing in read_queue(store, "ada").showings]
    saved = 0
    for kind, item, value, key in presses:
        value_given = value if kind == "grade" else None
        sql = "SELECT coalesce(max(next_revision), 0) FROM presentation_states WHERE presentation_id = ?"
        ((revision,),) = rows_of(store, sql, items[item])
        submission = Submission(items[item], revision, kind, f"client-key-{key}", grade=value_given)
        saved += submit_judgments(store, "ada", [submission])[0].status == "saved"
    queue = read_queue(store, "ada")
    assert len(events(store)) == saved <= len(presses)
    assert len(current(store)) == queue.done == read_round_status(store, "first").annotators[0].answered
    assert queue.done + len(queue.showings) == queue.total == 3
    store.close()


def test_a_showing_holds_nothing_that_should_be_blind() -> None:
    from curation.labeling.session.item_views import ItemView

    assert set(ItemView._fields) == {
        "presentation_id",
        "list_id",
        "revision",
        "query",
        "information_need",
        "title",
        "passage",
        "has_more",
        "url",
        "published",
        "facts",
        "guide_hash",
        "kind",
        "asks_about_query",
        "item_number",
        "item_count",
        "skipped",
    }
