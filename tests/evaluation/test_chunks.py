"""Runs of chunks scored on evidence: which measures, which figures, which page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.leaderboard import list_runs, rank_runs, warn_of_unsure_runs
from curation.evaluation.report.evaluation_report import write_sections
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.evidence import make_evidence_ranges
from curation.evaluation.scoring.measure_names import CHUNK_MEASURES
from curation.evaluation.scoring.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.scoring.system_runs import SystemRun, read_run
from curation.evaluation.stored_evaluations import store_evaluation
from curation.people.accounts import add_annotator
from curation.store import Store
from tests.support.evaluated_project import document_ids, evaluated_project, ranked
from tests.support.evaluated_runs import evaluate_read
from tests.support.projects import per_test

SIZES = {"small": 10, "large": 39}


store = per_test(evaluated_project)


def marked(release: EvaluatedRelease) -> EvaluatedRelease:
    """The release with the last ten characters of each query's best document marked."""
    ids = release.qrels.query_ids
    marked = {(query, document_ids(int(query[1:]))[0]): [(29, 39)] for query in ids}
    evidence = make_evidence_ranges(marked, dict.fromkeys(marked, 3), ids)
    return replace(release, qrels=replace(release.qrels, evidence=evidence))


def chunked(release: EvaluatedRelease, folder: Path, name: str, size: int) -> SystemRun:
    """A system's order of documents, each in chunks of a size, the first ones first."""
    lines = [
        {"query": query, "document": document, "start": start, "end": min(start + size, 39), "rank": rank}
        for query, found in ranked(name).items()
        for rank, (document, start) in enumerate(
            ((document, start) for document in found for start in range(0, 39, size)), 1
        )
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return read_run(SystemFile(name, path), release)


@pytest.fixture
def evaluation(store: Store, tmp_path: Path) -> Evaluation:
    release = marked(read_release(store, "v1"))
    read = {name: [chunked(release, tmp_path, name, size)] for name, size in SIZES.items()}
    return evaluate_read(release, read, EvaluateRequest(measures=CHUNK_MEASURES))


def test_measures_of_chunks_have_intervals_strata_comparisons_and_a_curve(evaluation: Evaluation) -> None:
    small, large = evaluation.runs
    recall = large.overall["evidence_recall@5"]
    assert recall.low < recall.value
    assert recall.if_all is None
    assert "evidence_iou@5" in large.strata["stratum"]["imported"].figures
    assert {one.measure for one in evaluation.comparisons} >= {"evidence_within@1000", "evidence_ndcg@5"}
    assert "context_words@5" not in {one.measure for one in evaluation.comparisons}
    (k, words, _), *_, (*_, last) = evaluation.context["large"]
    assert (k, words) == (1, 3)
    assert last.value == max(recall.value or 0 for *_, recall in evaluation.context["large"])
    assert small.files[0].chunks.chunks == 4 * large.files[0].chunks.chunks  # type: ignore[union-attr]
    sections = {one.heading: one for one in write_sections(evaluation)}
    section, systems = sections["Recall against context"], sections["Systems"]
    mean = large.overall["context_words@5"].value
    assert f"{mean:.0f} (" in str({row[0]: row[2] for row in systems.tables[1].rows}["context_words@5"])
    assert systems.tables[2].columns[2:4] == ("chunks", "documents")
    assert {row[2] for row in systems.tables[2].rows} == {
        one.files[0].chunks.chunks for one in (small, large)
    }  # type: ignore[union-attr]
    assert "words of context" in section.drawings[0]
    read, lists = 3 * len(ranked("large")["q0"]), len(evaluation.query_ids or ())
    assert f"{lists} lists have fewer words than evidence_within@1000 may read." in systems.sentence
    assert f"Over all lists the measure reads {read:.0f} words on average." in systems.sentence
    assert ("large", 1, 3) in {row[:3] for row in section.tables[0].rows}


def test_a_chunk_of_an_unknown_document_leaves_no_query_out_and_is_said(store: Store, tmp_path: Path) -> None:
    release = marked(read_release(store, "v1"))
    honest = chunked(release, tmp_path, "large", 39)
    path = tmp_path / "large.jsonl"
    query = release.qrels.query_ids[0]
    line = {"query": query, "document": "nosuchpage", "start": 0, "end": 10, "rank": 0}
    path.write_text(f"{json.dumps(line)}\n{path.read_text()}")
    game = read_run(SystemFile("game", path), release)
    read = {"honest": [honest], "game": [game]}
    evaluation = evaluate_read(release, read, EvaluateRequest(measures=CHUNK_MEASURES))
    figures = [one.overall["evidence_within@1000"] for one in evaluation.runs]
    assert figures[0].n == figures[1].n
    assert (figures[1].value or 0) < (figures[0].value or 0)
    assert evaluation.runs[1].overall["context_words@5"].n == figures[1].n - 1
    sections = {one.heading: one for one in write_sections(evaluation)}
    assert "large.jsonl: 1 query has a chunk with an unknown number of words" in sections["Systems"].sentence


def test_a_run_whose_texts_are_there_several_times_is_not_compared_with_others_unsaid(
    store: Store, tmp_path: Path
) -> None:
    release = marked(read_release(store, "v1"))
    lines = [
        {"query": query, "document": documents[0], "chunk_text": text, "rank": rank}
        for query, documents in ranked("large").items()
        for rank, text in enumerate(("all of", "l"), 1)
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    read = {
        "places": [chunked(release, tmp_path, "large", 39)],
        "texts": [read_run(SystemFile("texts", path), release)],
    }
    evaluation = evaluate_read(release, read, EvaluateRequest(measures=CHUNK_MEASURES))
    sections = {one.heading: one.sentence for one in write_sections(evaluation)}
    queries = len(release.qrels.query_ids)
    assert f"{queries} chunks have a text that the document has several times" in sections["Systems"]
    said = "texts: chunks are given by texts that occur several times in their documents."
    assert said in sections["Comparison"]
    add_annotator(store, "lea", "lead", None, "lea@example.org")
    store_evaluation(store, evaluation, None, "lea")
    with store.reading() as cursor:
        runs = list_runs(cursor, evaluation.release_id, evaluation.parts, sealed=False)
    rows, _ = rank_runs(runs, evaluation.measures[0])
    assert warn_of_unsure_runs(rows).startswith(said)
    [alone] = [run for run in runs if run.by_text]
    rows, _ = rank_runs([alone], evaluation.measures[0])
    assert not warn_of_unsure_runs(rows)  # nothing to compare it with
