"""`goldgrade sample` and `goldgrade pool`, as a lead types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.store import Store


@pytest.fixture
def project(store: Store, tmp_path: Path) -> Path:
    documents = [
        {"id": f"d{number:02}", "text": f"blue thing {number} of many kinds"} for number in range(30)
    ]
    documents += [{"id": "shoe", "text": "red shoes"}, {"id": "hat", "text": "red hat"}]
    (tmp_path / "corpus.jsonl").write_text("\n".join(json.dumps(document) for document in documents))
    import_corpus(store, tmp_path / "corpus.jsonl")
    (tmp_path / "log.csv").write_text("query,count\nred shoes,9\nred hat,4\nzebra,1\nRed  Hat,1\n")
    import_traffic(store, tmp_path / "log.csv")
    return store.path


def test_json_is_one_object_with_the_report(project: Path, goldgrade: Any) -> None:
    sample = json.loads(goldgrade("sample", "--size", "3", "--seed", "7", "--json"))
    assert sample["strata"][0] == {
        "name": "head", "population": 1, "traffic": 9, "drawn": 1, "probability": 1.0,
    }  # fmt: skip
    assert (sample["added"], sample["seed"], sample["drawn_before"]) == (3, 7, False)
    pool = json.loads(
        goldgrade("pool", "--systems", "bm25", "--depth", "5", "--random-negatives", "2", "--json")
    )
    assert (pool["queries"], pool["candidates"], pool["random_negatives"]) == (3, 4 + 6, 6)
    assert pool["systems"][0]["no_hit"] == {"no word of the query occurs in the corpus": 1}


def test_tables_say_what_was_done_and_what_was_left_out(project: Path, goldgrade: Any) -> None:
    shown = goldgrade("sample", "--size", "3")
    assert "Drew 3 queries; 3 new" in shown
    assert "drawn before" in goldgrade("sample", "--size", "3")
    arguments = ["pool", "--systems", " bm25 ", "--depth", "5", "--random-negatives", "2"]
    shown = goldgrade(*arguments)
    assert "The pool has 10 candidates; 10 new to the project." in shown
    assert "bm25 found nothing for 1 query (“zebra”): no word of the query occurs in the corpus" in shown
    assert "built before" in goldgrade(*arguments)


def test_a_sample_of_the_pool_is_told_by_band(project: Path, goldgrade: Any) -> None:
    goldgrade("sample", "--size", "2")
    command = ["pool", "--systems", "bm25", "--depth", "2", "--random-negatives", "0"]
    shown = goldgrade(*command, "--sample-bands", "1:1,2:0.5")
    assert "A random sample of the pool is judged" in shown
    assert "100.0\u00a0%" in shown
    with pytest.raises(InputError, match="end at rank 3, and the pool's depth is 2"):
        goldgrade(*command, "--sample-bands", "1:1,3:0.5")


def test_an_unknown_system_is_refused_by_name(project: Path, goldgrade: Any) -> None:
    goldgrade("sample", "--size", "1")
    with pytest.raises(InputError, match="'bm52' is no system"):
        goldgrade("pool", "--systems", "bm25,bm52")
