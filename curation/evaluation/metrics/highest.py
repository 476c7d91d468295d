"""The highest value that a query can have on the data: that of a list of its relevant documents, best first.

A query with one relevant document cannot have more than 0.1 in precision@10, whatever the run. So no interval
of a mean reaches above the highest of these values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curation.evaluation.metrics.measures import Measure
from curation.evaluation.metrics.own_values import own_values
from curation.evaluation.metrics.qrels import Qrels
from curation.evaluation.metrics.rankings import Rankings
from curation.statistics.arrays import Floats


def highest_values(measures: Sequence[Measure], qrels: Qrels) -> Floats:
    """The highest value of each query by each measure, shape (Q, M), with unjudged documents not relevant.

    NaN where no run has a value: the query has nothing relevant. Of judged@k it is 1 for all, of num_ret
    infinite.
    """
    columns = [_highest(measure, qrels) for measure in measures]
    return np.stack(columns, axis=1) if columns else np.empty((len(qrels.query_ids), 0))


def _highest(measure: Measure, qrels: Qrels) -> Floats:
    relevant = qrels.relevant_documents.astype(np.float64)
    with np.errstate(invalid="ignore"):  # nothing relevant: no value
        if measure.kind in ("recall", "map") and measure.depth is not None:
            found = np.minimum(relevant, measure.depth) / relevant
        elif measure.kind == "precision":
            found = np.minimum(relevant, measure.depth or np.inf) / (measure.depth or 1)
        elif measure.kind in ("err", "rbp_graded"):
            found = own_values(measure, _best_lists(qrels), qrels, qrels.relevant_documents)
        elif measure.persistence is not None:
            found = 1 - measure.persistence**relevant
        elif measure.summary == "total":
            found = np.full(len(relevant), np.inf) if measure.kind == "num_ret" else relevant
        else:
            found = np.ones(len(relevant))
    return np.where(qrels.lacking(measure), np.nan, found)


def _best_lists(qrels: Qrels) -> Rankings:
    """Every query's judged documents, the highest grades first."""
    order = np.lexsort((-qrels.grade, qrels.query))
    query = qrels.query[order]
    returned = np.bincount(query, minlength=len(qrels.query_ids))
    first = np.concatenate([[0], np.cumsum(returned)[:-1]])
    rank = np.arange(1, len(order) + 1) - first[query]
    return Rankings(query, rank, qrels.grade[order], order, returned, order, np.zeros_like(rank))
