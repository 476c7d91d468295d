"""The values of one measure for one or two evaluated runs, query by query.

Compared runs belong to one evaluation, or to two evaluations on the same parts of a release. A sealed part
has no values by query. A query that another release has sealed in the meantime is left out and counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

from curation.core.errors import NotFoundError, RefusedError
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.query_sections import QueryValues
from curation.evaluation.scoring.facets import CLUSTER, make_facets
from curation.evaluation.stored_evaluations import read_result
from curation.people.seal_access import describe_withheld_pairs, read_closed_access
from curation.store import Annotator, Cursor
from curation.store.release_parts import read_parts

PREFERRED_MEASURE = "ndcg@10"
SEALED_MAP = "A sealed part shows no values for individual queries, so its values cannot color a map."
ValuesByQuery = Mapping[str, float | None]
"""Map from query id to the system's value, or None."""

EvaluatedRun = tuple[str, str]
"""Id of a stored evaluation, and name of one of its systems."""


class ByQuery(NamedTuple):
    """Queries for which every compared run has a value, ordered from the largest loss to the largest gain.

    Attributes
    ----------
    remark: a sentence on queries that are left out because a release has sealed them; '' without such
        queries.
    """

    measure: str
    release_id: str
    rows: tuple[QueryValues, ...]
    remark: str


def compare_by_query(cursor: Cursor, runs: Sequence[EvaluatedRun], annotator: Annotator) -> ByQuery:
    """Read the values of one or two runs by query, for the first measure of the first run's evaluation.

    Raises
    ------
    NotFoundError: the annotator has no such evaluation, or the evaluation has no such run.
    RefusedError: a sealed part was evaluated.
    """
    results = [read_open_result(cursor, evaluation_id, annotator) for evaluation_id, _ in runs]
    measure = results[0]["measures"][0]
    values = [_get_values(result, system, measure) for result, (_, system) in zip(results, runs, strict=True)]
    if len(runs) == 1:
        values.insert(0, dict.fromkeys(values[0], 0.0))
    first_values, second_values = values
    rows = []
    for query_id, text in zip(results[0]["query_ids"], results[0]["query_texts"], strict=True):
        first, second = first_values.get(query_id), second_values.get(query_id)
        if first is not None and second is not None:
            rows.append(QueryValues(query_id, text, first, second))
    seal = read_closed_access(cursor)
    open_rows = [row for row in rows if seal.can_show(row.query_id)]
    ordered_rows = tuple(sorted(open_rows, key=lambda row: (row.difference, row.query_id)))
    remark = describe_withheld_pairs(len(rows) - len(open_rows), "query", "queries")
    return ByQuery(measure, results[0]["release_id"], ordered_rows, remark)


def read_open_result(cursor: Cursor, evaluation_id: str, annotator: Annotator) -> dict[str, Any]:
    """Read the JSON of an evaluation of runs that covered no sealed part.

    Raises
    ------
    NotFoundError: the annotator has no such evaluation of runs.
    RefusedError: a sealed part was evaluated.
    """
    result: dict[str, Any] = json.loads(read_result(cursor, evaluation_id, annotator))
    if "runs" not in result:
        raise NotFoundError("This evaluation covers only answers, so there are no result lists.")
    if result["sealed"]:
        parts = ", ".join(result["sealed"])
        raise RefusedError(f"{parts} is sealed, and a sealed part shows no values for individual queries.")
    return result


def _get_values(result: dict[str, Any], system: str, measure: str) -> dict[str, float | None]:
    """Map each query id to the system's value of the measure; None for a query without a value."""
    for run in result["runs"]:
        if run["name"] == system and measure in run["per_query"]:
            return dict(zip(result["query_ids"], run["per_query"][measure], strict=True))
    raise NotFoundError(f"This evaluation has no values of {system} by {measure}.")


def read_query_kinds(cursor: Cursor, release_id: str) -> dict[str, frozenset[str]]:
    """Group a release's queries by kind: `tag: question` or `region: 3 name` → query ids."""
    parts = read_parts(cursor, release_id, ["queries", "sampling", "coverage", "query_coverage"])
    queries = list(parts["queries"])
    ids = [row["query_id"] for row in queries]
    return {
        f"{'region' if name == CLUSTER else name}: {kind}": frozenset(compress(ids, mask.tolist()))
        for name, facet in make_facets(queries, lambda part: list(parts.get(part, ()))).items()
        for kind, mask in facet.values.items()
    }


class EvaluatedValues(NamedTuple):
    """The values of one measure for several systems, query by query.

    Attributes
    ----------
    name: the name of the release with its parts.
    systems: system → query id → value, or None where the query has no value.
    """

    name: str
    measure: str
    systems: Mapping[str, ValuesByQuery]


def choose_values(evaluation: Evaluation) -> EvaluatedValues:
    """Choose an evaluation's nDCG@10 values, or the values of its first measure if it lacks nDCG@10.

    Raises
    ------
    RefusedError: a sealed part was evaluated.
    """
    query_ids, per_query = evaluation.query_ids, {run.name: run.per_query for run in evaluation.runs}
    if query_ids is None or any(values is None for values in per_query.values()):
        raise RefusedError(SEALED_MAP)
    measures = evaluation.measures
    measure = next((name for name in measures if name.replace("_exp", "") == PREFERRED_MEASURE), measures[0])
    values = {name: by_measure[measure] for name, by_measure in per_query.items() if by_measure is not None}
    systems = {name: dict(zip(query_ids, column, strict=True)) for name, column in values.items()}
    return EvaluatedValues(f"{evaluation.release}, {', '.join(evaluation.parts)}", measure, systems)
