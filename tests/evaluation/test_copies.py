"""What is said of a system besides its figures: copies of judged texts, and the age of the release."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from curation.evaluation.figures.release_age import release_age
from curation.evaluation.scoring.inputs.release import read_release
from curation.store import open_store
from tests.support import ROOT
from tests.support.command_line import invoke

CASES = ROOT.parent / "shared/cases/writings"
CORPUS = [
    {"id": "a1", "text": "how to descale a kettle"},
    {"id": "a2", "text": "how to descale a kettle"},
    {"id": "a3", "text": "how to descale a kettle"},
    {"id": "b1", "text": "a kettle buying guide"},
    {"id": "b2", "text": "a kettle buying guide"},
]
QUERIES = [{"id": "q1", "text": "descale kettle"}, {"id": "q2", "text": "which kettle to buy"}]
GRADES = [("q1", "a1", 3), ("q1", "b1", 0), ("q2", "b1", 3), ("q2", "b2", 0), ("q2", "a1", 0)]
TIES = ("--no-paraphrase", "--no-query-text", "--no-shared-documents")
MEASURES = ("--measures", "mrr,ndcg@10")


def command(project: Path, *words: str) -> dict[str, Any]:
    """What a command prints with --json."""
    done = invoke(["--project", str(project), *words, "--json"])
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


def project_of(folder: Path, corpus: Path, queries: Path, qrels: Path, part: str = "dev") -> Path:
    project = folder / "project.duckdb"
    command(project, "init")
    command(project, "import", "corpus", str(corpus))
    command(project, "import", "queries", str(queries))
    command(project, "import", "judgments", str(qrels), "--annotator", "nist")
    command(project, "split", "--part", f"{part}=1", *TIES)
    command(project, "freeze", "v1", "--override", "one annotator")
    return project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    corpus, queries, qrels = (tmp_path / name for name in ("corpus.jsonl", "queries.jsonl", "g.qrels"))
    corpus.write_text("\n".join(map(json.dumps, CORPUS)))
    queries.write_text("\n".join(map(json.dumps, QUERIES)))
    qrels.write_text("".join(f"{query} 0 {document} {grade}\n" for query, document, grade in GRADES))
    return project_of(tmp_path, corpus, queries, qrels)


def run_file(path: Path, **lists: list[str]) -> str:
    path.write_text(
        "".join(
            f"{query} Q0 {document} {rank} {-rank} x\n"
            for query, documents in lists.items()
            for rank, document in enumerate(documents, 1)
        )
    )
    return str(path)


@pytest.mark.skipif(not CASES.is_dir(), reason="../shared/cases is not there")
def test_a_copy_of_a_judged_text_is_said_with_the_figures_of_a_release_that_shares_grades(
    tmp_path: Path,
) -> None:
    qrels = tmp_path / "identical.qrels"
    qrels.write_text((CASES / "identical_qrels.txt").read_text())
    project = project_of(tmp_path, CASES / "identical_corpus.jsonl", CASES / "identical_queries.jsonl", qrels)
    asked = ("--run", str(CASES / "identical_run.trec"), *MEASURES)
    [system] = command(project, "evaluate", "v1", *asked)["runs"]
    assert system["per_query"]["mrr"] == [0.5, 0.5, 1]
    assert (system["copies"]["copies"], system["copies"]["queries"]) == (1, 1)
    command(project, "freeze", "v2", "--share-grades", "identical", "--override", "one annotator")
    [shared] = command(project, "evaluate", "v2", *asked)["runs"]
    assert shared["copies"] is None
    assert shared["per_query"]["mrr"] == [0.5, 1, 1]
    assert shared["per_query"]["ndcg@10"][1] == pytest.approx(0.9073, abs=5e-5)
    for measure, figure in shared["overall"].items():
        assert system["copies"]["figures"][measure]["value"] == figure["value"]
    done = invoke(["--project", str(project), "evaluate", "v1", *asked])
    assert "1 copy of a judged text has no grade, in 1 query" in done.output
    assert "If documents with the same text shared a grade: mrr 0.833, ndcg@10 0.846." in done.output


def test_texts_with_two_grades_and_judged_copies_are_no_copies_without_a_grade(
    project: Path, tmp_path: Path
) -> None:
    run = run_file(tmp_path / "run.trec", q1=["a1", "b1"], q2=["b2", "b1"])
    [system] = command(project, "evaluate", "v1", "--run", run, *MEASURES)["runs"]
    assert system["copies"] is None
    other = run_file(tmp_path / "other.trec", q1=["a3", "a2", "b2"], q2=["a2"])
    [system] = command(project, "evaluate", "v1", "--run", other, *MEASURES)["runs"]
    assert (system["copies"]["copies"], system["copies"]["queries"]) == (4, 2)  # b2 has the grade of b1: 0
    assert system["copies"]["figures"]["mrr"]["value"] == 0.5
    assert system["overall"]["mrr"]["value"] == 0


def test_nothing_is_said_of_copies_on_a_sealed_part(tmp_path: Path, project: Path) -> None:
    sealed = tmp_path / "sealed"
    sealed.mkdir()
    files = (tmp_path / name for name in ("corpus.jsonl", "queries.jsonl", "g.qrels"))
    store = open_store(project_of(sealed, *files, part="test"))
    release = read_release(store, "v1", "test")
    assert release.sealed == ("test",)
    age = release_age(store, release)
    store.close()
    assert age is None


def test_an_old_release_and_one_that_a_newer_one_contradicts_are_said(project: Path, tmp_path: Path) -> None:
    run = run_file(tmp_path / "run.trec", q1=["a1"], q2=["b1"])
    assert command(project, "evaluate", "v1", "--run", run)["age"] is None
    changed = tmp_path / "changed.qrels"
    changed.write_text("q1 0 a1 1\n")
    command(project, "import", "judgments", str(changed), "--annotator", "nist")
    command(project, "freeze", "v2", "--override", "one annotator")
    found = invoke(["--project", str(project), "evaluate", "v1", "--run", run])
    assert "The release v2 is newer. It has another grade for 1 of 5 pairs" in found.output
    assert command(project, "evaluate", "v2", "--run", run)["age"] is None
    store = open_store(project)
    release = read_release(store, "v1")
    assert release.frozen is not None
    row = release.frozen.row
    row = row._replace(frozen_at=row.frozen_at - timedelta(days=400))
    age = release_age(store, replace(release, frozen=replace(release.frozen, row=row)))
    store.close()
    assert age is not None
    assert "The release v1 is 400 days old." in age.sentences("v1")[0]


def test_a_file_of_subtopics_without_relevant_documents_says_why_nothing_was_taken(
    project: Path, tmp_path: Path
) -> None:
    subtopics = tmp_path / "subtopics.txt"
    subtopics.write_text("q1 1 a1 0\nq2 1 b1 0\n")
    run = run_file(tmp_path / "run.trec", q1=["a1"], q2=["b1"])
    asked = ("--run", run, "--measures", "alpha_ndcg@10", "--subtopics", str(subtopics))
    done = invoke(["--project", str(project), "evaluate", "v1", *asked])
    assert "could be taken from it: 2 grade 0: not relevant to the subtopic" in str(done.exception)
