"""Consensus: a strict majority, the reviewer before it, and cannot-tell apart from grades."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import add_pairs

from curation.agreement.consensus import HOWS, ConsensusCounts, PairConsensus, consensus, settle
from curation.labeling.imported import ImportedJudgment, add_judgments
from curation.store import Store, append, utc_now

votes = st.dictionaries(st.integers(0, 3), st.integers(1, 9))


def judge(store: Store, document: str, *grades: int | None) -> None:
    rows = [ImportedJudgment("q", document, f"rater {n}", grade) for n, grade in enumerate(grades)]
    add_judgments(store, rows, f"{document}.csv")


def decide(store: Store, document: str, revision: int, grade: int | None) -> None:
    row = {"query_id": "q", "document_id": document, "revision": revision, "grade": grade}
    rest = {"reason": "because", "reviewer": "ada", "decided_at": utc_now()}
    with store.transaction() as cursor:
        append(cursor, "adjudications", {name: [value] for name, value in {**row, **rest}.items()})


def standing(store: Store) -> dict[str, tuple[int | None, str]]:
    with store.reading() as cursor:
        return {pair.document_id: (pair.grade, pair.how) for pair in consensus(cursor).pairs}


@pytest.mark.parametrize(
    ("given_votes", "grade", "how"),
    [
        ({}, None, "unjudgeable"),
        ({2: 1}, 2, "single"),
        ({2: 2}, 2, "majority"),
        ({2: 1, 3: 1}, None, "disputed"),
        ({0: 1, 3: 2}, 3, "majority"),
        ({0: 2, 3: 2}, None, "disputed"),
        ({0: 2, 2: 1, 3: 1}, None, "disputed"),  # most votes, but only half of them
        ({0: 3, 2: 1, 3: 1}, 0, "majority"),
    ],
)
def test_a_grade_needs_more_than_half_of_the_votes(
    given_votes: dict[int, int], grade: int | None, how: str
) -> None:
    assert settle(given_votes) == (grade, how)


@given(votes)
def test_a_majority_grade_has_more_votes_than_all_others_together(given_votes: dict[int, int]) -> None:
    grade, how = settle(given_votes)
    total = sum(given_votes.values())
    assert how in HOWS
    assert (grade is None) == (how in ("disputed", "unjudgeable"))
    winners = [value for value, times in given_votes.items() if times > total - times]
    assert winners == ([] if grade is None else [grade])


def test_each_pair_stands_by_its_judgments_in_the_order_of_ids(store: Store) -> None:
    add_pairs(store, {"q": ["e", "d", "c", "b", "a"]})
    judge(store, "a", 3, 3, 2)
    judge(store, "b", 3, 2)
    judge(store, "c", 1, None, None)
    judge(store, "d", None, None)
    with store.reading() as cursor:
        found = consensus(cursor)
    assert found.rule == "majority"
    assert found.pairs == (
        PairConsensus("q", "a", 3, "majority", {2: 1, 3: 2}, 0, 3),
        PairConsensus("q", "b", None, "disputed", {2: 1, 3: 1}, 0, 2),
        PairConsensus("q", "c", 1, "single", {1: 1}, 2, 3),
        PairConsensus("q", "d", None, "unjudgeable", {}, 2, 2),
    )
    assert found.counts == ConsensusCounts("majority", 4, 1, 0, 1, 1, 1)


def test_the_newest_decision_comes_before_every_vote(store: Store) -> None:
    add_pairs(store, {"q": ["a", "b"]})
    judge(store, "a", 3, 3, 2)
    judge(store, "b", 0, 1)
    decide(store, "a", 0, 1)
    decide(store, "a", 1, 2)
    decide(store, "b", 0, None)
    assert standing(store) == {"a": (2, "adjudicated"), "b": (None, "adjudicated")}


def test_a_decision_outlives_judgments_that_were_undone(store: Store) -> None:
    add_pairs(store, {"q": ["a"]})
    decide(store, "a", 0, 2)
    assert standing(store) == {"a": (2, "adjudicated")}


def test_a_corrected_grade_replaces_the_earlier_one(store: Store) -> None:
    add_pairs(store, {"q": ["a"]})
    judge(store, "a", 3, 2)
    judge(store, "a", 3, 3)
    assert standing(store) == {"a": (3, "majority")}


def test_for_a_round_only_its_pairs_are_counted(store: Store) -> None:
    add_pairs(store, {"q": ["a", "b"]})
    judge(store, "a", 3, 2)
    judge(store, "b", 1, 1)
    with store.reading() as cursor:
        ids = dict(cursor.execute("SELECT name, round_id FROM rounds").fetchall())
        found = consensus(cursor, ids["imported: b.csv"])
    assert [pair.document_id for pair in found.pairs] == ["b"]


def test_an_empty_project_has_no_pairs(store: Store) -> None:
    with store.reading() as cursor:
        assert consensus(cursor).pairs == ()
