"""The session cache: memory between requests equals what the file would say, whoever changed it."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import timedelta

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.labeling.judging import JudgmentEvent, Outcome, Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.upcoming import read_items, read_open_rounds
from curation.labeling.session import cache as caches
from curation.labeling.session.cache import hold_session_cache
from curation.labeling.session.item_views import read_previous_answer
from curation.labeling.session.queue import AnnotatorQueue, read_queue
from curation.labeling.session.recent_answers import RecentAnswer, RecentAnswers, read_recent_answers
from curation.labeling.session.submit import submit_judgments
from curation.store import Store, append_rows, utc_now
from tests.support import examples
from tests.support.projects import built_once, grade_next, grid, new_project, open_for, rows_of

pytestmark = pytest.mark.slow

ELSEWHERE = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])"


@built_once
def opened(store: Store) -> Store:
    """A project with a round of 12 items for each of ada and grace."""
    open_for(store, grid(4, 3), "ada", "grace")
    return store


def elsewhere(store: Store, sql: str) -> None:
    """Another process changes the project, and ends."""
    store.close()
    subprocess.run([sys.executable, "-c", ELSEWHERE, str(store.path), sql], check=True, timeout=60)


def happened(kind: str, detail: str = "{}") -> str:
    values = f"round_id, 0, '{kind}', '{detail}', 'command line', now()::TIMESTAMP"
    return f"INSERT INTO round_events SELECT {values} FROM rounds"


def grade(store: Store, item: str, key: str, revision: int = 0, value: int = 2) -> Outcome:
    return submit_judgments(store, "ada", [Submission(item, revision, "grade", key, grade=value)])[0]


def first_id(store: Store) -> str:
    return read_queue(store, "ada", 1).showings[0].presentation_id


def as_the_file_says(store: Store, who: str) -> bool:
    """Whether the cache holds what the database holds."""
    with hold_session_cache(store, who) as cache, store.reading() as cursor:
        cache.read(cursor, store.data_version)
        items = read_items(cursor, who, read_open_rounds(cursor))
        return (cache.list_items(), cache.compute_pace()) == (
            items,
            read_recent_answers(cursor, who, utc_now()).compute_pace(utc_now()),
        )


def anew(store: Store, who: str) -> AnnotatorQueue:
    with hold_session_cache(store, who) as cache:
        cache.forget()
    return read_queue(store, who)


actions = st.lists(
    st.tuples(
        st.sampled_from(["ada", "grace"]),
        st.sampled_from(["grade", "cannot_tell", "later", "undo"]),
        st.integers(0, 5),
        st.integers(0, 2),
        st.integers(0, 40),
    ),
    max_size=25,
)


PUT_OFF_AND_GRADED = [("ada", "later", 0, 0, 1), ("ada", "grade", 0, 1, 2), ("ada", "undo", 0, 2, 3)]


@settings(max_examples=examples(15))
@given(actions)
@example(PUT_OFF_AND_GRADED)
def test_whatever_annotators_do_the_session_cache_holds_what_the_file_says(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, str, int, int, int]]
) -> None:
    store = new_project(tmp_path_factory.mktemp("cache") / "project.duckdb")
    open_for(store, grid(2, 3), "ada", "grace")
    items = {
        who: [one.presentation_id for one in read_queue(store, who, 9).showings] for who in ("ada", "grace")
    }
    for who, kind, place, revision, key in actions:
        value = 1 if kind == "grade" else None
        submit_judgments(
            store,
            who,
            [Submission(items[who][place], revision, kind, f"client-key-{key}", value, active_ms=900)],
        )
        assert as_the_file_says(store, who)
    for who in items:
        assert read_queue(store, who) == anew(store, who)
    store.close()


def test_a_round_paused_by_another_process_shows_nothing_more(opened: Store) -> None:
    first_id(opened)
    elsewhere(opened, happened("pause"))
    queue = read_queue(opened, "ada")
    assert queue.showings == []
    assert "paused" in queue.message
    assert (queue.done, queue.total, queue.paused) == (0, 0, True), "progress leaves a paused round out"


def test_what_comes_after_another_process_closed_the_round_is_marked_late(opened: Store) -> None:
    item = first_id(opened)
    elsewhere(opened, happened("close"))
    assert grade(opened, item, "key-00001").status == "saved"
    assert rows_of(opened, "SELECT late FROM judgment_events") == [(True,)]
    assert read_queue(opened, "ada").showings == []


def test_an_item_that_another_process_moved_away_is_refused(opened: Store) -> None:
    item = first_id(opened)
    moved = f"INSERT INTO withdrawals VALUES ('{item}', 'reassign', 'command line', now()::TIMESTAMP)"
    elsewhere(opened, moved)
    outcome = grade(opened, item, "key-00001")
    assert (outcome.status, "this item is no longer yours" in outcome.message) == ("refused", True)
    assert first_id(opened) != item


def test_a_guide_that_another_process_put_in_force_is_on_the_next_answer(opened: Store) -> None:
    item = first_id(opened)
    elsewhere(
        opened,
        "INSERT INTO guides SELECT 'newer', title, scale, body, added_at FROM guides; "
        + happened("guide", '{"guide": "newer"}'),
    )
    assert read_queue(opened, "ada").showings[0].guide_hash == "newer"
    grade(opened, item, "key-00001")
    assert rows_of(opened, "SELECT guide_hash FROM judgment_events") == [("newer",)]


def test_a_write_is_read_again_by_those_whom_it_touches_and_seen_at_once(opened: Store) -> None:
    def held(who: str) -> tuple[object, object]:
        read_queue(opened, who, 1)
        with hold_session_cache(opened, who) as cache:
            return cache._items, cache._texts

    before = {who: held(who) for who in ("ada", "grace")}
    for kept in ("ada", "grace"):
        assert all(now is then for now, then in zip(held(kept), before[kept], strict=True))
    elsewhere(opened, "INSERT INTO settings VALUES ('of_nobody', 'here')")
    for kept in ("ada", "grace"):
        assert all(now is then for now, then in zip(held(kept), before[kept], strict=True))

    moved = f"INSERT INTO withdrawals VALUES ('{first_id(opened)}', 'reassign', 'ada', now()::TIMESTAMP)"
    elsewhere(opened, moved)
    assert held("grace")[0] is before["grace"][0]
    assert held("ada")[0] is not before["ada"][0]
    open_round(opened, RoundRequest("again", ["ada"], overlap=1, duplicates=0, again=True))
    assert held("grace")[0] is before["grace"][0]
    assert read_queue(opened, "ada").total == 11 + 12

    elsewhere(opened, "UPDATE queries SET information_need = 'a new need'")
    assert held("grace")[0] is before["grace"][0]
    assert {one.information_need for one in read_queue(opened, "grace").showings} == {"a new need"}
    assert as_the_file_says(opened, "ada")
    assert as_the_file_says(opened, "grace")


def test_an_answer_that_another_process_wrote_is_not_written_over(opened: Store) -> None:
    item = first_id(opened)
    elsewhere(
        opened,
        "INSERT INTO judgment_events SELECT presentation_id, 0, 'grade', 3, NULL, NULL, false, 'g', 'ada', "
        "'from-there', NULL, now()::TIMESTAMP, 5, false, true FROM presentations "
        f"WHERE presentation_id = '{item}'",
    )
    assert grade(opened, item, "key-00001").status == "stale"
    assert first_id(opened) != item
    assert read_queue(opened, "ada").done == 1


def test_a_retry_after_the_session_cache_was_lost_is_answered_as_a_retry(opened: Store) -> None:
    item = first_id(opened)
    grade(opened, item, "key-00001")
    opened.close()
    anew(opened, "ada")
    assert grade(opened, item, "key-00001").status == "repeated"
    assert len(rows_of(opened, "SELECT * FROM judgment_events")) == 1


def test_undo_finds_what_was_done_last_in_a_batch_that_came_at_once(opened: Store) -> None:
    first, second = (one.presentation_id for one in read_queue(opened, "ada", 2).showings)
    batch = [
        Submission(item, 0, "grade", f"key-of-{item}", grade=2)
        for item in (second, first)  # not in the order of the queue
    ]
    assert [outcome.status for outcome in submit_judgments(opened, "ada", batch)] == ["saved", "saved"]
    last = read_previous_answer(opened, "ada")
    assert last is not None
    assert last.showing.presentation_id == first
    assert as_the_file_says(opened, "ada")


def test_an_answer_that_could_not_be_written_is_open_again(opened: Store) -> None:
    item = first_id(opened)
    broken = Submission(item, 0, "grade", "key-00001", grade=2, note="\ud800")  # half a character
    with pytest.raises(duckdb.Error, match="surrogate"):
        submit_judgments(opened, "ada", [broken])
    assert first_id(opened) == item
    assert grade(opened, item, "key-00002").status == "saved"


def test_session_caches_that_do_not_fit_into_memory_are_read_again(
    opened: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "MAX_ITEMS", 15)  # one of the two caches with 12
    for visit in range(3):
        for who in ("ada", "grace"):
            assert read_queue(opened, who).done == 2 * visit
            grade_next(opened, who, 2)
            with hold_session_cache(opened, who) as cache:
                assert len(cache) == 12
    assert rows_of(opened, "SELECT count(DISTINCT presentation_id) FROM judgment_events") == [(12,)]


def test_two_tabs_at_once_leave_the_session_cache_as_the_file_is(opened: Store) -> None:
    """Twelve threads grade what they see first; the late ones learn it, and the cache stays correct."""
    failures: list[BaseException] = []

    def press(number: int) -> None:
        try:
            for count in range(4):
                queue = read_queue(opened, "ada", 1)
                if queue.showings:
                    grade(opened, queue.showings[0].presentation_id, f"tab-{number:04}-{count}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=press, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert as_the_file_says(opened, "ada")
    kept, items = rows_of(opened, "SELECT count(*), count(DISTINCT presentation_id) FROM judgment_events")[0]
    assert kept == items == read_queue(opened, "ada").done


def test_the_pace_counts_the_hour_and_takes_the_last_fifty(store: Store) -> None:
    now = utc_now()
    answers = [
        RecentAnswer(60 - n, now - timedelta(minutes=2 * n), f"item {n:02}", 1000 * n) for n in range(60)
    ]
    assert RecentAnswers.choose(answers, now).compute_pace(now) == (30, 24.5)
    assert RecentAnswers.choose([*answers, *answers], now).compute_pace(now) == (30, 24.5)
    assert RecentAnswers.choose(answers[:4], now).compute_pace(now) == (4, None)
    assert RecentAnswers.choose(answers, now).compute_pace(now + timedelta(minutes=30))[0] == 15


def test_what_is_recent_is_the_same_from_the_file(opened: Store) -> None:
    now = utc_now()
    shown = [one.presentation_id for one in read_queue(opened, "ada", 12).showings]
    events = [
        JudgmentEvent(
            item, 0, "grade", 1, None, None, False, "g", "ada", f"key-{n:05}", None, at, 1000 * n, False
        )
        for n, item in enumerate(shown)
        for at in [now - timedelta(minutes=10 * n)]
    ]
    with opened.transaction() as cursor:
        append_rows(cursor, "judgment_events", events)
    with opened.reading() as cursor:
        found = read_recent_answers(cursor, "ada", utc_now())
    assert found == RecentAnswers.choose(
        [
            RecentAnswer(place, one.submitted_at, one.presentation_id, one.active_ms)
            for place, one in enumerate(events, 1)
        ],
        now,
    )
    assert found.compute_pace(now) == (6, 5.5)


def test_answers_that_are_sent_again_or_late_leave_the_cache_as_it_is(opened: Store) -> None:
    """Reading 5,000 items again for each of them took ten times as long as a new answer."""
    item = first_id(opened)
    grade(opened, item, "key-00001")
    with hold_session_cache(opened, "ada") as cache:
        before = cache._items
    assert grade(opened, item, "key-00001").status == "repeated"
    assert grade(opened, item, "key-00002").status == "stale"
    assert grade(opened, "no item of hers", "key-00003").status == "refused"
    with hold_session_cache(opened, "ada") as cache:
        assert cache._items is before
    assert as_the_file_says(opened, "ada")
