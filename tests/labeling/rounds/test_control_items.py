"""Control items planted blind, and repeats on another day."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.statistics.estimate import Estimate, share_estimate
from curation.guides.guide import current_guide
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE, measure_distances, order_items
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.control_items import (
    SINGLE_DOCUMENT,
    TOO_FEW,
    ControlItem,
    ControlItemPool,
    choose_controls,
)
from curation.labeling.rounds.create_round import OpenedRound, open_round
from curation.labeling.rounds.status import read_round_status
from curation.labeling.session.queue import read_queue
from curation.store import Store
from tests.support import examples
from tests.support.projects import (
    add_names,
    add_pairs,
    built_once,
    decide_pairs,
    grade_next,
    grid,
    open_for,
    rows_of,
)


@built_once
def decided(store: Store) -> Store:
    """Five decided queries with four documents, judged by mary, and 12 fresh ones with five."""
    add_pairs(store, grid(5, 4))
    add_names(store, "ada", "grace", "mary")
    open_round(store, RoundRequest("earlier", ["mary"], overlap=1, duplicates=0))
    grade_next(store, "mary", 20)
    decide_pairs(store, {(f"query {q}", f"document {q}.{d}"): 1 for q in range(5) for d in range(4)})
    add_pairs(store, {f"fresh {n}": [f"f{n}.{d}" for d in range(5)] for n in range(12)})
    return store


def open_with_control_items(store: Store, *names: str, share: float = 0.1) -> OpenedRound:
    share_of = {"overlap": len(names), "duplicates": 0.08, "control_items": share}
    return open_round(store, RoundRequest("first", names, **share_of, seed=2, ask_from=1))


def test_control_items_are_the_share_asked_for_and_no_candidates(decided: Store) -> None:
    opened = open_with_control_items(decided, "ada", "grace")
    assert opened.control_items == {"ada": 6, "grace": 6}
    assert (opened.candidates, read_round_status(decided, "first").candidates) == (60, 60)
    assert opened.per_annotator["ada"] == 60 + 6 + opened.duplicates["ada"]


def test_control_items_come_with_others_of_their_query(decided: Store) -> None:
    open_with_control_items(decided, "ada")
    visits = rows_of(
        decided,
        """
        SELECT query_id, count(*)
        FROM presentations JOIN known_answers USING (round_id, query_id, document_id)
        WHERE duplicate_of IS NULL GROUP BY query_id
        """,
    )
    assert visits
    assert all(count >= 2 for _, count in visits)


def test_nobody_gets_a_control_item_that_they_have_judged(decided: Store) -> None:
    opened = open_with_control_items(decided, "ada", "mary")
    assert opened.control_items == {"ada": 6, "mary": 0}
    assert opened.left_out[TOO_FEW] == 6


def test_a_control_item_looks_like_everything_else_on_screen(decided: Store) -> None:
    open_with_control_items(decided, "ada")
    showings = read_queue(decided, "ada", 200).showings
    known = [one for one in showings if one.query.startswith("query")]
    assert known
    assert {one.kind for one in showings} == {"work"}
    assert {one.guide_hash for one in known} == {showings[0].guide_hash}
    asking = {one.query for one in showings if one.asks_about_query}
    assert asking == {one.query for one in showings}


def test_a_control_item_is_no_judgment_and_its_result_has_an_interval(decided: Store) -> None:
    before = rows_of(decided, "SELECT count(*) FROM counted_judgments")[0][0]
    open_with_control_items(decided, "ada")
    grade_next(decided, "ada", 200, grade=1)
    assert rows_of(decided, "SELECT count(*) FROM counted_judgments") == [(before + 60,)]
    (result,) = read_round_status(decided, "first").control_items
    assert result == ("ada", 6, 6, 6, share_estimate(6, 6))
    assert read_round_status(decided, "first").complete == 60


def test_what_is_not_answered_has_no_share(decided: Store) -> None:
    open_with_control_items(decided, "ada")
    (result,) = read_round_status(decided, "first").control_items
    assert result == ("ada", 6, 0, 0, Estimate())


def test_pairs_whose_document_changed_or_that_have_no_grade_are_left_out(decided: Store) -> None:
    with decided.transaction() as cursor:
        cursor.execute(
            "UPDATE snapshot_documents SET content_hash = 'new' WHERE document_id LIKE 'document 0.%'"
        )
        cursor.execute("UPDATE adjudications SET grade = NULL WHERE query_id = 'query 1'")
    open_with_control_items(decided, "ada", share=0.5)
    planted = rows_of(decided, "SELECT DISTINCT query_id FROM known_answers ORDER BY 1")
    assert planted == [("query 2",), ("query 3",), ("query 4",)]


def test_a_pair_that_the_round_shows_for_judging_is_not_planted(decided: Store) -> None:
    open_round(
        decided,
        RoundRequest("again", ["ada", "grace"], overlap=1, duplicates=0, again=True, control_items=0.2),
    )
    assert rows_of(decided, "SELECT count(*) FROM known_answers") == [(0,)]


def test_a_lone_control_item_is_counted() -> None:
    items = (ControlItem(Candidate("q1", "d1", "h1"), 1, None),)
    work = {"w": [Candidate("w", f"d{n}", "h") for n in range(10)]}
    items_planted, lacking = choose_controls(
        work, ControlItemPool(items, frozenset(), {}), "ada", 0.2, "s", set()
    )
    assert (len(items_planted), lacking) == (1, {TOO_FEW: 1, SINGLE_DOCUMENT: 1})
    beside, lacking = choose_controls(
        {"q1": work["w"]}, ControlItemPool(items, frozenset(), {}), "ada", 0.1, "s", set()
    )
    assert (len(beside), lacking) == (1, {TOO_FEW: 0, SINGLE_DOCUMENT: 0})
    assert SINGLE_DOCUMENT != TOO_FEW


def work_of(sizes: list[int]) -> dict[str, list[Candidate]]:
    return {f"q{q}": [Candidate(f"q{q}", f"d{d}", "h") for d in range(size)] for q, size in enumerate(sizes)}


@settings(max_examples=examples(40))
@given(st.lists(st.integers(1, 9), min_size=1, max_size=60), st.floats(0, 0.2), st.integers(1, 300))
def test_repeats_come_on_another_day_wherever_the_order_is_long_enough(
    sizes: list[int], share: float, per_day: int
) -> None:
    apart = measure_distances(order_items(work_of(sizes), share, "s", per_day))
    assert all(distance >= CLOSEST_DUPLICATE for distance in apart)
    assert len(apart) == len(measure_distances(order_items(work_of(sizes), share, "s")))


def test_a_long_order_has_all_its_repeats_on_another_day() -> None:
    apart = measure_distances(order_items(work_of([10] * 100), 0.08, "s", per_day=400))
    assert len(apart) == 80
    assert min(apart) >= 400


def test_repeats_that_must_come_on_the_same_day_are_counted(store: Store) -> None:
    opened = open_for(store, grid(20, 5), "ada", duplicates=0.08, per_day=500)
    assert opened.left_out["blind duplicates come back within 500 presentations, on the same day"] == 8
    assert opened.least_distance is not None
    assert opened.least_distance >= CLOSEST_DUPLICATE


def test_the_status_shows_how_many_repeats_were_judged_on_another_day(store: Store) -> None:
    opened = open_for(store, grid(20, 5), "ada", duplicates=0.05)
    grade_next(store, "ada", 200)
    with store.transaction() as cursor:
        cursor.execute(
            """
            UPDATE judgment_events SET submitted_at = submitted_at - INTERVAL 26 HOUR
            WHERE presentation_id IN (
                SELECT duplicate_of FROM presentations
                WHERE duplicate_of IS NOT NULL ORDER BY position LIMIT 2)
            """
        )
    spacing = read_round_status(store, "first").spacing
    assert (spacing.duplicates, spacing.judged, spacing.another_day) == (5, 5, 2)
    assert spacing.least_distance == opened.least_distance


def test_known_grades_are_on_the_scale_of_the_guide_in_force(decided: Store) -> None:
    with decided.transaction() as cursor:
        assert 9 not in current_guide(cursor).values
        cursor.execute("UPDATE adjudications SET grade = 9")
    assert open_with_control_items(decided, "ada").control_items == {"ada": 0}
