"""`goldgrade query` and `goldgrade tags` as a lead types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError


def test_a_query_is_written_tagged_corrected_and_listed(goldgrade: Any, tmp_path: Path) -> None:
    added = goldgrade("queries", "add", "How to fold a map", "--id", "m1", "--tag", "multi-hop", "--json")
    assert json.loads(added)["query_id"] == "m1"
    found = json.loads(goldgrade("tags", "--find", "--json"))
    assert (found["queries"], found["tags"]["question"]) == (1, 1)
    path = tmp_path / "tags.csv"
    path.write_text("query,tag\nhow to fold a map,-question\n", encoding="utf-8")
    assert "0 added, 1 removed" in goldgrade("tags", "--file", path, "--as", "ada")
    said = goldgrade("tags", "m1", "--set", "unanswerable", "--unset", "multi-hop", "--json")
    assert json.loads(said) == {
        "added": [["m1", "unanswerable"]],
        "removed": [["m1", "multi-hop"]],
        "unchanged": 0,
    }
    listed = json.loads(goldgrade("tags", "--json"))
    assert [query["tags"] for query in listed["queries"]] == [{"unanswerable": True}]
    assert "unanswerable*" in goldgrade("tags", "--tag", "unanswerable")


def test_a_sample_is_drawn_by_tags(goldgrade: Any, write: Any) -> None:
    log = write("log.csv", "query,count\nhow to fold a map,5\nmap,2\nMap,1\nred map 2024,1\n")
    goldgrade("import", "traffic", log)
    assert json.loads(goldgrade("tags", "--json"))["queries"] == []
    drawn = goldgrade(
        "sample", "--size", "2", "--strata", "tag:question", "--quota", "question=50%", "--json"
    )
    assert [(one["name"], one["drawn"]) for one in json.loads(drawn)["strata"]] == [
        ("question", 1),
        ("not question", 1),
    ]


def test_tags_come_in_other_encodings_and_without_a_header(goldgrade: Any, tmp_path: Path) -> None:
    goldgrade("queries", "add", "caf\xe9", "--id", "m1")
    path = tmp_path / "tags.csv"
    path.write_bytes("caf\xe9,ambiguous\n".encode("latin-1"))
    with pytest.raises(InputError, match="--encoding latin-1"):
        goldgrade("tags", "--file", path, "--no-header", "--columns", "query,tag")
    options = ["--encoding", "latin-1", "--no-header", "--columns", "query,tag"]
    assert "1 added" in goldgrade("tags", "--file", path, *options)
