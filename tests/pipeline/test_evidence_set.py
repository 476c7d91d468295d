"""A public set with evidence by offsets (Chroma, 2024) is imported, frozen, exported, chunked and scored."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from curation.evaluation.scoring.metrics.measures import CHUNK_MEASURES
from curation.evaluation.submitted import evaluable_release
from curation.releases.release_rows import find_release
from curation.store import open_store
from tests.support.command_line import invoke
from tests.support.evidence_set import SET, command, evidence_set, excerpts, texts

pytestmark = pytest.mark.skipif(not SET.is_dir(), reason="the set with evidence is not there")
SPLITTERS = {
    "200/50": "bm25-200-50",
    "400/100": "bm25-400-100",
    "sentence": "bm25-sentence",
    "heading": "bm25-heading",
}
CHANGED, PREFACE = "state_of_the_union", "What was said, as it was written down.\n\n"
MEASURES = ("evidence_recall@5", "evidence_precision@5", "evidence_iou@5")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return evidence_set(tmp_path)


def test_the_questions_and_excerpts_come_out_as_they_came_in(project: Path, tmp_path: Path) -> None:
    out, bodies = tmp_path / "beir", texts()
    command(project, "export", "v1", "--format", "beir", "--out", str(out))
    assert command(project, "verify", "--folder", str(out))["intact"] is True
    rows, queries = (
        [json.loads(line) for line in (out / name).read_text(encoding="utf-8").splitlines()]
        for name in ("evidence.jsonl", "queries.jsonl")
    )
    named = {row["_id"]: row["text"] for row in queries}
    found = {(named[row["query_id"]], row["start"], row["end"], row["quote"]) for row in rows}
    assert found == {
        (question, one["start_index"], one["end_index"], one["content"])
        for question, (_, ranges) in excerpts().items()
        for one in ranges
    }
    assert all(bodies[row["document_id"]][row["start"] : row["end"]] == row["quote"] for row in rows)


def test_four_chunkers_have_the_recall_precision_and_iou_of_the_report(project: Path, tmp_path: Path) -> None:
    """Smith and Troynikov (2024): each character of evidence once, those of chunks as often as they come."""
    out = tmp_path / "runs"
    asked = ("--systems", "bm25", "--chunks", ",".join(SPLITTERS), "--depth", "9", "--out", str(out))
    assert len(command(project, "run", "v1", *asked)["runs"]) == len(SPLITTERS)
    runs = [word for name in SPLITTERS.values() for word in ("--run", str(out / f"{name}.csv"))]
    found = command(project, "evaluate", "v1", *runs)
    assert found["measures"][:4] == ["evidence_within@1000", *MEASURES]
    ids = dict(zip(found["query_texts"], found["query_ids"], strict=True))
    for system in found["runs"]:
        chunks = chunks_of(out / f"{system['name']}.csv")
        expected = {text: by_characters(text, chunks.get(ids[text], [])[:5]) for text in ids}
        for at, measure in enumerate(MEASURES):
            assert system["per_query"][measure] == pytest.approx(
                [expected[text][at] for text in found["query_texts"]]
            )
    recall = {system["name"]: system["overall"]["evidence_recall@5"]["value"] for system in found["runs"]}
    assert recall["bm25-400-100"] > recall["bm25-200-50"] > recall["bm25-sentence"] > 0.5
    within = {system["name"]: system["overall"]["evidence_within@1000"]["value"] for system in found["runs"]}
    assert max(within, key=within.__getitem__) == "bm25-200-50"


def test_after_a_new_version_of_a_document_old_chunks_are_refused_and_new_ones_are_right(
    project: Path, tmp_path: Path
) -> None:
    asked = ("--systems", "bm25", "--chunks", "200/50", "--depth", "9", "--out")
    command(project, "run", "v1", *asked, str(tmp_path / "old"))
    bodies = {name: (PREFACE if name == CHANGED else "") + text for name, text in texts().items()}
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("\n".join(json.dumps({"id": name, "text": text}) for name, text in bodies.items()))
    command(project, "import", "corpus", str(corpus))
    frozen = command(project, "freeze", "v2", "--allow-changed", "--override", "one annotator")
    assert frozen["parts"]["evidence"] == 487
    old = invoke(
        ["--project", str(project), "evaluate", "v2", "--run", str(tmp_path / "old/bm25-200-50.csv")]
    )
    assert old.exit_code == 1
    assert f"of document '{CHANGED}' is of its version" in str(old.exception)
    command(project, "run", "v2", *asked, str(tmp_path / "new"))
    found = command(project, "evaluate", "v2", "--run", str(tmp_path / "new/bm25-200-50.csv"))
    [system] = found["runs"]
    chunks = chunks_of(tmp_path / "new/bm25-200-50.csv")
    assert system["per_query"]["evidence_recall@5"] == pytest.approx(
        [
            by_characters(text, chunks[name][:5], len(PREFACE))[0]
            for text, name in zip(found["query_texts"], found["query_ids"], strict=True)
        ]
    )


def test_the_page_offers_the_measures_of_chunks_first(project: Path) -> None:
    store = open_store(project)
    with store.reading() as cursor:
        offered = evaluable_release(cursor, find_release(cursor, "v1").release_id)
    store.close()
    assert offered.measures == CHUNK_MEASURES


def chunks_of(run: Path) -> dict[str, list[tuple[str, int, int]]]:
    """Query id → its chunks in order."""
    found: dict[str, list[tuple[str, int, int]]] = {}
    with run.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            place = (row["document_id"], int(row["start"]), int(row["end"]))
            found.setdefault(row["query_id"], []).append(place)
    return found


def by_characters(
    question: str, chunks: list[tuple[str, int, int]], shift: int = 0
) -> tuple[float, float, float]:
    """Recall, precision and IoU from which characters of a document are evidence, and which are returned.

    Parameters
    ----------
    shift: characters before the changed document's text.
    """
    document, ranges = excerpts_of[question]
    shift = shift if document == CHANGED else 0
    evidence, returned = np.zeros((2, lengths[document] + shift), bool)
    for one in ranges:
        evidence[one["start_index"] + shift : one["end_index"] + shift] = True
    for name, start, end in chunks:
        if name == document:
            returned[start:end] = True
    both, wanted = int((evidence & returned).sum()), int(evidence.sum())
    every = sum(end - start for _, start, end in chunks)
    return both / wanted, both / every if every else 0.0, both / (wanted + every - both)


excerpts_of = excerpts() if SET.is_dir() else {}
lengths = {name: len(text) for name, text in texts().items()} if SET.is_dir() else {}
