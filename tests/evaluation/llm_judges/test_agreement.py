"""How a judge agrees with people: figures that are those between annotators, and grades that stay sealed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import krippendorff
import pytest
from sklearn.metrics import cohen_kappa_score

from curation.agreement.grades import make_grades
from curation.agreement.inter_annotator import compute_agreement
from curation.core.errors import NotFoundError, RefusedError
from curation.evaluation.llm_judges.judge_import import import_judge
from curation.evaluation.llm_judges.measure_agreement import measure_judge_agreement
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.freezing import freeze
from tests.support.gold_project import TOPICS, gold_project
from tests.support.grades import SCALE, import_grades, noisy
from tests.support.llm_judge import write_grades
from tests.support.projects import built_once, change_text, rows_of

pytestmark = pytest.mark.slow

Pair = tuple[str, str]
PEOPLE = noisy(queries=12, people=3, seed=1)
JUDGED = {row[:2]: row[3] for row in noisy(queries=12, people=1, noise=0.9, seed=1)}
"""The judge's grades."""


@built_once
def project(store: Store) -> Store:
    """Twelve queries with four documents that three people graded."""
    import_grades(store, PEOPLE)
    return store


def bring(store: Store, folder: Path, grades: Mapping[Pair, object] = JUDGED, judge: str = "llm") -> None:
    import_judge(store, write_grades(folder / "j.csv", grades), judge)


def consensus_of(store: Store) -> dict[tuple[str, str], int | None]:
    path = str(store.path)
    store.close()
    pairs = json.loads(invoke(["--project", path, "consensus", "--pairs", "--json"]).stdout)["pairs"]
    return {(pair["query_id"], pair["document_id"]): pair["grade"] for pair in pairs}


def test_figures_are_those_of_two_annotators(project: Store, tmp_path: Path) -> None:
    bring(project, tmp_path)
    consensus = consensus_of(project)
    both = [(consensus[pair], JUDGED[pair]) for pair in sorted(JUDGED) if consensus[pair] is not None]
    agreement = measure_judge_agreement(project, "llm", seed=3)
    assert agreement.coverage["compared"] == len(both)
    alpha = krippendorff.alpha(list(zip(*both, strict=True)), level_of_measurement="ordinal")
    assert agreement.figures["ordinal"][0].value == pytest.approx(alpha)
    kappa = cohen_kappa_score(*zip(*both, strict=True), labels=SCALE, weights="quadratic")
    assert agreement.figures["cohen_quadratic"][0].value == pytest.approx(kappa)
    assert agreement.difference.value == pytest.approx(sum(b - a for a, b in both) / len(both))
    for row, people in enumerate(SCALE):
        assert agreement.confusion[row] == tuple(both.count((people, judge)) for judge in SCALE)


def test_people_beside_it_are_compared_on_the_same_pairs(project: Store, tmp_path: Path) -> None:
    bring(project, tmp_path, {pair: grade for pair, grade in JUDGED.items() if pair[0] < "q06"})
    consensus = consensus_of(project)
    agreement = measure_judge_agreement(project, "llm")
    rows = [row for row in PEOPLE if row[0] < "q06" and consensus[row[:2]] is not None]
    alone = compute_agreement(make_grades(rows), SCALE, 0)
    ours, theirs = agreement.figures["ordinal"][1], alone.ordinal
    assert ours == theirs
    assert agreement.coverage["not_judged"] == sum(
        grade is not None for (query, _), grade in consensus.items() if query >= "q06"
    )


def test_coverage_counts_each_pair_once(project: Store, tmp_path: Path) -> None:
    known = sum(grade is None for grade in consensus_of(project).values())
    assert known
    with project.transaction() as cursor:
        cursor.execute(
            "INSERT INTO queries SELECT 'new', 'new', 'new', source, NULL, '{}' FROM queries LIMIT 1"
        )
    bring(project, tmp_path, {**JUDGED, ("q01", "d1"): "cannot tell", ("new", "d0"): 3})
    change_text(project, "d3")
    bring(project, tmp_path, {pair: grade for pair, grade in JUDGED.items() if pair[1] == "d3"}, "late")
    counts = measure_judge_agreement(project, "llm").coverage
    assert (counts["judged"], counts["ungraded"], counts["without_grade"]) == (49, 1, known)
    assert (counts["cannot_tell"], counts["older"], counts["not_judged"]) == (1, 0, 0)
    assert (
        counts["judged"]
        == counts["compared"] + counts["ungraded"] + counts["without_grade"] + counts["cannot_tell"]
    )
    with pytest.raises(RefusedError, match=r"nothing to compare: .*12 pairs .* a different version"):
        measure_judge_agreement(project, "late")


ALL = {(f"q-{topic}", f"{topic}-{n}"): 3 * (n == 1) for topic in TOPICS for n in (1, 2)}


def parts_of(store: Store) -> dict[str, str]:
    return dict(rows_of(store, "SELECT query_id, part FROM split_assignments"))


def test_the_live_project_leaves_out_what_a_release_seals(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    bring(store, tmp_path, ALL)
    before = measure_judge_agreement(store, "llm").coverage
    assert (before["compared"], before["sealed"]) == (16, 0)
    freeze(store, "v1")
    after = measure_judge_agreement(store, "llm").coverage
    sealed = 2 * sum(part == "test" for part in parts_of(store).values())
    assert sealed > 0
    assert (after["compared"], after["sealed"], after["judged"]) == (16 - sealed, sealed, 16 - sealed)


def test_a_name_that_is_no_judge_is_answered_with_those_there_are(project: Store, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="No judge has judgments yet"):
        measure_judge_agreement(project, "llm")
    bring(project, tmp_path)
    with pytest.raises(NotFoundError, match="Judges of the project: llm"):
        measure_judge_agreement(project, "lmm")


def test_the_command_shows_figures_confusion_and_coverage(project: Store, tmp_path: Path) -> None:
    bring(project, tmp_path)
    path = ["--project", str(project.path)]
    project.close()
    shown = invoke([*path, "judge", "llm"], catch_exceptions=False).stdout
    for part in ("alpha, ordinal", "Cohen's kappa, quadratic", "judge 3", "The judge graded 48 pairs"):
        assert part in shown
    answer = json.loads(invoke([*path, "judge", "llm", "--json"]).stdout)
    assert answer["figures"]["ordinal"][0]["value"] is not None
    assert sum(map(sum, answer["confusion"])) == answer["coverage"]["compared"]
    listed = invoke([*path, "judge"]).stdout
    assert [cell.strip() for cell in listed.splitlines()[4].split("│")[1:6]] == ["llm", "48", "0", "12", "1"]
    assert json.loads(invoke([*path, "judge", "--json"]).stdout)["judges"][0]["judgments"] == 48
