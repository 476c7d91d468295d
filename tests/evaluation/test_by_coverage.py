"""Evaluation by cluster and by cell of the grid, from a release to tables, pages and a gate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.evaluation.evaluable_release import read_choices
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.figures.means import EMPTY
from curation.evaluation.report.evaluation_report import write_report
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import parse_run_files
from curation.releases.frozen_release import load_release
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.covered_release import QUERIES, covered_project, write_runs
from tests.support.freezing import freeze
from tests.support.projects import change_text, per_test

pytestmark = pytest.mark.slow

BY = EvaluateRequest(measures=["mrr@10", "success@1"], by=["cluster", "grid"])


def scored(store: Store, folder: Path, reason: str | None = None, split: str | None = None) -> Evaluation:
    return evaluate_runs(
        store, "v1", parse_run_files(write_runs(folder)), replace(BY, part=split, reason=reason)
    )


store = per_test(covered_project)


def region(found: Evaluation, topic: str) -> str:
    return next(value for value in found.runs[0].strata["cluster"] if topic in value)


def test_a_query_is_in_every_region_that_it_is_about(store: Store, tmp_path: Path) -> None:
    evaluation = scored(store, tmp_path)
    tea, ship = (system.strata["cluster"] for system in evaluation.runs)
    sizes = {topic: tea[region(evaluation, topic)].queries for topic in ("tea", "ship", "moon")}
    assert sizes == {"tea": 15, "ship": 15, "moon": 2}
    assert tea["in no cluster"].queries == 1
    own = tea[region(evaluation, "tea")].figures["success@1"]
    assert (own.value, own.n) == (12 / 15, 15)  # the three about both are last in both runs
    assert ship[region(evaluation, "tea")].figures["success@1"].value == 0
    moon = tea[region(evaluation, "moon")]
    assert moon.left_out is None
    assert moon.figures["success@1"].n == 2


def test_the_summary_says_who_wins_under_each_aggregation(store: Store, tmp_path: Path) -> None:
    clusters, grid = scored(store, tmp_path).summaries
    assert (clusters.facet, clusters.strata, clusters.large, clusters.outside) == ("cluster", 3, 2, 1)
    assert clusters.places == 15 + 15 + 2
    assert set(clusters.win_rates["ship"]["tea"]) == {"overall", "macro", "median", "worst"}
    assert clusters.figures["tea"]["worst"].value is not None
    assert grid.strata + grid.empty == 9 + 3  # the query with one relevant document has a third of J alone
    assert grid.places == grid.queries - grid.outside == len(QUERIES)


def test_cells_of_the_grid_without_a_query_are_unknown_and_not_zero(store: Store, tmp_path: Path) -> None:
    cells = scored(store, tmp_path).runs[0].strata["grid"]
    empty = [cell for cell in cells.values() if not cell.queries]
    assert empty
    assert all((cell.figures, cell.left_out) == ({}, EMPTY) for cell in empty)
    assert sum(cell.queries for cell in cells.values()) == len(QUERIES)


def test_the_command_gates_on_clusters_and_prints_what_counts(store: Store, tmp_path: Path) -> None:
    runs = [part for path in write_runs(tmp_path) for part in ("--run", path)]
    command = ["--project", str(store.path), "evaluate", "v1", *runs, "--breakdown", "cluster,grid"]
    shown = invoke([*command, "--out", str(tmp_path / "r.html")]).stdout
    assert "3 of 3 regions of the corpus have a query" in shown
    dropped = invoke([*command, "--fail-if", "mrr@10 drops 0.2 in any cluster", "--json"])
    assert [row["where"].split()[0] for row in json.loads(dropped.stdout)["failed"]] == ["cluster"]
    number = json.loads(dropped.stdout)["failed"][0]["where"].split()[1]
    one = invoke([*command, "--fail-if", f"mrr@10 drops 0.2 in cluster {number}", "--json"])
    assert [row["where"].split()[1] for row in json.loads(one.stdout)["failed"]] == [number]
    page = (tmp_path / "r.html").read_text()
    assert "Win rates: shares of 1,000 resamples above / level / below" in page
    assert "A query counts in every region that it is about." in page


def test_a_release_without_a_map_says_so(store: Store, tmp_path: Path) -> None:
    change_text(store, "moon5")
    freeze(store, "plain")
    with pytest.raises(InputError, match=r"'cluster': the release has no coverage map"):
        evaluate_runs(store, "plain", parse_run_files(write_runs(tmp_path)), BY)
    rows = [load_release(store, name).row for name in ("v1", "plain")]
    with store.reading() as cursor:
        offered = [read_choices(cursor, row) for row in rows]
    assert offered[0].facets[-2:] == ("cluster", "grid")
    assert "cluster" not in offered[1].facets


def test_a_sealed_part_shows_strata_of_ten_queries_and_nothing_by_query(tmp_path: Path) -> None:
    store = covered_project(tmp_path, part="test")
    evaluation = scored(store, tmp_path, "to see the regions", "test")
    clusters = evaluation.runs[0].strata["cluster"]
    assert {value for value, one in clusters.items() if one.figures} == {
        region(evaluation, "tea"),
        region(evaluation, "ship"),
    }
    assert evaluation.runs[0].per_query is None
    summary = evaluation.summaries[0]
    assert (summary.strata, summary.hidden) == (2, 1)
    assert summary.figures["tea"]["macro"].n == 2
    assert not any(one.figures for one in evaluation.runs[0].strata["grid"].values() if one.queries < 10)
    assert "per_query" not in write_report(evaluation).html
