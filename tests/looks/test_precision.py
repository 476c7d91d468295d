"""How finely a look at a sealed part measures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from curation.looks.ladder_looks import ladder_looks

from curation.errors import RefusedError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.report.page import evaluation_report
from curation.releases.overview import show
from curation.scoring.inputs.system_runs import RunSource
from curation.text import plain
from tests.support.evaluated_project import evaluated_project, ranked, write_run


def scored(folder: Path, *measures: str) -> Evaluation:
    store = evaluated_project(folder)
    runs = [RunSource("dense", write_run(folder / "dense.trec", ranked("a")))]
    try:
        return evaluate_runs(store, "v1", runs, EvaluationOptions("test", measures), "May", "lee")
    finally:
        assert len(show(store, "v1").looks) <= 1
        store.close()


def test_figures_of_a_sealed_part_have_three_decimals(tmp_path: Path) -> None:
    figure = scored(tmp_path, "ndcg_exp@10").runs[0].overall["ndcg_exp@10"]
    shown = [figure.value, figure.low, figure.high, figure.judged]
    assert shown == [None if one is None else round(one, 3) for one in shown]


def finer(value: object, place: str = "") -> Iterator[str]:
    """Where the JSON has a float with more than three decimals; seconds are the run file's own."""
    if isinstance(value, float) and value != round(value, 3):
        yield f"{place}: {value}"
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "seconds":
                yield from finer(item, f"{place}.{key}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from finer(item, f"{place}[{number}]")


def test_nothing_of_a_sealed_part_is_finer_than_three_decimals(tmp_path: Path) -> None:
    """Whatever was asked for: comparisons, the first stage, hard negatives, flattery, seeds."""
    store = evaluated_project(tmp_path)
    files = {name: write_run(tmp_path / f"{name}.trec", ranked(name)) for name in "abcd"}
    runs = [RunSource("new" if name in "cd" else name, file) for name, file in files.items()]
    asked = EvaluationOptions("test", by=("stratum", "part"), first_stage="a", hard_negatives=True)
    found = evaluate_runs(store, "v1", runs, asked, "May", "lee")
    climbed = ladder_looks(store, "v1", [RunSource("e", runs[1].path)], "test", reason="May", actor="vera")
    store.close()
    assert found.comparisons
    assert found.reranking
    assert found.hard_negatives
    assert found.looks[0].flattery
    assert found.runs[-1].seeds
    assert list(finer([plain(found), plain(evaluation_report(found)), plain(climbed)])) == []


def test_measures_whose_differences_would_be_single_queries_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"^success@6, success@7: test is sealed.*depth of 1, 3, 5, 10"):
        scored(tmp_path, "success@5", "success@6", "success@7")
    with pytest.raises(RefusedError, match=r"^rbp\(0.81\): test is sealed"):
        scored(tmp_path, "rbp(0.8)", "rbp(0.81)")
    many = [f"{kind}@{depth}" for kind in ("recall", "success") for depth in (1, 3, 5, 10, 20, 50, 100)]
    with pytest.raises(RefusedError, match="14 measures were asked for, and test is sealed"):
        scored(tmp_path, *many)


def test_measures_that_count_single_documents_are_refused(tmp_path: Path) -> None:
    asked = ("ndcg", "mrr", "err@10", "rbp_graded(0.8)", "gmap", "iprec@0.1", "alpha_ndcg@10", "set_f1")
    with pytest.raises(RefusedError, match=r"^gmap, iprec@0.1, alpha_ndcg@10, set_f1, num_rel_ret: test is"):
        scored(tmp_path, *asked, "num_rel_ret")
    assert set(scored(tmp_path, *asked[:4]).runs[0].overall) == set(asked[:4])
