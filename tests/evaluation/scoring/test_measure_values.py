"""Scores per query: published examples, trec_eval's ties, and ir-measures on plain input as the oracle."""

from __future__ import annotations

import math
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.evaluation.scoring.measure_names import (
    Measure,
    choose_measures,
    list_additional_measures,
    parse_measures,
)
from curation.evaluation.scoring.qrels import make_qrels, qrels_from
from curation.evaluation.scoring.rankings import order_rows
from curation.evaluation.scoring.run_scores import RunScores, explain_reversed_bounds, score_run
from tests.support import ROOT, examples

Grades = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
SCORES = ROOT.parent / "shared/cases/writings"
DOCUMENTS = [f"d{number}" for number in range(12)]
QUERIES = ["q1", "q2", "q3", "q4"]
GRADES = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1),
    min_size=1,
)
RUNS = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0])),
)


def score(grades: Grades, run: Run, *names: str, relevant: int | None = None) -> RunScores:
    return score_run(run, qrels_from(grades, relevant), parse_measures(names))


def ranked(*documents: str) -> dict[str, float]:
    return {document: float(len(documents) - place) for place, document in enumerate(documents)}


def test_ndcg_of_the_worked_example() -> None:
    """Grades 3, 2, 0, 0, 1 in this order: 0.988 with exponential gain, 0.976 with linear."""
    grades = {"q": dict(zip("abcde", (3, 2, 0, 0, 1), strict=True))}
    scores = score(grades, {"q": ranked(*"abcde")}, "ndcg_exp@5", "ndcg@5")
    assert scores.values[0].tolist() == pytest.approx([0.988, 0.976], abs=5e-4)


def test_a_query_that_the_run_misses_has_0_and_one_without_relevant_documents_has_no_score() -> None:
    grades = {"found": {"a": 1}, "missed": {"a": 1}, "nothing relevant": {"a": 0}}
    scores = score(grades, {"found": ranked("a"), "unknown": ranked("a")}, "ndcg@10", "map", "judged@10")
    assert scores.query_ids == ("found", "missed", "nothing relevant")
    np.testing.assert_equal(scores.values, [[1, 1, 1], [0, 0, math.nan], [math.nan, math.nan, math.nan]])
    assert scores.returned.tolist() == [1, 0, 0]


def test_judged_is_the_share_of_what_was_returned_to_the_depth_of_the_measure() -> None:
    scores = score({"q": {"a": 1, "c": 0}}, {"q": ranked("a", "b", "c", "d")}, "ndcg@1", "mrr@2", "map")
    assert scores.judged[0].tolist() == [1, 0.5, 0.5]


def test_equal_scores_are_ordered_by_id_descending_and_compared_in_double_precision() -> None:
    run = {"q": {"b": 1.0, "a": 1.0, "c": 0.5, "d": 1.0 - 1e-9}}
    scores = score({"q": {"a": 1}}, run, "mrr@10")
    assert scores.values.item() == 0.5
    assert scores.ties == (2, 1)


@pytest.mark.skipif(not SCORES.is_dir(), reason="the cases are not there")
@pytest.mark.parametrize("kind", ["cosine", "epoch", "large"])
def test_scores_that_only_doubles_tell_apart_have_the_order_of_trec_eval_10(kind: str) -> None:
    rows = [line.split() for line in (SCORES / "scores.qrels").read_text().splitlines()]
    grades: Grades = {}
    for query, _, document, grade in rows:
        grades.setdefault(query, {})[document] = int(grade)
    run: Run = {}
    lines = (SCORES / f"scores_{kind}.trec").read_text().splitlines()
    for query, _, document, _, value, _ in map(str.split, lines):
        run.setdefault(query, {})[document] = float(value)
    assert score(grades, run, "mrr").values.tolist() == [[0.5]]


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=12), st.randoms())
@settings(max_examples=examples(80))
def test_the_order_of_doubles_is_that_of_sorted(values: list[float], random: Random) -> None:
    rows = [(place % 3, value, place % 5) for place, value in enumerate(values)]
    random.shuffle(rows)
    query, scores, code = (np.array(column) for column in zip(*rows, strict=True))
    order, tied = order_rows(query, scores, code, pa.array(list("edcba")))
    expected = sorted(rows, key=lambda row: (row[0], -row[1], row[2]))
    assert [rows[place] for place in order.tolist()] == expected
    groups = Counter(row[:2] for row in expected)
    assert [group > 0 for group in tied.tolist()] == [groups[row[:2]] > 1 for row in expected]


