"""What systems reach by region of a coverage map: values of queries by one measure, and means of regions.

Sealed parts have no values of single queries, so an evaluation of one colours nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from curation.core.errors import RefusedError
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.scoring.inputs.facets import CLUSTER, Facet
from curation.evaluation.submitted import submitted_texts
from curation.queries.coverage.state import CoverageState
from curation.store import Annotator, Cursor

HEADLINE = "ndcg@10"
SEALED = "There are no figures of single queries of a sealed part, so a map cannot be coloured by them."
QueryValues = Mapping[str, float | None]


def region_values(state: CoverageState, values: QueryValues) -> dict[int, list[float]]:
    """Number of a region → the values of its queries that have one, by query id."""
    found = {}
    for number in state.map.regions:
        known = [values.get(query.query_id) for query in state.queries.get(number, [])]
        found[number] = [value for value in known if value is not None]
    return found


def region_means(state: CoverageState, values: QueryValues) -> dict[int, float | None]:
    """Number of a region → the mean of its queries' values; None where none has one."""
    return {
        number: fsum(held) / len(held) if held else None
        for number, held in region_values(state, values).items()
    }


def region_facet(state: CoverageState, query_ids: list[str]) -> Facet:
    """The regions as strata of queries; those without a query are values too."""
    held = {
        number: {query.query_id for query in state.queries.get(number, [])} for number in state.map.regions
    }
    values = {
        f"{number} {state.map.clusters[number].name}": np.array([one in own for one in query_ids], bool)
        for number, own in held.items()
    }
    return Facet(CLUSTER, values)


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


def values_of(evaluation: Evaluation) -> EvaluatedValues:
    """The values of an evaluation by nDCG@10, or by its first measure.

    Raises
    ------
    RefusedError: a sealed part was evaluated.
    """
    per_query = {system.name: system.per_query for system in evaluation.runs}
    return _values(evaluation.release, evaluation.parts, evaluation.measures, evaluation.query_ids, per_query)


def stored_values(cursor: Cursor, evaluation_id: str, annotator: Annotator) -> EvaluatedValues:
    """The values of an evaluation that was made on the page Evaluate.

    Raises
    ------
    NotFoundError: there is none of that id, or it is somebody else's.
    RefusedError: a sealed part was evaluated.
    """
    _, text = submitted_texts(cursor, evaluation_id, annotator)
    result: dict[str, Any] = json.loads(text)
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
