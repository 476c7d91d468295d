"""People's part: a random sample of queries corrects a judge; pairs on which they differ are apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import NotFoundError
from curation.evaluation.llm_judges.estimates import estimate_with_judge
from curation.evaluation.llm_judges.judge_import import import_judge
from curation.evaluation.llm_judges.plan_people import open_people_rounds
from curation.evaluation.llm_judges.side_by_side import compare_judges
from curation.evaluation.report.estimate_sections import make_judge_sections
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.consensus import read_consensus
from curation.labeling.imported import add_judgments
from curation.labeling.requests import RoundRequest
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import COMMAND_LINE, Store
from tests.support.command_line import invoke
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL
from tests.support.judged_pairs import GRADED, PAIRS, QUERIES, build_judged_pairs, true_grade
from tests.support.llm_judge import write_grades
from tests.support.projects import built_once, rows_of

pytestmark = pytest.mark.slow

PEOPLE = ("ada", "ben")
OFF = {("q00", "q00.0"): 3, ("q01", "q01.1"): 2, ("q15", "q15.0"): 3}
"""Pairs that the judge grades so far from the truth; nobody graded the last one."""


def judged(document_id: str, off: int) -> int:
    grade = true_grade(document_id)
    return grade - off if grade >= off else grade + off if grade + off <= 3 else 3 - grade


@built_once
def project(store: Store) -> Store:
    build_judged_pairs(store)
    grades = {pair: judged(pair[1], OFF.get(pair, 0)) for pair in PAIRS}
    import_judge(store, write_grades(store.path.parent / "j.csv", grades), "llm")
    kind = {pair: min(3, true_grade(pair[1]) + 1) for pair in PAIRS}
    import_judge(store, write_grades(store.path.parent / "k.csv", kind), "kind")
    return store


def pairs_of(store: Store, round_name: str) -> set[tuple[str, str]]:
    sql = "SELECT DISTINCT query_id, document_id FROM presentations JOIN rounds USING (round_id) "
    sql += "WHERE name = ?"
    return set(rows_of(store, sql, round_name))


def test_people_get_a_sample_and_the_differences_apart(project: Store) -> None:
    layout = RoundRequest("llm-people", PEOPLE, seed=1)
    with pytest.raises(NotFoundError):
        open_people_rounds(project, "none", 24, 5, layout, COMMAND_LINE, False)
    opened, _ = open_people_rounds(project, "llm", 24, 5, layout, COMMAND_LINE, False)
    assert opened.draw is not None
    drawn = opened.draw.drawn
    assert len(drawn) == 8
    assert opened.draw.strata.keys() == {*QUERIES}
    assert pairs_of(project, "llm-people") == {pair for pair in PAIRS if pair[0] in drawn - {*GRADED}}
    differing = pairs_of(project, "llm-people-differences")
    assert differing == {pair for pair in OFF if pair[0] in GRADED and pair[0] not in drawn}
    people_grade(project, sorted(drawn))
    run = project.path.parent / "run.trec"
    run.write_text(
        "".join(f"{query} Q0 {document} {9 - int(document[-1])} 1 x\n" for query, document in PAIRS)
    )
    request_ = EvaluateRequest("v1", "dev", ["mrr@10"], judge="llm")
    estimates = estimate_with_judge(project, "v1", [SystemFile("run", run)], request_)
    assert (estimates.everything, estimates.chosen_by) == (16, ("draw", "split"))
    [section] = make_judge_sections(estimates)
    assert "worth" in section.sentence


def people_grade(store: Store, queries: list[str]) -> None:
    for name in PEOPLE:
        given = [ImportedJudgment(*pair, name, true_grade(pair[1])) for pair in PAIRS if pair[0] in queries]
        add_judgments(store, given, f"{name}2.csv")
    with store.reading() as cursor:
        disputed = [row for row in read_consensus(cursor).pairs if row.grade is None]
    for row in disputed:
        grade = true_grade(row.document_id)
        decide_pair(store, row.query_id, row.document_id, grade=grade, reason="it says so")
    make_split(store, SplitRequest((("dev", 0.8), ("test", 0.2)), 1, LEXICAL))
    freeze(store, "v1")


def test_judges_stand_side_by_side_on_the_same_pairs(project: Store) -> None:
    with project.reading() as cursor:
        compared = compare_judges(cursor)
    assert compared is not None
    first, second = compared.rows
    assert (first[0], second[0], first[4]) == ("llm", "kind", None)
    assert second[4] == pytest.approx(float(str(second[1])) - float(str(first[1])))
    assert float(str(second[6])) < 0
    project.close()
    shown = invoke(["--project", str(project.path), "judge"]).stdout
    assert "pairs that people graded" in shown


def test_the_command_plans_without_writing(project: Store, tmp_path: Path) -> None:
    project.close()
    command = ["--project", str(project.path), "judge", "plan", "llm", "--people", "24"]
    done = invoke([*command, "--annotators", "ada,ben", "--dry-run"])
    assert (done.exit_code, "Drew 8 of 16 queries" in done.stdout) == (0, True)
    assert rows_of(project, "SELECT count(*) FROM rounds WHERE name LIKE 'llm%'") == [(0,)]
