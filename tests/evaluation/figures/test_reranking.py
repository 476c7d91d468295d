"""Reranking: every system orders the same candidates, and no order beats the perfect one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.evaluation.figures.reranking import RerankingDepth, reranking
from curation.evaluation.scoring.metrics.measures import measures_named
from curation.evaluation.scoring.metrics.qrels import Qrels, qrels_from, run_rows
from curation.evaluation.scoring.metrics.run_scores import score_run
from tests.support import examples

MEASURES = measures_named(["ndcg@10", "mrr@10", "recall@10"])
Lists = Mapping[str, Sequence[str]]


def as_run(lists: Lists) -> dict[str, dict[str, float]]:
    return {
        query: {name: -float(place) for place, name in enumerate(found)} for query, found in lists.items()
    }


def reranked(
    first: Lists, others: Mapping[str, Lists], qrels: Qrels, depths: Sequence[int]
) -> list[RerankingDepth]:
    rows = {name: [run_rows(as_run(lists), qrels)] for name, lists in others.items()}
    return reranking(run_rows(as_run(first), qrels), rows, qrels, MEASURES, depths)


def test_a_list_is_cut_to_the_candidates_and_what_it_lacks_stays_below() -> None:
    """The first stage has a b c d. At depth 3 the reranker's d and x are dropped, and b comes last."""
    qrels = qrels_from({"q": {"a": 0, "b": 2, "c": 1, "d": 2}})
    [found] = reranked({"q": "abcd"}, {"r": {"q": "xdca"}}, qrels, [3])
    assert found.candidates == 3
    assert (found.rerankers["r"].dropped, found.rerankers["r"].missing) == (2, 1)
    expected = score_run(as_run({"q": "cab"}), qrels, MEASURES)
    assert found.rerankers["r"].figures["ndcg@10"].value == expected.of("ndcg@10")[0]
    perfect = score_run(as_run({"q": "bca"}), qrels, MEASURES)
    assert found.oracle["ndcg@10"].value == perfect.of("ndcg@10")[0] < 1
    assert found.recall.value == pytest.approx(2 / 3)


def test_queries_that_a_reranker_misses_keep_the_order_of_the_first_stage() -> None:
    qrels = qrels_from({"p": {"a": 1, "b": 0}, "q": {"a": 0, "b": 1}})
    [found] = reranked({"p": "ba", "q": "ab"}, {"r": {"q": "ba"}}, qrels, [10])
    assert found.rerankers["r"].missing == 2
    assert found.rerankers["r"].figures["mrr@10"].value == (0.5 + 1) / 2
    assert found.first_stage["mrr@10"].value == 0.5


def test_at_the_full_depth_the_first_stage_is_itself_and_reranks_to_itself() -> None:
    qrels = qrels_from({"q": {"a": 3, "d": 1}})
    [found] = reranked({"q": "bcad"}, {"same": {"q": "bcad"}}, qrels, [200])
    alone = score_run(as_run({"q": "bcad"}), qrels, MEASURES)
    for name in ("ndcg@10", "mrr@10"):
        assert found.first_stage[name] == found.rerankers["same"].figures[name]
        assert found.first_stage[name].value == alone.of(name)[0]


def test_depths_are_ordered_once_each_and_above_zero() -> None:
    qrels = qrels_from({"q": {"a": 1}})
    assert [one.depth for one in reranked({"q": "ab"}, {}, qrels, [50, 10, 50])] == [10, 50]
    with pytest.raises(InputError, match="a depth of 0"):
        reranked({"q": "ab"}, {}, qrels, [0, 10])
    with pytest.raises(InputError, match="No depth"):
        reranked({"q": "ab"}, {}, qrels, [])


documents = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@settings(max_examples=examples(60))
@given(
    st.dictionaries(st.sampled_from("pq"), documents, min_size=1),
    st.dictionaries(st.sampled_from("pqr"), documents),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1),
)
def test_no_order_beats_the_perfect_one_and_more_candidates_never_take_from_it(
    first: dict[str, list[str]], other: dict[str, list[str]], grades: dict[str, int]
) -> None:
    qrels = qrels_from({"p": grades, "q": grades}, relevant=1)
    found = reranked(first, {"r": other}, qrels, [1, 3, 8])
    for one in found:
        for figures in (one.first_stage, one.rerankers["r"].figures):
            assert all(
                (figures[name].value or 0) <= (one.oracle[name].value or 0) + 1e-12 for name in figures
            )
    for name in ("ndcg@10", "recall@10"):
        ladder = [one.oracle[name].value or 0 for one in found]
        assert ladder == sorted(ladder)
