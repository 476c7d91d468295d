"""Pilots: the same queries for everyone, and what their disagreement teaches."""

from __future__ import annotations

import pytest

from curation.core.errors import RefusedError
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.store import Store
from tests.support.projects import add_names, add_pairs, built_once, grade_next, grid, rows_of

PEOPLE = ["ada", "grace", "joan"]


@built_once
def pilot(store: Store) -> Store:
    add_pairs(store, grid(15, 2))
    add_names(store, *PEOPLE)
    open_round(store, RoundRequest("pilot", PEOPLE, pilot=True, seed=4))
    return store


def test_everyone_gets_the_same_ten_queries(pilot: Store) -> None:
    given = rows_of(
        pilot,
        "SELECT annotator, list(DISTINCT query_id ORDER BY query_id), count(*) FROM presentations GROUP BY 1",
    )
    assert len(given) == 3
    assert {len(queries) for _, queries, _ in given} == {10}
    assert {tuple(queries) for _, queries, _ in given} == {tuple(given[0][1])}
    assert {count for _, _, count in given} == {20}


def test_the_same_seed_takes_the_same_queries_and_says_what_it_leaves(store: Store) -> None:
    add_pairs(store, grid(15, 2))
    add_names(store, *PEOPLE)
    opened = open_round(store, RoundRequest("pilot", PEOPLE, pilot=True, seed=4, queries=3))
    assert opened.left_out == {"the query was not drawn for the pilot": 24}


def test_what_a_pilot_showed_can_be_judged_and_only_then_counts(pilot: Store) -> None:
    for who in PEOPLE:
        grade_next(pilot, who, 50)
    assert rows_of(pilot, "SELECT count(*) FROM counted_judgments") == [(0,)]
    assert open_round(pilot, RoundRequest("real", PEOPLE, overlap=3, duplicates=0)).candidates == 30


def test_another_pilot_takes_other_queries(pilot: Store) -> None:
    assert open_round(pilot, RoundRequest("pilot 2", PEOPLE, pilot=True)).candidates == 10
    with pytest.raises(RefusedError, match="No candidates are left to judge"):
        open_round(pilot, RoundRequest("pilot 3", PEOPLE, pilot=True))
