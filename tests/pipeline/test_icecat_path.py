"""The whole path on real data: products and traffic in, three raters' grades, a frozen gold set out."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support import GOLDGRADE, icecat
from tests.support.command_line import invoke

PASSWORD = "a long password\n"
OWN_PROCESS = ("init", "freeze")
"""Commands that run as a process each; the others need none of their own to be tested."""


class Built(NamedTuple):
    folder: Path
    answers: dict[str, Any]


def build(shared: Path, folder: Path) -> Built:
    """Run every command of the path, with the raters in another order than when the release id was noted."""
    icecat.write_traffic(shared, folder / "traffic.csv")
    answers = {}
    for command in icecat.path(shared, folder, icecat.RATERS[::-1]):
        run = in_own_process if command.startswith(OWN_PROCESS) else in_this_process
        arguments = ["--project", str(folder / "project.duckdb"), *shlex.split(command), "--json"]
        answers[command.partition(" --")[0]] = json.loads(run(arguments))
    return Built(folder, answers)


def in_own_process(arguments: list[str]) -> str:
    """What `goldgrade` prints, run as a lead would."""
    done = subprocess.run(
        [GOLDGRADE, *arguments], capture_output=True, text=True, input=PASSWORD, timeout=300
    )
    assert done.returncode == 0, f"{arguments}: {done.stderr}"
    return done.stdout


def in_this_process(arguments: list[str]) -> str:
    """The same without starting a process: it imports once and loads the embedding model once."""
    done = invoke(arguments, input=PASSWORD, catch_exceptions=False)
    assert done.exit_code == 0, f"{arguments}: {done.output}"
    return done.stdout


@pytest.fixture(scope="module")
def built(embedding_model: None, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(shared, tmp_path_factory.mktemp("first"))


def majority_or_final(row: dict[str, str]) -> int:
    """What the consensus must be, computed from the raters' file alone."""
    votes = Counter(int(row[rater]) for rater in icecat.RATERS)
    grade, count = votes.most_common(1)[0]
    return grade if count > len(icecat.RATERS) / 2 else int(row["final_rating"])


def expected(shared: Path) -> dict[tuple[str, str], int]:
    return {(row["query"], row["docid"]): majority_or_final(row) for row in icecat.ratings(shared)}


@pytest.mark.slow
def test_the_corpus_and_the_traffic_are_counted_whole(built: Built) -> None:
    corpus = next(answer for name, answer in built.answers.items() if name.startswith("import corpus"))
    assert corpus["documents"] == 19_406
    assert built.answers["sample"]["size"] == 135


def test_every_grade_of_the_three_raters_is_in_the_project_once(built: Built, shared: Path) -> None:
    imported = next(answer for name, answer in built.answers.items() if name.startswith("import judgments"))
    assert imported["judgments"] == 3 * len(icecat.ratings(shared)) == 9_564
    assert 0 < imported["filled"] < imported["judgments"]
    assert imported["added_annotators"] == []


def test_the_agreement_equals_the_published_figures(built: Built) -> None:
    """Computed with two libraries: ../shared/data/README.md."""
    between = built.answers["agreement"]["between"]
    assert between["nominal"]["value"] == pytest.approx(0.6426, abs=5e-5)
    assert between["ordinal"]["value"] == pytest.approx(0.7695, abs=5e-5)
    assert between["ordinal"]["n"] == 3_188
    assert all(
        between[level]["low"] < between[level]["value"] < between[level]["high"]
        for level in between
        if level in ("nominal", "ordinal")
    )


def test_these_inputs_have_the_release_id_that_they_always_had(built: Built) -> None:
    """Whoever changes what a release holds changes this id, and says so in the changelog.

    It was noted with the raters in their own order; the process that freezes hashes words as no other does.
    """
    frozen = "878e3d67e6d981f4e9bcc0e59484378c5c880156ba54c0332326f0f3b97f6cbb"
    assert built.answers["freeze v1"]["release_id"] == frozen


def qrels(built: Built) -> list[dict[str, str]]:
    with (built.folder / "csv" / "qrels.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_exported_qrels_hold_exactly_the_consensus_grades(built: Built, shared: Path) -> None:
    rows = qrels(built)
    assert list(rows[0]) == ["query_id", "query_text", "doc_id", "relevance", "split"]
    found = {(row["query_text"], row["doc_id"]): int(row["relevance"]) for row in rows}
    assert len(found) == len(rows)
    assert found == expected(shared)


def test_no_relevant_document_is_shared_across_the_split(built: Built) -> None:
    relevant_in: dict[str, set[str]] = defaultdict(set)
    for row in qrels(built):
        if row["relevance"] != "0":
            relevant_in[row["doc_id"]].add(row["split"])
    assert all(len(parts) == 1 for parts in relevant_in.values())
