"""How finely a look at a sealed part measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.errors import RefusedError
from curation.evaluation.evaluate import evaluate
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.inputs.system_runs import RunSource
from curation.releases.overview import show
from tests.support.evaluated_project import evaluated_project, ranked, write_run


def scored(folder: Path, *measures: str) -> Evaluation:
    store = evaluated_project(folder)
    runs = [RunSource("dense", write_run(folder / "dense.trec", ranked("a")))]
    try:
        return evaluate(store, "v1", runs, EvaluationOptions("test", measures), "May", "vera")
    finally:
        assert len(show(store, "v1").looks) <= 1
        store.close()


def test_figures_of_a_sealed_part_have_three_decimals(tmp_path: Path) -> None:
    figure = scored(tmp_path, "ndcg_exp@10").runs[0].overall["ndcg_exp@10"]
    shown = [figure.value, figure.low, figure.high, figure.judged]
    assert shown == [None if one is None else round(one, 3) for one in shown]


def test_measures_whose_differences_would_be_single_queries_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"^success@6, success@7: test is sealed.*depth of 1, 3, 5, 10"):
        scored(tmp_path, "success@5", "success@6", "success@7")
    with pytest.raises(RefusedError, match=r"^rbp\(0.81\): test is sealed"):
        scored(tmp_path, "rbp(0.8)", "rbp(0.81)")
    many = [f"{kind}@{depth}" for kind in ("recall", "success") for depth in (1, 3, 5, 10, 20, 50, 100)]
    with pytest.raises(RefusedError, match="14 measures were asked for, and test is sealed"):
        scored(tmp_path, *many)
