"""α-nDCG: the values that TREC's ndeval prints, and what a greedy ideal means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from curation.core.errors import InputError
from curation.evaluation.scoring.metrics.measures import measures_named
from curation.evaluation.scoring.metrics.qrels import qrels_from
from curation.evaluation.scoring.metrics.run_scores import RunScores, score_run
from curation.evaluation.scoring.metrics.subtopics import subtopics_of

Rows = list[tuple[str, str, str]]


def score(rows: Rows, run: dict[str, dict[str, float]], *names: str) -> RunScores:
    qrels = qrels_from({query: {document: 1} for query, _, document in rows} | {"without": {"A": 1}})
    qrels = replace(qrels, subtopics=subtopics_of(rows, qrels.query_ids))
    return score_run(run, qrels, measures_named(names))


def test_the_value_that_ndeval_documents() -> None:
    """The example in the README of pyndeval, which wraps ndeval 4.5: alpha-nDCG@5 is 0.7868."""
    rows = [("0", "a", "A"), ("0", "b", "B"), ("0", "b", "D"), ("0", "c", "C")]
    run = {"0": {"A": 9.3, "D": 8.4, "E": 8.1, "B": 7.6}}
    found = score(rows, run, "alpha_ndcg@5", "alpha_ndcg@20")
    assert found.values[0].tolist() == pytest.approx([0.786895617614416] * 2, abs=1e-15)
    assert np.isnan(found.values[1]).all()  # "without" has no subtopic
    assert np.isnan(found.if_all).all()


def test_what_ndeval_computes_where_the_best_order_has_ties() -> None:
    """Values of pyndeval 0.0.8: of equal gains the ideal takes the last document by id."""
    covers = {"a": "12", "b": "23", "c": "31", "d": "1", "e": "45", "f": "4", "g": "5"}
    rows = [("q", subtopic, name) for name, own in covers.items() for subtopic in own]
    run = {"q": {name: -float(place) for place, name in enumerate("dxbgafe")}}
    found = score(rows, run, "alpha_ndcg@3", "alpha_ndcg@5", "alpha_ndcg@10")
    assert found.values[0].tolist() == pytest.approx(
        [0.4985219438614688, 0.6077549989348454, 0.7161086124226613], abs=1e-15
    )


def test_a_subtopic_that_comes_again_is_worth_less_and_nothing_at_alpha_near_1() -> None:
    rows = [("q", "1", "a"), ("q", "1", "b"), ("q", "2", "c")]
    same_first, other_first = (
        {"q": {name: -float(n) for n, name in enumerate(order)}} for order in ("abc", "acb")
    )
    names = ("alpha_ndcg@2", "alpha_ndcg(0)@2")
    ideal = 1 + 1 / np.log2(3)
    assert score(rows, same_first, *names).values[0].tolist() == pytest.approx(
        [(1 + 0.5 / np.log2(3)) / ideal, 1]
    )
    assert score(rows, other_first, *names).values[0].tolist() == pytest.approx([1, 1])
    assert score(rows, {}, *names).values[0].tolist() == [0, 0]


def test_without_subtopics_it_is_refused() -> None:
    with pytest.raises(InputError, match="alpha_ndcg@10 needs to know which documents are relevant to which"):
        score_run({}, qrels_from({"q": {"a": 1}}), measures_named(["alpha_ndcg@10"]))
