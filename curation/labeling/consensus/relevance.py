"""Relevance of pairs by consensus, from the judgments that count."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from curation.guides.guide import current_guide
from curation.ingest.filters.stored import outside_pairs
from curation.labeling.consensus.consensus import PairConsensus, settled
from curation.labeling.consensus.votes import Votes, read_votes
from curation.pooling.relevance import Relevance
from curation.store import Cursor, Store


class VotesOnScale(NamedTuple):
    """All votes, and the lowest grade of the guide in force: what relevance is worked out from.

    outside: pairs outside the filter of their query, which are not relevant.
    """

    votes: Votes
    lowest: int
    outside: Collection[tuple[str, str]] = ()


def read_votes_on_scale(cursor: Cursor, round_id: str | None = None) -> VotesOnScale:
    """All votes; with a round, those on the pairs shown in it."""
    return VotesOnScale(read_votes(cursor, round_id), current_guide(cursor).values[0], outside_pairs(cursor))


def relevance_of(read: VotesOnScale) -> Relevance:
    """The relevance of every judged pair. Call it outside a lease: some rules estimate for a while."""
    return relevance_of_pairs(settled(read.votes).pairs, read.lowest).with_outside(read.outside)


def relevance_of_pairs(pairs: Sequence[PairConsensus], lowest: int) -> Relevance:
    """The relevance of settled pairs, on a scale from `lowest` on."""
    return Relevance(
        {(pair.query_id, pair.document_id): pair.grade for pair in pairs if pair.grade is not None},
        frozenset((pair.query_id, pair.document_id) for pair in pairs if pair.grade is None),
        lowest,
        frozenset((pair.query_id, pair.document_id) for pair in pairs if pair.changed),
    )


def read_relevance(store: Store) -> Relevance:
    """The relevance of every judged pair of a project."""
    with store.reading() as cursor:
        read = read_votes_on_scale(cursor)
    return relevance_of(read)
