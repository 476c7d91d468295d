"""A public set with evidence by offsets (Chroma, 2024) is imported, frozen, exported, chunked and scored."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from curation.evaluation.evaluable_release import read_choices
from curation.evaluation.scoring.measure_names import CHUNK_MEASURES
from curation.releases.release_rows import find_release
from curation.store import open_store
from tests.support.evidence_set import SET, command, evidence_set, excerpts, texts

pytestmark = pytest.mark.skipif(not SET.is_dir(), reason="the set with evidence is not there")
SPLITTERS = {
    "200/50": "bm25-200-50",
    "400/100": "bm25-400-100",
    "sentence": "bm25-sentence",
    "heading": "bm25-heading",
}
MEASURES = ("evidence_recall@5", "evidence_precision@5", "evidence_iou@5")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return evidence_set(tmp_path_factory.mktemp("set"))


@pytest.mark.slow
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


@pytest.mark.costly("four runs of chunks on a public set")
def test_four_chunkers_have_the_recall_precision_and_iou_of_the_report(project: Path, tmp_path: Path) -> None:
    """Smith and Troynikov (2024): a character of evidence counts once, of chunks as often as it comes."""
    out = tmp_path / "runs"
    asked = ("--systems", "bm25", "--chunks", ",".join(SPLITTERS), "--depth", "9", "--out", str(out))
    assert len(command(project, "baseline", "v1", *asked)["runs"]) == len(SPLITTERS)
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


@pytest.mark.slow
def test_the_page_offers_the_measures_of_chunks_first(project: Path) -> None:
    store = open_store(project)
    with store.reading() as cursor:
        offered = read_choices(cursor, find_release(cursor, "v1"))
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


def by_characters(question: str, chunks: list[tuple[str, int, int]]) -> tuple[float, float, float]:
    """Recall, precision and IoU from which characters of a document are evidence, and which are returned."""
    document, ranges = excerpts_of[question]
    evidence, returned = np.zeros((2, lengths[document]), bool)
    for one in ranges:
        evidence[one["start_index"] : one["end_index"]] = True
    for name, start, end in chunks:
        if name == document:
            returned[start:end] = True
    both, wanted = int((evidence & returned).sum()), int(evidence.sum())
    every = sum(end - start for _, start, end in chunks)
    return both / wanted, both / every if every else 0.0, both / (wanted + every - both)


excerpts_of = excerpts() if SET.is_dir() else {}
lengths = {name: len(text) for name, text in texts().items()} if SET.is_dir() else {}
