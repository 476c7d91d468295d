"""A second pass by the same people: agreement of each pass, votes that changed, pairs that were settled."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from curation.agreement.between.passes import Passes, VotesAgain, compare_passes, read_passes
from curation.agreement.report.report import agreement_report
from curation.labeling.judgments.imported import add_judgments
from curation.labeling.rounds.rounds import find_round
from curation.settling.consensus import consensus
from curation.sources.imported_judgment import ImportedJudgment
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.projects import add_pairs, change_text, grid

PEOPLE = ("ada", "ben", "cora")
PAIRS = [(query, document) for query, documents in grid(6, 3).items() for document in documents]
BEFORE = [(0, 1, 2), (0, 0, 1), (3, 3, 3)] * 6
AFTER = [(1, 1, 1), (0, 1, 1), (3, 2, None)] * 6
"""Grades of each person on each pair: unsettled → settled, another grade, settled → unsettled."""


def rated(grades: Sequence[tuple[int | None, ...]]) -> list[ImportedJudgment]:
    return [
        ImportedJudgment(*pair, who, one, line=2)
        for pair, row in zip(PAIRS, grades, strict=True)
        for who, one in zip(PEOPLE, row, strict=True)
    ]


def compared(store: Store, name: str, closed: frozenset[str] = frozenset()) -> Passes | None:
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


def test_agreement_between_people_is_of_each_pass_alone(twice: Store) -> None:
    found = agreement_report(twice, "second").passes
    assert found is not None
    with twice.reading() as cursor:
        two = read_passes(cursor, find_round(cursor, "second").round_id, among=["ada", "ben"])
        assert read_passes(cursor, None).rows.num_rows == 0, "without a round there is no pass"
    assert sorted(set(two.rows["annotator"].to_pylist())) == ["ada", "ben"]
    for one, name in zip(found.passes, ("imported: first.csv", "second"), strict=True):
        alone = agreement_report(twice, name).between.figures
        assert one.figures == {figure: alone[figure] for figure in ("ordinal", "fleiss")}


def test_the_grade_in_force_is_that_of_the_newest_pass(twice: Store) -> None:
    with twice.reading() as cursor:
        found = {(pair.query_id, pair.document_id): pair.grade for pair in consensus(cursor).pairs}
    assert [found[pair] for pair in PAIRS] == [1, 1, None] * 6


def test_what_a_release_seals_and_what_is_about_another_text_is_not_compared(twice: Store) -> None:
    found = compared(twice, "second", frozenset({"query 0"}))
    assert found is not None
    assert (found.pairs, found.sealed, found.passes[0].judgments) == (15, 3, 45)
    assert compared(twice, "second", frozenset(grid(6, 3))) is None
    change_text(twice, PAIRS[0][1])
    third = [ImportedJudgment(*pair, "ada", 1, line=2) for pair in PAIRS[:2]]
    add_judgments(twice, third, "third.csv", about="current", round_name="third")
    found = compared(twice, "third")
    assert found is not None
    assert (found.pairs, found.passes[0].rounds) == (1, ("second",)), "compared with the newest pass before"


def test_pass_after_pass_is_shown_where_a_round_is_reported(twice: Store) -> None:
    told = invoke(["--project", str(twice.path), "agreement", "--round", "second"])
    assert told.exit_code == 0, told.stderr
    shown = " ".join(told.stdout.split())
    assert "18 pairs were judged before, about the same text. Of 48 grades" in shown
    assert "24 changed (50 %): 12 up, 12 down" in shown
    assert "6 pairs got a grade, 6 lost theirs and 6 have another" in shown
