"""`goldgrade guide`: versions, differences, what putting one in force means, and answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curation.guides.guide_text import parse_guide
from curation.guides.questions import ask_about_item, list_readable_questions
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.store import Store
from tests.support import ROOT
from tests.support.projects import add_names, add_pairs, built_once, grade_next, grid

SHIPPED = (ROOT / "labeling_guides" / "graded-relevance.md").read_text(encoding="utf-8")


@built_once
def working(store: Store) -> Store:
    add_pairs(store, grid(2, 2))
    add_names(store, "ada")
    open_round(store, RoundRequest("first", ["ada"], overlap=1, duplicates=0))
    grade_next(store, "ada", grade=3)
    ask_about_item(store, "ada", "Do parts count?")
    return store


@pytest.mark.slow
def test_a_revision_is_compared_tried_and_put_in_force_with_its_reason(
    working: Store, goldgrade: Any, tmp_path: Path
) -> None:
    old = json.loads(goldgrade("guide", "show", "--json"))["guide_hash"]
    path = tmp_path / "revised.md"
    path.write_text(goldgrade("guide", "show", "--source").replace("name: Useful", "name: In part"))
    assert path.read_text() == SHIPPED.replace("name: Useful", "name: In part")
    assert "Grade 2, “Useful”, is “In part” now." in goldgrade(
        "guide", "show", str(path), "--against", old[:8]
    )
    tried = json.loads(goldgrade("guide", "use", str(path), "--dry-run", "--json"))
    assert [(one["round"], one["open_items"]) for one in tried["rounds"]] == [("first", 3)]
    assert "keep: Annotators see no change" in goldgrade("guide", "use", str(path), "--dry-run")
    assert json.loads(goldgrade("guide", "show", "--json"))["guide_hash"] == old
    goldgrade("guide", "use", str(path), "--open-rounds", "keep", "--reason", "Clearer")
    now, before = json.loads(goldgrade("guide", "show", "--versions", "--json"))["versions"]
    assert (now["in_force"], now["reason"], before["guide_hash"], before["answers"]) == (
        True,
        "Clearer",
        old,
        1,
    )
    assert "Useful (key 2)" in goldgrade("guide", "show", old[:8])


def test_a_guide_that_asks_for_evidence_is_printed_for_editing(working: Store, goldgrade: Any) -> None:
    asked = parse_guide(goldgrade("guide", "show", "--source", "--evidence-from", "2"))
    assert (asked.evidence and asked.evidence.ask, asked.takes_evidence(2), asked.takes_evidence(1)) == (
        "optional",
        True,
        False,
    )


def test_an_answer_by_command_is_read_by_annotators(working: Store, goldgrade: Any) -> None:
    (question,) = json.loads(goldgrade("guide", "show", "--questions", "--json"))["questions"]
    assert "Everyone can now read the answer" in goldgrade(
        "guide", "answer", question["question_id"][:8], "Yes."
    )
    assert "Yes." in goldgrade("guide", "show", "--questions")
    assert [one.answer for one in list_readable_questions(working, "ada")] == ["Yes."]
