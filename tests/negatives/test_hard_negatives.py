"""Hard negatives: graded, ranked, no near-duplicates of what is relevant; suspects; what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.errors import InputError, RefusedError
from curation.core.similarity.shingles import NearDuplicate, find_near_duplicate, jaccard, word_shingles
from curation.negatives.hard_negatives import (
    HardNegative,
    HardNegatives,
    QueryNegatives,
    find_hard_negatives,
    find_suspects,
)
from curation.negatives.requests import HardNegativesRequest
from curation.pooling.contributions import RankedPair
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.store import Store
from tests.support.pool_project import judge, put_run, put_texts
from tests.support.projects import built_once, change_text

TEXTS = {
    "good": "a red leather shoe for running in the rain and the snow of the north",
    "copy": "a red leather shoe for running in the rain and the snow of the south",
    "hat": "a hat",
    "sock": "socks of wool",
    "boot": "boots",
    "lace": "laces for shoes",
}
A = ["hat", "good", "copy", "sock"]
B = ["boot", "hat", "lace", "good"]
NEAR = 0.6  # good and copy share 12 of 14 shingles


@built_once
def pooled(store: Store) -> Store:
    put_texts(store, store.path.parent, TEXTS, {"q1": "red shoe", "q2": "nothing"})
    put_run(store, store.path.parent, "a", {"q1": A})
    put_run(store, store.path.parent, "b", {"q1": B})
    build_pool(store, PoolRequest(["run:a", "run:b"], depth=10, random_negatives=0, seed=1))
    return store


def of(report: HardNegatives, query_id: str = "q1") -> QueryNegatives:
    return next(query for query in report.queries if query.query_id == query_id)


@pytest.mark.slow
def test_a_hard_negative_was_judged_not_relevant_and_keeps_all_its_places(
    pooled: Store, tmp_path: Path
) -> None:
    judge(pooled, tmp_path, {("q1", "hat"): 0, ("q1", "sock"): 0, ("q1", "good"): 2, ("q1", "lace"): 1})
    found = of(find_hard_negatives(pooled))
    assert found.negatives == [
        HardNegative("hat", "", 1, "run:a", 3.0, {"run:a": 1, "run:b": 2}, -1),
        HardNegative("sock", "", 4, "run:a", 0.0, {"run:a": 4}, 2),
    ]
    assert (found.positives, found.missing) == (2, 8)


def test_without_a_positive_there_is_no_margin(pooled: Store, tmp_path: Path) -> None:
    judge(pooled, tmp_path, {("q1", "hat"): 0})
    found = of(find_hard_negatives(pooled, HardNegativesRequest(want=1)))
    assert [negative.margin for negative in found.negatives] == [None]
    assert (found.positives, found.missing, found.suspects) == (0, 0, [])


def test_what_is_only_ranked_or_disputed_is_no_negative(pooled: Store, tmp_path: Path) -> None:
    judge(pooled, tmp_path, {("q1", "hat"): 0, ("q1", "boot"): 3})
    judge(pooled, tmp_path, {("q1", "hat"): 1}, "bo")
    report = find_hard_negatives(pooled)
    assert of(report).negatives == []
    assert list(report.left_out.values()) == [1]
    assert "disputed" in next(iter(report.left_out))


def test_a_grade_about_an_older_text_makes_no_negative_and_is_counted(pooled: Store, tmp_path: Path) -> None:
    judge(pooled, tmp_path, {("q1", "hat"): 0, ("q1", "sock"): 0, ("q1", "good"): 2})
    change_text(pooled, "hat")
    report = find_hard_negatives(pooled)
    assert [negative.document_id for negative in of(report).negatives] == ["sock"]
    assert report.left_out == {
        "pairs are not negatives until people judge them again: their grades are for an older text of the "
        "document": 1
    }


def test_a_near_duplicate_of_a_positive_is_excluded_and_listed(pooled: Store, tmp_path: Path) -> None:
    judge(pooled, tmp_path, {("q1", "copy"): 0, ("q1", "good"): 1, ("q1", "hat"): 0})
    similarity = jaccard(word_shingles(TEXTS["good"]), word_shingles(TEXTS["copy"]))
    found = of(find_hard_negatives(pooled, HardNegativesRequest(threshold=NEAR)))
    assert found.near_duplicates == [NearDuplicate("copy", "good", similarity)]
    assert [negative.document_id for negative in found.negatives] == ["hat"]
    assert of(find_hard_negatives(pooled, HardNegativesRequest(threshold=1.0))).near_duplicates == []


@pytest.mark.slow
def test_a_suspect_is_unjudged_and_stands_above_a_positive_in_two_systems(
    pooled: Store, tmp_path: Path
) -> None:
    judge(pooled, tmp_path, {("q1", "good"): 3, ("q1", "boot"): 0})
    suspects = of(find_hard_negatives(pooled)).suspects
    assert [(suspect.document_id, suspect.above) for suspect in suspects] == [
        ("hat", {"run:a": (1, 2), "run:b": (2, 4)})
    ]  # lace stands above in one system only
    judge(pooled, tmp_path, {("q1", "hat"): 1}, "bo")
    assert of(find_hard_negatives(pooled)).suspects == []


def test_a_system_counts_as_it_was_pooled_last(pooled: Store, tmp_path: Path) -> None:
    judge(pooled, tmp_path, {("q1", "sock"): 0, ("q1", "good"): 1})
    put_texts(
        pooled, tmp_path, {name: text for name, text in TEXTS.items() if name != "hat"}, {"q1": "red shoe"}
    )
    build_pool(pooled, PoolRequest(["run:a"], depth=10, random_negatives=0, seed=1))
    with pooled.transaction() as cursor:  # the clock stepped back before the second pool
        cursor.execute("UPDATE pools SET built_at = TIMESTAMP '2001-01-01' WHERE rowid = 1")
    report = find_hard_negatives(pooled)
    assert [(negative.rank, negative.margin) for negative in of(report).negatives] == [(3, 2)]
    assert report.left_out == {"list entries are left out: their document is no longer in the corpus": 2}


def test_numbers_out_of_bounds_and_missing_pools_are_sentences(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"(?s)Hard negatives of a query.*near-duplicate.*1.5"):
        find_hard_negatives(store, HardNegativesRequest(want=0, threshold=1.5))
    put_texts(store, tmp_path, TEXTS, {"q1": "red shoe"})
    with pytest.raises(RefusedError, match="Build a pool"):
        find_hard_negatives(store)


def ranks_of(lists: dict[str, list[str]]) -> dict[str, dict[str, RankedPair]]:
    found: dict[str, dict[str, RankedPair]] = {}
    for system, documents in lists.items():
        for rank, document in enumerate(documents, 1):
            found.setdefault(document, {})[system] = RankedPair("q", document, system, rank, None)
    return found


def test_a_hybrid_is_no_witness_beside_its_parts() -> None:
    lists = {"bm25": ["x", "good"], "hybrid": ["x", "y", "good"], "dense": ["good", "y"]}
    assert find_suspects(ranks_of(lists), ["good"], ["x", "y"]) == {}
    lists = {"run:a": ["x", "good"], "hybrid": ["x", "y", "good"]}
    assert find_suspects(ranks_of(lists), ["good"], ["x", "y"]) == {"x": {"hybrid": (1, 3), "run:a": (1, 2)}}


DOCUMENTS = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(lists=st.fixed_dictionaries({"s": DOCUMENTS, "t": DOCUMENTS, "u": DOCUMENTS}), positives=st.sets(
    st.sampled_from("abc")))  # fmt: skip
def test_suspects_are_exactly_those_that_two_different_lists_put_above_a_positive(
    lists: dict[str, list[str]], positives: set[str]
) -> None:
    ranks = ranks_of(lists)
    unjudged = [document for document in ranks if document not in positives]
    different = {tuple(documents) for documents in lists.values()}

    def is_above(documents: tuple[str, ...], document: str) -> bool:
        return document in documents and bool(positives & set(documents[documents.index(document) + 1 :]))

    expected = {d for d in unjudged if sum(is_above(documents, d) for documents in different) >= 2}
    assert set(find_suspects(ranks, positives, unjudged)) == expected


@given(texts=st.lists(st.lists(st.sampled_from("abc"), max_size=6).map(" ".join), min_size=1, max_size=4))
def test_a_near_duplicate_is_the_likest_positive_and_reaches_the_threshold(texts: list[str]) -> None:
    shingles = {f"p{number}": word_shingles(text) for number, text in enumerate(texts)} | {
        "n": word_shingles("a b c a b")
    }
    positives = [name for name in shingles if name != "n"]
    likeness = {name: jaccard(shingles["n"], shingles[name]) for name in positives}
    found = find_near_duplicate("n", positives, shingles, 0.5)
    if max(likeness.values()) < 0.5:
        assert found is None
    else:
        assert found == NearDuplicate(
            "n", max(likeness, key=lambda name: likeness[name]), max(likeness.values())
        )


def test_the_command_shows_tables_or_one_object(pooled: Store, tmp_path: Path, goldgrade: Any) -> None:
    judge(pooled, tmp_path, {("q1", "hat"): 0, ("q1", "sock"): 0, ("q1", "lace"): 2})
    shown = goldgrade("negatives", "--limit", "1")
    assert "2 hard negatives" in shown
    assert "1 of 1 query has fewer than 10 hard negatives" in shown
    found = json.loads(goldgrade("negatives", "--negatives", "2", "--json"))
    assert (found["negatives"], found["enough"], found["queries"][0]["missing"]) == (2, 1, 0)
