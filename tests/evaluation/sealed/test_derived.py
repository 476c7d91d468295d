"""Lists that are made of the lists of a sealed part's runs tell of ten queries or of none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.inputs.system_runs import RunSource
from curation.evaluation.report.page import evaluation_report
from curation.store import Store
from tests.support.evaluated_project import evaluated_project, ranked, sealed_queries, write_run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = evaluated_project(tmp_path)
    yield found
    found.close()


def scored(store: Store, folder: Path, first: list[str], second: list[str]) -> Evaluation:
    """Two runs that answer these queries, the second in another order; the first is the first stage."""
    files = [
        write_run(folder / f"{name}.trec", {query: ranked(name)[query] for query in queries})
        for name, queries in (("first", first), ("second", second))
    ]
    runs = [RunSource(path.stem, path) for path in files]
    options = EvaluationOptions("test", first_stage="first", depths=(3, 10))
    return evaluate_runs(store, "v1", runs, options, "a look", "vera")


def test_a_reranker_that_shares_one_query_with_the_first_stage_shows_nothing_of_it(
    store: Store, tmp_path: Path
) -> None:
    """Cut to the first stage's candidates the second run is the first one but for that query."""
    names = sealed_queries(store)
    found = scored(store, tmp_path, names[:14], names[13:])
    assert found.reranking == ()
    assert found.depths_left_out == (3, 10)
    told = [one for one in evaluation_report(found).sections if one.heading == "Reranking"]
    assert "fewer than ten queries of a sealed part" in told[0].sentence


def test_a_reranker_that_shares_ten_queries_is_shown(store: Store, tmp_path: Path) -> None:
    names = sealed_queries(store)
    found = scored(store, tmp_path, names[:20], names[5:])
    assert [one.depth for one in found.reranking] == [3, 10]
    assert found.depths_left_out == ()
