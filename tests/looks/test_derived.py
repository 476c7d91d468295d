"""Lists that are made of the lists of a sealed part's runs tell of ten queries or of none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.report.page import evaluation_report
from curation.releases.verify import opened
from curation.scoring.inputs.system_runs import RunSource
from curation.store import Store
from curation.text import digest
from tests.support.evaluated_project import evaluated_project, ranked, sealed_queries, write_run
from tests.support.sampled_pool import document_ids, sampled_pool_project, truth


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
    return evaluate_runs(store, "v1", runs, options, "a look", "lee")


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


def on_judged_documents(folder: Path, few: int) -> Evaluation:
    """Two runs of a pool's queries; the second returns judged negatives for `few` sealed queries alone."""
    project = sampled_pool_project(folder)
    release = opened(project, "v1")
    names = [row["query_id"] for row in release.rows("queries") if row["part"] == "test"]
    found = {name: sorted(document_ids(name), key=lambda one: digest(one)) for name in names}
    other = {
        name: [one for one in reversed(documents) if place < few or truth(name, one)]
        for place, (name, documents) in enumerate(found.items())
    }
    files = {"all": write_run(folder / "all.trec", found), "few": write_run(folder / "few.trec", other)}
    runs = [RunSource(name, path) for name, path in files.items()]
    options = EvaluationOptions("test", hard_negatives=True)
    evaluation = evaluate_runs(project, "v1", runs, options, "a look")
    project.close()
    return evaluation


@pytest.mark.parametrize(
    ("few", "shown"), [(1, ["all"]), (9, ["all"]), (10, ["all", "few"]), (0, ["all", "few"])]
)
def test_a_run_whose_lists_with_and_without_hard_negatives_differ_in_few_queries_shows_nothing_of_them(
    tmp_path: Path, few: int, shown: list[str]
) -> None:
    """All twelve sealed queries have hard negatives; those that a run leaves out cost it nothing."""
    found = on_judged_documents(tmp_path, few)
    assert found.hard_negatives is not None
    assert found.hard_negatives.queries == 12
    assert list(found.hard_negatives.systems) == shown
    [section] = [one for one in evaluation_report(found).sections if one.heading == "Hard negatives"]
    assert ("Left out: few" in str(section)) == ("few" not in shown)
