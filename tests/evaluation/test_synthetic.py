"""Queries that a language model wrote are told apart in releases, cards, evaluations and reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.leaderboard import list_runs
from curation.evaluation.report.evaluation_report import write_report
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.release import ONLY_SYNTHETIC
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.stored_evaluations import store_evaluation
from curation.releases.card import write_card
from curation.releases.frozen_release import load_release
from curation.store import Store
from tests.support.evaluated_project import QUERIES, evaluated_project, ranked, write_run
from tests.support.freezing import freeze
from tests.support.projects import add_names

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


def scored(store: Store, run: Path, release: str, synthetic: bool = False) -> Evaluation:
    request = EvaluateRequest(release, "dev", synthetic=synthetic)
    return evaluate_runs(store, release, [SystemFile("a", run)], request)


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


def test_no_figure_averages_them_with_other_queries(store: Store, run: Path) -> None:
    evaluation, apart = scored(store, run, "v2"), scored(store, run, "v2", synthetic=True)
    whole = scored(store, run, "v1")
    assert (evaluation.synthetic, evaluation.apart) == (0, apart.queries)
    assert (apart.synthetic, apart.apart) == (apart.queries, evaluation.queries)
    assert evaluation.queries + apart.queries == whole.queries
    assert not {*(evaluation.query_ids or ())}.intersection(apart.query_ids or ())
    measure = whole.measures[0]
    means = [one.runs[0].overall[measure].value or 0 for one in (evaluation, apart, whole)]
    weights = (evaluation.queries, apart.queries)
    assert means[2] == pytest.approx(sum(m * n for m, n in zip(means, weights, strict=False)) / whole.queries)
    page = write_report(evaluation).html
    assert f"{apart.queries} synthetic queries are evaluated separately" in page
    page = write_report(apart).html
    assert f"{apart.queries} of {apart.queries} queries" in page
    assert "By source" in page
    assert (whole.synthetic, whole.apart, "language model" in write_report(whole).html) == (0, 0, False)
    with pytest.raises(InputError, match="No query of these parts"):
        scored(store, run, "v1", synthetic=True)


def test_a_leaderboard_has_one_kind_of_queries(store: Store, run: Path) -> None:
    add_names(store, "eva", role="evaluator")
    for synthetic in (False, True):
        store_evaluation(store, scored(store, run, "v2", synthetic=synthetic), None, "eva")
    release_id = load_release(store, "v2").row.release_id
    with store.reading() as cursor:
        counts = [
            len(list_runs(cursor, release_id, parts, False)) for parts in (["dev"], ["dev", ONLY_SYNTHETIC])
        ]
    assert counts == [1, 1]
