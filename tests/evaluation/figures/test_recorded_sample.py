"""Evaluation uses the sample of the pool that a release records, and says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.errors import RefusedError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import EvaluationOptions
from curation.evaluation.figures.inferred import MEASURES, inferred_figures, recorded_strata
from curation.evaluation.report.page import evaluation_report
from curation.judges.imported import import_judge
from curation.scoring.inputs.release import read_release
from curation.scoring.inputs.run_sources import RunSource
from curation.scoring.metrics.measures import measures_for
from curation.scoring.metrics.qrels import qrels_from, run_rows
from curation.scoring.metrics.run_scores import score_run
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.evaluated_project import write_run
from tests.support.sampled_pool import QUERIES, document_ids, run_of, sampled_pool_project, truth


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Store]:
    store = sampled_pool_project(tmp_path)
    yield store
    store.close()


@pytest.fixture
def sources(tmp_path: Path) -> list[RunSource]:
    return [
        RunSource(name, write_run(tmp_path / f"{name}.trec", run_of(step)))
        for name, step in (("near", 4), ("far", 12))
    ]


def test_the_recorded_sample_is_used_without_being_asked_for(
    project: Store, sources: list[RunSource]
) -> None:
    found = evaluate_runs(project, "v1", sources, EvaluationOptions("dev"))
    inferred = found.inferred
    assert inferred is not None
    assert (inferred.recorded, found.not_inferred) == (True, None)
    assert [band.name for band in inferred.bands] == ["ranks 1 to 5", "ranks 6 to 30"]
    assert inferred.pooled == 12 * 30
    assert inferred.judged == sum(band.drawn or 0 for band in inferred.bands) < inferred.pooled
    assert found.pool_unjudged == 1 - inferred.judged / inferred.pooled
    for system in found.runs:
        for measure, ordinary in MEASURES.items():
            figure = inferred.systems[system.name][measure]
            assert (figure.if_none, figure.if_all) == (
                system.overall[ordinary].if_none,
                system.overall[ordinary].if_all,
            )
            assert figure.n == 12
    page = evaluation_report(found).html
    assert "Inferred for the whole pool" in page
    assert f"{inferred.judged:,} of 360 pairs were drawn" in page
    assert inferred.few_relevant == 12
    assert "12 queries have fewer than 20 relevant documents by estimate" in page
    assert "see what is inferred from it" in page


def test_estimates_are_nearer_to_the_truth_than_taking_the_rest_for_not_relevant(
    project: Store, sources: list[RunSource]
) -> None:
    found = evaluate_runs(project, "v1", sources, EvaluationOptions("all"), reason="to test it")
    whole = qrels_from(
        {query: {name: truth(query, name) for name in document_ids(query)} for query in QUERIES}
    )
    measures = measures_for((0, 3), list(MEASURES.values()))
    inferred = found.inferred
    assert inferred is not None
    for name, step in (("near", 4), ("far", 12)):
        lists = {q: {one: -float(rank) for rank, one in enumerate(run)} for q, run in run_of(step).items()}
        truths = score_run(lists, whole, measures).values.mean(axis=0)
        for figure, true in zip(inferred.systems[name].values(), truths, strict=True):
            assert figure.value is not None
            assert figure.low is not None
            assert figure.high is not None
            assert figure.if_none is not None
            assert figure.low < true < figure.high
            assert abs(figure.value - true) < abs(figure.if_none - true)


def test_what_was_judged_without_being_drawn_does_not_count(project: Store) -> None:
    """Somebody found relevant all that was not drawn: no estimate changes."""
    sample = read_release(project, "v1", "dev").pool_sample
    assert sample is not None
    grades = {
        query: {name: truth(query, name) for stratum in strata for name in stratum.drawn}
        for query, strata in sample.items()
    }
    more = {
        query: grades[query] | {name: 3 for stratum in strata for name in stratum.documents - stratum.drawn}
        for query, strata in sample.items()
    }
    lists = {q: {one: -float(rank) for rank, one in enumerate(names)} for q, names in run_of(4).items()}
    found = []
    for judged in map(qrels_from, (grades, more)):
        rows = [run_rows(lists, judged)]
        found.append(inferred_figures({"near": rows}, judged, recorded_strata(judged, sample), 0))
    assert [one.not_drawn for one in found] == [0, found[0].pooled - found[0].judged]
    values = [[figure.value for figure in one.systems["near"].values()] for one in found]
    assert values[0] == values[1]


def test_a_sealed_part_has_estimates_and_none_of_few_queries(
    project: Store, sources: list[RunSource]
) -> None:
    found = evaluate_runs(project, "v1", sources[:1], EvaluationOptions("test"), reason="to test it")
    assert found.inferred is not None
    for figure in found.inferred.systems["near"].values():
        assert figure.value is not None
    release = read_release(project, "v1", "test")
    sample = release.pool_sample
    assert sample is not None
    few = {query: sample[query] for query in release.qrels.query_ids[:9]}
    rows = run_rows({}, release.qrels)
    strata = recorded_strata(release.qrels, few)
    hidden = inferred_figures({"a": [rows]}, release.qrels, strata, release.sealed_queries)
    assert {(one.value, one.low, one.n) for one in hidden.systems["a"].values()} == {(None, None, 0)}
    shown = inferred_figures({"a": [rows]}, release.qrels, strata)
    assert shown.systems["a"]["inferred_ap"].n == 9


def test_the_command_prints_the_estimates_and_refuses_a_declared_sample(
    project: Store, sources: list[RunSource]
) -> None:
    run = ["--run", str(sources[0].path), "--part", "dev"]
    command = ["--project", str(project.path), "evaluate", "v1", *run]
    done = invoke(command)
    assert done.exit_code == 0, done.output
    assert "A random sample of the pool was judged" in done.stdout
    assert "inferred_ndcg@10" in done.stdout
    told = json.loads(invoke([*command, "--json"]).stdout)["inferred"]
    assert told["recorded"] is True
    assert set(told["systems"]["near"]) == set(MEASURES)
    refused = invoke([*command, "--pool-sample", "5"])
    assert isinstance(refused.exception, RefusedError)
    assert "records which pairs of its pool were drawn" in str(refused.exception)


def test_estimates_with_a_judge_say_what_the_sample_left_out(
    project: Store, sources: list[RunSource], tmp_path: Path
) -> None:
    sample = read_release(project, "v1", "dev").pool_sample
    assert sample is not None
    with project.reading() as cursor:
        pairs = cursor.execute("SELECT query_id, document_id FROM candidates").fetchall()
    lines = "".join(f"{query},{name},{truth(query, name)}\n" for query, name in sorted(pairs))
    (tmp_path / "j.csv").write_text(f"query_id,document_id,grade\n{lines}", encoding="utf-8")
    import_judge(project, tmp_path / "j.csv", "llm")
    undrawn = sum(len(one.documents - one.drawn) for strata in sample.values() for one in strata)
    run = ["--run", str(sources[0].path), "--part", "dev", "--judge", "llm"]
    done = invoke(["--project", str(project.path), "evaluate", "v1", *run])
    assert f"take the {undrawn:,} pairs that it left out for not relevant" in done.stdout