@given(GRADES, RUNS, st.integers(1, 3))
@settings(max_examples=examples(80))
def test_ir_measures_says_the_same_of_plain_input(grades: Grades, run: Run, relevant: int) -> None:
    import ir_measures as ir

    pairs: dict[str, Any] = {
        "ndcg_exp@5": ir.nDCG(gains={grade: 2**grade - 1 for grade in range(4)}) @ 5,
        "ndcg@5": ir.nDCG @ 5,
        "map": ir.AP(rel=relevant),
        "map@3": ir.AP(rel=relevant) @ 3,
        "recall@3": ir.R(rel=relevant) @ 3,
        "success@3": ir.Success(rel=relevant) @ 3,
        "precision@3": ir.P(rel=relevant) @ 3,
        "rprec": ir.Rprec(rel=relevant),
        "bpref": ir.Bpref(rel=relevant),
        "mrr@100": ir.RR(rel=relevant),
        "mrr": ir.RR(rel=relevant),
        "ndcg": ir.nDCG,
        "ndcg_exp": ir.nDCG(gains={grade: 2**grade - 1 for grade in range(4)}),
        "set_precision": ir.SetP(rel=relevant),
        "set_recall": ir.SetR(rel=relevant),
        "set_f1": ir.SetF(rel=relevant),
    }
    qrels = make_qrels(
        [(query, document, grade) for query, row in grades.items() for document, grade in row.items()],
        scale=range(4),
        relevant=relevant,
    )
    scored = score_run(run, qrels, parse_measures(pairs))
    for place, measure in enumerate(pairs.values()):
        rows = ir.pytrec_eval.iter_calc([measure], grades, run)
        expected = {row.query_id: float(np.nan_to_num(row.value)) for row in rows}  # a share of no list
        values = np.nan_to_num(scored.values[:, place])
        assert dict(zip(scored.query_ids, values.tolist(), strict=True)) == pytest.approx(
            expected, rel=1e-15, abs=1e-15
        )


@given(GRADES, RUNS, st.randoms())
@settings(max_examples=examples(60))
def test_what_is_below_the_depth_changes_nothing(grades: Grades, run: Run, random: Any) -> None:
    names = ("ndcg_exp@3", "ndcg@3", "mrr@3", "recall@3", "success@3", "precision@3", "judged@3", "map@3")
    run = {query: ranked(*row) for query, row in run.items()}
    shuffled = {}
    for query, row in run.items():
        rest = list(row)[3:]
        random.shuffle(rest)
        shuffled[query] = ranked(*list(row)[:3], *rest)
    np.testing.assert_equal(score(grades, run, *names).values, score(grades, shuffled, *names).values)


@given(GRADES, RUNS)
@settings(max_examples=examples(60))
def test_a_further_query_that_the_run_misses_never_raises_a_mean(grades: Grades, run: Run) -> None:
    names = ("ndcg_exp@5", "ndcg", "mrr", "map", "recall@5", "rprec", "bpref", "rbp(0.5)", "err", "set_f1")
    before = score(grades, run, *names).values
    after = score({**grades, "another": {"d1": 3}}, run, *names).values
    for column in range(len(names)):
        known = before[:, column][~np.isnan(before[:, column])]
        more = after[:, column][~np.isnan(after[:, column])]
        assert not len(known) or more.mean() <= known.mean()


