"""What a random sample of the pool left out: pairs without a grade, which the release records."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.llm_judges.judge_import import import_judge
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.pooled_pairs import PooledPairs, compute_unjudged_share
from curation.evaluation.scoring.release import read_release
from curation.evaluation.scoring.system_files import SystemFile
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.evaluated_project import write_run
from tests.support.llm_judge import write_grades
from tests.support.projects import per_test, rows_of
from tests.support.sampled_pool import DEPTH, run_of, sampled_pool_project, truth

project = per_test(sampled_pool_project)


@pytest.fixture
def source(tmp_path: Path) -> SystemFile:
    return SystemFile("near", write_run(tmp_path / "near.trec", run_of(4)))


def test_pairs_that_the_sample_left_out_are_unjudged(project: Store, source: SystemFile) -> None:
    pooled = read_release(project, "v1", "dev").pooled
    assert len(pooled.ranks) + len(pooled.left_out) == 12 * DEPTH
    assert pooled.left_out
    evaluation = evaluate_runs(project, "v1", [source], EvaluateRequest("v1", "dev"))
    assert evaluation.pool_unjudged == len(pooled.left_out) / (12 * DEPTH)
    assert compute_unjudged_share(PooledPairs({}), [("q", "d")]) is None


def test_estimates_with_a_judge_say_what_the_sample_left_out(
    project: Store, source: SystemFile, tmp_path: Path
) -> None:
    undrawn = len(read_release(project, "v1", "dev").pooled.left_out)
    pairs = rows_of(project, "SELECT query_id, document_id FROM candidates ORDER BY ALL")
    grades = {pair: truth(*pair) for pair in pairs}
    import_judge(project, write_grades(tmp_path / "j.csv", grades), "llm")
    run = ["--run", str(source.path), "--part", "dev", "--judge", "llm"]
    done = invoke(["--project", str(project.path), "evaluate", "v1", *run])
    assert f"count the {undrawn:,} pairs outside the sample as not relevant" in done.stdout
