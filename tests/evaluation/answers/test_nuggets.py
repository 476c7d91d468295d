"""Nuggets: imported and frozen, graded by people in answers, and scored by the track's definitions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.evaluation.answers.answers_to_grade import write_answers_to_grade
from curation.evaluation.answers.evaluate_answers import evaluate_answers
from curation.evaluation.answers.graded_answers import read_answer_grades
from curation.evaluation.answers.nugget_scores import score_answer
from curation.evaluation.scoring.system_files import SystemFile
from curation.ingest.importers.nuggets import Nugget, import_nuggets, read_nuggets, write_nuggets
from curation.releases.frozen_release import load_release
from curation.store import Store
from tests.evaluation.answers.test_evaluate_answers import graded_project, jsonl, part
from tests.support.freezing import freeze
from tests.support.gold_project import gold_project
from tests.support.projects import add_names, rows_of

FACTS = [Nugget("made of steel", True), Nugget("boils in 3 minutes", True), Nugget("comes in red", False)]


@pytest.fixture
def project(tmp_path: Path) -> Store:
    store = gold_project(tmp_path)
    add_names(store, "rita", role="reviewer")
    return store


def test_scores_are_those_of_a_worked_example() -> None:
    """Two vital nuggets, supported and in part, and an okay one that is not: by hand from the definitions."""
    given = dict(zip([one.make_id("q") for one in FACTS], (1.0, 0.5, 0.0), strict=True))
    scores = score_answer("q", FACTS, "a", {(name, "a"): share for name, share in given.items()})
    by_hand = [1.5 / 3, 1.5 / 2, (1.5 + 0.5 * 0) / 2.5, 1 / 3, 1 / 2, 1 / 2.5]
    assert scores.tolist() == pytest.approx(by_hand)
    assert score_answer("q", FACTS, None, {}).tolist() == [0] * 6
    assert np.isnan(score_answer("q", FACTS, "a", {(FACTS[0].make_id("q"), "a"): 1.0})).all(), (
        "not all graded"
    )
    only_okay = score_answer("q", FACTS[2:], None, {})
    assert np.isnan(only_okay[[1, 4]]).all(), "no vital nugget, no score of them"


def test_a_file_of_rows_and_one_of_lists_say_the_same_and_the_same_again_changes_nothing(
    project: Store, tmp_path: Path
) -> None:
    rows = [
        {"qid": "q-kettle", "nugget": one.text, "importance": "Vital" if one.vital else "okay"}
        for one in FACTS
    ]
    first = import_nuggets(project, jsonl(tmp_path / "rows.jsonl", rows))
    assert (first.queries, first.items, first.new) == (1, 3, 1)
    listed = {
        "qid": "q-kettle",
        "query": "x",
        "nuggets": [{"text": r["nugget"], "importance": r["importance"]} for r in rows],
    }
    again = import_nuggets(project, jsonl(tmp_path / "lists.jsonl", [listed]))
    assert (again.new, again.changed, again.unchanged) == (0, 0, 1)
    with project.reading() as cursor:
        assert read_nuggets(cursor) == {"q-kettle": tuple(FACTS)}


def test_a_file_with_faults_names_each_line_and_takes_nothing(project: Store, tmp_path: Path) -> None:
    rows = [
        {"qid": "q-kettle", "nugget": "fine", "importance": "vital"},
        {"qid": "q-kettle", "nugget": "which", "importance": "high"},
        {"qid": "q-moon", "nugget": "cheese", "importance": "okay"},
        {"qid": "q-kettle", "nugget": "x" * 501, "importance": "okay"},
    ]
    with pytest.raises(InputError) as found:
        import_nuggets(project, jsonl(tmp_path / "rows.jsonl", rows))
    said = str(found.value)
    assert "line 2: the importance of 'which' is 'high'; expected vital or okay" in said
    assert "q-moon" in said
    assert "line 4: a nugget has 501 characters; expected at most 500" in said
    assert rows_of(project, "SELECT count(*) FROM nuggets") == [(0,)]


def test_lists_without_nuggets_are_counted_and_objects_of_another_form_are_named(
    project: Store, tmp_path: Path
) -> None:
    none = [{"qid": "q-kettle", "nuggets": []}]
    with pytest.raises(InputError, match="could be read from the file: 1 empty list of nuggets"):
        import_nuggets(project, jsonl(tmp_path / "none.jsonl", none))
    fact = {"text": "hot", "importance": "vital"}
    bad = [
        {"qid": "q-kettle", "nuggets": [{"txt": "z"}, fact]},
        {"qid": "q-kettle", "nuggets": [{"text": "cold"}]},
        {"qid": "q-kettle", "nuggets": [fact | {"importance": "okay"}]},
    ]
    with pytest.raises(InputError) as found:
        import_nuggets(project, jsonl(tmp_path / "bad.jsonl", bad))
    said = str(found.value)
    assert "line 1: a nugget has 'txt'; expected the nugget's text" in said
    assert "line 2: the importance of 'cold' is ''; expected vital or okay" in said
    assert "--map importance" not in said
    assert "line 3: 'hot' is marked both vital and okay" in said
    some = [*none, {"qid": "q-kettle", "nuggets": [fact, fact, {"text": " "}]}]
    left_out = import_nuggets(project, jsonl(tmp_path / "some.jsonl", some)).left_out
    assert left_out == {"empty list of nuggets": 1, "empty nugget": 1, "repeated nugget": 1}


def test_what_somebody_writes_replaces_all_nuggets_of_the_query(project: Store) -> None:
    assert write_nuggets(project, "q-kettle", FACTS, "rita")
    assert not write_nuggets(project, "q-kettle", FACTS, "rita"), "the same again"
    assert write_nuggets(project, "q-kettle", FACTS[:1], "rita")
    sql = "SELECT revision, len(texts), author FROM nuggets ORDER BY revision"
    assert rows_of(project, sql) == [(0, 3, "rita"), (1, 1, "rita")]
    for wrong, said in (
        ([Nugget(" ", True)], "a nugget is empty"),
        ([FACTS[0], FACTS[0]], "is repeated; keep one"),
        ([Nugget("call ada@example.org", True)], "has personal data"),
    ):
        with pytest.raises(InputError, match=said):
            write_nuggets(project, "q-kettle", wrong, "rita")
    with pytest.raises(NotFoundError, match="no query 'q-moon'"):
        write_nuggets(project, "q-moon", FACTS, "rita")


def test_people_grade_support_of_each_nugget_and_systems_get_the_scores(
    project: Store, tmp_path: Path
) -> None:
    before = freeze(project, "bare").release_id
    topic = part(project, "dev")[0]
    write_nuggets(project, f"q-{topic}", FACTS, "rita")
    assert freeze(project, "v1").release_id != before
    assert [row["vital"] for row in load_release(project, "v1").rows("nuggets")] == [True, True, False]
    answer = [{"query_id": f"q-{topic}", "answer": "It is steel."}]
    new = SystemFile("new", jsonl(tmp_path / "new.jsonl", answer))
    kit = write_answers_to_grade(project, "v1", [new], "support", tmp_path / "kit")
    assert (kit.answers, kit.queries, kit.guide) == (1, 1, "answer-support")
    asked = [json.loads(line) for line in (tmp_path / "kit" / "queries.jsonl").read_text().splitlines()]
    assert asked[0]["text"].startswith("made of steel (")
    grades = dict(zip([row["id"] for row in asked], (2, 1, 0), strict=True))
    graded = graded_project(tmp_path, tmp_path / "kit", "answer-support.md", grades)
    grades = {"support": read_answer_grades("--support", f"{graded}=graded")}
    (system,) = evaluate_answers(project, "v1", [new], grades=grades).systems
    assert system.overall["nuggets_vital"].value == pytest.approx(1.5 / 2)
    assert system.overall["nuggets_weighted_strict"].value == pytest.approx(1 / 2.5)
    assert (system.answered, system.ungraded) == (1, {"support": 0})
    with pytest.raises(RefusedError, match="sealed: its nuggets are not written"):
        write_answers_to_grade(project, "v1", [new], "support", tmp_path / "kit", "test")
