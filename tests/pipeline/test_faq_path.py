"""From an FAQ and its search log to numbers: the path of docs/faq-path.md, command by command."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from curation.store import open_store
from tests.support import ROOT, faq
from tests.support.command_line import invoke
from tests.support.projects import rows_of

PASSWORD = "a long password\n"
MEASURES = ("recall@5", "success@5", "mrr@10")


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Step → what its command printed as JSON."""
    folder = tmp_path_factory.mktemp("faq")
    faq.write_corpus(folder / "faq.jsonl")
    faq.write_traffic(folder / "log.csv")
    found: dict[str, Any] = {}
    for step, command in faq.commands(folder).items():
        if step == "grades":
            found["differ"] = faq.write_grades(folder / "grades.csv", pooled(folder / "faq.duckdb"))
        if step == "decisions":
            disputes = found["disputes"]["disputes"]
            faq.write_decisions(
                folder / "decisions.csv", [(row["query"], row["document_id"]) for row in disputes]
            )
        arguments = ["--project", str(folder / "faq.duckdb"), *shlex.split(command), "--json"]
        done = invoke(arguments, input=PASSWORD, catch_exceptions=False)
        assert done.exit_code == 0, f"{step}: {done.output}"
        found[step] = json.loads(done.stdout)
        if step == "agreement":
            found["notes"] = " ".join(invoke(arguments[:-1]).stdout.split())
    return found


def pooled(path: Path) -> list[tuple[str, str]]:
    store = open_store(path)
    pairs = rows_of(store, "SELECT text, document_id FROM candidates JOIN queries USING (query_id)")
    store.close()
    return [(text, document_id) for text, document_id in pairs]


def test_50_queries_are_drawn_half_from_the_head_and_half_from_the_tail(answers: dict[str, Any]) -> None:
    drawn = {row["name"]: row["drawn"] for row in answers["sample"]["strata"]}
    assert drawn == {"head": 25, "torso": 0, "tail": 25}


def test_each_query_has_10_random_and_10_judged_hard_negatives(answers: dict[str, Any]) -> None:
    assert answers["pool"]["random_negatives"] == 500
    assert [len(query["negatives"]) for query in answers["negatives"]["queries"]] == [10] * 50
    for part, queries in (("dev", 35), ("test", 15)):
        effect = answers[part]["hard_negatives"]
        assert [effect[name] for name in ("relevant", "hard", "easy")] == [
            queries,
            10 * queries,
            10 * queries,
        ]


def test_the_split_is_35_to_15_and_seals_the_test_part(answers: dict[str, Any]) -> None:
    assert answers["freeze"]["queries"] == {"dev": 35, "test": 15}
    assert answers["freeze"]["sealed"] == ["test"]


def test_the_tool_writes_the_notes_on_types_and_disputes(answers: dict[str, Any]) -> None:
    assert answers["disputes"]["total"] == answers["differ"] > 0
    assert f"{answers['differ']} of 1,050 judged pairs are disputed" in answers["notes"]
    assert "None of 2 types is below the whole" in answers["notes"]
    assert f"Reviewers decided {answers['differ']} pairs." in answers["card"]["card"]


def test_both_parts_have_recall_success_and_mrr_with_intervals(answers: dict[str, Any]) -> None:
    for part, queries in (("dev", 35), ("test", 15)):
        overall = answers[part]["runs"][0]["overall"]
        assert tuple(overall) == MEASURES
        for figure in overall.values():
            assert figure["n"] == queries
            assert figure["low"] < figure["value"] < figure["high"]
            assert figure["judged"] == 1
        assert overall["recall@5"]["value"] == overall["success@5"]["value"]  # one answer to each search
    assert answers["dev"]["runs"][0]["strata"]["stratum"].keys() == {"head", "tail"}
    assert answers["test"]["runs"][0]["per_query"] is None
    assert len(answers["test"]["looks"]) == 1


def test_random_negatives_alone_flatter_and_hard_ones_show_it(answers: dict[str, Any]) -> None:
    for part in ("dev", "test"):
        figures = answers[part]["hard_negatives"]["systems"]["bm25"]
        assert figures["without_hard"]["mrr@10"]["value"] == 1
        assert figures["with_hard"]["mrr@10"]["value"] < 0.9
        assert figures["drop"]["mrr@10"]["low"] > 0


def test_the_page_has_the_figures_of_this_path(answers: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "faq-path.md").read_text(encoding="utf-8")
    for part in ("dev", "test"):
        for measure in MEASURES:
            one = answers[part]["runs"][0]["overall"][measure]
            assert (
                f"| {part} | {measure} | {one['value']:.3f} | {one['low']:.3f} – {one['high']:.3f} |" in page
            )
        figures = answers[part]["hard_negatives"]["systems"]["bm25"]
        for measure in MEASURES:
            cells = [figures[name][measure] for name in ("without_hard", "with_hard", "drop")]
            shown = " | ".join(f"{one['value']:.3f} ({one['low']:.3f} – {one['high']:.3f})" for one in cells)
            assert f"| {part} | {measure} | {shown} |" in page
    assert f"{answers['differ']} of 1,050 judged pairs are disputed" in page
