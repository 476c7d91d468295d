"""Unjudged documents that could turn the order of two runs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from curation.evaluation.comparison.similar_lists import Turning, shortlist, turning
from curation.scoring.metrics.measures import measures_named
from curation.scoring.metrics.qrels import qrels_from, run_rows
from curation.scoring.metrics.run_scores import score_run
from tests.scoring.metrics.test_scores import GRADES, RUNS, Grades, Run, ranked
from tests.support import examples


def turned(grades: Grades, first: Run, second: Run, name: str = "ndcg_exp@2") -> Turning:
    qrels = qrels_from(grades)
    [measure] = measures_named([name])
    lists = []
    for run in (first, second):
        lists.append(shortlist(run_rows(run, qrels), qrels, measure))
    return turning(("first", "second"), (lists[0], lists[1]), measure, qrels)


def mean(grades: Grades, run: Run, name: str) -> float:
    qrels = qrels_from(grades)
    values = score_run(run, qrels, measures_named([name])).of(name)
    return float(values[qrels.relevant_documents > 0].mean())


def test_a_document_that_only_the_worse_run_returns_on_top_could_turn_the_order() -> None:
    grades = {"a": {"x": 3}, "b": {"x": 1}}
    first = {"a": ranked("x", "both"), "b": ranked("x", "below")}
    second = {"a": ranked("both", "x"), "b": ranked("new", "x")}
    found = turned(grades, first, second)
    assert found.difference == pytest.approx(1 - 0.631, abs=5e-4)
    assert found.unjudged == 3
    assert [(row.query_id, row.document_id, row.rank_first, row.rank_second) for row in found.documents] == [
        ("b", "new", None, 1),
        ("a", "both", 2, 1),
    ]
    assert found.needed == 1


def test_without_enough_unjudged_documents_the_order_is_safe() -> None:
    grades = {"a": {"x": 3, "y": 0}, "b": {"x": 3, "y": 0}}
    first = {"a": ranked("x", "y"), "b": ranked("x", "y")}
    second = {"a": ranked("y", "x"), "b": ranked("y", "x")}
    found = turned(grades, first, second)
    assert (found.unjudged, found.documents, found.needed) == (0, (), None)


@given(GRADES, RUNS, RUNS)
@settings(max_examples=examples(60))
def test_the_documents_named_turn_the_order_and_one_fewer_does_not(
    grades: Grades, first: Run, second: Run
) -> None:
    grades = {query: row | {"d0": 3} for query, row in grades.items()}  # 3 is the highest grade of the scale
    if mean(grades, first, "ndcg@3") < mean(grades, second, "ndcg@3"):
        first, second = second, first
    found = turned(grades, first, second, "ndcg@3")

    def difference(number: int) -> float:
        more = {query: dict(row) for query, row in grades.items()}
        for row in found.documents[:number]:
            more[row.query_id][row.document_id] = 3
        return mean(more, first, "ndcg@3") - mean(more, second, "ndcg@3")

    assert found.difference == pytest.approx(difference(0))
    if found.needed is None:
        assert difference(len(found.documents)) >= -1e-12
    else:
        assert difference(found.needed) < 1e-12
        assert difference(found.needed - 1) >= -1e-12
    for number, row in enumerate(found.documents[:1], 1):
        assert row.effect == pytest.approx(difference(number) - difference(0))
