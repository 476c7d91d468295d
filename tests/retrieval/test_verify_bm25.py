"""The check of the BM25 index against rank-bm25: it agrees where both are right, and sees a broken index."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.retrieval import Bm25, Hit
from curation.retrieval.verify_bm25 import compare_with_rank_bm25, verify_bm25
from curation.store import Store
from curation.store.rows import Document, Query
from tests.support.command_line import invoke
from tests.support.pool_project import break_index, put_texts
from tests.support.projects import built_once

TEXTS = {
    "d1": "red shoes for running",
    "d2": "red shoes red laces",
    "d3": "blue running jacket",
    "d4": "green hat",
    "d5": "running socks",
    "d6": "blue hat",
    "d7": "plain scarf",
}
QUERIES = {"q1": "red shoes", "q2": "running", "q3": "blue hat hat", "q4": "the of", "q5": "bicycle"}


@built_once
def corpus(store: Store) -> Store:
    put_texts(store, store.path.parent, TEXTS, QUERIES)
    return store


def test_index_and_rank_bm25_agree_and_a_broken_index_is_seen(corpus: Store) -> None:
    check = verify_bm25(corpus, 100, 10, seed=1)
    assert (check.queries, check.agree, check.differing) == (5, 5, [])
    assert check.largest_difference < 1e-12
    break_index(corpus)
    check = verify_bm25(corpus, 100, 10, seed=1)
    assert [difference.query_id for difference in check.differing] == ["q1", "q2", "q3"]
    assert check.agree == 2
    assert check.largest_difference > 0.01
    first = check.differing[0]
    assert first.text == "red shoes"
    assert [document_id for document_id, _ in first.expected] == ["d2", "d1"]


def test_a_sample_of_queries_is_seeded_and_a_number_below_one_is_refused(corpus: Store) -> None:
    verify_bm25(corpus, 2, 10, seed=1)
    break_index(corpus)
    assert verify_bm25(corpus, 2, 10, seed=1) == verify_bm25(corpus, 2, 10, seed=1)
    assert {verify_bm25(corpus, 2, 10, seed=seed).agree for seed in range(20)} == {0, 1, 2}
    with pytest.raises(InputError, match="0 queries to depth 10"):
        verify_bm25(corpus, 0, 10, seed=1)


words = st.sampled_from("red blue green shoes hat coat bag the".split())
texts = st.lists(words, max_size=6).map(" ".join)


@given(st.lists(texts, max_size=8), texts, st.integers(1, 9))
def test_any_small_corpus_agrees(corpus: list[str], text: str, depth: int) -> None:
    documents = [Document(f"d{number}", "", "", body) for number, body in enumerate(corpus)]
    queries = [Query("q", text, text, "written")]
    hits = Bm25(documents).search(queries, depth)
    assert compare_with_rank_bm25(documents, queries, hits, depth).differing == []


@pytest.mark.parametrize(
    "wrong",
    [
        lambda hits: hits[1:],
        lambda hits: [hits[1], hits[0], *hits[2:]],
        lambda hits: [hits[0], hits[0], *hits[2:]],
        lambda hits: [Hit(hits[0].document_id, (hits[0].score or 0) + 1e-6), *hits[1:]],
        lambda hits: [*hits[:-1], Hit("unknown", hits[-1].score)],
    ],
)
def test_a_list_that_is_wrong_anywhere_differs(wrong) -> None:
    documents = [Document(f"d{number}", "", "", text) for number, text in enumerate(TEXTS.values())]
    queries = [Query("q", "running", "running", "written")]
    [hits] = Bm25(documents).search(queries, 10)
    assert len(hits) == 3
    assert compare_with_rank_bm25(documents, queries, [wrong(hits)], 10).agree == 0


def test_the_command_prints_the_comparison_and_fails_where_a_list_differs(corpus: Store) -> None:
    def pool(*options: str):
        arguments = ["--project", str(corpus.path), "pool", "--systems", "bm25", *options]
        return invoke(arguments)

    printed = pool("--verify-bm25", "3")
    assert printed.exit_code == 0, printed.output
    assert "BM25: 3 of 3 queries have the list of rank-bm25 to depth 10" in printed.stdout
    assert "verified_bm25" not in json.loads(pool("--json").stdout)
    break_index(corpus)
    refused = pool("--verify-bm25", "100", "--json")
    assert refused.exit_code == 1
    found = json.loads(refused.stdout)
    assert found["built_before"] is True
    assert found["verified_bm25"]["agree"] == 2
    assert found["verified_bm25"]["differing"][0]["expected"][0][0] == "d2"
    told = pool("--verify-bm25", "100")
    assert told.exit_code == 1
    assert "'red shoes' (q1) differs" in told.stdout
    other = invoke(["--project", str(corpus.path), "pool", "--systems", "run:x", "--verify-bm25", "1"])
    assert isinstance(other.exception, InputError)
    assert "--verify-bm25" in str(other.exception)
