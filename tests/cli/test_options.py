"""Options: anywhere on the line, never ignored in silence, and what they say of long and interrupted work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from curation.cli.output import LONG_WORK, SECONDS, progress_bar, progress_lines
from curation.cli.program import kept
from curation.core.errors import InputError
from curation.ingest.importers.corpus import import_corpus
from curation.operations.registry import OPERATIONS
from tests.support.command_line import invoke
from tests.support.projects import new_project


@pytest.mark.parametrize(
    "arguments",
    [
        ["init", "--project", "{}"],
        ["init", "--project={}", "--json"],
        ["--quiet", "init", "--json", "--project", "{}"],
    ],
)
def test_the_project_and_quiet_may_be_anywhere_on_the_line(arguments: list[str], tmp_path: Path) -> None:
    project = tmp_path / "project.duckdb"
    assert invoke([argument.format(project) for argument in arguments]).exit_code == 0
    assert project.is_file()


def test_what_comes_after_two_dashes_is_no_option(tmp_path: Path) -> None:
    done = invoke(["--project", str(tmp_path / "none.duckdb"), "query", "add", "--", "--project"])
    assert "none.duckdb" in str(done.exception)


@pytest.fixture(scope="module")
def one_document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project with a corpus, for commands that are refused and change nothing."""
    folder = tmp_path_factory.mktemp("one")
    store = new_project(folder / "project.duckdb")
    (folder / "corpus.csv").write_text("id,text\nd,kettle\n", encoding="utf-8")
    (folder / "rated.csv").write_text("query,document,grade\nq,d,1\n", encoding="utf-8")
    import_corpus(store, folder / "corpus.csv")
    store.close()
    return folder


LOGGED = (
    *("agreement", "negatives", "negatives audit", "consensus --pairs", "adjudicate list", "round pilot p"),
    *("judge gpt", "diff v1 v2"),
)
"""Commands that name somebody only where they say why they want sealed grades."""


@pytest.mark.parametrize(
    ("command", "named", "why"),
    [
        ("round open first --annotators ada --queries 3", "--queries", "--pilot"),
        ("negatives --limit 3 audit", "--limit", "after it"),
        ("negatives audit --size 10 --depth 5", "--size, --depth", "--annotators"),
        ("judge --part dev --seed 3", "--part, --seed", "name one"),
        ("consensus --reason why", "--reason", "--pairs"),
        ("practice open first --annotators ada --grade-field rating", "--grade-field", "--file"),
        ("run v1 --out runs --model other", "--model", "dense"),
        ("adjudicate decide q d --grade 1 --all --reason-field why", "--reason-field, --all", "--file"),
        ("import judgments {} --annotator ada --duration-unit ms", "--duration-unit", "--duration-field"),
        ("export v1 --out out --format csv --negatives 3", "--negatives", "triplets"),
        ("demo --files data --port 80", "--port", "--files"),
        ("demo --build-only --no-browser", "--browser", "--build-only"),
        ("split --undated dev", "--undated", "by time"),
        ("split --no-paraphrase --model other", "--model", "paraphrases"),
        ("split --no-paraphrase --paraphrase-threshold 0.99", "--paraphrase-threshold", "--no-paraphrase"),
        ("relabel open --annotators ada --depth 5", "--depth", "systems"),
        ("relabel open --annotators ada --budget 5", "--budget", "systems"),
        ("relabel report --reason why --by ada", "--reason, --by", "--run"),
        ("pool --systems bm25 --model other", "--model", "dense and hybrid"),
        ("sample --size 3 --model other", "--model", "strata by cluster"),
        ("sample --size 3 --strata segment --head 0.5", "--head", "by band"),
        ("sample --size 3 --strata segment --torso 0.5", "--torso", "by band"),
        ("sample --size 3 --imported-run bm25", "--imported-run", "release"),
        ("coverage --calls 3 --parallel 2", "--calls, --parallel", "--extractor llm"),
        ("coverage --seed 3 gaps", "--seed", "after it"),
        ("guide use graded --dry-run --reason why", "--reason", "dry run"),
        ("pool --text excerpt", "--text", "--out"),
        ("leakage groups --no-paraphrase --model other", "--model", "paraphrases"),
        ("judge gpt --reason why", "--reason", "--release"),
        *((f"{command} --by ada", "--by", "--reason") for command in LOGGED),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(
    command: str, named: str, why: str, one_document: Path
) -> None:
    before = [] if command.startswith("demo") else ["--project", str(one_document / "project.duckdb")]
    refused = invoke([*before, *command.format(one_document / "rated.csv").split()])
    assert isinstance(refused.exception, InputError)
    said = str(refused.exception)
    assert f"{named} would change nothing: " in said
    assert why in said


def test_json_has_all_rows_and_a_limit_of_0_lists_all(tmp_path: Path) -> None:
    project = ["--project", str(tmp_path / "project.duckdb")]
    invoke([*project, "init"])
    lines = [json.dumps({"id": f"d{n}", "title": f"{n // 2}", "body": f"kettle {n // 2}"}) for n in range(6)]
    (corpus := tmp_path / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    invoke([*project, "import", "corpus", str(corpus)])
    assert len(json.loads(invoke([*project, "duplicates", "--limit", "1", "--json"]).stdout)["groups"]) == 3
    shown = [invoke([*project, "duplicates", "--limit", limit]).stdout.count("identical ") for limit in "10"]
    assert shown[1] - shown[0] == 2


def test_long_work_in_a_pipe_says_a_line_now_and_then_and_short_work_none() -> None:
    lines: list[str] = []
    at = iter([0.0, SECONDS - 1.0, SECONDS, SECONDS, SECONDS + 1.0, 2.0 * SECONDS, 2.0 * SECONDS])
    listen = progress_lines(lines.append, at.__next__)
    for done in (100, 1200, 1300, 9000):
        listen("embed passages", done, 8000 if done < 2000 else 0)
    assert lines == ["embed passages: 1,200 of 8,000", "embed passages: 9,000"]


PRESSED = """
import io, os, signal, sys
from curation.cli import main

class Keyboard(io.StringIO):
    def readline(self, *_):
        os.kill(os.getpid(), signal.SIGINT)
        return ""

sys.stdin = Keyboard()
main()
"""


def test_whoever_presses_ctrl_c_reads_what_was_kept(tmp_path: Path) -> None:
    project = ["--project", str(tmp_path / "project.duckdb")]
    command = [sys.executable, "-c", PRESSED, *project, "annotator", "add", "ada", "--password-stdin"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert "Nothing is half-written. What the project holds is as it was before.\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_work_that_is_interrupted_says_what_its_step_keeps() -> None:
    said = []
    for step in (None, OPERATIONS["pool"], OPERATIONS["import"]):
        with progress_bar(step):
            said.append(kept.get())
    assert said == [LONG_WORK, OPERATIONS["pool"].kept, OPERATIONS["import"].kept]
    assert kept.get() not in said
