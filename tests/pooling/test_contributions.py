"""What systems contributed to a pool, and what leaving one out would lose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.labeling.consensus.consensus import read_relevance
from curation.pooling.contributions import (
    Contribution,
    RankedPair,
    Relevance,
    compute_contributions,
    count_contributions,
)
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.store import Store
from tests.support.pool_project import judge, put_run, put_texts
from tests.support.projects import built_once, rows_of

TEXTS = {f"d{number:02}": f"thing number{number}" for number in range(1, 31)}
LISTS = {"a": {"q1": ["d01", "d02", "d03"], "q2": ["d01"]}, "b": {"q1": ["d02", "d04"], "q2": ["d01", "d05"]}}


@built_once
def pooled(store: Store) -> Store:
    put_texts(store, store.path.parent, TEXTS, {"q1": "one", "q2": "two"})
    for name, lists in LISTS.items():
        put_run(store, store.path.parent, name, lists)
    build_pool(store, PoolRequest(["run:a", "run:b"], depth=10, random_negatives=2, seed=1))
    return store


def test_before_judging_only_candidates_are_known(pooled: Store) -> None:
    report = compute_contributions(pooled, read_relevance(pooled))
    assert report.systems == [
        Contribution("run:a", 4, 2, 0, 0, 0, None, 4, 0.0),
        Contribution("run:b", 4, 2, 0, 0, 0, None, 4, 0.0),
    ]
    assert (report.candidates, report.graded, report.relevant) == (6, 0, 0)
    assert report.left_out == {"not judged yet": 6}


def test_after_judging_a_system_is_worth_what_it_alone_found(pooled: Store, tmp_path: Path) -> None:
    grades = {("q1", "d01"): 3, ("q1", "d02"): 1, ("q1", "d03"): 0, ("q1", "d04"): 2, ("q2", "d05"): 0}
    judge(pooled, tmp_path, grades)
    report = compute_contributions(pooled, read_relevance(pooled))
    assert report.systems == [
        Contribution("run:a", 4, 2, 3, 2, 1, 1 / 3, 4, 0.75),
        Contribution("run:b", 4, 2, 3, 2, 1, 1 / 3, 4, 0.75),
    ]
    assert (report.graded, report.relevant, report.left_out) == (5, 3, {"not judged yet": 1})


def test_a_disputed_pair_has_no_grade_and_is_counted_as_such(pooled: Store, tmp_path: Path) -> None:
    judge(pooled, tmp_path, {("q1", "d01"): 3})
    judge(pooled, tmp_path, {("q1", "d01"): 0}, "bo")
    report = compute_contributions(pooled, read_relevance(pooled))
    assert report.graded == 0
    assert report.left_out == {
        "judged, but without a grade (disputed or cannot tell)": 1,
        "not judged yet": 5,
    }


@pytest.mark.slow
def test_relevant_documents_that_only_chance_found_are_told(pooled: Store, tmp_path: Path) -> None:
    random = rows_of(
        pooled, "SELECT query_id, document_id FROM candidate_sources WHERE system = 'random' ORDER BY ALL"
    )
    judge(pooled, tmp_path, {random[0]: 2, random[1]: 0})
    report = compute_contributions(pooled, read_relevance(pooled))
    assert (report.random_graded, report.relevant_at_random, report.graded) == (2, 1, 0)


def test_the_judged_share_counts_the_first_ten_places_only(store: Store, tmp_path: Path) -> None:
    put_texts(store, tmp_path, TEXTS, {"q1": "one"})
    put_run(store, tmp_path, "a", {"q1": [f"d{number:02}" for number in range(1, 21)]})
    build_pool(store, PoolRequest(["run:a"], depth=20, random_negatives=0, seed=1))
    judge(store, tmp_path, {("q1", f"d{number:02}"): 1 for number in (1, 10, 11, 12)})
    line = compute_contributions(store, read_relevance(store)).systems[0]
    assert (line.graded, line.top, line.judged_at_10) == (4, 10, 0.2)


def test_places_over_the_budget_still_count_as_places(pooled: Store, tmp_path: Path) -> None:
    build_pool(pooled, PoolRequest(["run:a", "run:b"], depth=10, random_negatives=0, seed=1, budget=2))
    judge(pooled, tmp_path, {("q2", "d01"): 1})
    lines = compute_contributions(pooled, read_relevance(pooled)).systems
    assert [line.top for line in lines] == [4, 4]
    assert [line.judged_at_10 for line in lines] == [0.25, 0.25]


def test_a_pool_is_found_by_the_beginning_of_its_id(pooled: Store) -> None:
    first = compute_contributions(pooled, read_relevance(pooled)).pool_id
    other = build_pool(pooled, PoolRequest(["run:a"], depth=10, random_negatives=0, seed=1)).pool_id
    assert compute_contributions(pooled, read_relevance(pooled)).pool_id == other
    assert compute_contributions(pooled, read_relevance(pooled), first[:12]).pool_id == first
    with pytest.raises(NotFoundError, match="begins with 'xyz'"):
        compute_contributions(pooled, read_relevance(pooled), "xyz")
    with pytest.raises(InputError, match="Several pools"):
        compute_contributions(pooled, read_relevance(pooled), "")


def test_without_a_pool_there_is_a_sentence(store: Store) -> None:
    with pytest.raises(RefusedError, match="goldgrade pool"):
        compute_contributions(store, read_relevance(store))


PLACES = st.dictionaries(
    st.tuples(st.sampled_from(["q1", "q2"]), st.sampled_from("uvwxyz"), st.sampled_from(["a", "b", "c"])),
    st.integers(1, 20),
)


@given(
    places=PLACES,
    grades=st.dictionaries(st.tuples(st.just("q1"), st.sampled_from("uvwxyz")), st.integers(0, 2)),
)
def test_what_is_lost_is_what_a_pool_without_the_system_lacks(
    places: dict[tuple[str, str, str], int], grades: dict[tuple[str, str], int]
) -> None:
    ranked = [RankedPair(*key, rank, None) for key, rank in places.items()]
    relevance = Relevance(grades, frozenset(), 0)
    top = {system: sum(row.system == system and row.rank <= 10 for row in ranked) for system in "abc"}

    def relevant(rows: list[RankedPair]) -> set[tuple[str, str]]:
        return {row[:2] for row in rows if grades.get(row[:2], 0) > 0}

    for line in count_contributions(ranked, top, relevance):
        without = [row for row in ranked if row.system != line.system]
        assert line.lost == len(relevant(ranked)) - len(relevant(without))
        assert line.relevant == len(relevant([row for row in ranked if row.system == line.system]))
        assert line.lost <= min(line.alone, line.relevant)
        assert line.judged_at_10 is None or 0 <= line.judged_at_10 <= 1


def test_the_command_shows_a_table_or_one_object(pooled: Store, tmp_path: Path, goldgrade: Any) -> None:
    judge(pooled, tmp_path, {("q1", "d01"): 3, ("q1", "d02"): 0})
    shown = goldgrade("pool", "--contributions", "last")
    assert "2 of 6 candidates have a grade; 1 are relevant" in shown
    assert "4 candidates: not judged yet" in shown
    found = json.loads(goldgrade("pool", "--contributions", "last", "--json"))
    assert (found["systems"][0]["system"], found["systems"][0]["lost_share"]) == ("run:a", 1.0)
