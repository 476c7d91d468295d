"""`goldgrade round`, `practice` and `guide`, as a lead types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from curation.store import Store
from tests.support import ROOT
from tests.support.projects import add_names, add_pairs, built_once, decide_pairs, grade_next, grid


@built_once
def project(store: Store) -> Store:
    add_pairs(store, grid(12, 5))
    add_names(store, "ada", "grace", "joan", "mary")
    return store


def test_a_round_is_opened_paused_shared_and_closed_by_command(project: Store, goldgrade: Any) -> None:
    told = goldgrade("round", "open", "first", "--annotators", "ada,grace", "--per-day", "30", "--seed", "1")
    assert "How far apart the two showings of blind duplicates are" in told
    assert "first is paused; 1" in goldgrade("round", "pause", "first", "--reason", "rest")
    assert "paused" in goldgrade("round", "list")
    assert "first is resumed" in goldgrade("round", "resume", "first")
    moved = json.loads(goldgrade("round", "reassign", "first", "--from", "ada", "--to", "joan", "--json"))
    assert (moved["moved"], moved["kept"]) == (60, 0)
    extended = goldgrade("round", "extend", "first", "--annotators", "mary", "--no-candidates")
    assert "pairs moved to those who joined" in extended
    grade_next(project, "joan", 100)
    goldgrade("round", "close", "first")
    assert "(labeling, closed)" in goldgrade("round", "status", "first")
    assert "is open again" in goldgrade("round", "reopen", "first")


def test_control_items_and_practice_by_command(project: Store, goldgrade: Any) -> None:
    goldgrade("round", "open", "earlier", "--annotators", "mary", "--overlap", "1", "--duplicates", "0")
    grade_next(project, "mary", 60)
    decide_pairs(project, {(f"query {q}", f"document {q}.{d}"): 1 for q in range(12) for d in range(5)})
    add_pairs(project, {f"fresh {n}": [f"f{n}.{d}" for d in range(5)] for n in range(8)})
    goldgrade("round", "open", "first", "--annotators", "ada,grace", "--control-items", "0.1")
    assert "Control items" in goldgrade("round", "status", "first")
    assert "pass mark 80\u00a0%" in goldgrade(
        "practice", "open", "welcome", "--annotators", "ada,grace", "--queries", "2"
    )
    grade_next(project, "ada", 10, grade=3)
    assert "not passed" in goldgrade("practice", "status", "welcome")
    again = json.loads(goldgrade("practice", "again", "welcome", "--annotator", "ada", "--json"))
    assert again["state"]["passed"] is None
    assert "gets real items" in goldgrade(
        "practice", "pass", "welcome", "--annotator", "ada", "--reason", "talked"
    )
    assert "let pass" in goldgrade("practice", "status", "welcome")


def test_a_pilot_and_the_guide_revised_after_it(project: Store, goldgrade: Any, tmp_path: Path) -> None:
    goldgrade("round", "open", "pilot", "--pilot", "--queries", "4", "--annotators", "ada,grace")
    grade_next(project, "ada", 20, grade=0)
    grade_next(project, "grace", 20, grade=1)
    told = goldgrade("round", "pilot", "pilot")
    assert "On different sides of a boundary" in told
    assert "0 | 1" in told
    shipped = json.loads(goldgrade("guide", "show", "--json"))
    path = tmp_path / "revised.md"
    source = ROOT / "labeling_guides" / "graded-relevance.md"
    path.write_text(source.read_text(encoding="utf-8") + "\nA boundary made clear.\n", encoding="utf-8")
    used = json.loads(goldgrade("guide", "use", str(path), "--json"))
    assert used["changed"]
    assert used["guide_hash"] != shipped["guide_hash"]
    opened = json.loads(goldgrade("round", "open", "real", "--annotators", "ada,grace", "--json"))
    assert (opened["guide_hash"], opened["candidates"]) == (used["guide_hash"], 60)
    assert "A boundary made clear." in goldgrade("guide", "show")
