"""Queries that a language model wrote are told apart in releases, cards, evaluations and reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.evaluation_report import write_report
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile
from curation.releases.card import write_card
from curation.releases.frozen_release import load_release
from curation.store import Store
from tests.support.evaluated_project import QUERIES, evaluated_project, ranked, write_run
from tests.support.freezing import freeze

MODEL = "model-of-the-test"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The release v2, of whose queries a model wrote every second."""
    project = evaluated_project(tmp_path_factory.mktemp("project"))
    with project.transaction() as cursor:
        cursor.execute("UPDATE queries SET source = 'synthetic' WHERE source = 'written'")
        cursor.execute(
            """INSERT INTO coverage_queries
            SELECT query_id, 'gap', ?, 'm', 0, concat('d', query_id[2:], '.0'), 'h', 'short names',
                '{"prompts": {"queries": "abc"}, "share": 0.5}', now()::TIMESTAMP
            FROM queries WHERE source = 'synthetic'""",
            [MODEL],
        )
        cursor.execute(
            """INSERT INTO synthetic_draws
            SELECT query_id, revision, revision = 1, 0.5 + revision / 2, 0, 'lee', now()::TIMESTAMP
            FROM queries, range(2) r(revision) WHERE source = 'synthetic'"""
        )
    freeze(project, "v2")
    yield project
    project.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run") / "a.trec", ranked("a"))


def scored(store: Store, run: Path, release: str) -> Evaluation:
    return evaluate_runs(store, release, [SystemFile("a", run)], EvaluateRequest("v1", "dev"))


@pytest.mark.slow
def test_a_release_says_which_model_wrote_a_query_and_not_for_which_document(store: Store) -> None:
    rows = load_release(store, "v2").rows("queries")
    synthetic = [row for row in rows if row["source"] == "synthetic"]
    assert len(synthetic) == QUERIES / 2
    expected = {"model": MODEL, "prompts": {"queries": "abc"}, "share_judged": 1.0}
    assert all(row["written_by"] == expected for row in synthetic)
    assert not any("written_by" in row for row in rows if row["source"] != "synthetic")


def test_the_card_counts_them_by_model_and_names_the_limit(store: Store) -> None:
    text = write_card(load_release(store, "v2"))
    assert f"Language models wrote the synthetic queries: {MODEL} 30" in text
    assert "30 of 60 queries (50.0%) were written by a language model, not asked by anybody" in text
    older = write_card(load_release(store, "v1"))
    assert "language model" not in older.lower()


def test_an_evaluation_always_has_them_apart(store: Store, run: Path) -> None:
    evaluation = scored(store, run, "v2")
    apart = evaluation.runs[0].strata["source"]
    assert set(apart) == {"imported", "synthetic"}
    assert sum(one.queries for one in apart.values()) == evaluation.queries
    assert evaluation.synthetic == apart["synthetic"].queries > 0
    page = write_report(evaluation).html
    assert f"{evaluation.synthetic} of {evaluation.queries} queries" in page
    assert "By source" in page
    older = scored(store, run, "v1")
    assert "source" not in older.runs[0].strata
    assert (older.synthetic, "language model" in write_report(older).html) == (0, False)
