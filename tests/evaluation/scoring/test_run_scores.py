"""The highest value of a query: a list of its relevant documents reaches it, and no other list has more."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings

from curation.evaluation.scoring.measure_names import parse_measures
from curation.evaluation.scoring.qrels import qrels_from
from curation.evaluation.scoring.run_scores import compute_highest_values, score_run
from tests.evaluation.scoring.test_measure_values import GRADES, RUNS, Grades, Run, ranked
from tests.support import examples

MEASURES = parse_measures(
    "ndcg_exp@3,ndcg,mrr,map,map@2,recall@2,success@3,precision@3,rprec,bpref,rbp(0.5),rbp_graded(0.5),err,"
    "err@2,set_precision,set_f1".split(",")
)


def test_precision_of_few_relevant_documents_does_not_reach_1() -> None:
    qrels = qrels_from({"one": {"a": 1}, "none": {"a": 0}, "many": dict.fromkeys("abcdefghijkl", 1)})
    highest = compute_highest_values(
        parse_measures(["precision@10", "recall@10", "rbp(0.5)", "judged@10"]), qrels
    )
    np.testing.assert_allclose(highest[1:], [[math.nan, math.nan, math.nan, 1], [0.1, 1, 0.5, 1]])
    np.testing.assert_allclose(highest[0], [1, 10 / 12, 1 - 0.5**12, 1])


@given(GRADES, RUNS)
@settings(max_examples=examples(60))
def test_the_best_list_reaches_it_and_no_list_has_more(grades: Grades, run: Run) -> None:
    qrels = qrels_from(grades)
    highest = compute_highest_values(MEASURES, qrels)
    best = {
        query: ranked(*(name for name in sorted(row, key=lambda name: -row[name]) if row[name]))
        for query, row in grades.items()
    }
    np.testing.assert_allclose(score_run(best, qrels, MEASURES).values, highest)
    values = score_run(run, qrels, MEASURES).values
    np.testing.assert_array_equal(np.isnan(values), np.isnan(highest))
    assert (np.nan_to_num(values - highest) <= 1e-12).all()
