"""`goldset leakage` and `goldset duplicates`, as a lead types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from curation.cli import app
from curation.labeling.imported import ImportedJudgment, add_judgments
from curation.sources.corpus import import_corpus
from curation.sources.queries import import_queries
from curation.store import Store

TEXTS = {"a": "red shoe", "b": "red shoes", "c": "red shoes for men", "d": "usb hub", "e": "usb hubs"}


@pytest.fixture
def project(store: Store, tmp_path: Path) -> Store:
    """Five queries; c and d have one relevant document in common."""
    rows = [
        {"id": f"d{name}", "title": "", "text": f"a page of its own about {name}"} for name in [*TEXTS, "x"]
    ]
    rows.append({"id": "dy", "title": "", "text": rows[-1]["text"]})
    (tmp_path / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    import_corpus(store, tmp_path / "corpus.jsonl")
    lines = "".join(f"{name},{text}\n" for name, text in TEXTS.items())
    (tmp_path / "queries.csv").write_text(f"id,query\n{lines}", encoding="utf-8")
    import_queries(store, tmp_path / "queries.csv")
    pairs = [*((name, f"d{name}") for name in TEXTS), ("c", "dd")]
    add_judgments(
        store, [ImportedJudgment(query, document, "rater", 3) for query, document in pairs], "j.csv"
    )
    return store


def printed(project: Store, *arguments: str) -> Any:
    done = CliRunner().invoke(
        app, ["--project", str(project.path), *arguments, "--json"], catch_exceptions=False
    )
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_a_sweep_prints_a_step_for_each_kind_and_threshold(project: Store) -> None:
    found = printed(
        project, "leakage", "sweep", "--no-paraphrase", "--kind", "query text", "--threshold", "0.8",
        "--threshold", "0.4",
    )  # fmt: skip
    assert found["queries"] == 5
    assert [(step["threshold"], step["largest"], step["single"]) for step in found["steps"]] == [
        (0.8, 3, 0),
        (0.4, 5, 0),
    ]


def test_groups_are_shown_with_their_chain_and_weakest_links_and_what_still_holds(project: Store) -> None:
    found = printed(project, "leakage", "groups", "--no-paraphrase")
    group, pair = found["groups"]
    assert found["methods"]["paraphrase"] == "not looked for"
    assert sorted(group["queries"]) == ["c", "d", "e"]
    assert sorted(pair["queries"]) == ["a", "b"]
    assert {link["edge"]["kind"] for link in group["weakest"]} == {"query text"}
    cut = printed(project, "leakage", "groups", "--no-paraphrase", "--cut", "c~d")
    assert [edge["kind"] for edge in cut["cut"]] == ["shared document"]
    assert cut["still_tied"] == []
    assert cut["sizes"] == {"1": 1, "2": 2}


def test_a_cut_that_does_not_part_two_queries_says_what_holds_them(project: Store) -> None:
    add_judgments(
        project, [ImportedJudgment("a", "de", "rater", 3), ImportedJudgment("b", "de", "rater", 3)], "k.csv"
    )
    done = CliRunner().invoke(
        app, ["--project", str(project.path), "leakage", "groups", "--no-paraphrase", "--cut", "a~b"]
    )
    assert done.exit_code == 0
    assert "“red shoe” and “red shoes” stay together; these hold them as well:" in done.stdout


def test_duplicates_lists_groups_and_says_how_many_there_are(project: Store) -> None:
    found = printed(project, "duplicates", "--threshold", "0.95")
    assert found["groups"] == [{"documents": ["dx", "dy"], "identical": True, "similarity": 1.0}]
    assert (found["all_groups"], found["documents"]) == (1, 7)
    shown = CliRunner().invoke(app, ["--project", str(project.path), "duplicates", "--threshold", "0.95"])
    assert "2 of 7 documents are in 1 groups" in shown.stdout
