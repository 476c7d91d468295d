"""`goldgrade query` and `goldgrade tags` as a lead types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError, RefusedError


def test_a_query_is_written_tagged_corrected_and_listed(goldgrade: Any, tmp_path: Path) -> None:
    added = goldgrade("query", "add", "How to fold a map", "--id", "m1", "--tag", "multi-hop", "--json")
    assert json.loads(added)["query_id"] == "m1"
    found = json.loads(goldgrade("tags", "find", "--json"))
    assert (found["queries"], found["tags"]["question"]) == (1, 1)
    path = tmp_path / "tags.csv"
    path.write_text("query,tag\nhow to fold a map,-question\n", encoding="utf-8")
    assert "0 added, 1 removed" in goldgrade("tags", "import", path, "--by", "ada")
    said = goldgrade("tags", "set", "m1", "--tag", "unanswerable", "--no-tag", "multi-hop", "--json")
    assert json.loads(said) == {
        "added": [["m1", "unanswerable"]],
        "removed": [["m1", "multi-hop"]],
        "unchanged": 0,
    }
    listed = json.loads(goldgrade("tags", "list", "--json"))
    assert [query["tags"] for query in listed["queries"]] == [{"unanswerable": True}]
    assert "unanswerable*" in goldgrade("tags", "list", "--tag", "unanswerable")


def test_the_tags_of_the_traffic_are_counted_before_a_sample_and_it_can_be_drawn_by_them(
    goldgrade: Any, write: Any
) -> None:
    with pytest.raises(RefusedError, match="no traffic to tag"):
        goldgrade("tags", "find", "--traffic")
    log = write("log.csv", "query,count\nhow to fold a map,5\nmap,2\nMap,1\nred map 2024,1\n")
    goldgrade("import", "traffic", log)
    found = json.loads(goldgrade("tags", "find", "--traffic", "--json"))
    assert (found["queries"], found["searches"], found["tags"]["question"]) == (3, 9, [1, 5])
    assert "Nothing was stored." in goldgrade("tags", "find", "--traffic")
    assert json.loads(goldgrade("tags", "list", "--json"))["queries"] == []
    drawn = goldgrade(
        "sample", "--size", "2", "--strata", "tag:question", "--quota", "question=50%", "--json"
    )
    assert [(one["name"], one["drawn"]) for one in json.loads(drawn)["strata"]] == [
        ("question", 1),
        ("not question", 1),
    ]


def test_an_unknown_tag_is_refused_with_those_that_are_known(goldgrade: Any) -> None:
    goldgrade("query", "add", "a map", "--id", "m1")
    with pytest.raises(InputError, match=r"(?s)no tag 'funny'.*unanswerable"):
        goldgrade("tags", "set", "m1", "--tag", "funny")


@pytest.mark.parametrize("gone", ["--dense", "--no-dense", "--model=other"])
def test_options_of_rules_that_are_gone_are_refused_with_what_does_the_work_now(
    goldgrade: Any, gone: str
) -> None:
    goldgrade("query", "add", "a map", "--id", "m1")
    with pytest.raises(
        InputError, match=r"no rule looks for .* People set these tags with `goldgrade tags set`"
    ):
        goldgrade("tags", "find", gone)
    shown = goldgrade("tags", "find")
    assert "Rules find question, temporal, multi-intent, short, long. People set entity" in " ".join(
        shown.split()
    )
    assert gone.partition("=")[0] not in goldgrade("tags", "find", "--help")


def test_tags_come_in_other_encodings_and_without_a_header(goldgrade: Any, tmp_path: Path) -> None:
    goldgrade("query", "add", "caf\xe9", "--id", "m1")
    path = tmp_path / "tags.csv"
    path.write_bytes("caf\xe9,ambiguous\n".encode("latin-1"))
    with pytest.raises(InputError, match="--encoding latin-1"):
        goldgrade("tags", "import", path, "--no-header", "--columns", "query,tag")
    options = ["--encoding", "latin-1", "--no-header", "--columns", "query,tag"]
    assert "1 added" in goldgrade("tags", "import", path, *options)
