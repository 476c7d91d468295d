"""Stored evaluations, which people submitted on the page Evaluate."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.digests import canonical_json, digest, to_json_value
from curation.core.errors import NotFoundError
from curation.evaluation.evaluation import AnswerEvaluation, Evaluation
from curation.evaluation.report import evaluation_report
from curation.evaluation.report.evaluation_report import EvaluationReport
from curation.people.annotators import EVALUATING_ROLES, require_author, require_role
from curation.store import Annotator, Cursor, Store, append, fetch, record_event, utc_now


class SubmittedEvaluation(NamedTuple):
    """A stored evaluation, as the list of evaluations shows it."""

    evaluation_id: str
    name: str
    parts: list[str]
    sealed: list[str]
    systems: list[str]
    author: str
    made_at: datetime


def store_evaluation(
    store: Store, evaluation: Evaluation | None, answered: AnswerEvaluation | None, author: str
) -> str:
    """Store the evaluation of runs, of answers, or of both for its author, and return its id.

    Parameters
    ----------
    evaluation, answered: the evaluation of runs, and of answers; at least one is not None.

    Raises
    ------
    NotFoundError, RefusedError: the author may not evaluate.
    """
    values: dict[str, Any] = {}
    systems: list[str] = []
    stored: Evaluation | AnswerEvaluation
    if answered is not None:
        stored = answered
        report = evaluation_report.write_answer_report(answered)
        values["answers"] = to_json_value(answered)
        systems = [system.name for system in answered.systems]
    if evaluation is not None:
        stored = evaluation
        report = evaluation_report.write_report(evaluation, answered)
        values = to_json_value(evaluation) | values
        systems = list(dict.fromkeys([*(system.name for system in evaluation.runs), *systems]))
    result = json.dumps(values)
    page = canonical_json(to_json_value(report))
    release = [stored.release_id, stored.release, list(stored.parts), list(stored.sealed)]
    with store.transaction(appends=True) as cursor:
        require_author(cursor, author, *EVALUATING_ROLES)
        (count,) = cursor.execute("SELECT count(*) FROM evaluations").fetchall()[0]
        evaluation_id = digest("evaluation", count, author, result)
        row = [evaluation_id, *release, systems, result, page, author, utc_now()]
        cursor.execute("INSERT INTO evaluations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        detail = {"evaluation": evaluation_id, "release": stored.release_id, "systems": systems}
        record_event(cursor, "submit runs", detail, author)
        if evaluation is not None:
            _store_lists(cursor, evaluation_id, evaluation)
    return evaluation_id


def _store_lists(cursor: Cursor, evaluation_id: str, evaluation: Evaluation) -> None:
    """Store the first documents and chunks of each system's result lists."""
    for system, tables in evaluation.lists.items():
        for table, columns in tables.items():
            values: dict[str, Any] = {**columns}
            count = len(values["rank"])
            ids = {"evaluation_id": [evaluation_id] * count, "system": [system] * count}
            append(cursor, table, ids | values)


def list_evaluations(cursor: Cursor, annotator: Annotator) -> list[SubmittedEvaluation]:
    """List the evaluations that a person may read, newest first: all of them for a lead, otherwise the
    person's own."""
    require_role(annotator, *EVALUATING_ROLES)
    sql = f"""
        SELECT {", ".join(SubmittedEvaluation._fields)} FROM evaluations
        WHERE author = ? OR ? = 'lead' ORDER BY rowid DESC
    """  # noqa: S608
    return fetch(cursor, SubmittedEvaluation, sql, [annotator.name, annotator.role])


def read_report(cursor: Cursor, evaluation_id: str, annotator: Annotator) -> EvaluationReport:
    """Read the report of an evaluation that a person may read.

    Raises
    ------
    NotFoundError: the person may not read an evaluation with this id.
    """
    return evaluation_report.parse_report(_read_column(cursor, "page", evaluation_id, annotator))


def read_result(cursor: Cursor, evaluation_id: str, annotator: Annotator) -> str:
    """Read the JSON of an evaluation that a person may read: an `Evaluation`, with answers under `answers`.

    Raises
    ------
    NotFoundError: the person may not read an evaluation with this id.
    """
    return _read_column(cursor, "result", evaluation_id, annotator)


def _read_column(cursor: Cursor, column: str, evaluation_id: str, annotator: Annotator) -> str:
    require_role(annotator, *EVALUATING_ROLES)
    sql = f"SELECT {column} FROM evaluations WHERE evaluation_id = ? AND (author = ? OR ? = 'lead')"  # noqa: S608
    rows = cursor.execute(sql, [evaluation_id, annotator.name, annotator.role]).fetchall()
    if not rows:
        raise NotFoundError("You have no evaluation with this id.")
    return str(rows[0][0])
