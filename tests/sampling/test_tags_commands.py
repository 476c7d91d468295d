"""`goldset query` and `goldset tags` as a lead types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from curation.cli import app
from curation.errors import InputError
from curation.store import Store


def goldset(store: Store, *arguments: str | Path) -> Result:
    command = ["--project", str(store.path), *map(str, arguments)]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def test_a_query_is_written_tagged_corrected_and_listed(store: Store, tmp_path: Path) -> None:
    added = goldset(store, "query", "add", "How to fold a map", "--id", "m1", "--tag", "multi-hop", "--json")
    assert json.loads(added.stdout)["query_id"] == "m1"
    found = json.loads(goldset(store, "tags", "find", "--json").stdout)
    assert (found["queries"], found["tags"]["question"]) == (1, 1)
    assert sorted(found["not_looked_for"]) == ["entity", "misspelling", "synonym"]
    path = tmp_path / "tags.csv"
    path.write_text("query,tag\nhow to fold a map,-question\n", encoding="utf-8")
    assert "0 added, 1 removed" in goldset(store, "tags", "import", path, "--by", "ada").stdout
    said = goldset(store, "tags", "set", "m1", "--add", "unanswerable", "--remove", "multi-hop", "--json")
    assert json.loads(said.stdout) == {
        "added": [["m1", "unanswerable"]],
        "removed": [["m1", "multi-hop"]],
        "unchanged": 0,
    }
    listed = json.loads(goldset(store, "tags", "list", "--json").stdout)
    assert [query["tags"] for query in listed["queries"]] == [{"unanswerable": True}]
    assert "unanswerable*" in goldset(store, "tags", "list", "--tag", "unanswerable").stdout


def test_an_unknown_tag_is_refused_with_those_that_are_known(store: Store) -> None:
    goldset(store, "query", "add", "a map", "--id", "m1")
    with pytest.raises(InputError, match=r"(?s)no tag 'funny'.*unanswerable"):
        goldset(store, "tags", "set", "m1", "--add", "funny")


def test_tags_that_were_not_looked_for_are_unknown_not_none(store: Store) -> None:
    goldset(store, "query", "add", "a map", "--id", "m1")
    lines = [line.split("│") for line in goldset(store, "tags", "find").stdout.splitlines()]
    counts = {line[1].strip(): line[2].strip() for line in lines if len(line) == 4}
    assert (counts["synonym"], counts["question"], counts["short"]) == ("–", "0", "1")


def test_tags_come_in_other_encodings_and_without_a_header(store: Store, tmp_path: Path) -> None:
    goldset(store, "query", "add", "caf\xe9", "--id", "m1")
    path = tmp_path / "tags.csv"
    path.write_bytes("caf\xe9,ambiguous\n".encode("latin-1"))
    with pytest.raises(InputError, match="--encoding latin-1"):
        goldset(store, "tags", "import", path, "--no-header", "--columns", "query,tag")
    options = ["--encoding", "latin-1", "--no-header", "--columns", "query,tag"]
    assert "1 added" in goldset(store, "tags", "import", path, *options).stdout
