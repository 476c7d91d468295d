"""`goldgrade leakage` and `goldgrade duplicates`, as a lead types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.query_import import import_queries
from curation.labeling.judgments.imported import add_judgments
from curation.store import Store
from tests.support.projects import built_once

TEXTS = {"a": "red shoe", "b": "red shoes", "c": "red shoes for men", "d": "usb hub", "e": "usb hubs"}


@built_once
def project(store: Store) -> Store:
    """Five queries; c and d have one relevant document in common."""
    folder = store.path.parent
    rows = [
        {"id": f"d{name}", "title": "", "text": f"a page of its own about {name}"} for name in [*TEXTS, "x"]
    ]
    rows.append({"id": "dy", "title": "", "text": rows[-1]["text"]})
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    import_corpus(store, folder / "corpus.jsonl")
    lines = "".join(f"{name},{text}\n" for name, text in TEXTS.items())
    (folder / "queries.csv").write_text(f"id,query\n{lines}", encoding="utf-8")
    import_queries(store, folder / "queries.csv")
    pairs = [*((name, f"d{name}") for name in TEXTS), ("c", "dd")]
    add_judgments(
        store, [ImportedJudgment(query, document, "rater", 3) for query, document in pairs], "j.csv"
    )
    return store


def test_groups_are_shown_with_their_chain_and_without_what_is_cut(project: Store, goldgrade: Any) -> None:
    found = json.loads(goldgrade("leakage", "groups", "--no-paraphrase", "--json"))
    group, pair = found["groups"]
    assert found["methods"]["paraphrase"] == "not looked for"
    assert sorted(group["queries"]) == ["c", "d", "e"]
    assert sorted(pair["queries"]) == ["a", "b"]
    assert [edge["kind"] for edge in group["chain"]] == ["shared document", "query text"]
    cut = json.loads(goldgrade("leakage", "groups", "--no-paraphrase", "--cut", "c~d", "--json"))
    assert [edge["kind"] for edge in cut["cut"]] == ["shared document"]
    assert cut["remaining_ties"] == []
    assert cut["sizes"] == {"1": 1, "2": 2}


def test_a_cut_may_name_queries_by_their_texts_as_in_split(project: Store, goldgrade: Any) -> None:
    by_id, by_text = (
        json.loads(goldgrade("leakage", "groups", "--no-paraphrase", "--cut", cut, "--json"))
        for cut in ("c~d", "USB hub~red shoes for men")
    )
    assert by_id == by_text
    with pytest.raises(InputError) as wrong:
        goldgrade("leakage", "groups", "--no-paraphrase", "--cut", "a~Red Shoe", "--cut", "b~nothing")
    assert str(wrong.value).splitlines() == [
        "Cut a~Red Shoe: both name the query a; expected two queries",
        "Cut b~nothing: 'nothing' is no graded query's id or text; no query has that",
    ]


def test_split_says_too_where_a_cut_has_no_effect(project: Store, goldgrade: Any) -> None:
    options = ["--no-paraphrase", "--dev", "1", "--largest-group", "1"]
    add_judgments(
        project, [ImportedJudgment("a", "dc", "rater", 3), ImportedJudgment("b", "dc", "rater", 3)], "k.csv"
    )
    shown = goldgrade("split", *options, "--cut", "a~b")
    assert "“red shoe” and “red shoes” stay together all the same, by a chain of" in shown
    (held,) = json.loads(goldgrade("split", *options, "--cut", "a~b", "--json"))["remaining_ties"]
    assert (held["query_a"], held["query_b"], len(held["chain"]) > 0) == ("a", "b", True)
    assert json.loads(goldgrade("split", *options, "--cut", "c~d", "--json"))["remaining_ties"] == []


def test_a_cut_that_does_not_part_two_queries_says_what_holds_them(project: Store, goldgrade: Any) -> None:
    add_judgments(
        project, [ImportedJudgment("a", "de", "rater", 3), ImportedJudgment("b", "de", "rater", 3)], "k.csv"
    )
    shown = goldgrade("leakage", "groups", "--no-paraphrase", "--cut", "a~b")
    assert "“red shoe” and “red shoes” stay together all the same, by a chain of" in shown


def test_duplicates_lists_groups_and_says_how_many_there_are(project: Store, goldgrade: Any) -> None:
    found = json.loads(goldgrade("duplicates", "--threshold", "0.95", "--json"))
    assert found["groups"] == [{"documents": ["dx", "dy"], "identical": True, "similarity": 1.0}]
    assert (len(found["groups"]), found["documents"]) == (1, 7)
    shown = goldgrade("duplicates", "--threshold", "0.95")
    assert "2 of 7 documents are in 1 group" in shown


def test_the_certificate_names_every_cut_with_its_texts_wherever_the_queries_lie(
    project: Store, tmp_path: Path, goldgrade: Any
) -> None:
    options = ["split", "--no-paraphrase", "--largest-group", "1", "--cut", "c~d"]
    goldgrade(*options)
    page = tmp_path / "certificate.html"
    certificate = json.loads(goldgrade("certificate", "--html", str(page), "--json"))
    assert certificate["parameters"]["cut"] == [["c", "d"]]
    assert {certificate["texts"][name] for name in "cd"} == {TEXTS["c"], TEXTS["d"]}
    text = page.read_text(encoding="utf-8").replace("\u2068", "").replace("\u2069", "")
    assert "red shoes for men (c) ~ usb hub (d)" in text
