"""The commands of rounds, practice and guides, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from projects import add_names, add_pairs, decide_pairs, grade_next, grid
from typer.testing import CliRunner

from curation.cli import app
from curation.store import Store


@pytest.fixture
def project(store: Store) -> Store:
    add_pairs(store, grid(12, 5))
    add_names(store, "ada", "grace", "joan", "mary")
    return store


def run(store: Store, *arguments: str) -> str:
    done = CliRunner().invoke(app, ["--project", str(store.path), *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_round_is_opened_paused_shared_and_closed_by_command(project: Store) -> None:
    told = run(
        project, "round", "open", "first", "--annotators", "ada,grace", "--per-day", "30", "--seed", "1"
    )
    assert "Blind duplicates come back after this many presentations" in told
    assert "first is paused; 1" in run(project, "round", "pause", "first", "--reason", "rest")
    assert "paused" in run(project, "round", "list")
    assert "first goes on" in run(project, "round", "resume", "first")
    moved = json.loads(run(project, "round", "reassign", "first", "--from", "ada", "--to", "joan", "--json"))
    assert (moved["moved"], moved["kept"]) == (60, 0)
    extended = run(project, "round", "extend", "first", "--annotators", "mary", "--no-candidates")
    assert "pairs moved to those who joined" in extended
    grade_next(project, "joan", 100)
    assert "(labeling, closed)" in run(project, "round", "close", "first") + run(
        project, "round", "status", "first"
    )
    assert "is open again" in run(project, "round", "reopen", "first")


def test_known_answers_and_practice_by_command(project: Store) -> None:
    run(project, "round", "open", "earlier", "--annotators", "mary", "--overlap", "1", "--duplicates", "0")
    grade_next(project, "mary", 60)
    decide_pairs(project, {(f"query {q}", f"document {q}.{d}"): 1 for q in range(12) for d in range(5)})
    add_pairs(project, {f"fresh {n}": [f"f{n}.{d}" for d in range(5)] for n in range(8)})
    run(project, "round", "open", "first", "--annotators", "ada,grace", "--known", "0.1")
    assert "Known answers" in run(project, "round", "status", "first")
    assert "pass mark 80%" in run(
        project, "practice", "open", "welcome", "--annotators", "ada,grace", "--queries", "2"
    )
    grade_next(project, "ada", 10, grade=3)
    assert "not passed" in run(project, "practice", "status", "welcome")
    again = json.loads(run(project, "practice", "again", "welcome", "--annotator", "ada", "--json"))
    assert again["state"]["passed"] is None
    assert "goes on" in run(
        project, "practice", "pass", "welcome", "--annotator", "ada", "--reason", "talked"
    )
    assert "let pass" in run(project, "practice", "status", "welcome")


def test_a_pilot_and_the_guide_revised_after_it(project: Store, tmp_path: Path) -> None:
    run(project, "round", "open", "pilot", "--pilot", "--queries", "4", "--annotators", "ada,grace")
    grade_next(project, "ada", 20, grade=0)
    grade_next(project, "grace", 20, grade=1)
    told = run(project, "round", "pilot", "pilot")
    assert "Disagreement by grade boundary" in told
    assert "0 | 1" in told
    shipped = json.loads(run(project, "guide", "show", "--json"))
    path = tmp_path / "revised.md"
    source = Path(__file__).resolve().parents[2] / "labeling_guides" / "graded-relevance.md"
    path.write_text(source.read_text(encoding="utf-8") + "\nA boundary made clear.\n", encoding="utf-8")
    used = json.loads(run(project, "guide", "use", str(path), "--json"))
    assert used["changed"]
    assert used["guide_hash"] != shipped["guide_hash"]
    opened = json.loads(run(project, "round", "open", "real", "--annotators", "ada,grace", "--json"))
    assert (opened["guide_hash"], opened["candidates"]) == (used["guide_hash"], 60)
    assert "A boundary made clear." in run(project, "guide", "show")
