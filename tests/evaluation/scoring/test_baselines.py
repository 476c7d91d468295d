"""Baselines: run files of a release's own corpus, in one order for every tool, and nothing half-written."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError, RefusedError
from curation.core.request import DEFAULT_MODEL
from curation.evaluation.scoring.baseline_files import write_decreasing_scores, write_run_lines
from curation.evaluation.scoring.baseline_systems import ChunkedSystem
from curation.evaluation.scoring.baselines import BaselineRequest, write_baselines
from curation.evaluation.scoring.release import read_release
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.scoring.system_runs import read_run as evaluated_run
from curation.ingest.importers.corpus import import_corpus
from curation.people.seal_access import read_openings
from curation.retrieval import Hit
from curation.retrieval.bm25 import Bm25
from curation.store import Store
from curation.store.row_types import Document, Query
from tests.support import examples
from tests.support.gold_project import TOPICS, awkward, documents, frozen_project, write_corpus
from tests.support.projects import per_test, rows_of

pytestmark = pytest.mark.slow


gold = per_test(frozen_project)


def read_run(path: Path) -> dict[str, list[tuple[str, int, float]]]:
    """Query → (document, rank, score) in the file's order."""
    found: dict[str, list[tuple[str, int, float]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, rank, score, _ = line.split()
        found.setdefault(query, []).append((document, int(rank), float(score)))
    return found


def test_each_query_finds_its_topic_and_the_file_says_how(gold: Store, tmp_path: Path) -> None:
    written = write_baselines(gold, BaselineRequest("v1", ["bm25"], tmp_path / "runs", depth=5))
    [run] = written.runs
    found = read_run(run.file)
    assert found.keys() == {f"q-{topic}" for topic in TOPICS}
    assert {row[0] for row in found["q-violin"]} == {"violin-1", "violin-2"}
    assert all([rank for _, rank, _ in rows] == list(range(1, len(rows) + 1)) for rows in found.values())
    sidecar = json.loads(run.file.with_suffix(".json").read_text())
    assert sidecar["release_id"] == written.release_id
    assert (sidecar["settings"]["formula"], sidecar["settings"]["k1"]) == ("lucene", 1.5)
    assert sidecar["file"]["sha256"] == hashlib.sha256(run.file.read_bytes()).hexdigest()
    assert sidecar["seconds"]["queries"].keys() == found.keys()
    assert all(seconds > 0 for seconds in sidecar["seconds"]["queries"].values())


def test_the_release_is_searched_and_not_the_project(gold: Store, tmp_path: Path) -> None:
    first = write_baselines(gold, BaselineRequest("v1", ["bm25"], tmp_path / "before")).runs[0]
    rows = [*documents()[2:], {"id": "new", "title": "violin violin", "text": "violin", "url": "u"}]
    import_corpus(gold, write_corpus(tmp_path / "other.jsonl", rows))
    again = write_baselines(gold, BaselineRequest("v1", ["bm25"], tmp_path / "after")).runs[0]
    assert again.file.read_bytes() == first.file.read_bytes()


def test_runs_need_no_reason_and_open_no_seal(gold: Store, tmp_path: Path) -> None:
    written = write_baselines(gold, BaselineRequest("v1", ["bm25"], tmp_path / "runs", part="test"))
    with gold.reading() as cursor:
        assert read_openings(cursor, written.release_id) == []
    assert 0 < written.queries < len(TOPICS)


def test_tools_see_the_order_of_the_file_where_scores_are_equal(gold: Store, tmp_path: Path) -> None:
    """trec_eval breaks ties by document id from behind: without strictly falling scores it would win here."""
    hits = [Hit("a", 2.5), Hit("b", 2.5), Hit("c", 2.5), Hit("d", 1.0)]
    path = tmp_path / "run.trec"
    path.write_text("\n".join(write_run_lines("q", hits, "x", {name: name for name in "abcd"})) + "\n")
    with path.open() as file:
        run = pytrec_eval.parse_run(file)
    evaluators = [pytrec_eval.RelevanceEvaluator({"q": {name: 1}}, {"recip_rank"}) for name in "abcd"]
    ranks = [evaluator.evaluate(run)["q"]["recip_rank"] for evaluator in evaluators]
    assert ranks == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])


@settings(max_examples=examples(60))
@given(st.lists(st.floats(1e-6, 1e6) | st.sampled_from([1.0, 0.5, 1 / 61]), max_size=60))
def test_written_scores_decrease_strictly_and_stay_near(scores: list[float]) -> None:
    scores = sorted(scores, reverse=True)
    written = np.array([np.float32(text) for text in write_decreasing_scores(scores)])
    assert (np.diff(written) < 0).all()
    assert (np.diff([float(text) for text in write_decreasing_scores(scores)]) < 0).all()
    assert written == pytest.approx(scores, rel=1e-5)


def test_queries_without_a_result_are_counted_with_the_reason_and_ids_are_those_of_the_trec_export(
    tmp_path: Path,
) -> None:
    store = awkward(tmp_path)
    written = write_baselines(store, BaselineRequest("v1", ["bm25"], tmp_path / "runs"))
    store.close()
    [run] = written.runs
    assert run.empty == {"no word of the query occurs in the corpus": 1}
    assert read_run(run.file).keys() == {"1"}
    sidecar = json.loads(run.file.with_suffix(".json").read_text())
    assert sidecar["empty"] == run.empty
    assert written.mapped == 4
    assert sidecar["seconds"]["queries"].keys() == {"1", "two%20words"}


