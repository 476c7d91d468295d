"""A project of the public set with evidence by offsets (Chroma, 2024), graded, marked and frozen as v1."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from tests.support import ROOT
from tests.support.command_line import invoke
from tests.support.marking import GUIDE

SET = ROOT.parent / "shared/data/evidence"
QUESTIONS = SET / "questions.csv"


def texts() -> dict[str, str]:
    """The documents by id."""
    return {path.stem: path.read_bytes().decode() for path in sorted(SET.glob("*.md"))}


def excerpts() -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """Question → its document, and the excerpts that answer it."""
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["question"]: (row["corpus_id"], json.loads(row["references"])) for row in rows}


def evidence_set(folder: Path) -> Path:
    """Build the project; returns its file."""
    project, corpus, guide = (folder / file for file in ("set.duckdb", "corpus.jsonl", "guide.md"))
    lines = [json.dumps({"id": one, "text": text}) for one, text in texts().items()]
    corpus.write_text("\n".join(lines), encoding="utf-8")
    guide.write_text(GUIDE.format(ask="required"), encoding="utf-8")
    command(project, "init", "--guide", str(guide))
    command(project, "import", "corpus", str(corpus))
    assert command(project, "import", "queries", str(QUESTIONS))["added"] == 317
    fields = (*("--map", "query=question", "--map", "document=corpus_id"), *("--map", "evidence=references"))
    judged = ("import", "judgments", str(QUESTIONS), *fields, "--annotator", "chroma", "--grade", "3")
    assert command(project, *judged)["judgments"] == 317
    assert command(project, *judged)["unchanged"] == 317
    ties = ("--no-paraphrase", "--no-shared-documents", "--no-near-duplicates")
    command(project, "split", "--part", "all=1", *ties)
    assert command(project, "freeze", "v1", "--override", "one annotator")["parts"]["evidence"] == 487
    return project


def command(project: Path, *words: str) -> dict[str, Any]:
    """What a command prints with --json."""
    done = invoke(["--project", str(project), *words, "--json"])
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))
