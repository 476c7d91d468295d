"""Runs with ids of their own, and the table of id and text that says which queries these are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.pool_runs import pool_runs
from curation.evaluation.prepare_evaluation import PreparedEvaluation
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.scoring.system_runs import ReadingOptions
from curation.releases.frozen_release import load_release
from curation.store import COMMAND_LINE, Store
from tests.support.command_line import invoke
from tests.support.evaluated_project import QUERIES, evaluated_project, query, ranked, write_run
from tests.support.projects import per_test

OWN = EvaluateRequest("v1", "dev")


project = per_test(evaluated_project)


@pytest.fixture
def foreign(tmp_path: Path) -> SystemFile:
    """A run whose topics are numbers from 101."""
    lists = ranked("a")
    return SystemFile(
        "foreign",
        write_run(tmp_path / "foreign.trec", {f"{101 + n}": lists[f"q{n}"] for n in range(QUERIES)}),
    )


def rows(*further: str, heading: str = "id\ttext") -> str:
    topics = [f"{101 + number}\t{query(number).text.upper()}" for number in range(QUERIES)]
    return "\n".join([*([heading] if heading else []), *topics, *further, ""])


@pytest.mark.parametrize("heading", ["id\ttext", "number\ttitle of the topic", ""])
def test_a_table_of_topics_names_the_queries_of_a_run(
    project: Store, foreign: SystemFile, tmp_path: Path, heading: str
) -> None:
    topics = tmp_path / "topics.tsv"
    topics.write_text(rows("999\tnobody asks this", heading=heading))
    with_ids = SystemFile("foreign", write_run(tmp_path / "own.trec", ranked("a")))
    expected = evaluate_runs(project, "v1", [with_ids], OWN).runs[0]
    evaluation = evaluate_runs(project, "v1", [foreign], OWN, reading=ReadingOptions(topics=topics)).runs[0]
    assert evaluation.per_query == expected.per_query


def test_a_run_of_unknown_ids_is_refused_with_the_ways_to_name_its_queries(
    project: Store, foreign: SystemFile, tmp_path: Path
) -> None:
    refused = invoke(["--project", str(project.path), "evaluate", "v1", "--run", str(foreign.path)])
    assert refused.exit_code == 1
    said = str(refused.exception)
    assert "a table with the id and text of each query (--topics FILE" in said
    (command,) = re.findall(r"`goldgrade (export [^`]+)`", said)
    *options, out = command.split()
    assert invoke(["--project", str(project.path), *options, str(tmp_path / out)]).exit_code == 0
    assert len((tmp_path / out / "topics.tsv").read_text().splitlines()) == QUERIES


def test_bad_rows_of_topics_are_named_by_their_lines(
    project: Store, foreign: SystemFile, tmp_path: Path
) -> None:
    topics = tmp_path / "topics.tsv"
    wrong = (f"\t{query(1).text}", "300\t", f"q2\t{query(3).text}", f"101\t{query(4).text}")
    topics.write_text(rows(*wrong))
    with pytest.raises(InputError) as refused:
        evaluate_runs(project, "v1", [foreign], OWN, reading=ReadingOptions(topics=topics))
    first = QUERIES + 2
    assert refused.value.problems == [
        f"line {first}: no id",
        f"line {first + 1}: no text",
        f"line {first + 2}: 'q2' is the id of the query {query(2).text!r}, not of {query(3).text!r}",
        f"line {first + 3}: '101' is already the id of a different text",
    ]
    topics.write_text("id\ttext\n1\tnobody asks this\n")
    with pytest.raises(InputError, match="no topic could be read from the file: 1 topic with a text"):
        evaluate_runs(project, "v1", [foreign], OWN, reading=ReadingOptions(topics=topics))


def test_documents_of_such_a_run_become_candidates_of_the_release_s_queries(
    project: Store, foreign: SystemFile, tmp_path: Path
) -> None:
    topics = tmp_path / "topics.csv"
    topics.write_text(rows().replace("\t", ","))
    request = replace(OWN, runs=((foreign.name, str(foreign.path)),), to_pool=6)
    release, reading = load_release(project, "v1"), ReadingOptions(topics=topics)
    pool, unjudged, _ = pool_runs(
        PreparedEvaluation(project, request, COMMAND_LINE, release, False, reading), [foreign]
    )
    assert unjudged == 2 * QUERIES / 2
    assert pool.added > 0
