"""Rounds that show whole queries: which items make a list, and what a list shows about earlier answers."""

from __future__ import annotations

from collections import defaultdict

from curation.labeling.judging import Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.delete_round import delete_round
from curation.labeling.rounds.rounds import read_parameters
from curation.labeling.session.item_views import ItemView
from curation.labeling.session.queue import AnnotatorQueue, read_queue, read_skipped_items
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.projects import built_once, grid, open_for, rows_of


@built_once
def listed(store: Store) -> Store:
    """30 queries of four documents for ada and grace, who see lists, with repeats."""
    open_for(store, grid(30, 4), "ada", "grace", duplicates=0.1, seed=3, lists=True)
    return store


def act(store: Store, showing: ItemView, kind: str = "grade", revision: int = 0) -> None:
    key = f"{kind}-{showing.presentation_id}-{revision}"
    submission = Submission(showing.presentation_id, revision, kind, key, 2 if kind == "grade" else None)
    assert submit_judgments(store, "ada", [submission])[0].status == "saved"


def said(queue: AnnotatorQueue) -> list[tuple[str, int | None]]:
    return [(one.showing.presentation_id, one.grade) for one in queue.listing]


def test_a_round_with_lists_is_the_same_work_under_the_same_ids(listed: Store) -> None:
    def work() -> list[tuple[object, ...]]:
        return rows_of(listed, "SELECT * FROM presentations ORDER BY presentation_id")

    with_lists = work()
    with listed.reading() as cursor:
        assert read_parameters(cursor, str(with_lists[0][1]))["lists"] is True
    delete_round(listed, "first")
    plain = open_round(listed, RoundRequest("first", ["ada", "grace"], overlap=2, duplicates=0.1, seed=3))
    assert work() == with_lists
    with listed.reading() as cursor:
        assert "lists" not in read_parameters(cursor, plain.round_id)
    assert {one.list_id for one in read_queue(listed, "ada", 20).showings} == {""}


def test_a_repeat_is_in_another_list_with_twenty_others_between(listed: Store) -> None:
    everything = read_queue(listed, "ada", 500).showings
    lists = defaultdict(list)
    for place, one in enumerate(everything):
        lists[one.list_id].append((place, one))
    for shown in lists.values():
        places = [place for place, _ in shown]
        assert places == list(range(places[0], places[0] + len(places)))
        assert len({one.query for _, one in shown}) == 1
        assert [(one.item_number, one.item_count) for _, one in shown] == [
            (n, len(shown)) for n in range(1, len(shown) + 1)
        ]
    of = {one.presentation_id: (one.list_id, place) for place, one in enumerate(everything)}
    repeats = rows_of(
        listed, "SELECT presentation_id, duplicate_of FROM presentations WHERE duplicate_of IS NOT NULL"
    )
    mine = [(of[again], of[first]) for again, first in repeats if again in of]
    assert len(mine) == 12
    assert all(again[0] != first[0] and again[1] - first[1] > 20 for again, first in mine)


def test_a_list_is_never_cut(listed: Store) -> None:
    first, *_ = read_queue(listed, "ada", 1).showings
    assert [one.list_id for one in read_queue(listed, "ada", 1).showings] == [
        first.list_id
    ] * first.item_count
    act(listed, first)
    assert len(read_queue(listed, "ada", 2).showings) == first.item_count - 1


def test_a_list_tells_its_answers_while_they_are_the_last(listed: Store) -> None:
    one, *others = read_queue(listed, "ada", 1).showings
    act(listed, one)
    act(listed, others[0], "cannot_tell")
    queue = read_queue(listed, "ada", list_of="")
    assert said(queue) == [(one.presentation_id, 2), (others[0].presentation_id, None)]
    assert read_queue(listed, "ada").listing == []
    for left in others[1:]:
        act(listed, left)
    assert read_queue(listed, "ada", list_of="").listing == []
    assert len(read_queue(listed, "ada", list_of=one.presentation_id).listing) == one.item_count
    coming = read_queue(listed, "ada", 1).showings[0]
    act(listed, coming)
    after = read_queue(listed, "ada", list_of=one.presentation_id)
    assert said(after) == [(coming.presentation_id, 2)], "no list can be looked up later"
    act(listed, coming, "undo", 1)
    act(listed, others[-1], "undo", 1)
    again = read_queue(listed, "ada", list_of=others[-1].presentation_id)
    assert said(again) == [(left.presentation_id, None) for left in (one, *others[:-1])]
    assert {left.kind for left in again.listing} == {None}, "withheld, as in the history"


def test_what_was_put_off_comes_by_itself(listed: Store) -> None:
    first, second, *_ = read_queue(listed, "ada", 1).showings
    act(listed, second, "later")
    left = read_queue(listed, "ada", 1).showings
    assert [one.item_number for one in left] == [1, 3, 4][: len(left)]
    (late,) = read_skipped_items(listed, "ada")
    assert (late.presentation_id, late.list_id) == (second.presentation_id, "")
    act(listed, second, "grade", 1)
    act(listed, first)
    assert said(read_queue(listed, "ada", list_of="")) == [(first.presentation_id, 2)]
