"""Sections of an evaluation: unanswerable queries, seconds and reranking, from run files to the command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.scoring.baselines import write_baselines
from curation.evaluation.scoring.inputs.release import read_release
from curation.evaluation.scoring.inputs.run_sources import named_runs
from curation.evaluation.sealed.protected import FEW_ANSWERABLE
from curation.evaluation.to_pool import pool_runs
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.judgments.imported import add_judgments
from curation.releases.freeze.freeze import freeze
from curation.splits.split import make_split
from curation.store import Query, Store
from tests.support.command_line import invoke
from tests.support.gold_project import LEXICAL, write_corpus
from tests.support.projects import built_once, rows_of

ANSWERABLE, UNANSWERABLE = 30, 12


def fill(store: Store) -> Store:
    """Queries with one relevant document each, and some with none: their documents say something else."""
    names = [f"word{n:02}" for n in range(ANSWERABLE + UNANSWERABLE)]
    rows = [
        {"id": f"{name}-{n}", "title": f"{name} {'right ' * (3 - n)}{n}", "text": "filler " * (place % 5)}
        for place, name in enumerate(names)
        for n in range(3)
    ]
    import_corpus(store, write_corpus(store.path.parent / "corpus.jsonl", rows))
    queries = [Query(f"q-{name}", f"{name} right", f"{name} right", "imported") for name in names]
    given = [
        ImportedJudgment(f"q-{name}", f"{name}-{n}", "ada", 3 if n == 1 and place < ANSWERABLE else 0)
        for place, name in enumerate(names)
        for n in range(3)
    ]
    add_judgments(store, given, "ada.csv", queries)
    make_split(store, {"dev": 0.5, "test": 0.5}, 1, LEXICAL)
    freeze(store, "v1", override="one annotator is enough here")
    return store


project = built_once(fill)


@pytest.fixture
def run(project: Store, tmp_path: Path) -> Path:
    return write_baselines(project, "v1", ["bm25"], tmp_path / "runs").runs[0].file


@pytest.fixture
def reversed_run(run: Path, tmp_path: Path) -> Path:
    """The same documents upside down, with a document that the first stage has not, for the first query."""
    path = tmp_path / "reversed.trec"
    lists: dict[str, list[str]] = {}
    for line in run.read_text().splitlines():
        lists.setdefault(line.split()[0], [] if lists else ["elsewhere"]).insert(0, line.split()[2])
    rows = [
        f"{query} Q0 {document} {rank} {1 / rank} r"
        for query, found in lists.items()
        for rank, document in enumerate(found, 1)
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


def score(store: Store, *runs: Path, split: str = "all", first_stage: str | None = None) -> Evaluation:
    options = EvaluationOptions(split=split, first_stage=first_stage, measures=["ndcg@10", "mrr@10"])
    return evaluate_runs(store, "v1", named_runs([str(run) for run in runs]), options, "to test it")


def test_an_evaluation_says_how_a_run_deals_with_unanswerable_queries(project: Store, run: Path) -> None:
    refusal = score(project, run).runs[0].files[0].refusal
    assert (refusal.answerable, refusal.unanswerable, refusal.tagged) == (ANSWERABLE, UNANSWERABLE, 0)
    assert refusal.area == pytest.approx(0.5, abs=0.15)  # the texts do not tell them apart
    assert refusal.empty_unanswerable.value == 0


def test_of_a_sealed_part_refusal_has_no_curve_and_no_small_class(project: Store, run: Path) -> None:
    public = score(project, run, split="dev").runs[0].files[0].refusal
    assert public.curve
    assert public.threshold is not None
    sealed = score(project, run).runs[0].files[0].refusal
    assert (sealed.curve, sealed.threshold) == ((), None)
    assert sealed.area is not None
    part = score(project, run, split="test").runs[0].files[0].refusal
    assert part.unanswerable < 10
    assert (part.undefined, part.area, part.empty_unanswerable.value) == (FEW_ANSWERABLE, None, None)


def test_the_seconds_of_a_baseline_are_found_beside_it(project: Store, run: Path, reversed_run: Path) -> None:
    found = score(project, run, reversed_run)
    seconds = found.runs[0].files[0].seconds
    assert seconds is not None
    assert seconds.n == found.queries
    assert found.runs[1].files[0].seconds is None


def test_a_first_stage_is_reranked_at_each_depth(project: Store, run: Path, reversed_run: Path) -> None:
    found = score(project, run, reversed_run, first_stage="bm25")
    assert [one.depth for one in found.reranking] == [10, 50, 100, 200]
    one = found.reranking[0]
    assert one.first_stage["mrr@10"].value == found.runs[0].overall["mrr@10"].value
    assert one.oracle["mrr@10"].value == 1
    assert (one.recall.value, one.recall.n) == (1, ANSWERABLE)
    assert one.rerankers["reversed"].dropped > 0


def test_a_first_stage_must_be_one_run_beside_others(project: Store, run: Path, reversed_run: Path) -> None:
    with pytest.raises(InputError, match="no run has that name; expected one of bm25, reversed"):
        score(project, run, reversed_run, first_stage="dense")
    with pytest.raises(InputError, match="no other run"):
        score(project, run, first_stage="bm25")


def test_the_command_shows_the_sections(project: Store, run: Path, reversed_run: Path) -> None:
    named = ["--run", str(run), "--run", str(reversed_run), "--first-stage", "bm25", "--part", "dev"]
    done = invoke(["--project", str(project.path), "evaluate", "v1", *named])
    assert done.exit_code == 0, done.output
    assert "perfect reranker" in done.stdout
    assert "Unanswerable queries" in done.stdout
    assert "Milliseconds a query" in done.stdout
    told = json.loads(invoke(["--project", str(project.path), "evaluate", "v1", *named, "--json"]).stdout)
    assert told["first_stage"] == "bm25"
    assert told["reranking"][0]["rerankers"].keys() == {"reversed"}


def test_unjudged_documents_become_candidates_with_their_run_and_rank(
    project: Store, reversed_run: Path
) -> None:
    query, _, first, *_ = reversed_run.read_text().split()
    reversed_run.write_text(reversed_run.read_text().replace(f" {first} ", " word41-2 "))
    sources = named_runs([str(reversed_run)])
    pooled = pool_runs(project, "v1", sources, 2, split="all")
    assert (pooled.unjudged, pooled.pairs, pooled.pool.added) == ({"reversed": 1}, 1, 1)
    sql = "SELECT document_id, rank, score FROM candidate_sources WHERE system = ? AND document_id = ?"
    found = rows_of(project, f"{sql} AND query_id = ?", "run:reversed", "word41-2", query)
    assert found == [("word41-2", 1, 1.0)]
    again = pool_runs(project, "v1", sources, 2, split="all")
    assert (again.pool.added, again.pool.built_before) == (0, True)
    with pytest.raises(InputError, match="down to rank”: 0 is out of range"):
        pool_runs(project, "v1", sources, 0)


def test_the_command_pools_and_shows_hard_negatives(project: Store, run: Path) -> None:
    command = ["--project", str(project.path), "evaluate", "v1", "--run", str(run)]
    done = invoke([*command, "--hard-negatives", "--to-pool", "5"])
    assert done.exit_code == 0, done.output
    assert "Hard negatives" in done.stdout
    assert "unjudged pairs in all" in done.stdout
    assert re.search(r"bm25 +│ +\d+ │ +0 │", done.stdout)
    sealed = read_release(project, "v1").sealed_apart
    sql = "SELECT DISTINCT query_id FROM candidate_sources WHERE system = 'run:bm25'"
    pooled = {row[0] for row in rows_of(project, sql)}
    assert sealed
    assert pooled
    assert not pooled & sealed
    assert f"left out: {len(sealed)} queries of sealed parts that were not evaluated." in done.stdout
    told = json.loads(invoke([*command, "--to-pool", "5", "--json"]).stdout)
    assert told["to_pool"]["pool"]["built_before"] is True
    assert told["pool_unjudged"] is None


@pytest.fixture(autouse=True)
def closed(project: Store) -> Iterator[None]:
    yield
    project.close()
