"""Stored re-labeling plans of quarters: pairs to judge again, and queries that leave or join the set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from curation.core.digests import NOT_IN_JSON
from curation.core.errors import NotFoundError
from curation.people.seal_access import SEALED, read_sealed_queries
from curation.store import Cursor, Store, fetch
from curation.store.documents import title_last_shown

NO_PLAN = "There is no re-labeling plan yet. First make a plan."
PAIR_COLUMNS = (
    *("query_id", "document_id", "part", "stratum", "inclusion_probability", "grade", "how", "content_hash"),
    *("guide_hash", "annotators", "judged", "decisions", "reason"),
)
"""Columns of the database table of planned pairs, in the order of the first fields of `PlanPair`."""
_QUERY_IDS = """
SELECT normalised, min(query_id) FROM queries SEMI JOIN (FROM relabeling_queries WHERE plan_id = ?)
USING (normalised) GROUP BY normalised
"""
_PLANS = """
SELECT p.plan_id, p.quarter, p.parameters::TEXT, p.report::TEXT, b.round_id, r.name
FROM relabeling_plans p LEFT JOIN relabeling_rounds b USING (plan_id) LEFT JOIN rounds r USING (round_id)
ORDER BY p.rowid
"""
_SHOWN_PAIRS = f"""
SELECT {", ".join(f"a.{name}" for name in PAIR_COLUMNS)}, q.text, {title_last_shown("a")}
FROM relabeling_pairs a JOIN queries q USING (query_id)
WHERE a.plan_id = ? ORDER BY a.query_id, a.document_id
"""  # noqa: S608


class QueryChange(NamedTuple):
    """A query that leaves or joins the set. Only a drawn query has a stratum, traffic and a probability."""

    normalised: str
    kind: str
    reason: str
    stratum: str | None = None
    traffic: int | None = None
    probability: float | None = None


class PlanPair(NamedTuple):
    """A pair of a re-labeling plan, with its grade and other facts at the time of the plan.

    Attributes
    ----------
    stratum: see `JudgedPair.stratum`.
    inclusion_probability: 1 outside the random part; None in plans of earlier versions.
    judged: name of the quarter of the last judgment.
    reason: why the plan has the pair (`due_sentences.REASONS`); None in plans of earlier versions.
    text, title: text of the query and title of the document; filled in by `show_plan` only.
    """

    query_id: str
    document_id: str
    part: str
    stratum: str
    inclusion_probability: float | None
    grade: int | None
    how: str
    content_hash: str | None
    guide_hash: str | None
    annotators: tuple[str, ...]
    judged: str | None
    decisions: int
    reason: str | None = None
    text: str = ""
    title: str = ""

    def without_grade(self) -> PlanPair:
        """Return the pair without its grade and its reason to be in the plan, which can reveal the grade."""
        sealed = self._replace(grade=None, how=SEALED, part=SEALED, reason=SEALED)
        return sealed._replace(inclusion_probability=None, guide_hash=None, annotators=())


@dataclass(frozen=True)
class StoredPlan:
    """The stored re-labeling plan of a quarter.

    Attributes
    ----------
    round, round_id: None until the plan is opened.
    report: the facts of the plan as JSON; see `plan.RelabelingPlan`.
    pairs, queries: ordered by ids; empty in a list of plans.
    sealed: number of pairs that a release seals.
    query_ids: normalised text → query id for queries of the project; filled in by `show_plan` only.
    """

    plan_id: str
    quarter: str
    round: str | None
    report: dict[str, Any]
    parameters: dict[str, Any] = field(metadata=NOT_IN_JSON)
    round_id: str | None = field(metadata=NOT_IN_JSON)
    pairs: tuple[PlanPair, ...] = ()
    sealed: int = 0
    queries: tuple[QueryChange, ...] = ()
    query_ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_chosen(self) -> bool:
        """Return whether a lead chose the pairs, apart from the plan of the quarter."""
        return "." in self.quarter


def find_plan(cursor: Cursor, name: str | None = None) -> StoredPlan:
    """Find a re-labeling plan by its quarter, its id or the beginning of its id.

    The default is the newest plan of a quarter, without the pairs that a lead chose.

    If a quarter has several plans, the result is the opened plan, or else the newest plan. The returned plan
    comes without its pairs and queries.

    Raises
    ------
    NotFoundError: there is no such plan.
    """
    plans = list_plans(cursor)
    if not plans:
        raise NotFoundError(NO_PLAN, command="`goldgrade relabel plan --share 0.15 --seed 0` makes a plan.")
    if name is None:
        hits = [plan for plan in plans if not plan.is_chosen] or plans
    else:
        hits = [plan for plan in plans if plan.quarter == name or plan.plan_id.startswith(name)]
    if not hits:
        plan_names = ", ".join(f"{plan.quarter} ({plan.plan_id[:8]})" for plan in plans)
        raise NotFoundError(f"There is no re-labeling plan {name!r}. Plans of this project: {plan_names}.")
    quarter = max(plan.quarter for plan in hits)
    quarter_plans = [plan for plan in hits if plan.quarter == quarter]
    return next((plan for plan in quarter_plans if plan.round_id is not None), quarter_plans[-1])


def list_plans(cursor: Cursor) -> list[StoredPlan]:
    """List all re-labeling plans without their pairs and queries, oldest first."""
    return [
        StoredPlan(plan_id, quarter, name, json.loads(report), json.loads(parameters), round_id)
        for plan_id, quarter, parameters, report, round_id, name in cursor.execute(_PLANS).fetchall()
    ]


def read_plan_pairs(cursor: Cursor, plan_id: str) -> list[PlanPair]:
    """Read the pairs of a re-labeling plan, ordered by query id and document id."""
    sql = f"SELECT {', '.join(PAIR_COLUMNS)} FROM relabeling_pairs WHERE plan_id = ? ORDER BY ALL"  # noqa: S608
    return [row._replace(annotators=tuple(row.annotators)) for row in fetch(cursor, PlanPair, sql, [plan_id])]


def read_plan_queries(cursor: Cursor, plan_id: str) -> list[QueryChange]:
    """Read the queries that leave or join the gold set with a re-labeling plan."""
    sql = """
        SELECT normalised, kind, reason, stratum, traffic, inclusion_probability
        FROM relabeling_queries WHERE plan_id = ? ORDER BY kind DESC, normalised
    """
    return fetch(cursor, QueryChange, sql, [plan_id])


def read_plan(cursor: Cursor, name: str | None = None) -> StoredPlan:
    """Read a re-labeling plan with its pairs and queries; see `find_plan`.

    Raises
    ------
    NotFoundError: there is no such plan.
    """
    plan = find_plan(cursor, name)
    pairs, queries = read_plan_pairs(cursor, plan.plan_id), read_plan_queries(cursor, plan.plan_id)
    return replace(plan, pairs=tuple(pairs), queries=tuple(queries))


def show_plan(store: Store, name: str | None = None) -> StoredPlan:
    """Read a re-labeling plan with its pairs' texts, for display.

    Grades that a release seals are left out.

    Raises
    ------
    NotFoundError: there is no such plan.
    """
    with store.reading() as cursor:
        plan, hidden = find_plan(cursor, name), read_sealed_queries(cursor)
        pairs = fetch(cursor, PlanPair, _SHOWN_PAIRS, [plan.plan_id])
        return replace(
            plan,
            pairs=tuple(pair.without_grade() if pair.query_id in hidden else pair for pair in pairs),
            sealed=sum(pair.query_id in hidden for pair in pairs),
            queries=tuple(read_plan_queries(cursor, plan.plan_id)),
            query_ids=dict(cursor.execute(_QUERY_IDS, [plan.plan_id]).fetchall()),
        )
