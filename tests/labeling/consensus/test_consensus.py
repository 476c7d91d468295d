"""Consensus: the reviewer before every rule, what each rule gives, and cannot-tell apart from grades."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus.consensus import (
    SOURCES,
    ConsensusCounts,
    PairConsensus,
    compute_consensus,
    grade_pairs,
    read_consensus,
)
from curation.labeling.consensus.dawid_skene import estimate_errors
from curation.labeling.consensus.disputes import compute_weight
from curation.labeling.consensus.rule import ConsensusRule, read_rule, set_rule
from curation.labeling.consensus.votes import Votes, VotesByPair, read_votes
from curation.labeling.imported import add_judgments
from curation.store import Store, append, utc_now
from tests.support.command_line import invoke
from tests.support.projects import add_pairs, built_once, grid

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
        return {pair.document_id: (pair.grade, pair.how) for pair in read_consensus(cursor).pairs}


def by_majority(given_votes: dict[int, int]) -> tuple[int | None, str]:
    """The grade of one pair that has these votes, and how it came about."""
    values, none = np.array(sorted(given_votes), dtype=np.int64), np.array([], dtype=np.int64)
    tally = np.array([[given_votes[int(value)] for value in values]], dtype=np.int64)
    pairs = VotesByPair(
        pa.table({"decided": [False]}), np.array([0]), none, none, none, names=(), values=values, tally=tally
    )
    consensus = grade_pairs(pairs, ConsensusRule())
    (index,), (how,) = consensus.grade_indexes, consensus.sources
    return None if index < 0 else int(values[index]), SOURCES[how]


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
    assert by_majority(given_votes) == (grade, how)


@pytest.mark.slow
@given(votes)
def test_a_majority_grade_has_more_votes_than_all_others_together(given_votes: dict[int, int]) -> None:
    grade, how = by_majority(given_votes)
    total = sum(given_votes.values())
    assert how in SOURCES
    assert (grade is None) == (how in ("disputed", "unjudgeable"))
    winners = [value for value, times in given_votes.items() if times > total - times]
    assert winners == ([] if grade is None else [grade])


@pytest.mark.slow
def test_each_pair_stands_by_its_judgments_in_the_order_of_ids(store: Store) -> None:
    add_pairs(store, {"q": ["e", "d", "c", "b", "a"]})
    judge(store, "a", 3, 3, 2)
    judge(store, "b", 3, 2)
    judge(store, "c", 1, None, None)
    judge(store, "d", None, None)
    with store.reading() as cursor:
        found = read_consensus(cursor)
    assert found.rule == "majority"
    assert found.pairs == (
        PairConsensus("q", "a", 3, "majority", {2: 1, 3: 2}, 0, 3, 0.666667),
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
        found = read_consensus(cursor, ids["imported: b.csv"])
    assert [pair.document_id for pair in found.pairs] == ["b"]


def test_an_empty_project_has_no_pairs(store: Store) -> None:
    with store.reading() as cursor:
        assert read_consensus(cursor).pairs == ()


def votes_of(store: Store, rule: str) -> Votes:
    with store.reading() as cursor:
        return read_votes(cursor)._replace(rule=ConsensusRule(rule))


@pytest.mark.slow
def test_the_median_is_a_grade_only_where_both_middle_votes_are_one(store: Store) -> None:
    add_pairs(store, {"q": ["a", "b", "c", "d", "e", "f"]})
    judge(store, "a", 0, 1, 3)  # no majority, and a middle
    judge(store, "b", 1, 2)
    judge(store, "c", 0, 2, 2, 3)
    judge(store, "d", 0, 0, 1, 1)
    judge(store, "e", 2)
    judge(store, "f", None)
    found = {pair.document_id: pair for pair in compute_consensus(votes_of(store, "median")).pairs}
    assert {name: (pair.grade, pair.how) for name, pair in found.items()} == {
        "a": (1, "median"),
        "b": (None, "disputed"),
        "c": (2, "median"),
        "d": (None, "disputed"),
        "e": (2, "single"),
        "f": (None, "unjudgeable"),
    }
    assert [found[name].confidence for name in "abce"] == [0.333333, None, 0.5, None]


@built_once
def crowded(store: Store) -> Store:
    """Forty pairs; ada, ben and cyd say the same, two of them on each; dan and eve guess."""
    add_pairs(store, grid(8, 5))
    pairs = [(query, document) for query, found in grid(8, 5).items() for document in found]
    rows = []
    for number, pair in enumerate(pairs):
        truth = number % 4
        for name in ("ada", "ben", "cyd"):
            if (number + ord(name[0])) % 3:  # each pair by two of the three
                rows.append(ImportedJudgment(*pair, name, truth))
        guesses = {"dan": (number * 7 // 3) % 4, "eve": (number * number // 5 + 1) % 4}
        rows += [ImportedJudgment(*pair, name, grade) for name, grade in guesses.items()]
    add_judgments(store, rows, "all.csv")
    return store


@pytest.mark.slow
def test_dawid_and_skene_settle_what_a_majority_leaves_open(crowded: Store) -> None:
    open_pairs = compute_consensus(votes_of(crowded, "majority")).counts.disputed
    assert open_pairs == 22
    found = compute_consensus(votes_of(crowded, "dawid-skene"))
    assert found.counts.ruled == 40
    truths = [number % 4 for number in range(40)]
    by_id = {pair.document_id: pair.grade for pair in found.pairs}
    assert [by_id[f"document {n // 5}.{n % 5}"] for n in range(40)] == truths
    assert all(pair.how == "dawid-skene" and 0.5 < (pair.confidence or 0) <= 1 for pair in found.pairs)


def test_errors_tell_who_is_right_and_who_guesses(crowded: Store) -> None:
    found = estimate_errors(votes_of(crowded, "dawid-skene"))
    assert found is not None
    assert found.converged
    assert [one.annotator for one in found.annotators] == ["ada", "ben", "cyd", "dan", "eve"]
    shares = {one.annotator: one.right for one in found.annotators}
    assert min(shares["ada"], shares["ben"], shares["cyd"]) > 0.95
    assert max(shares["dan"], shares["eve"]) < 0.6
    assert all(abs(sum(row) - 1) < 1e-5 for one in found.annotators for row in one.matrix)


def test_a_grade_must_be_more_probable_than_the_least_or_is_disputed(crowded: Store) -> None:
    votes = votes_of(crowded, "dawid-skene")
    sure = compute_consensus(votes).pairs
    least = min(pair.confidence or 1 for pair in sure)
    stricter = votes._replace(rule=ConsensusRule("dawid-skene", least=least))
    assert compute_consensus(stricter).counts.disputed == sum(pair.confidence == least for pair in sure)


def test_the_rule_of_the_project_is_stored_with_its_settings_and_holds_everywhere(crowded: Store) -> None:
    with crowded.reading() as cursor:
        assert read_rule(cursor) == ConsensusRule("majority")
    set_rule(crowded, ConsensusRule("dawid-skene", smoothing=0.5, least=0.6))
    set_rule(crowded, ConsensusRule("dawid-skene", smoothing=0.5, least=0.6))
    with crowded.reading() as cursor:
        assert read_rule(cursor) == ConsensusRule("dawid-skene", 0.5, 0.6)
        assert read_consensus(cursor).rule == "dawid-skene"
        rows = cursor.execute("SELECT detail FROM events WHERE action = 'consensus rule'").fetchall()
    (detail,) = (json.loads(row[0]) for row in rows)
    assert detail["before"] == {"rule": "majority"}
    assert detail["now"]["start"] == "vote shares"
    assert detail["judgments"] > 0


def test_a_rule_that_is_none_is_refused_with_everything_that_is_wrong(store: Store) -> None:
    with pytest.raises(
        InputError, match=r"'mean'.*majority.*\n.*each confusion.*\n.*Minimum probability.*0.4"
    ):
        set_rule(store, ConsensusRule("mean", -1, 0.4))


def test_what_a_decision_would_change_grows_with_distance_and_with_traffic() -> None:
    assert compute_weight([]) == 0
    assert compute_weight([1, 2]) == 0.5
    assert compute_weight([0, 3]) == 1.5
    assert compute_weight([0, 3], traffic=4) == 6
    assert compute_weight([0, 1, 2]) > compute_weight([0, 1]) > 0


def test_the_command_sets_the_rule_and_shows_errors(crowded: Store) -> None:
    project = ["--project", str(crowded.path), "consensus"]
    printed = json.loads(invoke([*project, "--rule", "dawid-skene", "--json"]).stdout)
    assert printed["settings"] == {
        "rule": "dawid-skene",
        "least": 0.5,
        "smoothing": 0.1,
        "start": "vote shares",
    }
    assert printed["consensus"]["ruled"] == 40
    text = invoke(project).stdout
    assert "If the true grade is" in text
    assert "eve" in text


@pytest.mark.slow
def test_the_command_lists_every_pair_with_its_grade_and_how_it_was_settled(store: Store) -> None:
    add_pairs(store, {"q": ["a", "b", "c", "d"]})
    for document, grades in {"a": (3, 3, 2), "b": (1,), "c": (0, 2), "d": (0, 2)}.items():
        judge(store, document, *grades)
    decide(store, "d", 0, 1)
    command = ["--project", str(store.path), "consensus", "--pairs"]
    pairs = json.loads(invoke([*command, "--json"]).stdout)["pairs"]
    rest = {"query_id": "q", "cannot_tell": 0, "changed": False}
    assert pairs == [
        {**rest, "document_id": document, "grade": grade, "votes": votes, "confidence": sure, "how": by}
        for document, grade, votes, sure, by in (
            ("a", 3, {"2": 1, "3": 2}, 0.666667, "majority"),
            ("b", 1, {"1": 1}, None, "single"),
            ("c", None, {"0": 1, "2": 1}, None, "disputed"),
            ("d", 1, {"0": 1, "2": 1}, None, "adjudicated"),
        )
    ]
    assert "adjudicated" in invoke(command).stdout