def test_the_default_threshold_is_the_grade_above_the_lowest() -> None:
    assert qrels_from({"q": {"a": 0, "b": 3}}).relevant == 1
    assert make_qrels([("q", "a", 10)], scale=[0, 1, 10, 100]).relevant == 1
    with pytest.raises(InputError, match="expected a grade above the lowest grade of the scale: 1, 10, 100"):
        make_qrels([("q", "a", 10)], scale=[0, 1, 10, 100], relevant=0)


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="The score of 'a' for the query 'q' is not a number"):
        score({"q": {"a": 1}}, {"q": {"a": math.nan}}, "map")


def test_names_that_are_no_measures_are_refused_together() -> None:
    with pytest.raises(
        InputError, match=r"(?s)name at least one measure.*Measures: ndcg_exp\[@k\], ndcg\[@k\]"
    ):
        parse_measures([])
    with pytest.raises(InputError) as caught:
        parse_measures(["recall", "recal@10", "rbp(1.5)", "rprec@5", "map"])
    assert caught.value.problems == [
        "'recall' needs a depth, such as recall@10",
        "'recal@10' is not a measure; did you mean 'recall@10'?",
        "'rbp(1.5)': expected a persistence between 0 and 1, such as rbp(0.8)",
        "'rprec@5': rprec has no depth",
    ]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("nDCG@10,ndcg_cut_10,ndcg_cut.10", "ndcg@10"),
        ("P@10,P_10,Precision@10", "precision@10"),
        ("R@5,recall_5,Recall@5", "recall@5"),
        ("RR,MRR,recip_rank", "mrr"),
        ("AP,MAP", "map"),
        ("map_cut_100,AP@100", "map@100"),
        ("Success@5,success_5", "success@5"),
        ("SetF,set_F,set_f1", "set_f1"),
        ("SetP,set_P", "set_precision"),
        ("nDCG,ndcg", "ndcg"),
        ("ERR@20", "err@20"),
    ],
)
def test_the_names_of_trec_eval_and_ir_measures_are_understood(theirs: str, ours: str) -> None:
    assert [measure.name for measure in parse_measures(theirs.split(","))] == [ours]


def test_err_is_what_gdeval_prints() -> None:
    """ir-measures' own test of gdeval, which takes 4 for the highest grade."""
    grades = [("0", "D0", 0), ("0", "D1", 1), ("0", "D2", 1), ("0", "D3", 2), ("0", "D4", 0)]
    grades += [("1", "D0", 1), ("1", "D3", 2), ("1", "D5", 2)]
    run = {"0": ranked("D0", "D2", "D3", "D1", "D4"), "1": ranked("D1", "D3", "D2", "D4")}
    qrels = make_qrels(grades, scale=range(5))
    scored = score_run(run, qrels, parse_measures(["err@20", "err@2", "err"]))
    assert np.round(scored.values, 5).tolist() == [[0.10175, 0.03125, 0.10175], [0.09375, 0.09375, 0.09375]]


def test_graded_rbp_has_the_gain_of_the_grade() -> None:
    scores = score(
        {"q": {"a": 2, "c": 1, "top": 4}}, {"q": ranked("a", "b", "c")}, "rbp_graded(0.5)", "rbp(0.5)"
    )
    assert scores.values[0].tolist() == [0.5 * 2 / 4 + 0.125 / 4, 0.5 + 0.125]
    assert scores.if_all[0].tolist() == [0.5 * 2 / 4 + 0.125 / 4 + 0.25, 0.875]


def test_sets_of_a_list_a_missing_query_and_one_without_relevant_documents() -> None:
    grades = {"found": {"a": 1, "gone": 1, "c": 0}, "missed": {"a": 1}, "nothing": {"a": 0}}
    names = ("set_precision", "set_recall", "set_f1")
    scores = score(grades, {"found": ranked("c", "a", "new", "n2"), "nothing": ranked("a")}, *names)
    np.testing.assert_allclose(scores.values, [[1 / 4, 1 / 2, 2 / 6], [0, 0, 0], [math.nan] * 3])
    np.testing.assert_allclose(scores.if_all[0], [3 / 4, 3 / 4, 6 / 8])


