"""The files of systems are read from the command line, with one grammar for runs and for answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.evaluation.scoring.system_files import SystemFile, parse_answer_files, parse_run_files


def test_runs_are_named_by_name_or_file() -> None:
    assert parse_run_files(["bm25=runs/a.trec", "runs/dense.v2.trec.gz"]) == [
        SystemFile("bm25", Path("runs/a.trec")),
        SystemFile("dense.v2", Path("runs/dense.v2.trec.gz")),
    ]
    with pytest.raises(InputError, match="2 files would all be the system 'run'"):
        parse_run_files(["a/run.trec", "b/run.trec"])
    with pytest.raises(InputError, match="the same file is given 2 times"):
        parse_run_files(["x=a.trec", "y=a.trec"])
    with pytest.raises(InputError) as missing:
        parse_run_files(["x=", "=a.trec", ""])
    assert missing.value.problems == [
        "--run x=: the file is missing after =; expected --run x=FILE",
        "--run =a.trec: the name is missing before =; expected --run NAME=a.trec or --run a.trec",
        "--run: no file was named; expected --run FILE or --run NAME=FILE",
    ]


def test_runs_and_answers_have_one_grammar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a=b.jsonl").touch()
    arguments = ["new=x.jsonl", "my/dir=y.jsonl.gz", "a=b.jsonl"]
    files = [
        SystemFile("new", Path("x.jsonl")),
        SystemFile("dir=y", Path("my/dir=y.jsonl.gz")),
        SystemFile("a=b", Path("a=b.jsonl")),
    ]
    assert parse_answer_files(arguments) == parse_run_files(arguments) == files
    with pytest.raises(InputError, match=r"--answers =x\.jsonl: the name is missing before ="):
        parse_answer_files(["=x.jsonl"])
    with pytest.raises(InputError, match="--answers x=: the file is missing after ="):
        parse_answer_files(["x="])
