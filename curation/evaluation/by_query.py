"""The comparison of two runs query by query, with their values and result lists.

The runs belong to one evaluation, or to two evaluations on the same parts of a release. A sealed part has no
values by query. A query that another release has sealed in the meantime is left out and counted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

from curation.core.errors import NotFoundError, RefusedError
from curation.evaluation.report.query_sections import QueryValues
from curation.evaluation.scoring.facets import CLUSTER, make_facets
from curation.evaluation.stored_evaluations import read_json
from curation.people.seal_access import closed_access, withheld
from curation.store import Annotator, Cursor
from curation.store.release_parts import read_parts

EvaluatedRun = tuple[str, str]
"""The id of a stored evaluation, and the name of one of its systems."""


class ByQuery(NamedTuple):
    """The queries with a value of each run, from the largest loss to the largest gain.

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
    """Read the values of one or two runs, by the first measure of the first run's evaluation.

    Raises
    ------
    NotFoundError: the annotator has no such evaluation, or the evaluation has no such run.
    RefusedError: a sealed part was evaluated.
    """
    results = [_read_result(cursor, evaluation_id, annotator) for evaluation_id, _ in runs]
    measure = results[0]["measures"][0]
    values = [_get_values(result, system, measure) for result, (_, system) in zip(results, runs, strict=True)]
    texts = dict(zip(results[0]["query_ids"], results[0]["query_texts"], strict=True))
    *first, second = values
    seal = closed_access(cursor)
    query_ids = [query_id for query_id in texts if all(value.get(query_id) is not None for value in values)]
    rows = [
        QueryValues(query_id, texts[query_id], first[0][query_id] if first else 0.0, second[query_id])
        for query_id in query_ids
    ]
    open_rows = [row for row in rows if seal.shows(row.query_id)]
    return ByQuery(
        measure,
        results[0]["release_id"],
        tuple(sorted(open_rows, key=lambda row: (row.difference, row.query_id))),
        withheld(len(rows) - len(open_rows), "query", "queries"),
    )


def _read_result(cursor: Cursor, evaluation_id: str, annotator: Annotator) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(read_json(cursor, evaluation_id, annotator)[1])
    if "runs" not in result:
        raise NotFoundError("This evaluation covers only answers, so the evaluation has no result lists.")
    if result["sealed"]:
        parts = ", ".join(result["sealed"])
        raise RefusedError(f"{parts} is sealed, and a sealed part has no values by query.")
    return result


def _get_values(result: dict[str, Any], system: str, measure: str) -> dict[str, float]:
    """Map each query id to the system's value."""
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
