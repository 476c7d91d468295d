"""A project in which people write answers: four queries with judged documents, writers and reviewers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from curation.labeling.requests import AnswerTaskRequest
from curation.labeling.written_answers.create_task import OpenedAnswerTask, open_answer_task
from curation.labeling.written_answers.writing import mark_unanswerable, read_writing_item, write_answer
from curation.store import Store
from tests.support.projects import add_names, add_pairs, decide_pairs, rows_of

QUERIES = ("who made it", "when was it", "how large is it", "why is it")
WRITERS = ("ada", "ben")


def fill(store: Store) -> Store:
    """One of each query's three documents is relevant; nobody has judged a document of the last query."""
    add_pairs(store, {query: [f"{query} {n}" for n in range(3)] for query in QUERIES})
    judged = {(query, f"{query} {n}"): 2 if n == 1 else 0 for query in QUERIES[:3] for n in range(3)}
    decide_pairs(store, judged)
    add_names(store, *WRITERS, "cy")
    add_names(store, "rita", "rosa", role="reviewer")
    add_names(store, "lee", role="lead")
    return store


def opened(store: Store, name: str = "first", **plan: Any) -> OpenedAnswerTask:
    return open_answer_task(store, replace(AnswerTaskRequest(name, WRITERS), **plan), "lee")


def assignment(store: Store, writer: str, query: str, task: str = "first") -> str:
    sql = """
        SELECT assignment_id FROM answer_assignments JOIN answer_tasks USING (task_id)
        WHERE writer = ? AND query_id = ? AND name = ?
    """
    return str(rows_of(store, sql, writer, query, task)[0][0])


def say(store: Store, query: str, task: str = "first", **answers: str | None) -> None:
    """Each writer's answer to a query, on the first document; None: the corpus does not answer it."""
    for writer, text in answers.items():
        mine = assignment(store, writer, query, task)
        seen = read_writing_item(store, writer, mine).revision
        if text is None:
            mark_unanswerable(store, writer, mine, "", seen)
        else:
            write_answer(store, writer, mine, text, [0], seen)


def references(store: Store) -> dict[str, tuple[list[str], str]]:
    """Query id → references in force, and their source."""
    rows = rows_of(store, "SELECT query_id, answers, source FROM current_reference_answers ORDER BY ALL")
    return {row[0]: (row[1], row[2]) for row in rows}
