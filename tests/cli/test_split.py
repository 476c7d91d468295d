"""What a split says of its groups, cuts and certificate, as a lead types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.store import Store
from tests.support.pool_project import put_texts
from tests.support.projects import built_once

pytestmark = pytest.mark.slow

TEXTS = {"a": "red shoe", "b": "red shoes", "c": "red shoes for men", "d": "usb hub", "e": "usb hubs"}


@built_once
def project(store: Store) -> Store:
    """Five queries; c and d have one relevant document in common."""
    documents = {f"d{name}": f"a page of its own about {name}" for name in [*TEXTS, "x"]}
    put_texts(store, store.path.parent, documents | {"dy": documents["dx"]}, TEXTS)
    pairs = [*((name, f"d{name}") for name in TEXTS), ("c", "dd")]
    add_judgments(
        store, [ImportedJudgment(query, document, "rater", 3) for query, document in pairs], "j.csv"
    )
    return store


def test_groups_are_shown_with_their_chain_and_without_what_is_cut(project: Store, goldgrade: Any) -> None:
    found = json.loads(goldgrade("split", "--dry-run", "--no-paraphrase", "--json"))
    group, pair = found["groups"]
    assert found["report"]["ties"]["paraphrase"] == 0
    assert sorted(group["queries"]) == ["c", "d", "e"]
    assert sorted(pair["queries"]) == ["a", "b"]
    assert [edge["kind"] for edge in group["chain"]] == ["shared document", "query text"]
    cut = json.loads(goldgrade("split", "--dry-run", "--no-paraphrase", "--cut", "c~d", "--json"))
    assert [edge["kind"] for edge in cut["report"]["cut"]] == ["shared document"]
    assert cut["report"]["remaining_ties"] == []
    assert cut["sizes"] == {"1": 1, "2": 2}


def test_cuts_that_name_no_two_queries_are_refused_together(project: Store, goldgrade: Any) -> None:
    with pytest.raises(InputError) as wrong:
        goldgrade("split", "--dry-run", "--no-paraphrase", "--cut", "a~Red Shoe", "--cut", "b~nothing")
    assert str(wrong.value).splitlines() == [
        "Cut a~Red Shoe: both are the query a; expected two different queries",
        "Cut b~nothing: 'nothing' is not a graded query's id or text; no query has that",
    ]


def test_split_says_too_where_a_cut_has_no_effect(project: Store, goldgrade: Any) -> None:
    options = ["--no-paraphrase", "--part", "dev=1", "--largest-group", "1"]
    add_judgments(
        project, [ImportedJudgment("a", "dc", "rater", 3), ImportedJudgment("b", "dc", "rater", 3)], "k.csv"
    )
    shown = goldgrade("split", *options, "--cut", "a~b")
    assert "“red shoe” and “red shoes” stay together despite the cut, because other ties" in shown
    (held,) = json.loads(goldgrade("split", *options, "--cut", "a~b", "--json"))["remaining_ties"]
    assert (held[:2], len(held[2]) > 0) == (["a", "b"], True)
    assert json.loads(goldgrade("split", *options, "--cut", "c~d", "--json"))["remaining_ties"] == []


def test_the_certificate_names_every_cut_with_its_texts_wherever_the_queries_lie(
    project: Store, tmp_path: Path, goldgrade: Any
) -> None:
    options = ["split", "--no-paraphrase", "--largest-group", "1", "--cut", "c~d"]
    goldgrade(*options)
    page = tmp_path / "certificate.html"
    certificate = json.loads(goldgrade("split", "--certificate", "--html", str(page), "--json"))
    assert certificate["parameters"]["cut"] == [["c", "d"]]
    assert {certificate["texts"][name] for name in "cd"} == {TEXTS["c"], TEXTS["d"]}
    text = page.read_text(encoding="utf-8").replace("\u2068", "").replace("\u2069", "")
    assert "red shoes for men (c) ~ usb hub (d)" in text
