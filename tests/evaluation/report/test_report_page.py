"""The report: one page without scripts, the same bytes, all escaped, nothing of single sealed queries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from curation.core.text import percent
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report import (
    average_sections,
    comparison_sections,
    judgment_sections,
    method_sections,
    query_sections,
    run_sections,
)
from curation.evaluation.report.evaluation_report import (
    SECTIONS,
    list_detail_headings,
    write_report,
    write_sections,
)
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile
from curation.splits.certificate import read_visible_certificate
from curation.splits.certificate_page import build_sections
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.evaluated_project import evaluated_project, query, ranked, sealed_queries, write_run
from tests.support.svg import wide
from tests.support.terminal import broken, drawn, golden

WRITERS = (
    *(average_sections, comparison_sections, judgment_sections, method_sections, query_sections),
    run_sections,
)
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    project = evaluated_project(tmp_path_factory.mktemp("project"))
    yield project
    project.close()


def scored(
    store: Store, folder: Path, split: str | None = None, count: int = 2, name: str = "run"
) -> Evaluation:
    runs = [
        SystemFile(f"{name} {letter}", write_run(folder / f"{letter}.trec", ranked(f"{name} {letter}")))
        for letter in "abcdefgh"[:count]
    ]
    options = EvaluateRequest("v1", split, by=["type"], reason="May")
    return evaluate_runs(store, "v1", runs, options, "lee")


@pytest.fixture(scope="module")
def two(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    return scored(store, tmp_path_factory.mktemp("runs"))


def headings(found: Evaluation) -> list[str]:
    return [section.heading for section in write_sections(found)]


def test_findings_name_the_headline_and_the_gains_of_ndcg(two: Evaluation) -> None:
    first = two.runs[0].overall["ndcg_exp@10"].value
    findings = write_report(two).findings
    assert findings[0].startswith("run a 0.643, run b 0.607: difference 0.036 (−0.037 to 0.103), p 0.313; ")
    assert findings[1].startswith(f"run a: ndcg_exp@10 {first:.3f} (")
    gains = (
        "ndcg_exp@10 has the gain 2^grade − 1. ndcg@10 has the "
        "grade itself as gain, as in trec_eval, BEIR and MTEB"
    )
    assert any(one.startswith(gains) for one in findings)
    assert "BEIR" not in " ".join(write_report(replace(two, scale=(0, 1))).findings)


def test_what_files_and_people_named_is_text(store: Store, tmp_path: Path) -> None:
    page = write_report(scored(store, tmp_path, name=HOSTILE)).html
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_headline_has_its_interval_queries_and_judged_share(two: Evaluation) -> None:
    (table, *_) = write_sections(two)[0].tables
    figure = two.runs[0].overall["ndcg_exp@10"]
    assert table.rows[0][:5] == (
        "run a",
        figure.value,
        f"{figure.low:.3f}\u00a0to\u00a0{figure.high:.3f}",
        30,
        percent(figure.judged, 1),
    )


def test_two_systems_are_drawn_query_by_query_and_the_ends_are_named(two: Evaluation) -> None:
    (section,) = [one for one in write_sections(two) if one.heading == "Query by query"]
    better, worse = section.tables
    pairs = zip(two.runs[0].per_query["ndcg_exp@10"], two.runs[1].per_query["ndcg_exp@10"], strict=True)
    differences = [second - first for first, second in pairs if first is not None and second is not None]
    assert better.rows[0][-1] == max(differences)
    assert worse.rows[0][-1] == min(differences)
    assert wide(str(section.drawings[0])).count("<circle") == 30


def test_systems_are_compared_with_a_drawing_and_the_same_differences_in_the_table(two: Evaluation) -> None:
    sections = {one.heading: one for one in write_sections(two)}
    board, differences, reach = sections["Comparison"].tables
    assert reach.rows[0][-1] == next(one.queries_needed for one in two.comparisons)
    assert {row[0] for row in board.rows} == {"run a", "run b"}
    (first,) = [one for one in two.comparisons if one.measure == "ndcg_exp@10" and one.stratum is None]
    assert differences.rows[0][:2] == ("run b − run a", first.difference)
    assert str(sections["Comparison"].drawings[0]).count("run b − run a") >= 1
    assert len(sections["Comparison by kind of query"].tables[0].rows) == 2


def test_a_sealed_part_has_its_count_and_no_query_by_query(store: Store, tmp_path: Path) -> None:
    evaluation = scored(store, tmp_path, "test")
    assert "Sealed evaluations" in headings(evaluation)
    assert "With this evaluation, test has" in " ".join(write_report(evaluation).findings)
    assert "Query by query" not in headings(evaluation)
    assert "Comparison" in headings(evaluation)
    page = write_report(evaluation).html
    for name in sealed_queries(store):
        assert query(int(name[1:])).text not in page
        assert f">{name}<" not in page


@pytest.mark.costly("an evaluation of many systems")
def test_more_systems_than_shapes_are_all_in_the_tables(store: Store, tmp_path: Path) -> None:
    evaluation = scored(store, tmp_path, count=8)
    (section,) = [one for one in write_sections(evaluation) if one.heading == "By stratum"]
    assert "first 6 systems" in section.sentence
    assert len(section.tables[0].columns) == 8 + 3
    assert [table.columns[0] for table in write_sections(evaluation)[0].tables[:2]] == ["system", "system"]


def test_one_system_alone_has_a_report(store: Store, tmp_path: Path) -> None:
    evaluation = scored(store, tmp_path, count=1)
    assert "Lowest values of run a" in write_report(evaluation).html


def test_each_function_that_writes_sections_is_named_once() -> None:
    written = [
        getattr(module, name)
        for module in WRITERS
        for name, value in vars(module).items()
        if name.startswith("write_") and value.__module__ == module.__name__
    ]
    assert sorted(map(repr, SECTIONS)) == sorted(map(repr, written))


def test_the_command_writes_the_page_that_the_function_makes(store: Store, tmp_path: Path) -> None:
    run = write_run(tmp_path / "mine.trec", ranked("mine"))
    page = tmp_path / "report.html"
    command = ["--project", str(store.path), "evaluate", "v1", "--run", str(run), "--out", str(page)]
    done = invoke([*command, "--json"], catch_exceptions=False)
    assert json.loads(done.stdout)["runs"][0]["name"] == "mine"
    evaluation = evaluate_runs(store, "v1", [SystemFile("mine", run)])
    assert page.read_text(encoding="utf-8") == write_report(evaluation).html


def test_hard_negatives_have_their_table(store: Store, tmp_path: Path) -> None:
    run = SystemFile("a", write_run(tmp_path / "a.trec", ranked("a")))
    options = EvaluateRequest("v1", None, hard_negatives=True)
    evaluation = evaluate_runs(store, "v1", [run], options)
    sections = {section.heading: section for section in write_sections(evaluation)}
    assert len(sections["Hard negatives"].tables[0].rows) == len(evaluation.measures)
    plain = {section.heading for section in write_sections(evaluate_runs(store, "v1", [run]))}
    assert "Hard negatives" not in plain


def test_a_terminal_of_80_columns_shows_these_words(two: Evaluation) -> None:
    shown = drawn([one for one in write_sections(two) if one.heading not in list_detail_headings(two)], 80)
    assert shown == golden(Path(__file__).with_name("report_80.txt"), shown)


@pytest.mark.parametrize("width", [110, 80, 60])
def test_no_figure_or_name_of_the_report_and_the_certificate_is_broken_in_a_terminal(
    store: Store, two: Evaluation, width: int
) -> None:
    with store.reading() as cursor:
        certificate = build_sections(read_visible_certificate(cursor))
    assert broken([*write_sections(two), *certificate], width) == []
    lines = [line for line in drawn(write_sections(two), width).splitlines() if two.release_id not in line]
    assert max(map(len, lines)) <= width
