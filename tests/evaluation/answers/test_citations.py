"""Citations of answers: their places as files say them, and their precision and recall by people's marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curation.core.errors import InputError
from curation.evaluation.answers.citations import parse_citations, score_citations
from curation.evaluation.answers.evaluate_answers import evaluate_answers
from curation.evaluation.evaluation import AnsweringSystem
from curation.evaluation.scoring.run_chunks import ChunkLocation
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.scoring.system_runs import ReadingOptions
from curation.store import Store
from tests.evaluation.answers.test_evaluate_answers import jsonl, part
from tests.support.command_line import invoke
from tests.support.marking import frozen_marks
from tests.support.projects import per_test

project = per_test(frozen_marks)
"""In each TOPIC-1 the characters 4 to 9 are evidence; no query has reference answers."""


def scored(store: Store, folder: Path, cites: list[object], **options: Any) -> AnsweringSystem:
    """A file whose lines are answers to the first queries of dev, each with what it cites."""
    rows = [
        {"query_id": f"q-{topic}", "answer": "Yes.", "citations": cited}
        for topic, cited in zip(part(store, "dev"), cites, strict=False)
    ]
    source = SystemFile("new", jsonl(folder / "new.jsonl", rows))
    (system,) = evaluate_answers(store, "v1", [source], **options).systems
    return system


def test_scores_are_those_of_a_worked_example() -> None:
    """Evidence in the documents a and b; a chunk beside it, one on it, and all of a third document."""
    marked = {"q": {"a": [(10, 20), (40, 50)], "b": [(0, 5)]}, "silent": {"a": [(0, 1)]}}
    cited = {
        "q": frozenset([ChunkLocation("a", 20, 40), ChunkLocation("a", 0, 11), ChunkLocation("c", 0, 99)])
    }
    precision, recall = score_citations(["q", "silent", "bare"], cited, marked).values()
    assert precision.tolist()[:2] == [pytest.approx(1 / 3), 0]
    assert recall.tolist()[:2] == [0.5, 0]
    assert np.isnan([precision[2], recall[2]]).all(), "no evidence, no value"


def test_citations_are_chunks_documents_or_objects_and_one_that_is_there_twice_counts_once(
    project: Store, tmp_path: Path
) -> None:
    one, two, three, _ = part(project, "dev")
    cites: list[object] = [
        [f"{one}-1#0-9", f"{one}-2", {"doc_id": f"{one}-1", "start": 0, "end": 9}],
        f"{two}-1",
        [{"doc_id": f"{three}-1", "start": 9, "end": 12}],
    ]
    system = scored(project, tmp_path, cites)
    assert system.per_query["citation_precision"] == (0.5, 1, 0, 0), "the last query has no answer"
    assert system.per_query["citation_recall"] == (1, 1, 0, 0)
    assert system.overall["citation_recall"].n == 4
    assert (system.answered, system.missing) == (3, 1)
    assert system.overall["exact_match"].value is None


def test_an_index_s_own_names_are_those_of_a_map(project: Store, tmp_path: Path) -> None:
    one = part(project, "dev")[0]
    chunks = tmp_path / "chunks.csv"
    chunks.write_text(f"chunk_id,document_id,start,end,content_hash\nc7,{one}-1,4,6,\n", encoding="utf-8")
    system = scored(project, tmp_path, [["c7"]], reading=ReadingOptions(chunk_map=chunks))
    assert system.overall["citation_recall"].value == 1 / 4


def test_the_command_says_how_well_a_system_cites(project: Store, tmp_path: Path) -> None:
    topics = part(project, "dev")
    rows = [{"query_id": f"q-{topic}", "answer": "Yes.", "sources": [f"{topic}-1"]} for topic in topics]
    answers = jsonl(tmp_path / "new.jsonl", rows)
    project.close()
    asked = ["--project", str(project.path), "evaluate", "v1", "--answers", f"new={answers}"]
    asked += ["--map", "citation=sources"]
    shown = invoke(asked, catch_exceptions=False).stdout
    assert "4 of 4 queries have evidence." in shown
    assert "new: citation_precision 1.000" in shown
    assert "exact_match" not in shown, "nobody wrote a reference answer"


def test_what_cannot_be_cited_is_named_with_its_line(project: Store, tmp_path: Path) -> None:
    one, two, three, _ = part(project, "dev")
    unknown: list[object] = [[f"{one}-1"], ["moon"], [f"{three}-1#-1-3"]]
    with pytest.raises(InputError) as found:
        scored(project, tmp_path, unknown)
    assert "line 2: cites 'moon', but the release has no such document or chunk" in str(found.value)
    assert f"line 3: cites '{three}-1#-1-3'" in str(found.value)
    with pytest.raises(
        InputError, match=f"line 2: the chunk 3-400 of document '{two}-1' is outside its text"
    ):
        scored(project, tmp_path, [[f"{one}-1"], [f"{two}-1#3-400"]])


def test_a_cell_of_a_table_holds_the_same_as_a_list() -> None:
    assert parse_citations('["a", {"document_id": "b", "start": 1, "end": 2.0}]') == ["a", "b#1-2"]
    assert parse_citations("a") == ["a"]
    assert parse_citations(None) == []
