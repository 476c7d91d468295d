"""`goldgrade answers`, as a lead and a reviewer type it; written answers are evaluated as imported ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from curation.store import Store
from tests.support.projects import built_once
from tests.support.written_answers import QUERIES, fill, say

pytestmark = pytest.mark.slow

project = built_once(fill)
MADE, WHEN, *_ = QUERIES


def test_a_task_is_opened_followed_decided_and_closed_by_command(project: Store, goldgrade: Any) -> None:
    told = goldgrade("answers", "open", "faq", "--annotators", "ada,ben", "--query", MADE, "--query", WHEN)
    assert "Opened the answer task faq: 2 queries, 4 answers to write" in told
    say(project, MADE, "faq", ada="a smith", ben="The smith")
    say(project, WHEN, "faq", ada="in May", ben="1912")
    project.close()
    found = json.loads(goldgrade("disputes", "--reference-answers", "--json"))
    assert [(one["task"], one["query_id"]) for one in found["waiting"]] == [("faq", WHEN)]
    shown = goldgrade("answers", "status", "faq", "--query", WHEN, "--as", "rita")
    assert "token F1 0.00, below 0.8" in shown
    assert "ada" not in shown
    decided = goldgrade("decide", WHEN, "--task", "faq", "--pick", "1912", "--reason", "The plate says so")
    assert "Decided: 1912 (decision 1 on this query)." in decided
    status = json.loads(goldgrade("answers", "status", "faq", "--json"))
    assert (status["counts"]["agreed"], status["counts"]["decided"]) == (1, 1)
    assert "All writers agree on 1 of 2 queries with two answers." in goldgrade("answers", "status", "faq")
    assert "faq is closed." in goldgrade("answers", "close", "faq")
    assert "closed" in goldgrade("answers", "status")
    assert "faq is open again." in goldgrade("answers", "open", "faq", "--reopen")
