"""The demo as `make demo` builds it, but on the modules only that the sample grades are about.

There is something to grade, and something to show on every page. The path of docs/path.md and the README's
evaluation on the same modules print what these pages show.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from curation.agreement.report import make_agreement_report
from curation.cli.relabel import EXIT_DUE
from curation.evaluation.stored_evaluations import list_evaluations, read_report
from curation.labeling.consensus.disputes import list_disputes
from curation.labeling.rounds.status import read_round_status
from curation.labeling.session.queue import read_queue
from curation.operations.demo import CHUNKS, PASSWORD, PEOPLE, RELEASE, ROUND, build_demo
from curation.operations.stdlib_corpus import write_stdlib_corpus
from curation.people.annotators import list_annotators
from curation.people.passwords import authenticate
from curation.releases.frozen_release import load_release
from curation.releases.verify import verify
from curation.store import Store, get_setting, open_store
from curation.store.documents import snapshot_versions
from tests.support import ROOT
from tests.support.command_line import invoke

pytestmark = pytest.mark.slow

SAMPLE = ROOT / "data" / "sample"
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.compile(r"^\$ goldgrade (.+)\n((?:[^$`\s].*\n)*)", re.MULTILINE)
CORPUS, *PATH = SHOWN.findall((ROOT / "docs" / "path.md").read_text(encoding="utf-8"))
"""The commands of the path, each with the output that is shown; the first writes a corpus of all modules."""


class Built(NamedTuple):
    folder: Path
    store: Store


MANY_DOCUMENTS = (
    "asyncio builtins bz2 collections decimal email fileinput ftplib http imaplib importlib inspect io math "
    "os pathlib signal tarfile threading time traceback uuid xml"
)


def graded_modules() -> set[str]:
    """The top-level modules of the graded documents, but for those with most text for each graded pair."""
    with (SAMPLE / "judgments.csv").open(encoding="utf-8", newline="") as file:
        graded = {row["document"].partition(".")[0] for row in csv.DictReader(file)}
    return graded.difference(MANY_DOCUMENTS.split())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("demo")
    project, is_new = build_demo(folder, SAMPLE, modules=graded_modules())
    assert is_new
    return Built(folder, open_store(project))


def test_everybody_whose_sign_in_is_printed_can_sign_in(built: Built) -> None:
    assert all(authenticate(built.store, name, PASSWORD) for name in PEOPLE)
    with built.store.reading() as cursor:
        assert {one.name: one.role for one in list_annotators(cursor) if not one.imported} == PEOPLE


def test_both_annotators_have_a_queue_with_blind_duplicates(built: Built) -> None:
    status = read_round_status(built.store, ROUND)
    assert [who.annotator for who in status.annotators] == ["ada", "grace"]
    for who in status.annotators:
        assert who.duplicates >= 0.05 * who.presentations
        first = read_queue(built.store, who.annotator).showings[0]
        assert first.query
        assert first.passage


def test_the_sample_grades_show_agreement_and_open_disputes(built: Built) -> None:
    report = make_agreement_report(built.store)
    assert report.between.ordinal.n >= 90
    assert report.between.ordinal.value is not None
    assert report.evidence.units >= 15
    assert {one.marks_apart for one in list_disputes(built.store).disputes} == {True, False}


def test_the_sample_release_is_intact_and_has_what_most_marked(built: Built) -> None:
    assert verify(built.store, RELEASE).intact
    quotes = {row["document_id"]: row["quote"] for row in load_release(built.store, RELEASE).rows("evidence")}
    assert quotes["shutil.copy2"] == "Copy data and metadata."
    assert not {"copy", "statistics"} & quotes.keys(), "marks apart are no evidence"


def test_runs_of_chunks_of_two_sizes_are_compared_by_the_evidence(built: Built) -> None:
    with built.store.reading() as cursor:
        [lead] = [one for one in list_annotators(cursor) if one.role == "lead"]
        [found] = list_evaluations(cursor, lead)
        report = read_report(cursor, found.evaluation_id, lead)
    assert found.systems == [f"bm25-{name.replace('/', '-')}" for name in CHUNKS]
    headlines = [line.partition(": ")[::2] for line in report.findings[1:3]]
    assert [system for system, _ in headlines] == found.systems
    assert all(figure.startswith("evidence_within@1000 0.") for _, figure in headlines)


def test_the_second_quarter_makes_relabeling_due_and_can_be_planned_and_opened(built: Built) -> None:
    command = ["--project", str(built.store.path), "relabel"]
    done = invoke([*command, "plan", "--due", "--json"])
    assert done.exit_code == EXIT_DUE
    status = json.loads(done.stdout)
    assert "whose document changed" in status["sentence"]
    assert {query["kind"] for query in status["queries"]} == {"retire", "add"}
    assert 0 < status["sealed"] < len(status["pairs"])
    plan = json.loads(invoke([*command, "plan", "--share", "0.15", "--seed", "7", "--json"]).stdout)
    assert plan["fraction_of_pairs"] == pytest.approx(0.15, abs=0.01)
    assert plan["retired"] > 0
    done = invoke([*command, "open", "--annotators", "ada,grace"])
    assert done.exit_code == 0, done.output
    assert f"{plan['pairs']} pairs to judge again" in done.stdout


def test_the_first_release_has_documents_that_the_second_quarter_has_no_more(built: Built) -> None:
    judged = {row["document_id"] for row in load_release(built.store, "sample").rows("qrels")}
    with built.store.reading() as cursor:
        now = set(snapshot_versions(cursor, get_setting(cursor, "corpus")))
    assert judged - now
    assert judged & now


def test_a_second_start_finds_the_project_as_it_was_left(built: Built) -> None:
    assert build_demo(built.folder, SAMPLE) == (built.folder / "goldgrade.duckdb", False)
    # For some tenths of a second after a write, DuckDB's log is beside the file.
    assert {path.name for path in built.folder.iterdir()} - {"goldgrade.duckdb.wal"} == {"goldgrade.duckdb"}


def without_figures(text: str) -> str:
    """Figures depend on the Python whose library is the corpus, widths of columns on the terminal."""
    return " ".join(re.sub(r"[0-9a-f]{32,}|\d[\d,.]*", "#", text).split())


@pytest.mark.costly("the whole standard library is read")
def test_the_path_has_ten_commands() -> None:
    assert len(PATH) == 10


@pytest.mark.costly("reads the documentation strings of the standard library")
def test_the_demos_files_can_be_had_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command, shown = CORPUS
    monkeypatch.chdir(tmp_path)
    done = invoke(shlex.split(command))
    assert without_figures(done.output) == without_figures(shown)
    assert len(Path("data/stdlib.jsonl").read_text(encoding="utf-8").splitlines()) > 1000
    assert {path.name for path in SAMPLE.glob("*.csv")} < {path.name for path in Path("data").iterdir()}


def test_each_command_of_the_path_and_of_the_readme_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOLDGRADE_PROJECT", "data/python.duckdb")
    shutil.copytree(SAMPLE, "data")
    write_stdlib_corpus(Path("data/stdlib.jsonl"), graded_modules())
    for command, shown in (*PATH, ("baseline v1 --systems bm25 --out runs", ""), *SHOWN.findall(README)):
        done = invoke(shlex.split(command), catch_exceptions=False)
        assert done.exit_code == 0, done.output
        printed = without_figures(done.output)
        for fragment in re.split("…|\n", shown):
            assert without_figures(fragment) in printed, command


def test_the_readme_begins_with_lines_of_qrels() -> None:
    lines = re.search(r"^\$ head -3 .*\n((?:.+\n)+)", README, re.MULTILINE)
    assert lines
    assert [bool(re.fullmatch(r"q[0-9a-f]{12} 0 \S+ [0-3]", line)) for line in lines[1].splitlines()] == [
        True
    ] * 3
