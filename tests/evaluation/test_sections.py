"""Sections of an evaluation: unanswerable queries, from run files to the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.pool_runs import pool_runs
from curation.evaluation.prepare_evaluation import PreparedEvaluation
from curation.evaluation.protected_figures import FEW_ANSWERABLE
from curation.evaluation.report.judgment_sections import write_abstention
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.baselines import BaselineRequest, write_baselines
from curation.evaluation.scoring.system_files import parse_run_files
from curation.evaluation.scoring.system_runs import ReadingOptions
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.releases.frozen_release import load_release
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import COMMAND_LINE, Query, Store
from tests.support.evaluated_project import write_run
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL, write_corpus
from tests.support.projects import built_once, rows_of

ANSWERABLE, UNANSWERABLE = 30, 12


def fill(store: Store) -> Store:
    """Queries with one relevant document each, and some without: their documents say something else."""
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
    make_split(store, SplitRequest((("dev", 0.5), ("test", 0.5)), 1, LEXICAL))
    freeze(store, "v1", override="one annotator is enough here")
    return store


project = built_once(fill)


@pytest.fixture
def run(project: Store, tmp_path: Path) -> Path:
    return write_baselines(project, BaselineRequest("v1", ["bm25"], tmp_path / "runs")).runs[0].file


def score(store: Store, *runs: Path, split: str = "all") -> Evaluation:
    options = EvaluateRequest(part=split, measures=["ndcg@10", "mrr@10"], reason="to test it")
    return evaluate_runs(store, "v1", parse_run_files([str(run) for run in runs]), options)


@pytest.mark.slow
def test_an_evaluation_says_how_a_run_deals_with_unanswerable_queries(project: Store, run: Path) -> None:
    evaluation = score(project, run)
    [section] = write_abstention(evaluation)
    assert section.heading == "Unanswerable queries"
    refusal = evaluation.runs[0].files[0].refusal
    assert (refusal.answerable, refusal.unanswerable, refusal.tagged) == (ANSWERABLE, UNANSWERABLE, 0)
    assert refusal.area.value == pytest.approx(0.5, abs=0.15)  # the texts do not tell them apart
    assert refusal.empty_unanswerable.value == 0


def test_of_a_sealed_part_refusal_has_no_threshold_and_no_small_class(project: Store, run: Path) -> None:
    assert score(project, run, split="dev").runs[0].files[0].refusal.threshold is not None
    sealed = score(project, run).runs[0].files[0].refusal
    assert sealed.threshold is None
    assert sealed.area.value is not None
    part = score(project, run, split="test").runs[0].files[0].refusal
    assert part.unanswerable < 10
    assert (part.area.why, part.area.value, part.empty_unanswerable.value) == (FEW_ANSWERABLE, None, None)


def test_unjudged_documents_become_candidates_with_their_run_and_rank(project: Store, tmp_path: Path) -> None:
    lists = {"q-word00": ["word41-2", "word00-0", "word40-2"]}
    runs = (("ours", str(write_run(tmp_path / "ours.trec", lists))),)
    request = EvaluateRequest("v1", "all", runs=runs, to_pool=2)
    release = load_release(project, "v1")
    prepared = PreparedEvaluation(project, request, COMMAND_LINE, release, False, ReadingOptions())
    pool, unjudged, _ = pool_runs(prepared, prepared.runs)
    assert (unjudged, pool.added) == (1, 1)
    sql = "SELECT query_id, document_id, rank FROM candidate_sources WHERE system = 'run:ours' AND rank = 1"
    assert rows_of(project, sql) == [("q-word00", "word41-2", 1)]
    again, *_ = pool_runs(prepared, prepared.runs)
    assert (again.added, again.built_before) == (0, True)
    with pytest.raises(InputError, match="down to rank”: 0 is out of range"):
        pool_runs(prepared._replace(request=EvaluateRequest(to_pool=0)), prepared.runs)
