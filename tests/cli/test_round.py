"""`goldgrade round`, `practice` and `guide`, as a lead types them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from curation.store import Store
from tests.support.projects import add_names, add_pairs, built_once, decide_pairs, grade_next, grid

pytestmark = pytest.mark.slow


@built_once
def project(store: Store) -> Store:
    add_pairs(store, grid(12, 5))
    add_names(store, "ada", "grace", "joan", "mary")
    return store


def test_a_round_is_opened_paused_shared_and_closed_by_command(project: Store, goldgrade: Any) -> None:
    goldgrade("round", "open", "first", "--annotators", "ada,grace", "--per-day", "30", "--seed", "1")
    assert "first is paused; 1" in goldgrade("round", "set", "first", "paused", "--reason", "rest")
    assert "paused" in goldgrade("round", "status")
    assert "first is open; 1" in goldgrade("round", "set", "first", "open")
    moved = json.loads(goldgrade("round", "move", "first", "--from", "ada", "--to", "joan", "--json"))
    assert (moved["moved"], moved["kept"]) == (60, 0)
    extended = goldgrade("round", "move", "first", "--join", "mary")
    assert "pairs of first moved to mary" in extended
    grade_next(project, "joan", 100)
    goldgrade("round", "set", "first", "closed")
    assert "(labeling, closed)" in goldgrade("round", "status", "first")
    assert "first is open" in goldgrade("round", "set", "first", "open")


def test_a_pilot_is_opened_by_command(project: Store, goldgrade: Any) -> None:
    goldgrade("round", "open", "pilot", "--pilot", "--queries", "4", "--annotators", "ada,grace")
    assert "agreement --round pilot --breakdown boundary" in goldgrade("round", "status", "pilot")


def test_control_items_and_practice_by_command(project: Store, goldgrade: Any) -> None:
    goldgrade("round", "open", "earlier", "--annotators", "mary", "--overlap", "1", "--duplicates", "0")
    grade_next(project, "mary", 60)
    decide_pairs(project, {(f"query {q}", f"document {q}.{d}"): 1 for q in range(12) for d in range(5)})
    add_pairs(project, {f"fresh {n}": [f"f{n}.{d}" for d in range(5)] for n in range(8)})
    goldgrade("round", "open", "first", "--annotators", "ada,grace", "--control-items", "0.1")
    assert "Control items" in goldgrade("round", "status", "first")
    assert "a pass mark of 80\u00a0%" in goldgrade(
        "practice", "welcome", "--annotators", "ada,grace", "--queries", "2"
    )
    grade_next(project, "ada", 10, grade=3)
    assert "not passed" in goldgrade("practice", "welcome")
    again = json.loads(goldgrade("practice", "welcome", "--retry", "ada", "--json"))
    assert again["state"]["passed"] is None
    assert "can now grade real items" in goldgrade(
        "practice", "welcome", "--pass", "ada", "--reason", "talked"
    )
    assert "let pass" in goldgrade("practice", "welcome")
