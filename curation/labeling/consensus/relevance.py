"""The relevance of judged pairs, derived from their consensus."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from curation.guides.guide import current_guide
from curation.ingest.filters import find_outside_pairs
from curation.labeling.consensus.consensus import PairConsensus, compute_consensus
from curation.labeling.consensus.votes import Votes, read_votes
from curation.pooling.relevance import Relevance
from curation.store import Cursor, Store


def prepare_relevance(cursor: Cursor, votes: Votes | None = None) -> Callable[[], Relevance]:
    """Read votes, guide and filters, and return a function that computes the relevance of every judged pair.

    Call the function after the database lease ends, because Dawid and Skene's rule takes longer.

    Parameters
    ----------
    votes: result of `read_votes`, if the caller has already read the votes.
    """
    votes, lowest = votes or read_votes(cursor), current_guide(cursor).values[0]
    outside = find_outside_pairs(cursor)
    return lambda: derive_relevance(compute_consensus(votes).pairs, lowest).with_outside(outside)


def derive_relevance(pairs: Sequence[PairConsensus], lowest: int) -> Relevance:
    """Turn the consensus on pairs into their relevance, on a scale whose lowest grade is `lowest`."""
    return Relevance(
        {(pair.query_id, pair.document_id): pair.grade for pair in pairs if pair.grade is not None},
        frozenset((pair.query_id, pair.document_id) for pair in pairs if pair.grade is None),
        lowest,
        frozenset((pair.query_id, pair.document_id) for pair in pairs if pair.changed),
    )


def read_relevance(store: Store) -> Relevance:
    """Compute the relevance of every judged pair of a project."""
    with store.reading() as cursor:
        relevance = prepare_relevance(cursor)
    return relevance()
