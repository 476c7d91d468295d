"""Edges: two queries that must stay on one side of a split, and what ties them.

Groups need no more than a spanning forest of the strongest edges (`strongest_edges`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.core.similarity.forest import Links, strongest

QueryPair = tuple[str, str]


class Edge(NamedTuple):
    """Two queries (query_a < query_b) that give each other away.

    Attributes
    ----------
    kind: label of the kind of tie.
    similarity: exact Jaccard of the query texts or documents, or cosine of the embeddings; else 1.
    documents: shared documents; or the two similar ones, that of query_a first; or none.
    key: what both have: 'session 4f1c…' or 'project apollo'; or ''.
    """

    query_a: str
    query_b: str
    kind: str
    similarity: float
    documents: tuple[str, ...] = ()
    key: str = ""


def ordered_pair(first: str, second: str) -> QueryPair:
    """The two ids, the smaller first."""
    return (first, second) if first < second else (second, first)


def strongest_edges(query_ids: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    """A spanning forest of the strongest edges, ordered; `query_ids` ordered."""
    ordered = sorted(edges)
    number = {query_id: place for place, query_id in enumerate(query_ids)}
    links = Links(
        np.array([number[edge.query_a] for edge in ordered], dtype=np.int64),
        np.array([number[edge.query_b] for edge in ordered], dtype=np.int64),
        np.array([edge.similarity for edge in ordered], dtype=np.float64),
    )
    return [ordered[place] for place in strongest(links, len(query_ids)).tolist()]
