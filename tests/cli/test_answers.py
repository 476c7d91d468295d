"""`goldgrade answers`, as a lead and a reviewer type it; written answers are evaluated as imported ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from curation.store import Store
from tests.support.gold_project import TOPICS, gold_project
from tests.support.projects import add_names, built_once, rows_of
from tests.support.written_answers import QUERIES, fill, say

project = built_once(fill)
MADE, WHEN, *_ = QUERIES


def test_a_task_is_opened_followed_decided_and_closed_by_command(project: Store, goldgrade: Any) -> None:
    told = goldgrade("answers", "open", "faq", "--annotators", "ada,ben", "--query", MADE, "--query", WHEN)
    assert "Opened the answer task faq: 2 queries, 4 answers to write" in told
    say(project, MADE, "faq", ada="a smith", ben="The smith")
    say(project, WHEN, "faq", ada="in May", ben="1912")
    project.close()
    found = json.loads(goldgrade("answers", "disputes", "--json"))
    assert [(one["task"], one["query_id"]) for one in found["waiting"]] == [("faq", WHEN)]
    shown = goldgrade("answers", "show", "faq", WHEN, "--by", "rita")
    assert "token F1 0.00, below 0.8" in shown
    assert "ada" not in shown
    decided = goldgrade("answers", "decide", "faq", WHEN, "--pick", "1912", "--reason", "The plate says so")
    assert "Decided: 1912 (decision 1 on this query)." in decided
    status = json.loads(goldgrade("answers", "status", "faq", "--json"))
    assert (status["counts"]["agreed"], status["counts"]["decided"]) == (1, 1)
    assert "In 1 of 2 queries with two answers all writers agree." in goldgrade("answers", "status", "faq")
    assert "faq is closed." in goldgrade("answers", "close", "faq")
    assert "closed" in goldgrade("answers", "list")
    assert "faq is open again." in goldgrade("answers", "reopen", "faq")


def test_what_people_wrote_is_released_and_evaluated_as_imported_answers_are(
    tmp_path: Path, goldgrade: Any
) -> None:
    store = gold_project(tmp_path)
    add_names(store, "ada", "ben")
    options = ["--project", str(store.path)]
    goldgrade(*options, "answers", "open", "faq", "--annotators", "ada,ben")
    for topic in TOPICS[:4]:
        say(store, f"q-{topic}", "faq", ada=f"the {topic}", ben=topic)
    say(store, "q-origami", "faq", ada=None, ben=None)
    store.close()
    goldgrade(*options, "freeze", "v1")
    answers = tmp_path / "new.jsonl"
    rows = ({"query_id": f"q-{topic}", "answer": topic} for topic in TOPICS)
    answers.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    asked = [*options, "evaluate", "v1", "--answers", f"new={answers}", "--json"]
    found = json.loads(goldgrade(*asked))["answers"]
    assert found["systems"][0]["overall"]["exact_match"]["value"] == 1
    with_references = "SELECT list(query_id) FROM current_reference_answers"
    assert sorted(rows_of(store, with_references)[0][0]) == sorted(f"q-{topic}" for topic in TOPICS[:4])
    in_dev = rows_of(store, "SELECT query_id FROM split_assignments WHERE part = 'dev'")
    expected = {f"q-{topic}" for topic in TOPICS[:4]} & {row[0] for row in in_dev}
    assert found["with_references"] == len(expected) > 0
