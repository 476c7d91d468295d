"""A public set with evidence by offsets (Chroma, 2024) is imported, frozen and exported, range by range."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.command_line import invoke
from tests.support.marking import GUIDE

SET = ROOT.parent / "shared/data/evidence"


@pytest.mark.skipif(not SET.is_dir(), reason="the set with evidence is not there")
def test_the_questions_and_excerpts_come_out_as_they_came_in(tmp_path: Path) -> None:
    project = tmp_path / "set.duckdb"
    texts = {path.stem: path.read_bytes().decode() for path in SET.glob("*.md")}
    corpus = tmp_path / "corpus.jsonl"
    lines = [json.dumps({"id": name, "text": text}) for name, text in texts.items()]
    corpus.write_text("\n".join(lines), encoding="utf-8")
    guide = tmp_path / "guide.md"
    guide.write_text(GUIDE.format(ask="required"), encoding="utf-8")
    questions = str(SET / "questions.csv")

    def run(*words: str) -> dict[str, object]:
        done = invoke(["--project", str(project), *words, "--json"])
        assert done.exit_code == 0, done.output
        return dict(json.loads(done.stdout))

    run("init", "--guide", str(guide))
    run("import", "corpus", str(corpus))
    assert run("import", "queries", questions)["added"] == 317
    fields = ("--query-field", "question", "--document-field", "corpus_id", "--evidence-field", "references")
    judged = ("import", "judgments", questions, *fields, "--annotator", "chroma", "--grade", "3")
    assert run(*judged)["judgments"] == 317
    assert run(*judged)["unchanged"] == 317
    run("split", "--part", "all=1", "--no-paraphrase", "--no-shared-documents", "--no-near-duplicates")
    assert run("freeze", "v1", "--override", "one annotator")["parts"]["evidence"] == 487
    out = tmp_path / "beir"
    run("export", "v1", "--format", "beir", "--out", str(out))
    assert run("verify", "--folder", str(out))["intact"] is True
    rows, queries = (
        [json.loads(line) for line in (out / name).read_text(encoding="utf-8").splitlines()]
        for name in ("evidence.jsonl", "queries.jsonl")
    )
    named = {row["_id"]: row["text"] for row in queries}
    found = {(named[row["query_id"]], row["start"], row["end"], row["quote"]) for row in rows}
    with (SET / "questions.csv").open(encoding="utf-8", newline="") as file:
        expected = {
            (row["question"], one["start_index"], one["end_index"], one["content"])
            for row in csv.DictReader(file)
            for one in json.loads(row["references"])
        }
    assert found == expected
    assert all(texts[row["document_id"]][row["start"] : row["end"]] == row["quote"] for row in rows)
