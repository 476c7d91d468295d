"""Queries that a model has seen in training: found in files, kept with releases, a breakdown of scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.core.errors import InputError, RefusedError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile
from curation.people.accounts import add_annotator
from curation.queries.contamination import ContaminationReport, check_contamination, read_passages
from curation.releases.frozen_release import load_release
from curation.store import Store
from tests.support.evaluated_project import (
    QUERIES,
    evaluated_project,
    query,
    ranked,
    sealed_queries,
    write_run,
)
from tests.support.freezing import freeze
from tests.support.pool_project import judge, put_texts
from tests.support.projects import PASSWORD, built_once

TEXTS = {
    "pump": "The pump of the cellar needs new oil each spring, and a filter once in three years or earlier.",
    "roof": "Tiles of the roof are checked after storms by two people with ropes, ladders and much patience.",
    "well": "Nobody drinks from the well.",
}
ASKED = {
    "q1": "how often does the pump need oil",
    "q2": "who checks the roof tiles",
    "q3": "is the well safe",
}


def fill(store: Store) -> Store:
    folder = store.path.parent
    put_texts(store, folder, TEXTS, ASKED)
    judge(store, folder, {("q1", "pump"): 2, ("q2", "roof"): 2, ("q3", "well"): 0})
    with store.transaction() as cursor:
        row = ["q3", ["only for cattle and for washing"]]
        cursor.execute("INSERT INTO reference_answers VALUES (?, 0, ?, 'f', now()::TIMESTAMP)", row)
    return store


project = built_once(fill)


def found(report: ContaminationReport) -> dict[tuple[str, str], float]:
    return {text[:2]: round(value, 2) for text, value in report.found}


CHAT = {"messages": [{"role": "user", "content": "Question: who checks the roof tiles?\nAnswer briefly."}]}


def write(path: Path, texts: list[Any]) -> Path:
    """The texts in the form that the name of the file asks for."""
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"training": [json.dumps(text) for text in texts]}), path)
    elif path.suffix == ".txt":
        path.write_text("\n\n".join(text if isinstance(text, str) else json.dumps(text) for text in texts))
    else:
        rows = [text if isinstance(text, dict) else {"text": text} for text in texts]
        path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.parametrize("name", ["train.jsonl", "train.parquet", "train.txt"])
def test_queries_answers_and_documents_are_found_exactly_and_nearly(
    project: Store, tmp_path: Path, name: str
) -> None:
    near = TEXTS["pump"].replace("or earlier", "or less")
    texts = [
        CHAT,
        "Prompt: " * 3,
        near,
        "It is only for cattle and for washing, they say.",
        "how often does pump need oil",
    ]
    report = check_contamination(project, write(tmp_path / name, texts))
    values = found(report)
    assert values.keys() == {("q1", "query"), ("q1", "document"), ("q2", "query"), ("q3", "answer")}
    assert values["q2", "query"] == values["q3", "answer"] == 1
    assert 0.65 <= values["q1", "query"] < 1
    assert 0.8 <= values["q1", "document"] < 1
    counts = "3 of 3 queries; 2 texts match exactly. Matches: 2 by query, 1 by answer, 1 by document."
    assert report.sentences == [f"{name} contains texts of {counts}"]


def test_a_file_without_them_and_one_that_cannot_be_read(project: Store, tmp_path: Path) -> None:
    report = check_contamination(project, write(tmp_path / "other.txt", ["nothing of this project"]))
    assert found(report) == {}
    with pytest.raises(InputError, match="cannot be read"):
        check_contamination(project, tmp_path / "none.txt")
    with pytest.raises(InputError):
        list(read_passages(write(tmp_path / "broken.jsonl", [])))
    add_annotator(project, "ann", "annotator", PASSWORD)
    with pytest.raises(RefusedError):
        check_contamination(project, tmp_path / "other.txt", "ann")


@pytest.mark.slow
def test_a_release_keeps_it_and_an_evaluation_is_divided_by_it(tmp_path: Path) -> None:
    store = evaluated_project(tmp_path)
    sealed = sealed_queries(store)
    texts = [query(number).text for number in range(0, QUERIES, 2)]
    with store.reading() as cursor:
        sql = "SELECT body FROM documents WHERE document_id = ?"
        bodies = [cursor.execute(sql, [f"d{name[1:]}.0"]).fetchall()[0][0] for name in sealed]
    report = check_contamination(store, write(tmp_path / "tuned.jsonl", [*texts, *bodies]))
    assert report.sealed == len(sealed)
    assert {text.what for text, _ in report.found if text.query_id in sealed} <= {"query"}
    freeze(store, "v2")
    rows = {row["query_id"]: row for row in load_release(store, "v2").rows("queries")}
    assert rows["q0"]["contamination"] == [{"file": "tuned.jsonl", "what": "query", "similarity": 1.0}]
    assert rows["q1"]["contamination"][0]["similarity"] == 0.0
    assert "contamination" not in load_release(store, "v1").rows("queries")[0]
    run = write_run(tmp_path / "a.trec", ranked("a"))
    evaluation = evaluate_runs(
        store, "v2", [SystemFile("a", run)], EvaluateRequest("v2", "dev", by=("contamination",))
    )
    counts = {name: one.queries for name, one in evaluation.runs[0].strata["contamination"].items()}
    assert counts.keys() == {"in training data", "not in training data"}
    assert sum(counts.values()) == evaluation.queries
    store.close()


def test_what_a_newer_seal_closes_stays_out_of_the_release(tmp_path: Path) -> None:
    store = evaluated_project(tmp_path)
    closed, *_ = sealed_queries(store)
    with store.transaction() as cursor:  # compared before the split sealed the query
        row = [closed, "f.txt", "h", "document", "d", 1.0, "lee"]
        cursor.execute("INSERT INTO contamination VALUES (?, ?, ?, ?, ?, ?, ?, now()::TIMESTAMP)", row)
    freeze(store, "v2")
    rows = {row["query_id"]: row for row in load_release(store, "v2").rows("queries")}
    assert rows[closed]["contamination"] == []
    store.close()
