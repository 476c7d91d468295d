"""`goldgrade query` and `goldgrade tags` as a lead types them."""

from __future__ import annotations

import json
from typing import Any


def test_a_query_is_written_tagged_corrected_and_listed(goldgrade: Any) -> None:
    added = goldgrade("queries", "add", "How to fold a map", "--id", "m1", "--tag", "multi-hop", "--json")
    assert json.loads(added)["query_id"] == "m1"
    found = json.loads(goldgrade("tags", "--find", "--json"))
    assert (found["queries"], found["tags"]["question"]) == (1, 1)
    assert "0 added, 1 removed" in goldgrade(
        "tags", "how to fold a map", "--unset", "question", "--as", "ada"
    )
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
