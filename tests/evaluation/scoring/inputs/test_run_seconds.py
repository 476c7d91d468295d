"""The seconds beside a run file: taken where they are the run's, and only then."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.evaluation.scoring.inputs.run_seconds import ANOTHER_RUN, RunSeconds, read_seconds


def written(folder: Path, beside: Any, name: str = "bm25.trec") -> Path:
    path = folder / name
    path.write_text("q Q0 d 1 1 x\n")
    text = beside if isinstance(beside, str) else json.dumps(beside)
    (folder / "bm25.json").write_text(text)
    return path


def test_seconds_of_evaluated_queries_are_summed_up(tmp_path: Path) -> None:
    times = {"a": 0.1, "b": 0.2, "c": 0.6, "of another part": 9}
    found = read_seconds(written(tmp_path, {"seconds": {"queries": times}}), ["a", "b", "c", "d"])
    assert found == RunSeconds(pytest.approx(0.3), 0.2, pytest.approx(0.56), 3)
    packed = written(tmp_path, {"seconds": {"queries": times}}, "bm25.trec.gz")
    assert read_seconds(packed, ["a"]) == RunSeconds(0.1, 0.1, 0.1, 1)
    assert read_seconds(written(tmp_path, {"seconds": {"mean": 0.25}}), ["a"]) == RunSeconds(
        0.25, None, None, 0
    )


@pytest.mark.parametrize("beside", ["no json", "[]", "{}", {"seconds": 3}, {"other": {"queries": {}}}])
def test_a_json_file_about_something_else_says_nothing(tmp_path: Path, beside: Any) -> None:
    assert read_seconds(written(tmp_path, beside), ["a"]) is None


def test_no_file_beside_is_no_time_and_a_json_run_is_not_beside_itself(tmp_path: Path) -> None:
    assert read_seconds(tmp_path / "run.trec", ["a"]) is None
    (tmp_path / "run.json").write_text('{"q": {"d": 1}}')
    assert read_seconds(tmp_path / "run.json", ["a"]) is None


def test_times_of_another_run_and_of_other_queries_are_left_out_and_say_so(tmp_path: Path) -> None:
    seconds = {"queries": {"a": 0.1}}
    path = written(tmp_path, {"seconds": seconds, "file": {"sha256": "0" * 64}})
    assert read_seconds(path, ["a"]) == RunSeconds(None, None, None, 0, ANOTHER_RUN)
    told = hashlib.sha256(path.read_bytes()).hexdigest()
    path = written(tmp_path, {"seconds": seconds, "file": {"sha256": told}})
    assert read_seconds(path, ["a"]) == RunSeconds(0.1, 0.1, 0.1, 1)
    assert read_seconds(path, ["z"]) == RunSeconds(None, None, None, 0, "no evaluated query has a time")


def test_seconds_that_are_no_numbers_are_named_together(tmp_path: Path) -> None:
    path = written(tmp_path, {"seconds": {"queries": {"a": -1, "b": "soon", "c": 1, "d": True}}})
    with pytest.raises(InputError) as caught:
        read_seconds(path, ["a"])
    assert len(caught.value.problems) == 3
    with pytest.raises(InputError, match=r"seconds\.mean is None"):
        read_seconds(written(tmp_path, {"seconds": {}}), ["a"])
