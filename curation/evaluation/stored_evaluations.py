"""Evaluations submitted on the page Evaluate: stored, listed and read again."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.digests import canonical_json, digest, to_json_value
from curation.core.errors import NotFoundError
from curation.evaluation.evaluation import AnswerEvaluation, Evaluation
from curation.evaluation.report.evaluation_report import (
    EvaluationReport,
    parse_report,
    write_answer_report,
    write_report,
)
from curation.people.annotators import EVALUATING_ROLES, require_author, require_role
from curation.store import Annotator, Cursor, Store, append, fetch, record_event, utc_now


class SubmittedEvaluation(NamedTuple):
    """An evaluation in a list of stored evaluations."""

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
    """Store the evaluation of runs, of answers, or of both for its author, and return the id.

    Parameters
    ----------
    evaluation, answered: the evaluation of runs, and of answers; at least one is not None.

    Raises
    ------
    NotFoundError, RefusedError: the author may not evaluate.
    """
    values: dict[str, Any] = {}
    systems: list[str] = []
    first: Evaluation | AnswerEvaluation
    if answered is not None:
        first, report, values["answers"] = answered, write_answer_report(answered), to_json_value(answered)
        systems += [system.name for system in answered.systems]
    if evaluation is not None:
        first, report = evaluation, write_report(evaluation, answered)
        values = to_json_value(evaluation) | values
        systems = list(dict.fromkeys([*(system.name for system in evaluation.runs), *systems]))
    result, page = json.dumps(values), canonical_json(to_json_value(report))
    with store.transaction(appends=True) as cursor:
        require_author(cursor, author, *EVALUATING_ROLES)
        (count,) = cursor.execute("SELECT count(*) FROM evaluations").fetchall()[0]
        evaluation_id = digest("evaluation", count, author, result)
        row: list[Any] = [evaluation_id, first.release_id, first.release, list(first.parts)]
        row += [list(first.sealed), systems, result, page, author, utc_now()]
        cursor.execute("INSERT INTO evaluations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        detail = {"evaluation": evaluation_id, "release": first.release_id, "systems": systems}
        record_event(cursor, "submit runs", detail, author)
        if evaluation is not None:
            for system, places in evaluation.lists.items():
                for table, columns in places.items():
                    count = len(columns["rank"])
                    ids = {"evaluation_id": [evaluation_id] * count, "system": [system] * count}
                    append(cursor, table, ids | dict(columns))
    return evaluation_id


def list_evaluations(cursor: Cursor, annotator: Annotator) -> list[SubmittedEvaluation]:
    """List the evaluations that a person may read, newest first: all for the lead, else the person's own."""
    require_role(annotator, *EVALUATING_ROLES)
    sql = f"""
        SELECT {", ".join(SubmittedEvaluation._fields)} FROM evaluations
        WHERE author = ? OR ? = 'lead' ORDER BY rowid DESC
    """  # noqa: S608
    return fetch(cursor, SubmittedEvaluation, sql, [annotator.name, annotator.role])


def read_report(cursor: Cursor, evaluation_id: str, annotator: Annotator) -> tuple[EvaluationReport, str]:
    """Read the report of an evaluation that a person may read, and the evaluation as JSON.

    Raises
    ------
    NotFoundError: the person may not read an evaluation with this id.
    """
    page, result = read_json(cursor, evaluation_id, annotator)
    return parse_report(page), result


def read_json(cursor: Cursor, evaluation_id: str, annotator: Annotator) -> tuple[str, str]:
    """Read the report of an evaluation that a person may read, and the evaluation, both as JSON.

    Raises
    ------
    NotFoundError: the person may not read an evaluation with this id.
    """
    require_role(annotator, *EVALUATING_ROLES)
    sql = "SELECT page, result FROM evaluations WHERE evaluation_id = ? AND (author = ? OR ? = 'lead')"
    rows = cursor.execute(sql, [evaluation_id, annotator.name, annotator.role]).fetchall()
    if not rows:
        raise NotFoundError("You have no evaluation with this id.")
    return str(rows[0][0]), str(rows[0][1])