def test_an_exponential_gain_of_large_grades_is_refused_and_no_default() -> None:
    assert Measure("ndcg_exp", 10) not in choose_measures([0, 1, 10, 100])
    for name in ("ndcg_exp@10", "err@10"):
        with pytest.raises(InputError, match="the scale goes up to 100"):
            choose_measures([0, 100], [name])
    assert {"err@10", "set_f1"} <= set(list_additional_measures([0, 1]))
    assert "err@10" not in list_additional_measures([0, 100])


@pytest.mark.slow
@given(GRADES, RUNS)
@settings(max_examples=examples(60))
def test_if_every_unjudged_document_were_relevant_is_what_such_grades_would_give(
    grades: Grades, run: Run
) -> None:
    grades = {query: row | {"d0": 3} for query, row in grades.items()}  # 3 is the highest grade of the scale
    run = {query: ranked(*row) for query, row in run.items()}
    names = ("ndcg_exp@4", "ndcg@4", "mrr@4", "recall@4", "success@4", "precision@4", "err@4")
    whole = ("rbp(0.5)", "rbp_graded(0.5)", "ndcg", "ndcg_exp", "mrr", "err")
    whole += ("set_precision", "set_recall", "set_f1")
    names += whole
    scores = score(grades, run, *names)
    for name in names:
        deepest = 100 if name in whole else 4
        more = {q: dict.fromkeys(list(run.get(q, {}))[:deepest], 3) | row for q, row in grades.items()}
        column = names.index(name)
        np.testing.assert_allclose(scores.if_all[:, column], score(more, run, name).values[:, 0])
        np.testing.assert_array_equal(scores.if_none[:, column], scores.values[:, column])


def test_with_all_relevant_ndcg_may_be_lower_and_that_is_explained() -> None:
    """The list has the only relevant document first, and one that nobody judged tenth."""
    run = {"q": {f"d{place}": -float(place) for place in range(1, 11)}}
    scores = score({"q": {f"d{place}": int(place == 1) for place in range(1, 10)}}, run, "ndcg@10")
    none, every = scores.if_none.item(), scores.if_all.item()
    assert every == pytest.approx((1 + 1 / math.log2(11)) / (1 + 1 / math.log2(3)))
    assert every < none == 1
    assert "the ideal list then contains" in explain_reversed_bounds(
        [(None, None), (0.5, 0.6), (none, every)]
    )
    assert explain_reversed_bounds([(0.5, 0.6), (0.0, 0.0)]) == ""


def test_bpref_passes_unjudged_documents_over_and_so_has_neither_end() -> None:
    grades = {"q": {"a": 1, "b": 1, "n1": 0, "n2": 0}}
    scores = score(grades, {"q": ranked("new", "a", "n1", "b", "n2")}, "bpref")
    assert scores.values.item() == 0.75
    assert math.isnan(scores.if_none.item())
    assert math.isnan(scores.if_all.item())


def test_judged_of_rprec_goes_to_the_relevant_documents_and_that_of_rbp_by_its_weights() -> None:
    grades = {"q": {"a": 1, "c": 0, "gone": 1}, "without": {"a": 0}}
    run = {"q": ranked("a", "b", "c", "d"), "without": ranked("a")}
    scores = score(grades, run, "rprec", "rbp(0.5)", "map", "bpref")
    assert scores.judged[0].tolist() == pytest.approx([1 / 2, (8 + 2) / 15, 2 / 4, 2 / 4])
    assert math.isnan(scores.judged[1, 0])  # it looks at no place
    assert scores.judged[1, 1] == 1


@given(GRADES, RUNS)
@settings(max_examples=examples(40))
def test_judged_is_that_of_ir_measures_where_no_scores_are_equal(grades: Grades, run: Run) -> None:
    import ir_measures as ir

    run = {query: ranked(*row) for query, row in run.items() if row and query in grades}
    scores = score(grades, run, "judged@5")
    expected = {row.query_id: row.value for row in ir.iter_calc([ir.Judged @ 5], grades, run)}
    for query, value in zip(scores.query_ids, scores.values[:, 0].tolist(), strict=True):
        assert (value == expected[query]) if query in run else math.isnan(value)
