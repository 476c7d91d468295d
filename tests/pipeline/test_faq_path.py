"""From an FAQ and its search log to numbers: the path of docs/faq-path.md, command by command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from docs import make_faq_path
from tests.support import faq

MEASURES = ("recall@5", "success@5", "mrr@10")


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Step → what its command printed as JSON."""
    return faq.walk(tmp_path_factory.mktemp("faq"))


@pytest.mark.slow
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
    assert "None of 2 types is below the overall agreement" in answers["notes"]
    assert f"Reviewers decided {answers['differ']} pairs." in answers["card"]["card"]


def test_blind_duplicates_were_graded_and_the_labelled_pairs_are_the_last_step(
    answers: dict[str, Any],
) -> None:
    assert answers["corpus"]["documents"] == 1056
    assert answers["round"]["duplicates"] == {"mia": 84, "tom": 84}
    assert answers["graded"] == {"mia": 1050 + 84, "tom": 1050 + 84}
    assert "2 annotators repeated 98 % of 168 grades on blind duplicates" in answers["notes"]
    header, *rows = answers["rows"]
    assert header == "query_id,query_text,doc_id,relevance,split"
    assert len(rows) == 1050
    assert {row.rsplit(",", 2)[1] for row in rows} == {"0", "1"}
    assert [list(row.values())[:5] for row in answers["parquet"]] == [
        [*row.split(",")[:3], int(row.split(",")[3]), row.split(",")[4]] for row in rows
    ]
    assert list(faq.commands(Path()))[-2:] == ["pairs-csv", "pairs-parquet"]


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
    assert answers["test"]["sealed_count"]["evaluations"] == 1


def test_random_negatives_alone_flatter_and_hard_ones_show_it(answers: dict[str, Any]) -> None:
    for part in ("dev", "test"):
        figures = answers[part]["hard_negatives"]["systems"]["bm25"]
        assert figures["without_hard"]["mrr@10"]["value"] == 1
        assert figures["with_hard"]["mrr@10"]["value"] < 0.9
    assert answers["dev"]["hard_negatives"]["systems"]["bm25"]["drop"]["mrr@10"]["low"] > 0


def test_the_page_has_the_figures_of_this_path(answers: dict[str, Any]) -> None:
    page = make_faq_path.TARGET.read_text(encoding="utf-8")
    assert page == make_faq_path.page(page, answers), "run `python -m docs.make_faq_path`"
    assert f"{answers['differ']} of 1,050 judged pairs are disputed" in page
