"""Exports in the forms of search engines, labeling tools and benchmarks of answers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from curation.ingest.importers.judgments import JudgmentFile
from curation.ingest.importers.reference_answers import import_answers
from curation.ingest.readers.fields import JudgmentFields
from curation.releases.frozen_release import load_release
from curation.store import Rehearsal, Store
from tests.support.gold_project import Qrels, export
from tests.support.projects import per_module
from tests.support.sampled_release import sampled_release

gold = per_module(sampled_release)


@cache
def rows(store: Store, part: str) -> list[dict[str, Any]]:
    """The rows of a part of the release."""
    return load_release(store, "v1").rows(part)


def graded(store: Store) -> Qrels:
    """The grades of the part dev."""
    inside = {row["query_id"] for row in rows(store, "queries") if row["part"] == "dev"}
    found: Qrels = {}
    for row in rows(store, "qrels"):
        if row["query_id"] in inside:
            found.setdefault(row["query_id"], {})[row["document_id"]] = row["grade"]
    return found


def texts(store: Store) -> dict[str, str]:
    return {row["query_id"]: row["text"] for row in rows(store, "queries")}


def exported(store: Store, folder: Path, format: str, name: str) -> Any:
    """What is in a file of JSON, or of JSON lines."""
    export(store, "v1", format, folder / "out")
    text = (folder / "out" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)


def test_a_body_of_rank_eval_has_rated_documents_and_a_template_for_its_queries(
    gold: Store, tmp_path: Path
) -> None:
    body = exported(gold, tmp_path, "rank-eval", "dev.json")
    assert body.keys() == {"templates", "metric", "requests"}
    (template,) = body["templates"]
    assert "{{query}}" in json.dumps(template["template"]["inline"])
    assert {request["template_id"] for request in body["requests"]} == {template["id"]}
    found = {
        one["id"]: {rated["_id"]: rated["rating"] for rated in one["ratings"]} for one in body["requests"]
    }
    assert found == graded(gold)
    assert all(one["params"] == {"query": texts(gold)[one["id"]]} for one in body["requests"])
    assert {rated["_index"] for one in body["requests"] for rated in one["ratings"]} == {"corpus"}


def test_tasks_of_label_studio_fit_the_interface_beside_them(gold: Store, tmp_path: Path) -> None:
    tasks = exported(gold, tmp_path, "label-studio", "dev.json")
    view = ElementTree.fromstring((tmp_path / "out" / "config.xml").read_text(encoding="utf-8"))
    (choices,), (shown,) = view.findall("Choices"), view.findall("Text")
    offered = {choice.get("value") for choice in choices}
    variables = {value[1:] for tag in view for value in tag.attrib.values() if value.startswith("$")}
    found: Qrels = {}
    for task in tasks:
        assert variables <= task["data"].keys()
        ((result,),) = [annotation["result"] for annotation in task["annotations"]]
        assert result["from_name"] == choices.get("name")
        assert result["to_name"] == choices.get("toName") == shown.get("name")
        (grade,) = result["value"][result["type"]]
        assert grade in offered
        found.setdefault(task["data"]["query_id"], {})[task["data"]["document_id"]] = int(grade)
    assert found == graded(gold)


def relevant(store: Store) -> dict[str, list[str]]:
    """Query → its relevant documents, best first."""
    return {
        query: [name for name in sorted(grades, key=lambda name: (-grades[name], name)) if grades[name]]
        for query, grades in graded(store).items()
    }


def answers(store: Store) -> dict[str, str]:
    return {row["query_id"]: row["answers"][0] for row in rows(store, "answers")}


def document_text(name: str) -> str:
    return f'Title {name}\nSaid “{name}”,\nor "so"'


def test_samples_of_ragas_have_the_reference_and_its_contexts(gold: Store, tmp_path: Path) -> None:
    samples = exported(gold, tmp_path, "ragas", "dev.jsonl")
    assert samples == [
        {
            "user_input": texts(gold)[query],
            "reference": answers(gold).get(query),
            "reference_contexts": list(map(document_text, names)),
            "reference_context_ids": names,
        }
        for query, names in sorted(relevant(gold).items())
    ]
    assert None in [sample["reference"] for sample in samples]
    assert [] in [sample["reference_contexts"] for sample in samples]


def test_goldens_of_deepeval_have_the_expected_output_and_its_context(gold: Store, tmp_path: Path) -> None:
    assert exported(gold, tmp_path, "deepeval", "dev.json") == [
        {
            "input": texts(gold)[query],
            "expected_output": answers(gold).get(query),
            "context": list(map(document_text, names)),
            "additional_metadata": {"query_id": query, "document_ids": names},
        }
        for query, names in sorted(relevant(gold).items())
    ]


def test_examples_of_langsmith_have_inputs_outputs_and_their_split(gold: Store, tmp_path: Path) -> None:
    assert exported(gold, tmp_path, "langsmith", "dev.jsonl") == [
        {
            "inputs": {"question": texts(gold)[query]},
            "outputs": {
                "answer": answers(gold).get(query),
                "documents": [{"id": name, "text": document_text(name)} for name in names],
            },
            "metadata": {"query_id": query},
            "split": "dev",
        }
        for query, names in sorted(relevant(gold).items())
    ]


@pytest.mark.parametrize(
    ("format", "name"), [("rank-eval", "dev.json"), ("ratings", "dev.csv"), ("label-studio", "dev.json")]
)
def test_grades_come_back_as_they_went_out(gold: Store, tmp_path: Path, format: str, name: str) -> None:
    export(gold, "v1", format, tmp_path / "out")
    found: Qrels = {}
    for row in JudgmentFile(gold, tmp_path / "out" / name, JudgmentFields(annotator_name="x")).judgments:
        found.setdefault(row.query_id, {})[row.document_id] = row.grade or 0
    assert found == graded(gold)


@pytest.mark.parametrize(
    ("format", "name"), [("langsmith", "dev.jsonl"), ("ragas", "dev.jsonl"), ("deepeval", "dev.json")]
)
def test_reference_answers_come_back_as_they_went_out(
    gold: Store, tmp_path: Path, format: str, name: str
) -> None:
    export(gold, "v1", format, tmp_path / "out")
    imported = import_answers(Rehearsal(gold), tmp_path / "out" / name)
    assert (imported.new, imported.changed, imported.unchanged) == (0, 0, imported.queries)
