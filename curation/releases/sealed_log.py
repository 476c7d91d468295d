"""The log of evaluations on sealed parts, which counts the evaluations against a monthly limit.

If everybody can evaluate on a sealed part, teams start to choose systems by this part. So a sealed evaluation
is logged, with person and reason, before anybody gets its figures, and every report states the number of
earlier sealed evaluations. A refused request is logged and counted in the same way, because a refusal can
also reveal grades.

Leads see all figures of a sealed evaluation. Evaluators see one rounded figure per system, and may
evaluate on each sealed part only a limited number of times a month (`MONTHLY`, or the number that a lead
chose). The limit counts a part by its name across all releases, because releases of one project share grades.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.reports.tables import Table
from curation.core.text import pluralize
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, fetch, record_event
from curation.store.settings import get_setting, put_setting

MONTHLY = 10
"""Sealed evaluations of one evaluator on one part in a month (UTC), unless a lead chose another number."""
_SETTING = "sealed evaluations a month"


class SealedEvaluation(NamedTuple):
    """A logged evaluation of one system on sealed parts of a release.

    Attributes
    ----------
    name: the name of the release in the request.
    parts: the sealed parts.
    evaluated: all parts that were evaluated together.
    system: the name of a run, or of an answer file.
    rounded: whether the person saw only one rounded figure.
    figures: JSON, measure → value, low, high, n, judged; None if the request was refused.
    refused: the sentence of the refusal; None if the request was met.
    """

    evaluation_id: str
    release_id: str
    name: str
    parts: list[str]
    evaluated: list[str]
    system: str
    of_answers: bool
    rounded: bool
    figures: str | None
    reason: str
    evaluated_by: str
    evaluated_at: datetime
    refused: str | None = None

    @property
    def shown(self) -> dict[str, dict[str, Any]]:
        """Return the value that the person saw for each measure; empty if the request was refused."""
        return {} if self.figures is None else dict(json.loads(self.figures))


class SealedCount(NamedTuple):
    """The counts of evaluations on sealed parts, for the report of a new evaluation.

    Attributes
    ----------
    evaluations: number of systems that were scored.
    refused: number of systems whose request was refused.
    people: number of people who asked.
    left: number of evaluations that an evaluator has left this month; None for a lead.
    """

    parts: tuple[str, ...]
    evaluations: int
    refused: int
    people: int
    reason: str
    left: int | None = None

    @property
    def sentence(self) -> str:
        """Say how many evaluations on the parts there were, and how many are left."""
        parts = ", ".join(self.parts)
        sentence = (
            f"With this evaluation, {parts} has {pluralize(self.evaluations, 'sealed evaluation')} and "
            f"{pluralize(self.refused, 'refused request')}, by {pluralize(self.people, 'person', 'people')}. "
            "After many evaluations, the best system is likely to be partly lucky."
        )
        if self.left is not None:
            sentence += f" You have {pluralize(self.left, 'sealed evaluation')} of {parts} left this month."
        return sentence


def read_sealed_evaluations(cursor: Cursor, release_id: str) -> list[SealedEvaluation]:
    """Read all sealed evaluations of a release under any of the names of its content, oldest first."""
    sql = f"""
        SELECT {", ".join(SealedEvaluation._fields)} FROM sealed_evaluations
        WHERE release_id = ? ORDER BY rowid
    """  # noqa: S608
    return fetch(cursor, SealedEvaluation, sql, [release_id])


def read_query_values(cursor: Cursor, evaluation_ids: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """Map evaluation id and query id to the value of the first measure; None for a query without a value."""
    sql = """
        SELECT evaluation_id, query_id, value FROM sealed_evaluation_values
        WHERE evaluation_id IN (SELECT unnest(?::TEXT[])) ORDER BY ALL
    """
    values: dict[str, dict[str, float | None]] = {}
    for evaluation_id, query_id, value in cursor.execute(sql, [list(evaluation_ids)]).fetchall():
        values.setdefault(evaluation_id, {})[query_id] = value
    return values


def log_sealed_evaluation(
    cursor: Cursor, rows: Sequence[SealedEvaluation], values: Sequence[Mapping[str, float | None]] = ()
) -> SealedCount:
    """Log the evaluated systems of one request, before anyone sees the figures.

    Parameters
    ----------
    rows: the evaluations; the log gives them their ids.
    values: for each row the values of its queries by the first measure.
    """
    first = rows[0]
    (n_logged,) = cursor.execute("SELECT count(*) FROM sealed_evaluations").fetchall()[0]
    ids = []
    for number, row in enumerate(rows, n_logged):
        ids.append(digest("sealed evaluation", number, row.release_id, row.system, str(row.evaluated_at)))
        append_rows(cursor, "sealed_evaluations", [row._replace(evaluation_id=ids[-1])])
    value_rows = [
        (evaluation_id, query_id, value)
        for evaluation_id, query_values in zip(ids, values, strict=False)
        for query_id, value in query_values.items()
    ]
    append_rows(cursor, "sealed_evaluation_values", value_rows, ("evaluation_id", "query_id", "value"))
    detail = {
        "release": first.release_id,
        "parts": first.parts,
        "systems": [row.system for row in rows],
        "reason": first.reason,
        "refused": first.refused is not None,
    }
    record_event(cursor, "sealed evaluation", detail, first.evaluated_by)
    return _count_evaluations(cursor, first)


def count_remaining(cursor: Cursor, person: str, parts: Sequence[str], now: datetime) -> int:
    """Count the sealed evaluations of these parts that an evaluator has left in the month (UTC) of `now`.

    Refused requests with the same name from before the account existed do not count.
    """
    sql = """
        SELECT count(*) FROM sealed_evaluations JOIN annotators a ON a.name = evaluated_by
        WHERE evaluated_by = ? AND list_has_any(parts, ?::TEXT[]) AND evaluated_at >= a.added_at
          AND date_trunc('month', evaluated_at) = date_trunc('month', ?::TIMESTAMP)
    """
    (n_evaluations,) = cursor.execute(sql, [person, list(parts), now]).fetchall()[0]
    return max(0, read_monthly_limit(cursor) - int(n_evaluations))


def refuse_over_limit(cursor: Cursor, person: str, parts: Sequence[str], systems: int, now: datetime) -> None:
    """Reject a request that evaluates more systems than the evaluator has sealed evaluations left this month.

    Raises
    ------
    RefusedError: the request is for too many systems.
    """
    n_remaining = count_remaining(cursor, person, parts, now)
    if n_remaining < systems:
        raise RefusedError(
            f"{person} has {pluralize(n_remaining, 'sealed evaluation')} of {', '.join(parts)} left this "
            f"month, and this request is for {pluralize(systems, 'system')}. Each evaluator has "
            f"{read_monthly_limit(cursor)} evaluations per month for each sealed part; refused requests "
            "count, too. A lead can change this limit.",
            command="`goldgrade releases --sealed-limit NUMBER` sets the limit.",
        )


def read_monthly_limit(cursor: Cursor) -> int:
    """Read how many sealed evaluations an evaluator may run on each part in a month."""
    return int(get_setting(cursor, _SETTING) or MONTHLY)


def set_monthly_limit(store: Store, number: int, actor: str = COMMAND_LINE) -> None:
    """Set how many sealed evaluations an evaluator may run on each part in a month.

    Raises
    ------
    InputError: the number is below 0.
    NotFoundError: the project does not know the actor.
    RefusedError: the actor is not a lead.
    """
    if number < 0:
        raise InputError(f"{number} sealed evaluations per month: expected 0 or more.")
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        before = read_monthly_limit(cursor)
        if before != number:
            put_setting(cursor, _SETTING, str(number))
            detail = {"before": before, "now": number}
            record_event(cursor, "limit of sealed evaluations", detail, actor)


def _count_evaluations(cursor: Cursor, row: SealedEvaluation) -> SealedCount:
    sql = """
        SELECT count(*) FILTER (refused IS NULL), count(*) FILTER (refused IS NOT NULL),
               count(DISTINCT evaluated_by)
        FROM sealed_evaluations WHERE release_id = ? AND list_has_any(parts, ?::TEXT[])
    """
    n_evaluations, n_refused, n_people = cursor.execute(sql, [row.release_id, row.parts]).fetchall()[0]
    n_remaining = None
    if row.rounded:
        n_remaining = count_remaining(cursor, row.evaluated_by, row.parts, row.evaluated_at)
    return SealedCount(tuple(row.parts), n_evaluations, n_refused, n_people, row.reason, n_remaining)


def make_sealed_table(evaluations: Sequence[SealedEvaluation]) -> Table:
    """Make a table of sealed evaluations and refused requests, with the figure of the first measure."""
    columns = ("When (UTC)", "Who", "System", "Parts", "Shown", "Measure", "Value", "Reason")
    return Table("Sealed evaluations", columns, tuple(map(_sealed_row, evaluations)), words=True)


def _sealed_row(row: SealedEvaluation) -> tuple[object, ...]:
    measure, figure = next(iter(row.shown.items()), ("–", {"value": None}))
    shown = "one rounded figure" if row.rounded else "all figures"
    if row.refused:
        shown = "refused"
    request = (row.evaluated_at, row.evaluated_by, row.system, ", ".join(row.parts))
    return (*request, shown, measure, figure["value"], row.reason or "–")
