"""Plausibility: what the lists of a run on a sealed part are made of.

A document that the corpus does not have is worth 0 for certain, and so is, nearly always, one that no system
ever found for the query. A list of such documents with one other among them asks for that one's grade. So
their shares are limited, within the depths that a look sees; both are in the log. Limits on lists make such
questions harder and do not bound what looks tell: a document may be known to be worth 0 otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from curation.errors import RefusedError
from curation.evaluation.figures.strata import LEAST
from curation.evaluation.inputs.release import EvaluatedRelease
from curation.evaluation.metrics.measures import Measure
from curation.evaluation.metrics.rankings import RunRows, rank
from curation.store import Store
from curation.text import percent

MOST_UNKNOWN = 0.2
"""Share of a run's documents that the corpus may lack: an index may be a little newer than the release."""
MOST_UNSEEN = 0.9
"""Share of a run's first documents that nobody else found. On the real runs measured it is 0.79 at most."""
FIRST = 10
"""Places of a list in which documents are looked up, and documents of a pool that can say what is unseen."""

Pairs = frozenset[tuple[str, str]]


class Plausibility(NamedTuple):
    """What a run's lists are made of, as shares of the documents that a look sees of them.

    Attributes
    ----------
    unknown: that the corpus does not have.
    unseen: of those in the first places, that no pool, run or grade of the project has for the query; None
        where fewer than `LEAST` queries have a pool of `FIRST` documents.
    """

    unknown: float
    unseen: float | None


def seen_pairs(store: Store, release: EvaluatedRelease) -> Pairs:
    """The (query id, document id) pairs of sealed queries that a pool or a run of the project has."""
    sealed = release.sealed_queries
    ids = [name for name, inside in zip(release.qrels.query_ids, sealed.tolist(), strict=True) if inside]
    with store.reading() as cursor:
        rows = cursor.execute(
            """SELECT query_id, document_id FROM candidates WHERE query_id IN (SELECT unnest(?::TEXT[]))
            UNION SELECT query_id, document_id FROM run_entries
            WHERE query_id IN (SELECT unnest(?::TEXT[])) AND rank <= ?""",
            [ids, ids, FIRST],
        ).fetchall()
    return frozenset((str(query), str(document)) for query, document in rows)


def plausibility(
    rows: RunRows, release: EvaluatedRelease, measures: Sequence[Measure], seen: Pairs
) -> Plausibility:
    """The shares of one run, within the deepest measure's depth."""
    ranking = rank(rows, release.qrels)
    depths = [one.depth or len(ranking.rank) for one in measures]
    inside = np.flatnonzero(release.sealed_queries[ranking.query] & (ranking.rank <= max(depths)))
    documents = rows.documents.take(pa.array(ranking.order[inside])).to_pylist()
    queries = [release.qrels.query_ids[place] for place in ranking.query[inside].tolist()]
    unknown = sum(document not in release.documents for document in documents)
    pooled: dict[str, int] = {}
    for query, _ in seen:
        pooled[query] = pooled.get(query, 0) + 1
    first = [
        (query, document) in seen
        for query, document, place in zip(queries, documents, ranking.rank[inside].tolist(), strict=True)
        if place <= FIRST and pooled.get(query, 0) >= FIRST
    ]
    enough = sum(number >= FIRST for number in pooled.values()) >= LEAST and first
    return Plausibility(unknown / max(1, len(documents)), 1 - sum(first) / len(first) if enough else None)


def refuse_implausible(
    release: EvaluatedRelease, names: Sequence[str], found: Sequence[Plausibility]
) -> None:
    """Refuse runs that are made of documents worth nothing.

    Raises
    ------
    RefusedError: with all such runs.
    """
    parts = ", ".join(release.sealed)
    problems = [
        f"{percent(one.unknown)} of the documents that {name} returns for {parts} are not in the release's "
        f"corpus: expected {percent(MOST_UNKNOWN)} or fewer. Such a document is worth 0 for certain, so the "
        "figures would tell of single documents of a sealed part. Search the corpus of the release, or name "
        "the field with its ids."
        for name, one in zip(names, found, strict=True)
        if one.unknown > MOST_UNKNOWN
    ]
    problems += [
        f"{percent(one.unseen)} of the first {FIRST} documents that {name} returns for {parts} are in no "
        f"pool and in no run of the project: expected {percent(MOST_UNSEEN)} or fewer. Such documents are "
        "hardly worth anything, so the figures would tell of single documents of a sealed part. If it is so "
        "unlike all others, a lead imports its run and pools it first."
        for name, one in zip(names, found, strict=True)
        if one.unseen is not None and one.unseen > MOST_UNSEEN
    ]
    if problems:
        raise RefusedError("\n".join(problems))
