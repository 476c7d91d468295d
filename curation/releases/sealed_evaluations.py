"""Sealed evaluations: each scoring of a system on sealed parts of a release, and each refused request.

A sealed part that everybody evaluates on becomes a part that systems are chosen on. So a sealed evaluation is
logged, with who and why, before its figures are handed out, and every report says how many there were. A
request that is refused is logged and counted in the same way: what a refusal says costs as much as a figure.

Leads see all figures. Evaluators see one rounded figure of each system, a number of times a month for each
part (`MONTHLY`, or what a lead chose). A part is counted by its name in all releases: releases of one project
share grades.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.errors import InputError, RefusedError
from curation.core.text import amount, digest
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, fetch, record_event
from curation.store.settings import get_setting, put_setting

MONTHLY = 10
"""Sealed evaluations of one evaluator on one part in a month (UTC), where no lead chose another number."""
_SETTING = "sealed evaluations a month"


class SealedEvaluation(NamedTuple):
    """One system on sealed parts.

    Attributes
    ----------
    name: the release's, as it was asked for.
    parts: the sealed parts; `evaluated` are all parts that were evaluated together.
    system: the name of a run, or of a file of answers.
    rounded: nothing but one rounded figure was shown.
    figures: JSON, measure → value, low, high, n, judged; None where the request was refused.
    refused: the sentence of the refusal.
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
        """Measure → the figure that was shown; empty where the request was refused."""
        return {} if self.figures is None else dict(json.loads(self.figures))


class QueryValue(NamedTuple):
    """The value of a query by the first measure of an evaluation; None where it has none."""

    evaluation_id: str
    query_id: str
    value: float | None


class SealedCount(NamedTuple):
    """How often sealed parts were evaluated, for the report of one more evaluation.

    Attributes
    ----------
    evaluations, refused: of systems that were scored, and of systems whose request was refused.
    people: who asked. left: what an evaluator has left this month; None of leads.
    """

    parts: tuple[str, ...]
    evaluations: int
    refused: int
    people: int
    reason: str
    left: int | None = None

    @property
    def sentence(self) -> str:
        """The count for people."""
        parts = ", ".join(self.parts)
        sentence = (
            f"With this evaluation {parts} has {amount(self.evaluations, 'sealed evaluation')} and "
            f"{amount(self.refused, 'refused request')}, by {amount(self.people, 'person', 'people')}. The "
            "best of many systems was partly lucky."
        )
        if self.left is not None:
            sentence += f" You have {amount(self.left, 'sealed evaluation')} of {parts} left this month."
        return sentence


def sealed_evaluations(cursor: Cursor, release_id: str) -> list[SealedEvaluation]:
    """All sealed evaluations of a release's content, under whatever name, in the order of writing."""
    sql = f"""
        SELECT {", ".join(SealedEvaluation._fields)} FROM sealed_evaluations
        WHERE release_id = ? ORDER BY rowid
    """  # noqa: S608
    return fetch(cursor, SealedEvaluation, sql, [release_id])


def query_values(cursor: Cursor, evaluation_ids: Sequence[str]) -> list[QueryValue]:
    """The values of these evaluations, by query."""
    sql = """
        SELECT evaluation_id, query_id, value FROM sealed_evaluation_values
        WHERE evaluation_id IN (SELECT unnest(?::TEXT[])) ORDER BY ALL
    """
    return fetch(cursor, QueryValue, sql, [list(evaluation_ids)])


def log_sealed_evaluation(
    cursor: Cursor, rows: Sequence[SealedEvaluation], values: Sequence[Sequence[QueryValue]] = ()
) -> SealedCount:
    """Log systems of one request, within the transaction before their figures are handed out.

    Parameters
    ----------
    rows: without an id, which they get here.
    values: of each row, also without an id.
    """
    first = rows[0]
    (number,) = cursor.execute("SELECT count(*) FROM sealed_evaluations").fetchall()[0]
    ids = [
        digest("sealed evaluation", number + place, row.release_id, row.system, str(row.evaluated_at))
        for place, row in enumerate(rows)
    ]
    append_rows(
        cursor,
        "sealed_evaluations",
        [row._replace(evaluation_id=name) for name, row in zip(ids, rows, strict=True)],
    )
    append_rows(
        cursor,
        "sealed_evaluation_values",
        [value._replace(evaluation_id=name) for name, own in zip(ids, values, strict=False) for value in own],
    )
    detail = {
        "release": first.release_id,
        "parts": first.parts,
        "systems": [row.system for row in rows],
        "reason": first.reason,
        "refused": first.refused is not None,
    }
    record_event(cursor, "sealed evaluation", detail, first.evaluated_by)
    return _count(cursor, first)


def _count(cursor: Cursor, row: SealedEvaluation) -> SealedCount:
    sql = """
        SELECT count(*) FILTER (refused IS NULL), count(*) FILTER (refused IS NOT NULL),
               count(DISTINCT evaluated_by)
        FROM sealed_evaluations WHERE release_id = ? AND list_has_any(parts, ?::TEXT[])
    """
    done, refused, people = cursor.execute(sql, [row.release_id, row.parts]).fetchall()[0]
    left = left_this_month(cursor, row.evaluated_by, row.parts, row.evaluated_at) if row.rounded else None
    return SealedCount(tuple(row.parts), done, refused, people, row.reason, left)


def left_this_month(cursor: Cursor, person: str, parts: Sequence[str], now: datetime) -> int:
    """How many sealed evaluations of these parts an evaluator has left in the month (UTC) of `now`.

    What somebody was refused under the name before the account was made does not count.
    """
    sql = """
        SELECT count(*) FROM sealed_evaluations JOIN annotators a ON a.name = evaluated_by
        WHERE evaluated_by = ? AND list_has_any(parts, ?::TEXT[]) AND evaluated_at >= a.added_at
          AND date_trunc('month', evaluated_at) = date_trunc('month', ?::TIMESTAMP)
    """
    (taken,) = cursor.execute(sql, [person, list(parts), now]).fetchall()[0]
    return max(0, monthly_limit(cursor) - int(taken))


def refuse_over_limit(cursor: Cursor, person: str, parts: Sequence[str], systems: int, now: datetime) -> None:
    """Stop where an evaluator has fewer sealed evaluations left this month than systems are asked for.

    Raises
    ------
    RefusedError: so it is.
    """
    left = left_this_month(cursor, person, parts, now)
    if left < systems:
        raise RefusedError(
            f"{person} has {amount(left, 'sealed evaluation')} of {', '.join(parts)} left this month, and "
            f"this request is for {amount(systems, 'system')}. Each evaluator has {monthly_limit(cursor)} a "
            "month for each sealed part, refused requests included. A lead can choose another number.",
            command="`goldgrade release sealed-limit NUMBER` sets it.",
        )


def monthly_limit(cursor: Cursor) -> int:
    """How many sealed evaluations an evaluator has for each part in a month."""
    return int(get_setting(cursor, _SETTING) or MONTHLY)


def set_monthly_limit(store: Store, number: int, actor: str = COMMAND_LINE) -> None:
    """Choose how many sealed evaluations each evaluator has for each part in a month.

    Raises
    ------
    InputError: the number is below 0.
    NotFoundError, RefusedError: the project does not know the actor, or they are no lead.
    """
    if number < 0:
        raise InputError(f"{number} sealed evaluations a month: expected 0 or more.")
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        before = monthly_limit(cursor)
        if before != number:
            put_setting(cursor, _SETTING, str(number))
            detail = {"before": before, "now": number}
            record_event(cursor, "limit of sealed evaluations", detail, actor)
