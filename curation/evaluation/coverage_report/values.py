"""The values of single queries that a coverage map is coloured by: one measure of evaluated systems.

Sealed parts have no values of single queries, so an evaluation of one colours nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from curation.errors import NotFoundError, RefusedError
from curation.evaluation.evaluation import Evaluation
from curation.people.annotators import EVALUATING, require_role
from curation.store import Annotator, Cursor

HEADLINE = "ndcg@10"
SEALED = "There are no figures of single queries of a sealed part, so a map cannot be coloured by them."

QueryValues = Mapping[str, float | None]


class EvaluatedValues(NamedTuple):
    """One measure of systems, query by query.

    Attributes
    ----------
    name: the release and its parts, as people read them.
    systems: system → query id → value, None where the measure has none.
    """

    name: str
    measure: str
    systems: Mapping[str, QueryValues]


def values_of(found: Evaluation) -> EvaluatedValues:
    """The values of an evaluation by nDCG@10, or by its first measure.

    Raises
    ------
    RefusedError: a sealed part was evaluated.
    """
    per_query = {system.name: system.per_query for system in found.runs}
    return _values(found.release, found.parts, found.measures, found.query_ids, per_query)


def stored_values(cursor: Cursor, evaluation_id: str, annotator: Annotator) -> EvaluatedValues:
    """The values of an evaluation that was made on the page Evaluate.

    Raises
    ------
    NotFoundError: there is none of that id, or it is somebody else's.
    RefusedError: a sealed part was evaluated.
    """
    require_role(annotator, *EVALUATING)
    sql = "SELECT result FROM evaluations WHERE evaluation_id = ? AND (author = ? OR ? = 'lead')"
    rows = cursor.execute(sql, [evaluation_id, annotator.name, annotator.role]).fetchall()
    if not rows:
        raise NotFoundError("There is no such evaluation of yours.")
    result: dict[str, Any] = json.loads(str(rows[0][0]))
    per_query = {system["name"]: system["per_query"] for system in result["runs"]}
    return _values(result["release"], result["parts"], result["measures"], result["query_ids"], per_query)


def _values(
    release: str,
    parts: Sequence[str],
    measures: Sequence[str],
    query_ids: Sequence[str] | None,
    per_query: Mapping[str, Mapping[str, Sequence[float | None]] | None],
) -> EvaluatedValues:
    if query_ids is None or any(values is None for values in per_query.values()):
        raise RefusedError(SEALED)
    measure = next((name for name in measures if _is_headline(name)), measures[0])
    systems = {
        name: dict(zip(query_ids, values[measure], strict=True))
        for name, values in per_query.items()
        if values is not None
    }
    return EvaluatedValues(f"{release}, {', '.join(parts)}", measure, systems)


def _is_headline(measure: str) -> bool:
    return measure.replace("_exp", "") == HEADLINE
