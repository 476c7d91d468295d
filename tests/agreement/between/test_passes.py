"""A second pass by the same people: agreement of each pass, votes that changed, pairs that were settled."""

from __future__ import annotations

import pytest

from curation.agreement.between.passes import PassComparison, VotesAgain, compare_passes, read_passes
from curation.labeling.judgments.imported import add_judgments
from curation.labeling.rounds.rounds import find_round
from curation.sources.judgments import ImportedJudgment
from curation.store import Store
from tests.support.projects import add_pairs, grid

PEOPLE = ("ada", "ben", "cora")
PAIRS = [(query, document) for query, documents in grid(6, 3).items() for document in documents]
BEFORE = [(0, 1, 2), (0, 0, 1), (3, 3, 3)] * 6
AFTER = [(1, 1, 1), (0, 1, 1), (3, 2, None)] * 6
"""Grades of each person on each pair: unsettled → settled, another grade, settled → unsettled."""


def rated(grades: list[tuple[int | None, ...]]) -> list[ImportedJudgment]:
    return [
        ImportedJudgment(*pair, who, one, line=2)
        for pair, row in zip(PAIRS, grades, strict=True)
        for who, one in zip(PEOPLE, row, strict=True)
    ]


def compared(store: Store, name: str, closed: frozenset[str] = frozenset()) -> PassComparison | None:
    with store.reading() as cursor:
        read = read_passes(cursor, find_round(cursor, name).round_id)
    return compare_passes(read, (0, 1, 2, 3), 1, closed)


@pytest.fixture
def twice(store: Store) -> Store:
    add_pairs(store, grid(6, 3))
    add_judgments(store, rated(BEFORE), "first.csv")
    add_judgments(store, rated(AFTER), "again.csv", round_name="second")
    return store


def test_votes_changed_and_pairs_settled_are_counted_between_passes(twice: Store) -> None:
    found = compared(twice, "second")
    assert found is not None
    assert (found.pairs, found.sealed) == (18, 0)
    earlier, later = found.passes
    assert earlier.rounds == ("imported: first.csv",)
    assert (earlier.annotators, earlier.judgments, earlier.settled) == (3, 54, 12)
    assert (later.rounds, later.judgments, later.settled) == (("second",), 48, 12)
    assert found.changes == (6, 6, 6)
    assert found.people == (
        VotesAgain("ada", 12, 6, 0, 0),
        VotesAgain("ben", 6, 6, 6, 0),
        VotesAgain("cora", 6, 0, 6, 6),
    )
    assert compared(twice, "imported: first.csv") is None, "nothing was judged before the first pass"
