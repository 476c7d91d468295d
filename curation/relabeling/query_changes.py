"""Changes to the set of queries in a re-labeling: queries that retire, return or join.

A query retires if the query logs do not contain it any more. A query without searches has no weight in an
estimate for the traffic, so its removal causes no bias. Queries that no earlier log contains form a separate
sampling frame. Each query is in either the old or the new frame and keeps the inclusion probability of its
draw, so both draws together are one probability sample of the new logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from curation.core.digests import sort_by_seed
from curation.queries.retired_queries import retire_query, return_query
from curation.queries.sampling import stored_sample
from curation.queries.sampling.designs import draw_stratified
from curation.queries.sampling.dimensions import BANDS, classify_bands
from curation.queries.sampling.strata import STRATUM_SEPARATOR, Labels, Stratum
from curation.relabeling.calendar import Quarter
from curation.relabeling.set_state import SetState
from curation.relabeling.stored_plans import QueryChange, StoredPlan
from curation.relabeling.traffic import read_traffic
from curation.store import Cursor, Store

RETIRE, ADD = "retire", "add"
"""Kinds of changes; a query that returns or joins has the kind `ADD`."""
RETURNED = "the query was retired, but people ask it again"
"""Reason of the change of a retired query that returns to the set."""
# The queries of the sample and the returned queries, each with the stratum and probability of its last draw.
_LAST_DRAWS = """
SELECT query.normalised, arg_max(drawn.stratum, sample.rowid),
       arg_max(drawn.inclusion_probability, sample.rowid)
FROM sample_queries drawn JOIN samples sample USING (sample_id) JOIN queries query USING (query_id)
WHERE (drawn.sample_id = $sample OR list_contains($returned::TEXT[], query.normalised))
  AND query.query_id NOT IN (SELECT query_id FROM retired_queries)
GROUP BY query.normalised ORDER BY query.normalised
"""


def select_query_changes(state: SetState, seed: int) -> tuple[list[QueryChange], list[Stratum]]:
    """Select the queries that leave the set, and the same number of queries that return or join.

    Without new logs, no query leaves or joins.

    Returns
    -------
    The changes, and the strata from which the joining queries were drawn.
    """
    if not state.traffic.has_new:
        return [], []
    leaving = []
    for query_id in {pair.query_id for pair in state.pairs}:
        text = state.queries[query_id].normalised
        traffic = state.traffic.find_traffic(query_id, text)
        if traffic.has_left:
            reason = f"people no longer ask the query: {traffic.then or 0:,} times at sampling, 0 since"
            leaving.append(QueryChange(text, RETIRE, reason))
    counts = state.traffic.counts
    returning = [QueryChange(text, ADD, RETURNED) for text in state.retired if counts.get(text, (0,))[-1]]
    size = max(0, len(leaving) - len(returning))
    joining, strata = _draw_new_queries(state.traffic.new, size, seed, state.quarter)
    return [*sorted(leaving), *sorted(returning), *joining], strata


def apply_query_changes(cursor: Cursor, plan: StoredPlan, author: str) -> None:
    """Retire the queries that leave the set under a plan, and return retired queries to the set."""
    ids = dict(cursor.execute("SELECT normalised, min(query_id) FROM queries GROUP BY 1").fetchall())
    for change in plan.queries:
        if change.kind == RETIRE:
            retire_query(cursor, ids[change.normalised], change.reason, author)
        elif change.reason == RETURNED:
            return_query(cursor, ids[change.normalised], change.reason, author)


def extend_sample(store: Store, plan: StoredPlan, author: str) -> None:
    """Store a sample of the current queries and the queries that a plan adds.

    Each query keeps its inclusion probability. The searches for all queries are counted in the new logs, so
    that the weights of old and new queries are comparable. Nothing is stored if the plan draws no query, if
    the project has no sample, or if a plan of the quarter extended the sample before.
    """
    drawn_changes = [change for change in plan.queries if change.probability is not None]
    if not drawn_changes:
        return
    with store.reading() as cursor:
        current = stored_sample.read_current_sample(cursor)
        if current is None or current.parameters.get("relabeling") == plan.quarter:
            return
        returned = [change.normalised for change in plan.queries if change.reason == RETURNED]
        values = {"sample": current.sample_id, "returned": returned}
        last_draws = cursor.execute(_LAST_DRAWS, values).fetchall()
        counts = read_traffic(cursor).counts
        frame_state = stored_sample.read_frame_state(
            cursor, stored_sample.restore_request(current.parameters)
        )
    old_rows = [
        (text, stratum, counts[text][-1] if text in counts else 0, probability)
        for text, stratum, probability in last_draws
    ]
    new_rows = [
        (change.normalised, change.stratum or "", change.traffic or 0, change.probability or 0.0)
        for change in drawn_changes
    ]
    new_strata = [Stratum(**stratum) for stratum in plan.parameters["strata"]]
    new_names = {stratum.name for stratum in new_strata}
    strata = [stratum for stratum in current.strata if stratum.name not in new_names] + new_strata
    rows = [*old_rows, *new_rows]
    changes = {"size": len(rows), "tops_up": current.sample_id, "relabeling": plan.quarter}
    parameters: dict[str, Any] = current.parameters | changes
    stored_sample.store_sample(store, parameters, strata, rows, frame_state, author)


def _draw_new_queries(
    new_queries: Sequence[tuple[str, int]], size: int, seed: int, quarter: Quarter
) -> tuple[list[QueryChange], list[Stratum]]:
    """Draw queries that only the new logs contain, taking the same number from each frequency band.

    Parameters
    ----------
    new_queries: normalised text and number of searches of each query.
    """
    ordered = sort_by_seed(new_queries, seed, lambda query: ["new query", query[0]])
    size = min(size, len(ordered))
    if not size:
        return [], []
    traffic = np.array([searches for _, searches in ordered], np.int64)
    names = tuple(f"{band}{STRATUM_SEPARATOR}{quarter}" for band in BANDS)
    labels = Labels(classify_bands(traffic), names)
    drawing = draw_stratified(traffic, labels, size)
    changes = []
    for row, probability in zip(drawing.rows.tolist(), drawing.probability.tolist(), strict=True):
        text, searches = ordered[row]
        stratum = labels.get_name(row)
        changes.append(QueryChange(text, ADD, "new in the traffic", stratum, searches, probability))
    return sorted(changes), [stratum for stratum in drawing.strata if stratum.population]
