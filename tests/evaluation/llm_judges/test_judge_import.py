"""Judgments of a judge that is not a person: kept, corrected, and never counted as anybody's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curation.core.errors import InputError, RefusedError
from curation.evaluation.llm_judges.judge_import import JudgeImport, import_judge
from curation.evaluation.llm_judges.judge_judgments import list_judges, read_judge_judgments
from curation.guides.guide import store_guide
from curation.guides.guide_text import read_guide
from curation.ingest.readers.fields import JudgmentFields
from curation.store import Store
from tests.support import ROOT
from tests.support.command_line import invoke
from tests.support.gold_project import TOPICS, gold_project
from tests.support.llm_judge import write_grades
from tests.support.projects import add_names, add_pairs, built_once, change_text, grid, rows_of


def pairs(store: Store) -> Store:
    add_pairs(store, grid(1, 2))
    return store


project = built_once(pairs)
BINARY = ROOT / "labeling_guides" / "binary-relevance.md"
A, B = ("query 0", "document 0.0"), ("query 0", "document 0.1")


def said(store: Store, judge: str = "llm") -> dict[tuple[str, str], int | None]:
    with store.reading() as cursor:
        return {(row.query_id, row.document_id): row.grade for row in read_judge_judgments(cursor, judge)}


def changes(result: JudgeImport) -> tuple[int, int, int]:
    return result.judgments, result.changed, result.unchanged


def test_the_same_file_again_changes_nothing(project: Store, tmp_path: Path) -> None:
    file = write_grades(tmp_path / "llm.csv", {A: 3, B: "cannot tell"})
    assert changes(import_judge(project, file, "llm")) == (2, 0, 0)
    before = rows_of(project, "FROM judge_judgments ORDER BY ALL")
    assert changes(import_judge(project, file, "llm")) == (0, 0, 2)
    assert rows_of(project, "FROM judge_judgments ORDER BY ALL") == before
    assert said(project) == {A: 3, B: None}


def test_a_file_then_another_then_the_first_ends_in_the_first(project: Store, tmp_path: Path) -> None:
    one, other = write_grades(tmp_path / "a.csv", {A: 3}), write_grades(tmp_path / "b.csv", {A: 0})
    for file in (one, other, one):
        import_judge(project, file, "llm")
    assert said(project) == {A: 3}
    assert rows_of(project, "SELECT revision, grade, source FROM judge_judgments ORDER BY revision") == [
        (0, 3, "a.csv"),
        (1, 0, "b.csv"),
        (2, 3, "a.csv"),
    ]


def test_judges_are_kept_apart_by_name(project: Store, tmp_path: Path) -> None:
    import_judge(project, write_grades(tmp_path / "a.csv", {A: 3, B: 0}), "org/model:8b")
    import_judge(project, write_grades(tmp_path / "b.csv", {A: 1}), "llm")
    assert said(project) == {A: 1}
    with project.reading() as cursor:
        found = [(judge.judge, judge.judgments, judge.queries) for judge in list_judges(cursor)]
    assert found == [("llm", 1, 1), ("org/model:8b", 2, 1)]


def test_a_judgment_is_about_the_text_and_under_the_guide_of_its_import(
    project: Store, tmp_path: Path
) -> None:
    file = write_grades(tmp_path / "a.csv", {A: 1, B: 1})
    import_judge(project, file, "llm")
    change_text(project, A[1])
    assert changes(import_judge(project, file, "llm")) == (1, 0, 1)
    with project.transaction() as cursor:
        store_guide(cursor, read_guide(BINARY))
    assert changes(import_judge(project, file, "llm")) == (0, 2, 0), "the same grades under another guide"
    assert changes(import_judge(project, file, "llm")) == (0, 0, 2)
    assert len({row[0] for row in rows_of(project, "SELECT guide_hash FROM judge_judgments")}) == 2


def test_a_judge_adds_no_query_no_candidate_and_nobody(project: Store, tmp_path: Path) -> None:
    tables = ("queries", "candidates", "candidate_sources", "annotators", "rounds", "presentations")
    count = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in tables)
    with project.transaction() as cursor:
        cursor.execute("DELETE FROM candidates WHERE document_id = 'document 0.1'")
    before = rows_of(project, count)
    assert import_judge(project, write_grades(tmp_path / "a.csv", {A: 3, B: 2}), "llm").outside_pools == 1
    assert rows_of(project, count) == before


def test_queries_known_by_nothing_but_the_file_are_refused_all_together(
    project: Store, tmp_path: Path
) -> None:
    file = tmp_path / "texts.csv"
    rows = "kettle,document 0.0,1\nrouter,document 0.0,1\nkettle,document 0.1,2\nquery 0,document 0.0,1\n"
    file.write_text("query_text,document_id,grade\n" + rows, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        import_judge(project, file, "llm")
    assert refused.value.problems == [
        "line 2: the project has no query 'kettle'",
        "line 3: the project has no query 'router'",
    ]
    assert "Importing a judge's judgments adds no queries" in refused.value.way_out
    skipped = import_judge(project, file, "llm", skip_unknown=True)
    assert (skipped.judgments, skipped.left_out) == (1, {"unknown query": 3})


def test_two_grades_of_one_pair_are_refused_with_both_lines(project: Store, tmp_path: Path) -> None:
    file = write_grades(tmp_path / "a.csv", {A: 3})
    file.write_text(f"{file.read_text()}{','.join(A)},2\n")
    with pytest.raises(InputError, match=r"line 3: llm gives the pair .* 2, but 3 on line 2"):
        import_judge(project, file, "llm")
    assert said(project) == {}


def test_a_judge_has_a_name_that_is_no_persons(project: Store, tmp_path: Path) -> None:
    add_names(project, "ada")
    file = write_grades(tmp_path / "a.csv", {A: 3})
    with pytest.raises(RefusedError, match="'ada' is the name of an annotator"):
        import_judge(project, file, "ada")
    with pytest.raises(InputError, match="no spaces"):
        import_judge(project, file, "two words")
    with pytest.raises(InputError, match="--judge names the judge that gave all grades"):
        import_judge(project, file, "llm", JudgmentFields(annotator_name="ada"))


@pytest.mark.slow
def test_a_judges_judgments_change_no_grade_no_agreement_and_no_release(tmp_path: Path) -> None:
    """Not a byte of what people's votes make differs, however much the judge contradicts them."""
    found = []
    for judged in (False, True):
        folder = tmp_path / str(judged)
        folder.mkdir()
        store = gold_project(folder)
        if judged:
            grades = {(f"q-{topic}", f"{topic}-{n}"): 3 - 3 * (n == 1) for topic in TOPICS for n in (1, 2)}
            assert import_judge(store, write_grades(folder / "j.csv", grades), "llm").judgments == 16
        path = ["--project", str(store.path)]
        store.close()
        asked = (
            ["consensus", "--pairs", "--json"],
            ["agreement", "--json"],
            ["agreement", "--breakdown", "annotator", "--json"],
            ["gate", "--json"],
            ["round", "status", "--json"],
            ["disputes", "--json"],
            ["freeze", "v1", "--json"],
            ["releases", "v1", "--card"],
        )
        done = [invoke([*path, *one], catch_exceptions=False) for one in asked]
        assert [one.exit_code for one in done] == [0] * len(asked)
        texts = [one.stdout for one in done]
        texts[6] = json.loads(texts[6])["release_id"]
        found.append(texts)
    assert found[0] == found[1]


def test_the_command_takes_a_judge(project: Store, tmp_path: Path) -> None:
    file = write_grades(tmp_path / "a.csv", {A: 3, B: 2})
    path = str(project.path)
    project.close()
    done = invoke(["--project", path, "import", "judgments", str(file), "--judge", "llm"])
    assert "2 new judgments of the judge llm. They do not count as votes." in done.stdout
    again = invoke(["--project", path, "import", "judgments", str(file), "--judge", "llm", "--json"])
    assert json.loads(again.stdout)["unchanged"] == 2