def test_files_that_are_there_are_replaced_only_when_asked(gold: Store, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    write_baselines(gold, BaselineRequest("v1", ["bm25"], out, depth=1))
    before = (out / "bm25.trec").read_bytes()
    with pytest.raises(InputError, match=r"already contains bm25\.trec, bm25\.json.*--overwrite"):
        write_baselines(gold, BaselineRequest("v1", ["bm25"], out, depth=5))
    assert (out / "bm25.trec").read_bytes() == before
    write_baselines(gold, BaselineRequest("v1", ["bm25"], out, depth=5, replace=True))
    assert (out / "bm25.trec").read_bytes() != before
    assert sorted(path.name for path in tmp_path.glob("*runs*")) == ["runs"]


def test_nothing_is_left_where_the_runs_cannot_be_written(gold: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="could not be written"):
        write_baselines(gold, BaselineRequest("v1", ["bm25"], tmp_path / "file" / "runs"))
    with pytest.raises(InputError, match="expected a folder"):
        write_baselines(gold, BaselineRequest("v1", ["bm25"], tmp_path / "file"))
    assert not list(tmp_path.glob(".*new*"))


def test_all_that_is_wrong_with_the_request_is_named(gold: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        write_baselines(gold, BaselineRequest("v1", ["run:ours"], tmp_path / "runs", depth=0))
    assert len(caught.value.problems) == 2
    with pytest.raises(InputError, match="no part 'train'; it has dev, test"):
        write_baselines(gold, BaselineRequest("v1", ["bm25"], tmp_path / "runs", part="train"))


def test_an_altered_document_is_not_searched(gold: Store, tmp_path: Path) -> None:
    with gold.transaction() as cursor:
        cursor.execute("UPDATE documents SET body = 'other' WHERE document_id = 'violin-1'")
    with pytest.raises(RefusedError, match=r"violin-1.*goldgrade verify v1"):
        write_baselines(gold, BaselineRequest("v1", ["bm25"], tmp_path / "runs"))


@pytest.mark.costly("the first test of a run that uses it loads the embedding model")
def test_dense_and_hybrid_are_written_with_the_same_bytes_each_time(
    gold: Store, tmp_path: Path, embedding_model: None
) -> None:
    systems = ["hybrid", "dense", "bm25"]
    one, two = (
        write_baselines(gold, BaselineRequest("v1", systems, tmp_path / name)) for name in ("one", "two")
    )
    assert [run.system for run in one.runs] == ["bm25", "dense", "hybrid"]
    assert [run.file.read_bytes() for run in one.runs] == [run.file.read_bytes() for run in two.runs]
    assert {row[0] for row in read_run(one.runs[2].file)["q-glacier"][:2]} == {"glacier-1", "glacier-2"}


def test_embeddings_of_chunks_are_kept_in_the_project(
    gold: Store, tmp_path: Path, embedding_model: None
) -> None:
    stored = []
    for folder in ("one", "two"):
        write_baselines(gold, BaselineRequest("v1", ["dense"], tmp_path / folder, chunks=["3/1"]))
        stored.append(rows_of(gold, "SELECT count(*) FROM embeddings WHERE model = ?", DEFAULT_MODEL)[0][0])
    assert stored[0] == stored[1] > len(documents())


def test_why_a_query_finds_no_chunk_is_said_of_chunks() -> None:
    texts = [
        Document(f"d#{at}-9", "", "", text) for at, text in enumerate(("red shoes", "blue shoes", "hat"))
    ]
    searched = ChunkedSystem(Bm25(texts), "sentence", {})
    assert searched.search([Query("q", "shoes", "shoes", "written")], 5)[0]
    assert searched.explain_no_hits(Query("q", "boots", "boots", "written")) == (
        "no word of the query occurs in the corpus"
    )


def test_systems_search_the_chunks_of_each_splitter_and_evaluate_reads_them(
    gold: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    written = write_baselines(
        gold, BaselineRequest("v1", ["bm25"], folder, depth=9, chunks=["3/1", "sentence"])
    )
    assert [run.file.name for run in written.runs] == ["bm25-3-1.csv", "bm25-sentence.csv"]
    again = write_baselines(
        gold, BaselineRequest("v1", ["bm25"], tmp_path / "again", depth=9, chunks=["3/1", "sentence"])
    )
    assert [run.sha256 for run in again.runs] == [run.sha256 for run in written.runs]
    settings = json.loads(written.runs[0].file.with_suffix(".json").read_text())["settings"]
    assert (settings["splitter"], settings["chunks"] > len(documents())) == ("3/1", True)
    release = read_release(gold, "v1")
    run = evaluated_run(SystemFile("run", written.runs[0].file), release)
    assert run.rows.chunks is not None
    bodies = {row["id"]: row["text"] for row in documents()}
    for line in csv.DictReader(written.runs[0].file.read_text(encoding="utf-8").splitlines()):
        chunk = bodies[line["document_id"]][int(line["start"]) : int(line["end"])]
        assert 1 <= len(chunk.split()) <= 3
