"""Options: anywhere on the line, never ignored in silence, and what they say of long and interrupted work."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from curation.cli import invocation
from curation.cli.invocation import interruption_note
from curation.cli.output import show
from curation.cli.progress import LONG_WORK, REPORT_SECONDS, make_line_listener, progress_bar
from curation.core.errors import InputError
from curation.core.operation import PlainResult
from curation.core.reports.tables import Table
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
    done = invoke(["--project", str(tmp_path / "none.duckdb"), "queries", "add", "--", "--project"])
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


@pytest.mark.parametrize(
    ("command", "named", "why"),
    [
        ("round open first --annotators ada --queries 3", "--queries", "only possible for a pilot"),
        ("negatives --limit 3 audit", "--limit", "after it"),
        ("negatives audit --size 10 --depth 5", "--size, --depth", "--annotators"),
        ("judge --seed 3", "--seed", "name a judge"),
        ("consensus --reason why", "--reason", "--pairs"),
        ("practice first --annotators ada --map grade=rating", "--map", "--file"),
        ("baseline v1 --out runs --model other", "--model", "dense"),
        ("decide q d --grade 1 --all --map reason=why", "--map, --all", "--file"),
        ("export v1 --out out --format csv --negatives 3", "--negatives", "triplets"),
        ("init --demo data --guide binary", "--guide", "--demo"),
        ("split --certificate --seed 3", "--seed", "shown"),
        ("split --release v1", "--release", "--certificate"),
        ("releases v1 --license mine", "--license", "--card"),
        ("split --no-paraphrase --paraphrase-threshold 0.99", "--paraphrase-threshold", "--no-paraphrase"),
        ("pool --systems bm25 --model other", "--model", "dense and hybrid"),
        ("coverage --run a.trec", "--run", "--html"),
        ("queries write --calls 3", "--calls", "--share"),
        ("queries write --queries 3", "--queries", "--annotators or --share"),
        ("guide use graded --dry-run --reason why", "--reason", "dry run"),
        ("pool --text excerpt", "--text", "--out"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(
    command: str, named: str, why: str, one_document: Path
) -> None:
    before = ["--project", str(one_document / "project.duckdb")]
    refused = invoke([*before, *command.format(one_document / "rated.csv").split()])
    assert isinstance(refused.exception, InputError)
    said = str(refused.exception)
    assert f"{named} has no effect here: " in said
    assert why in said


def test_who_and_why_are_asked_of_goldgrade_itself_and_may_be_anywhere(one_document: Path) -> None:
    project = ["--project", str(one_document / "project.duckdb")]
    for line in (["--as", "cy", "releases", "--sealed-limit=3"], ["releases", "--sealed-limit=3", "--as=cy"]):
        assert str(invoke([*project, *line]).exception).startswith(
            "The project does not know the annotator cy."
        )


def test_an_author_whom_a_command_does_not_log_is_named(one_document: Path) -> None:
    done = invoke(["--project", str(one_document / "project.duckdb"), "people", "list", "--reason", "why"])
    assert done.exit_code == 0
    assert done.stderr == "goldgrade: --reason had no effect: this command logs none.\n"


def test_json_has_all_rows_and_a_limit_cuts_tables_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tuple((number,) for number in range(3))
    result = PlainResult(("Three kettles.",), (Table("Kettles", ("number",), rows),))
    for limit, said in ((0, False), (2, True), (3, False)):
        show(result, limit=limit)
        assert ("2 of 3 rows are shown; --limit 0 shows all." in capsys.readouterr().out) is said
    monkeypatch.setattr(invocation, "is_json", lambda: True)
    show(result, limit=1)
    assert len(json.loads(capsys.readouterr().out)["tables"][0]["rows"]) == 3


def test_long_work_in_a_pipe_says_a_line_now_and_then_and_short_work_none() -> None:
    lines: list[str] = []
    at = iter(
        [
            0.0,
            REPORT_SECONDS - 1.0,
            REPORT_SECONDS,
            REPORT_SECONDS,
            REPORT_SECONDS + 1.0,
            2.0 * REPORT_SECONDS,
            2.0 * REPORT_SECONDS,
        ]
    )
    listen = make_line_listener(lines.append, at.__next__)
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
REPLACED = """import duckdb
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except SystemExit:
            raise duckdb.InterruptException("INTERRUPT Error: Query interrupted")"""
"""What DuckDB does with the exit of the signal's handler if the key is pressed during a query."""
LOST = """import time
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except SystemExit:
            time.sleep(60)"""
"""What DuckDB does with the exit if the key is pressed while it plans a query."""
AT_ONCE = "os.kill(os.getpid(), signal.SIGINT)"


@pytest.mark.parametrize(("pressed", "code"), [(AT_ONCE, 130), (REPLACED, 130), (LOST, -signal.SIGINT)])
def test_whoever_presses_ctrl_c_reads_what_was_kept(tmp_path: Path, pressed: str, code: int) -> None:
    project = ["--project", str(tmp_path / "project.duckdb")]
    script = PRESSED.replace(AT_ONCE, pressed)
    command = [sys.executable, "-c", script, *project, "people", "add", "ada", "--password-stdin"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "No file or record is half-written. The contents of the project are unchanged.\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_work_that_is_interrupted_says_what_its_step_keeps() -> None:
    said = []
    for step in ("", "pool", "import"):
        with progress_bar(step):
            said.append(interruption_note.get())
    assert said == [LONG_WORK, OPERATIONS["pool"].on_interrupt, OPERATIONS["import"].on_interrupt]
    assert interruption_note.get() not in said


@pytest.mark.parametrize("option", ["--demo", "--demo-files"])
def test_a_folder_that_cannot_be_made_is_refused_with_its_option(tmp_path: Path, option: str) -> None:
    (tmp_path / "file").touch()
    done = invoke(["init", option, str(tmp_path / "file" / "demo")])
    assert isinstance(done.exception, InputError)
    assert str(done.exception).startswith(f"{option} {tmp_path}/file/demo: the folder cannot be made")
