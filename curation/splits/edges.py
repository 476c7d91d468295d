"""Edges between queries that must stay in the same part of a split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.core.similarity.pairs import Links, find_spanning_forest

QueryPair = tuple[str, str]


class Edge(NamedTuple):
    """An edge between two queries (query_a < query_b) that must stay in the same part of a split.

    Attributes
    ----------
    kind: the label of the kind of tie.
    similarity: the exact Jaccard similarity of query texts or documents, the cosine of embeddings, or else 1.
    documents: the shared documents, or the two similar documents (the document of query_a first), or empty.
    key: the key that both queries have, such as 'session 4f1c…' or 'project apollo', or ''.
    """

    query_a: str
    query_b: str
    kind: str
    similarity: float
    documents: tuple[str, ...] = ()
    key: str = ""


def ordered_pair(first: str, second: str) -> QueryPair:
    """Put the two query ids of an edge in order, the smaller id first."""
    return (first, second) if first < second else (second, first)


def keep_strongest_edges(query_ids: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    """Keep a spanning forest of the strongest edges between queries, in order. `query_ids` must be sorted."""
    ordered_edges = sorted(edges)
    index_of = {query_id: index for index, query_id in enumerate(query_ids)}
    links = Links(
        np.array([index_of[edge.query_a] for edge in ordered_edges], dtype=np.int64),
        np.array([index_of[edge.query_b] for edge in ordered_edges], dtype=np.int64),
        np.array([edge.similarity for edge in ordered_edges], dtype=np.float64),
    )
    return [ordered_edges[index] for index in find_spanning_forest(links, len(query_ids)).tolist()]
