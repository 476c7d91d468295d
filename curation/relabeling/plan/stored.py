"""Plans as they are stored: the newest one of a quarter, its pairs and its queries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.errors import NotFoundError
from curation.people.seal_access import SEALED, sealed_queries
from curation.relabeling.plan.choice import PlanPair
from curation.relabeling.plan.query_changes import QueryChange
from curation.store import Cursor, Store, fetch
from curation.store.documents import title_last_shown

NO_PLAN = "There is no plan yet. Make one."


_KNOWN = """
SELECT normalised, min(query_id) FROM queries SEMI JOIN (FROM relabeling_queries WHERE plan_id = ?)
USING (normalised) GROUP BY normalised
"""


_PLANS = """
SELECT p.plan_id, p.quarter, p.parameters::TEXT, p.report::TEXT, b.round_id, r.name
FROM relabeling_plans p LEFT JOIN relabeling_rounds b USING (plan_id) LEFT JOIN rounds r USING (round_id)
ORDER BY p.rowid
"""

_SHOWN = f"""
SELECT a.query_id, q.text, a.document_id, {title_last_shown("a")}, a.part, a.stratum, a.grade, a.how, a.judged
FROM relabeling_pairs a JOIN queries q USING (query_id)
WHERE a.plan_id = ? ORDER BY a.query_id, a.document_id
"""  # noqa: S608


class PlanRow(NamedTuple):
    """A stored plan; `round_id` and `round` are None until it is opened."""

    plan_id: str
    quarter: str
    parameters: dict[str, Any]
    report: dict[str, Any]
    round_id: str | None
    round: str | None


class PlanPairRow(NamedTuple):
    """A pair of a plan as a lead reads it before opening.

    Where a release seals the query, `grade` is None, and `how` and `part` are 'sealed': controls are pairs
    whose votes agree.
    """

    query_id: str
    text: str
    document_id: str
    title: str
    part: str
    stratum: str
    grade: int | None
    how: str
    judged: str | None


@dataclass(frozen=True)
class ShownPlan:
    """A plan to be read: its report, its pairs by query, and the queries that leave or join.

    `sealed` counts the pairs whose grade is not named. `query_ids`: by normalised text, of the queries that
    the project has.
    """

    plan_id: str
    quarter: str
    round: str | None
    report: dict[str, Any]
    pairs: tuple[PlanPairRow, ...]
    sealed: int
    queries: tuple[QueryChange, ...]
    query_ids: Mapping[str, str]


def find_plan(cursor: Cursor, name: str | None = None) -> PlanRow:
    """The plan of that id (or its beginning) or quarter; the newest one without a name.

    Of several plans of a quarter the opened one counts, else the newest.

    Raises
    ------
    NotFoundError: there is none.
    """
    plans = list_plans(cursor)
    if not plans:
        raise NotFoundError(NO_PLAN, command="`goldgrade relabel plan --share 0.15 --seed 0` does.")
    wanted = [plan for plan in plans if name is None or plan.quarter == name or plan.plan_id.startswith(name)]
    if not wanted:
        have = ", ".join(f"{plan.quarter} ({plan.plan_id[:8]})" for plan in plans)
        raise NotFoundError(f"There is no plan {name!r}. Plans of this project: {have}.")
    quarter = max(one.quarter for one in wanted)
    of_quarter = [one for one in wanted if one.quarter == quarter]
    return next((one for one in of_quarter if one.round_id is not None), of_quarter[-1])


def list_plans(cursor: Cursor) -> list[PlanRow]:
    """All plans, oldest first."""
    rows = cursor.execute(_PLANS).fetchall()
    return [PlanRow(row[0], row[1], json.loads(row[2]), json.loads(row[3]), *row[4:]) for row in rows]


def plan_pairs(cursor: Cursor, plan_id: str) -> list[PlanPair]:
    """The pairs of a plan by query id and document id."""
    sql = f"SELECT {', '.join(PlanPair._fields)} FROM relabeling_pairs WHERE plan_id = ? ORDER BY ALL"  # noqa: S608
    return [
        pair._replace(annotators=tuple(pair.annotators)) for pair in fetch(cursor, PlanPair, sql, [plan_id])
    ]


def plan_queries(cursor: Cursor, plan_id: str) -> list[QueryChange]:
    """The queries that leave or join with a plan."""
    sql = """
        SELECT normalised, kind, reason, stratum, traffic, inclusion_probability
        FROM relabeling_queries WHERE plan_id = ? ORDER BY kind DESC, normalised
    """
    return fetch(cursor, QueryChange, sql, [plan_id])


def show_plan(store: Store, name: str | None = None) -> ShownPlan:
    """A plan to be read before it is opened; grades of queries that a release seals are not named.

    Raises
    ------
    NotFoundError: there is none.
    """
    with store.reading() as cursor:
        plan = find_plan(cursor, name)
        hidden = sealed_queries(cursor)
        pairs = fetch(cursor, PlanPairRow, _SHOWN, [plan.plan_id])
        return ShownPlan(
            plan_id=plan.plan_id,
            quarter=plan.quarter,
            round=plan.round,
            report=plan.report,
            pairs=tuple(
                pair._replace(grade=None, how=SEALED, part=SEALED) if pair.query_id in hidden else pair
                for pair in pairs
            ),
            sealed=sum(pair.query_id in hidden for pair in pairs),
            queries=tuple(plan_queries(cursor, plan.plan_id)),
            query_ids=dict(cursor.execute(_KNOWN, [plan.plan_id]).fetchall()),
        )
