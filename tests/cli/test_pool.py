"""`goldgrade sample` and `goldgrade pool`, as a lead types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curation.store import Store
from tests.support.relabeled import write_corpus, write_log

pytestmark = pytest.mark.slow


@pytest.fixture
def project(store: Store, tmp_path: Path) -> Path:
    documents = {f"d{number:02}": f"blue thing {number} of many kinds" for number in range(30)}
    write_corpus(store, tmp_path, documents | {"shoe": "red shoes", "hat": "red hat"})
    write_log(store, tmp_path, "log", {"red shoes": 9, "red hat": 4, "zebra": 1, "Red  Hat": 1})
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
