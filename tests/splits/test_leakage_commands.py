"""`goldset leakage` and `goldset duplicates`, as a lead types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from curation.cli import app
from curation.errors import InputError
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


def test_a_cut_may_name_queries_by_their_texts_as_in_split(project: Store) -> None:
    by_id, by_text = (
        printed(project, "leakage", "groups", "--no-paraphrase", "--cut", cut)
        for cut in ("c~d", "USB hub~red shoes for men")
    )
    assert by_id == by_text
    wrong = CliRunner().invoke(
        app,
        ["--project", str(project.path), "leakage", "groups", "--no-paraphrase", "--cut", "a~Red Shoe",
         "--cut", "b~nothing"],
    )  # fmt: skip
    assert isinstance(wrong.exception, InputError)
    assert str(wrong.exception).splitlines() == [
        "--cut a~Red Shoe: both name the query a; expected two queries",
        "--cut b~nothing: 'nothing' is no graded query's id or text; no query has that",
    ]


def test_split_says_too_where_a_cut_has_no_effect(project: Store) -> None:
    options = ["--no-paraphrase", "--dev", "1", "--largest-group", "1"]
    add_judgments(
        project, [ImportedJudgment("a", "dc", "rater", 3), ImportedJudgment("b", "dc", "rater", 3)], "k.csv"
    )
    done = CliRunner().invoke(
        app, ["--project", str(project.path), "split", *options, "--cut", "a~b"], catch_exceptions=False
    )
    assert "“red shoe” and “red shoes” stay together all the same; these ties hold them:" in done.stdout
    (held,) = printed(project, "split", *options, "--cut", "a~b")["still_tied"]
    assert (held["query_a"], held["query_b"], len(held["further"]) > 0) == ("a", "b", True)
    assert printed(project, "split", *options, "--cut", "c~d")["still_tied"] == []


def test_a_cut_that_does_not_part_two_queries_says_what_holds_them(project: Store) -> None:
    add_judgments(
        project, [ImportedJudgment("a", "de", "rater", 3), ImportedJudgment("b", "de", "rater", 3)], "k.csv"
    )
    done = CliRunner().invoke(
        app, ["--project", str(project.path), "leakage", "groups", "--no-paraphrase", "--cut", "a~b"]
    )
    assert done.exit_code == 0
    assert "“red shoe” and “red shoes” stay together all the same; these ties hold them:" in done.stdout


def test_duplicates_lists_groups_and_says_how_many_there_are(project: Store) -> None:
    found = printed(project, "duplicates", "--threshold", "0.95")
    assert found["groups"] == [{"documents": ["dx", "dy"], "identical": True, "similarity": 1.0}]
    assert (found["all_groups"], found["documents"]) == (1, 7)
    shown = CliRunner().invoke(app, ["--project", str(project.path), "duplicates", "--threshold", "0.95"])
    assert "2 of 7 documents are in 1 groups" in shown.stdout


def test_the_certificate_names_every_cut_with_its_texts_wherever_the_queries_lie(
    project: Store, tmp_path: Path
) -> None:
    options = ["split", "--no-paraphrase", "--largest-group", "1", "--cut", "c~d"]
    CliRunner().invoke(app, ["--project", str(project.path), *options], catch_exceptions=False)
    page = tmp_path / "certificate.html"
    certificate = printed(project, "certificate", "--html", str(page))
    assert certificate["parameters"]["cut"] == [["c", "d"]]
    assert {certificate["texts"][name] for name in "cd"} == {TEXTS["c"], TEXTS["d"]}
    text = page.read_text(encoding="utf-8").replace("\u2068", "").replace("\u2069", "")
    assert "red shoes for men (c) ~ usb hub (d)" in text
