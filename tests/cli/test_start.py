"""`goldgrade start`: one command makes a project with documents, queries, a pool and a round."""

from __future__ import annotations

from pathlib import Path

from tests.support.command_line import invoke
from tests.support.document_folder import write_documents


def test_one_command_starts_a_project_from_a_folder_and_a_log(tmp_path: Path) -> None:
    project, folder = tmp_path / "new" / "project.duckdb", write_documents(tmp_path / "docs")
    log = tmp_path / "log.csv"
    log.write_text("query,count\nreturn an order,9\npay by invoice,4\nsize of a text,2\n", encoding="utf-8")
    command = ["--project", str(project), "start", str(folder), str(log)]
    done = invoke(command)
    assert done.exit_code == 0, done.output
    assert "3 queries have" in done.stdout
    assert "No one can grade yet." in done.stdout
    assert "Left out: 1 file: hidden files." in done.stderr
    people = ["--project", str(project), "people", "add", "ada", "--password-stdin"]
    assert invoke(people, input="correct horse battery\n").exit_code == 0
    again = invoke(["--project", str(project), "start", "--depth", "2"])
    assert "The round first is open for ada" in again.stdout, again.output
