"""Rounds: exact overlap, blind duplicates, orders."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE, Slot, assign_queries, order_items
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.rounds import list_rounds
from curation.labeling.rounds.status import read_round_status
from curation.people.annotators import add_imported_annotator
from curation.store import Store
from tests.support.projects import add_names, add_pairs, add_people, grid, new_project, open_for

sizes = st.lists(st.integers(1, 12), min_size=1, max_size=25)


def candidates(sizes: list[int]) -> list[Candidate]:
    return [Candidate(f"q{q}", f"d{d}", f"h{d}") for q, size in enumerate(sizes) for d in range(size)]


@given(sizes, st.integers(1, 4), st.integers(1, 4), st.integers(0, 5))
def test_every_candidate_goes_to_exactly_overlap_different_annotators(
    sizes: list[int], people: int, overlap: int, seed: int
) -> None:
    names = [f"annotator {n}" for n in range(max(people, overlap))]
    work = assign_queries(candidates(sizes), names, overlap, seed)
    given_to = Counter(c for who in names for given in work[who].values() for c in given)
    assert given_to == Counter(dict.fromkeys(candidates(sizes), overlap))


@given(sizes, st.integers(2, 5), st.integers(0, 5))
def test_nobody_has_more_than_one_query_more_than_the_next(sizes: list[int], people: int, seed: int) -> None:
    names = [f"annotator {n}" for n in range(people)]
    work = assign_queries(candidates(sizes), names, 1, seed)
    loads = [sum(map(len, given.values())) for given in work.values()]
    assert max(loads) - min(loads) <= max(sizes)


def planned(sizes: list[int], duplicates: float, salt: str = "s") -> list[Slot]:
    work: dict[str, list[Candidate]] = {}
    for candidate in candidates(sizes):
        work.setdefault(candidate.query_id, []).append(candidate)
    return order_items(work, duplicates, salt)


@given(sizes, st.floats(0, 0.5))
def test_an_order_shows_each_candidate_once_and_a_duplicate_only_after_it(
    sizes: list[int], duplicates: float
) -> None:
    showings = planned(sizes, duplicates)
    firsts = [showing.candidate for showing in showings if not showing.again]
    assert sorted(firsts) == sorted(candidates(sizes))
    seen_at: dict[Candidate, int] = {}
    for position, showing in enumerate(showings):
        if showing.again:
            assert position - seen_at[showing.candidate] >= CLOSEST_DUPLICATE
        else:
            seen_at[showing.candidate] = position
    repeats = [showing.candidate for showing in showings if showing.again]
    assert len(set(repeats)) == len(repeats) <= round(duplicates * len(firsts))


def test_a_long_order_has_exactly_the_share_of_duplicates_asked_for() -> None:
    showings = planned([10] * 30, 0.08)
    assert sum(showing.again for showing in showings) == 24


def test_a_query_comes_in_one_piece_and_at_most_once_more() -> None:
    showings = planned([8] * 40, 0.1)
    visits = [
        showing.candidate.query_id
        for n, showing in enumerate(showings)
        if n == 0 or showings[n - 1].candidate.query_id != showing.candidate.query_id
    ]
    assert max(Counter(visits).values()) == 2


@pytest.mark.parametrize(("documents", "share"), [(2, 0.08), (3, 0.5), (15, 0.5)])
def test_no_repeat_comes_back_without_a_new_document_beside_it(documents: int, share: float) -> None:
    steps = planned([documents] * 100, share)
    position = {step.candidate: n for n, step in enumerate(steps) if not step.again}
    for query in {step.candidate.query_id for step in steps if step.again}:
        own = [(n, step) for n, step in enumerate(steps) if step.candidate.query_id == query]
        end_of_first = next(
            n for n, (place, _) in enumerate(own) if n + 1 < len(own) and own[n + 1][0] > place + 1
        )
        second = [step for _, step in own[end_of_first + 1 :]]
        assert sum(step.again for step in second) == sum(not step.again for step in second)
        assert all(position[step.candidate] <= own[end_of_first][0] for step in second if step.again)


def test_repeats_of_queries_with_one_document_are_alone_and_are_counted(store: Store) -> None:
    opened = open_for(store, grid(60, 1), "ada", duplicates=0.1)
    assert opened.left_out == {"blind duplicates come back alone: their query has only one document": 6}


def test_queries_of_an_abandoned_sample_are_not_judged(store: Store) -> None:
    add_pairs(store, grid(3, 4))
    add_people(store, "ada")
    with store.transaction() as cursor:
        cursor.execute("UPDATE queries SET source = 'traffic' WHERE query_id = 'query 2'")
    opened = open_round(store, RoundRequest("first", ["ada"], overlap=1, duplicates=0))
    assert (opened.candidates, opened.left_out) == (8, {"the query is not in the current sample": 4})


def test_of_two_rounds_opened_at_once_only_one_gets_the_candidates(store: Store) -> None:
    add_pairs(store, grid(20, 10))
    add_people(store, "ada")
    outcomes: list[str] = []

    def open_one(name: str) -> None:
        try:
            open_round(store, RoundRequest(name, ["ada"], overlap=1))
            outcomes.append("opened")
        except RefusedError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=open_one, args=(name,)) for name in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes)[1] == "opened"
    assert "No candidates are left to judge" in sorted(outcomes)[0]
    with store.reading() as cursor:
        pairs = cursor.execute(
            "SELECT count(*) FROM presentations WHERE duplicate_of IS NULL GROUP BY query_id, document_id"
        ).fetchall()
    assert set(pairs) == {(1,)}


def test_who_cannot_sign_in_is_given_no_work_until_they_can(store: Store) -> None:
    add_pairs(store, grid(2, 2))
    with store.transaction() as cursor:
        add_imported_annotator(cursor, "rater")
    with pytest.raises(RefusedError, match="rater cannot sign in"):
        open_round(store, RoundRequest("first", ["rater"], overlap=1))
    add_people(store, "rater")
    assert open_round(store, RoundRequest("first", ["rater"], overlap=1)).candidates == 4


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"annotators": ["ada", "vera"]}, "vera may only evaluate systems"),
        ({"annotators": ["ada", "grace", "joan"]}, r"annotators grace, joan\. Known annotators: ada"),
        ({"overlap": 2}, "an overlap of 2 does not fit 1 annotator"),
        ({"annotators": []}, "the round needs annotators: choose who judges"),
        ({"name": "taken"}, "'taken' already exists"),
        ({"annotators": ["ada"], "queries": 0, "pilot": True}, "name at least two"),
    ],
)
def test_a_round_that_cannot_be_opened_is_refused_and_leaves_nothing(
    store: Store, changes: dict[str, Any], refusal: str
) -> None:
    add_pairs(store, grid(2, 2))
    add_names(store, "vera", role="evaluator")
    add_names(store, "ada")
    open_round(store, RoundRequest("taken", ["ada"], overlap=1))
    asked = {"name": "first", "annotators": ["ada"], "overlap": 1, "again": True, **changes}
    with pytest.raises((InputError, NotFoundError, RefusedError), match=refusal):
        open_round(store, RoundRequest(**asked))
    with store.reading() as cursor:
        assert [stored.name for stored in list_rounds(cursor)] == ["taken"]


def test_a_round_without_candidates_names_the_next_step(store: Store) -> None:
    add_pairs(store, {"query": []})
    add_names(store, "ada")
    with pytest.raises(RefusedError, match="goldgrade pool"):
        open_round(store, RoundRequest("first", ["ada"], overlap=1))


def test_two_annotators_see_the_same_queries_in_different_orders() -> None:
    first, second = planned([5] * 10, 0, "seed:ada"), planned([5] * 10, 0, "seed:grace")
    assert first != second
    assert sorted(first) == sorted(second)


def test_presentation_ids_tell_nothing_and_differ(store: Store) -> None:
    open_for(store, grid(10, 5), "ada", duplicates=0.1)
    with store.reading() as cursor:
        ids = [row[0] for row in cursor.execute("SELECT presentation_id FROM presentations").fetchall()]
    assert len(set(ids)) == len(ids)
    assert all(len(identifier) == 32 and int(identifier, 16) >= 0 for identifier in ids)


def test_a_round_too_short_for_duplicates_says_how_many_are_missing(store: Store) -> None:
    add_pairs(store, grid(2, 5))
    add_people(store, "ada")
    opened = open_round(store, RoundRequest("short", ["ada"], overlap=1, duplicates=0.2))
    assert opened.duplicates == {"ada": 0}
    (reason, count), *more = opened.left_out.items()
    assert "would come back within 21 presentations" in reason
    assert (count, more) == (2, [])


def test_the_same_seed_opens_the_same_round(store: Store, tmp_path_factory: pytest.TempPathFactory) -> None:

    other = new_project(tmp_path_factory.mktemp("other") / "project.duckdb")
    rows = []
    for project, pairs in ((store, grid(8, 5)), (other, dict(reversed(grid(8, 5).items())))):
        add_pairs(project, pairs)
        add_people(project, "ada", "grace")
        open_round(project, RoundRequest("first", ["ada", "grace"], seed=5))
        with project.reading() as cursor:
            rows.append(cursor.execute("SELECT * FROM presentations ORDER BY presentation_id").fetchall())
    other.close()
    assert rows[0] == rows[1]


def test_a_second_round_takes_only_what_no_round_has_shown(store: Store) -> None:
    open_for(store, grid(3, 4), "ada", duplicates=0.08)
    with pytest.raises(RefusedError, match="the pair is already in a round or judged: 12"):
        open_round(store, RoundRequest("second", ["ada"], overlap=1))
    assert open_round(store, RoundRequest("third", ["ada"], overlap=1, again=True)).candidates == 12


def test_the_status_of_a_fresh_round_counts_nothing_as_done(store: Store) -> None:
    open_for(store, grid(10, 4), "ada", "grace", duplicates=0.1)
    status = read_round_status(store, "first")
    assert (status.candidates, status.complete) == (40, 0)
    assert [(p.annotator, p.presentations, p.answered) for p in status.annotators] == [
        ("ada", 44, 0),
        ("grace", 44, 0),
    ]
