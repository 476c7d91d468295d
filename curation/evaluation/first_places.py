"""The first documents of a system's lists, by query: kept so that lists can be read side by side."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from curation.core.arrow import numbers
from curation.core.statistics.arrays import Ints
from curation.evaluation.scoring.metrics.evidence import RunChunks
from curation.evaluation.scoring.metrics.qrels import Rankings, RunRows

DEEPEST = 100
"""Documents of a list that are kept."""


class FirstPlaces(NamedTuple):
    """The first documents of one system's lists: query and rank of shape (N,), and N ids; and its chunks."""

    query: Ints
    rank: Ints
    documents: pa.Array
    chunks: RunChunks | None = None


def first_places(rows: RunRows, ranking: Rankings) -> FirstPlaces:
    """The first places of a run, which is in order."""
    first = ranking.rank <= DEEPEST
    documents = rows.documents.take(numbers(ranking.order[first]))
    return FirstPlaces(ranking.query[first], ranking.rank[first], documents, rows.chunks)
