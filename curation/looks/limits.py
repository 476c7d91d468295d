"""Limits of a look at a sealed part: what lists are made of, and how finely they are measured.

Plausibility. A document that the corpus does not have is worth 0 for certain, and so is, nearly always, one
that no system ever found for the query. A list of such documents with one other among them asks for that
one's grade. So their shares are limited, within the depths that a look sees; both are in the log. Limits on
lists make such questions harder and do not bound what looks tell: a document may be known to be worth 0
otherwise.

Precision. One look must not spell out many queries. Each query's documents can be placed so that its value is
a digit of the mean. The exact mean reciprocal rank of 38 queries with one document each, at ranks of their
own, says of each whether its document is relevant. So figures of sealed parts have `DECIMALS` decimals, a
look has at most `MOST_MEASURES` measures, and their depths are among `DEPTHS`: else the difference between
success@6 and success@7 could be a query.

Such a look still tells many bits, and who spends them well learns the grades of single documents from it. So
it is for leads, and logged; others climb the Ladder (`ladder`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from curation.errors import RefusedError
from curation.scoring.inputs.facets import LEAST
from curation.scoring.inputs.release import EvaluatedRelease
from curation.scoring.inputs.system_runs import RunSeconds
from curation.scoring.metrics.measures import KINDS, Measure
from curation.scoring.metrics.rankings import RunRows, rank
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


Figures = TypeVar("Figures")

DECIMALS = 3
MOST_MEASURES = 12
DEPTHS = (1, 3, 5, 10, 20, 50, 100, 1000)


def refuse_fine_measures(parts: Sequence[str], measures: Sequence[Measure]) -> None:
    """Stop where the measures asked for would tell of single queries by their differences.

    Raises
    ------
    RefusedError: there are too many, kinds that sealed parts do not have, or depths and persistences that are
        not usual ones.
    """
    sealed = f"{', '.join(parts)} is sealed"
    telling = [one.name for one in measures if not KINDS[one.kind].sealed]
    if telling:
        raise RefusedError(
            f"{', '.join(telling)}: {sealed}. Totals count single documents, sets are of lists as long as "
            "somebody makes them, gmap rests on the worst queries, iprec has as many levels as one likes, "
            "and subtopics are somebody's own file. Expected measures without these."
        )
    if len(measures) > MOST_MEASURES:
        raise RefusedError(
            f"{len(measures)} measures were asked for, and {sealed}: their differences would tell of single "
            f"queries. Expected {MOST_MEASURES} or fewer."
        )
    unusual = [
        one.name
        for one in measures
        if one.depth not in (None, *DEPTHS) or (one.persistence or 0.5) not in (0.5, 0.8, 0.95)
    ]
    if unusual:
        raise RefusedError(
            f"{', '.join(unusual)}: {sealed}, and measures that differ a little would tell of single "
            f"queries. Expected a depth of {', '.join(map(str, DEPTHS))}, or a persistence of 0.5, 0.8, 0.95."
        )


def rounded_figures(figures: Figures) -> Figures:
    """The same dataclass, named tuple or mapping with `DECIMALS` decimals in each float but seconds.

    Numbers of queries needed have two digits: they are the spread of differences, in other words.
    """
    return _rounded(figures)  # type: ignore[no-any-return]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, RunSeconds):
        return value  # the run's own
    if is_dataclass(value) and not isinstance(value, type):
        rounded = {field.name: _rounded(getattr(value, field.name)) for field in fields(value)}
        if rounded.get("queries_needed"):
            rounded["queries_needed"] = int(float(f"{rounded['queries_needed']:.1e}"))
        return replace(value, **rounded)
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_replace"):
        return type(value)(*map(_rounded, value))
    return type(value)(map(_rounded, value)) if isinstance(value, list | tuple) else value
