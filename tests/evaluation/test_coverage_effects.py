"""What Δ, J, the grid and the clusters explain of a run, on a project of three regions by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from curation.coverage.report import find_coverage
from curation.errors import InputError, RefusedError
from curation.evaluation.coverage_effects import FEW, NDCG, RECALL, WITHOUT_RELEVANT, coverage_effects
from curation.labeling.judgments.imported import add_judgments
from curation.releases.freeze.freeze import freeze
from curation.releases.verify import opened
from curation.scoring.inputs.system_runs import RunSource
from curation.sources.judgments import ImportedJudgment
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.coverage_project import COARSE, TEXTS, put_entity_vectors, put_vectors
from tests.support.covered_release import covered_project, write_runs
from tests.support.evaluated_project import evaluated_project
from tests.support.pool_project import put_texts
from tests.support.projects import built_once

RELEVANT = {
    "q1": ("tea pot", ["tea2", "tea3"]),
    "q2": ("ship mast", ["ship0", "ship4", "ship5"]),
    "q3": ("moon light", ["moon2"]),
    "q4": ("tea cup", ["tea4", "ship1"]),
    "q5": ("half moon", ["moon1", "tea0", "ship0"]),
    "q6": ("sonnets", ["moon0"]),
    "q7": ("green tea", []),
}
DISPERSION = {"q1": 1 / 2, "q2": 1 / 3, "q4": 1, "q5": 1}  # q3 and q6 have one relevant document
ALIGNMENT = [1, 1, 1, 1 / 2, 1 / 3, 0]
FOUND = ["q1", "q3", "q6"]
"""The queries for which the run has all relevant documents on top; for the others it has none."""
ONES = [1, 0, 1, 0, 0, 1]


def fill(store: Store) -> Store:
    texts = {query_id: text for query_id, (text, _) in RELEVANT.items()}
    put_texts(store, store.path.parent, TEXTS, texts)
    put_entity_vectors(store)
    put_vectors(store, "query", list(texts.values()))
    for who in ("ada", "ben"):
        given = [
            ImportedJudgment(query_id, document_id, who, 3 if document_id in relevant else 0)
            for query_id, (_, relevant) in RELEVANT.items()
            for document_id in [*relevant, "moon5"]
        ]
        add_judgments(store, given, f"{who}.csv", [])
    find_coverage(store, COARSE)
    make_split(store, {"dev": 1.0}, 1, Rules(query=1.0, paraphrase=None, document=None, shared=False))
    freeze(store, "v1")
    return store


project = built_once(fill)


def write_run(folder: Path) -> RunSource:
    path = folder / "some.trec"
    lines = [
        f"{query_id} Q0 {document_id} {rank} {9 - rank} some"
        for query_id, (_, relevant) in RELEVANT.items()
        for rank, document_id in enumerate(relevant if query_id in FOUND else ["moon5"], 1)
    ]
    path.write_text("\n".join(lines) + "\n")
    return RunSource("some", path)


def test_what_explains_a_run_by_hand(project: Store, tmp_path: Path) -> None:
    found = coverage_effects(project, "v1", [write_run(tmp_path)])
    [effects] = found.regions
    spread, found_all = list(DISPERSION.values()), [query_id in FOUND for query_id in DISPERSION]
    assert effects.dispersion.correlation == pytest.approx(np.corrcoef(spread, found_all)[0, 1])
    assert effects.alignment.correlation == pytest.approx(np.corrcoef(ALIGNMENT, ONES)[0, 1])
    within = effects.clusters[NDCG]  # tea: 1, 0; ship: 0; moon: 1, 0; sonnets are in no cluster
    assert (within.queries, within.strata) == (5, 3)
    assert (within.overall, within.within) == pytest.approx((np.sqrt(0.24), np.sqrt(1 / 5)))
    assert effects.clusters[RECALL].within == pytest.approx(within.within)
    assert found.left_out == {WITHOUT_RELEVANT: 1, FEW: 3}
    assert found.strata == []
    assert found.shapes["regions"] == pytest.approx((np.mean(spread), np.mean(ALIGNMENT)), abs=1e-6)
    assert found.queries == sum(cell.queries for cell in found.cells) == 6
    of_cells = {cell[:2]: (cell.queries, cell.means["some"]) for cell in found.cells}
    assert of_cells[0, 1] == (2, 0.5)  # Δ 1/2 and 1/3 are below the others, which are 1
    assert of_cells[2, 2] == (0, None)
    assert of_cells[None, 0] == (1, 1.0)  # q6
    assert found == coverage_effects(project, "v1", [write_run(tmp_path)])


def test_a_region_with_five_queries_says_how_many_cells_of_the_grid_they_fill(tmp_path: Path) -> None:
    store = covered_project(tmp_path)
    found = coverage_effects(store, "v1", [RunSource("tea", Path(write_runs(tmp_path)[0]))])
    rows = list(opened(store, "v1").rows("query_coverage"))
    held = {
        one.number: [row["cell"] for row in rows if one.number in row["clusters"]] for one in found.strata
    }
    assert sorted(len(cells) for cells in held.values()) == [15, 15]  # tea and ships; the moon has two
    # nine cells, and the three of J alone for a query with one relevant document
    assert [(one.queries, one.filled, one.possible) for one in found.strata] == [
        (len(held[one.number]), len({tuple(cell) for cell in held[one.number]}), 12) for one in found.strata
    ]
    assert found.left_out[FEW] == 1


def test_the_curve_has_every_resolution_of_the_map_and_that_of_the_map_is_on_it(
    project: Store, tmp_path: Path
) -> None:
    found = coverage_effects(project, "v1", [write_run(tmp_path)])
    steps = {step.resolution: step for step in found.curve}
    assert list(steps) == [1, 2, 5, 10, 15, 25, 40, 60]
    own = steps[found.resolution]
    assert own.dispersion.low == found.regions[0].dispersion.share
    assert own.in_clusters.low == found.regions[0].clusters[NDCG].within
    assert found.all_clusters[0].dispersion.queries >= found.regions[0].dispersion.queries


def test_the_command_prints_the_tables_and_gives_json(project: Store, tmp_path: Path) -> None:
    run = write_run(tmp_path)
    command = ["--project", str(project.path), "coverage", "effects", "v1", "--run", f"a={run.path}"]
    shown = invoke(command).stdout
    for part in ("Explained by a straight line, over regions", "by chance", "3 × 3 grid", "by resolution"):
        assert part in shown
    found = json.loads(invoke([*command, "--json"]).stdout)
    assert found["regions"][0]["dispersion"]["queries"] == 4
    assert {"all_clusters", "cells", "curve", "grid", "left_out", "shapes"} <= found.keys()


def test_sealed_parts_and_no_run_are_refused(tmp_path: Path) -> None:
    store = evaluated_project(tmp_path)
    with pytest.raises(RefusedError, match="test is sealed"):
        coverage_effects(store, "v1", [RunSource("a", tmp_path / "a")], split="test")
    with pytest.raises(InputError, match="No run was named"):
        coverage_effects(store, "v1", [])
