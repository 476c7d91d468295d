"""Queries that a language model wrote are told apart in releases, cards, evaluations and reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.report.page import evaluation_report
from curation.evaluation.scoring.inputs.run_sources import RunSource
from curation.releases.card.card import Card
from curation.releases.freeze.freeze import freeze
from curation.releases.verify import load_release
from curation.store import Store, append, utc_now
from tests.support.command_line import invoke
from tests.support.evaluated_project import QUERIES, evaluated_project, ranked, write_run

MODEL = "model-of-the-test"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The release v2, of whose queries a model wrote every second."""
    found = evaluated_project(tmp_path_factory.mktemp("project"))
    ids = [f"q{number}" for number in range(1, QUERIES, 2)]
    with found.transaction() as cursor:
        cursor.execute("UPDATE queries SET source = 'synthetic' WHERE source = 'written'")
        origin = {
            "query_id": ids,
            "purpose": ["gap"] * len(ids),
            "writer": [MODEL] * len(ids),
            "map_id": ["m"] * len(ids),
            "cluster": [0] * len(ids),
            "document_id": [f"d{name[1:]}.0" for name in ids],
            "content_hash": ["h"] * len(ids),
            "style": ["short names"] * len(ids),
            "detail": ['{"prompts": {"queries": "abc"}, "share": 0.5}'] * len(ids),
            "written_at": [utc_now()] * len(ids),
        }
        append(cursor, "coverage_queries", origin)
        for revision, drawn in enumerate((False, True)):
            append(
                cursor,
                "synthetic_draws",
                {
                    "query_id": ids,
                    "revision": [revision] * len(ids),
                    "drawn": [drawn] * len(ids),
                    "share": [0.5 + revision / 2] * len(ids),
                    "seed": [0] * len(ids),
                    "author": ["lee"] * len(ids),
                    "drawn_at": [utc_now()] * len(ids),
                },
            )
    freeze(found, "v2")
    yield found
    found.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run") / "a.trec", ranked("a"))


def scored(store: Store, run: Path, release: str) -> Evaluation:
    return evaluate_runs(store, release, [RunSource("a", run)], EvaluationOptions("dev"))


def test_a_release_says_which_model_wrote_a_query_and_not_for_which_document(store: Store) -> None:
    rows = load_release(store, "v2").rows("queries")
    synthetic = [row for row in rows if row["source"] == "synthetic"]
    assert len(synthetic) == QUERIES / 2
    expected = {"model": MODEL, "prompts": {"queries": "abc"}, "share_judged": 1.0}
    assert all(row["written_by"] == expected for row in synthetic)
    assert not any("written_by" in row for row in rows if row["source"] != "synthetic")


def test_the_card_counts_them_by_model_and_names_the_limit(store: Store) -> None:
    text = Card(load_release(store, "v2")).text
    assert f"Language models wrote the synthetic queries: {MODEL} 30" in text
    assert "30 of 60 queries (50.0%) were written by a language model, not asked by anybody" in text
    older = Card(load_release(store, "v1")).text
    assert "language model" not in older.lower()


def test_an_evaluation_always_has_them_apart(store: Store, run: Path) -> None:
    found = scored(store, run, "v2")
    apart = found.runs[0].strata["source"]
    assert set(apart) == {"imported", "synthetic"}
    assert sum(one.queries for one in apart.values()) == found.queries
    assert found.synthetic == apart["synthetic"].queries > 0
    page = evaluation_report(found).html
    assert f"{found.synthetic} of {found.queries} queries" in page
    assert "By source" in page
    older = scored(store, run, "v1")
    assert "source" not in older.runs[0].strata
    assert (older.synthetic, "language model" in evaluation_report(older).html) == (0, False)


def test_the_command_says_so_before_any_figure(store: Store, run: Path) -> None:
    shown = invoke(
        ["--project", str(store.path), "evaluate", "v2", "--run", f"a={run}", "--part", "dev"]
    ).stdout
    assert "were written by a language model" in shown.partition("ndcg")[0]
