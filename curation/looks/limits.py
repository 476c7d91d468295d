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

Disclosure: what figures of a sealed part may be shown, so that none is of fewer than ten queries.

The mean of a run that answers one query is that query's value. The difference between the means of two runs
that differ in one query is, too. So a run must answer ten sealed queries, and differ in ten, or none, from
every run that was scored before. Where one kind of query has fewer answers or differences, the figures of
that kind are left out. All this is decided by the lists of the runs alone: a rule that looked at their scores
would tell of grades by what it refuses.

Two lists are compared by what a look sees of them, each apart: the documents down to a measure's depth, and
the scores. What no figure sees is no difference: places below the depth, and which documents they are that
the corpus does not have, for each of them is worth 0.

What stays possible: many looks whose lists differ in many queries each can be solved for single queries, as
with any leaderboard without noise (I. Dinur and K. Nissim (2003), Revealing information while preserving
privacy, PODS). So all figures are for leads; what others see is bounded in `ladder`. All looks are logged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from math import ceil
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from curation.errors import RefusedError
from curation.scoring.inputs.release import LEAST, EvaluatedRelease
from curation.scoring.inputs.system_runs import RunSeconds
from curation.scoring.metrics.evidence import RunChunks
from curation.scoring.metrics.measures import KINDS, Measure
from curation.scoring.metrics.qrels import Rankings, RunRows, rank
from curation.statistics.arrays import Mask
from curation.store import Store
from curation.text import amount, percent

ListSums = Mapping[str, int]
"""Query → hash of its list; queries without a document are not in it."""

SeenLists = Mapping[str, ListSums]
"""What a look sees of a run, such as 'first 10' → hashes by query."""

WHOLE, SCORES = "whole", "scores"
LEAST_ANSWERED = 3
"""One of so many sealed queries must be answered: no document is worth 0 for certain."""


class EarlierRun(NamedTuple):
    """A run that was scored before, or before in the same call."""

    name: str
    seen: SeenLists


def seen_lists(
    rows: RunRows, release: EvaluatedRelease, measures: Sequence[Measure], everything: bool = True
) -> SeenLists:
    """What measures see of the lists of sealed queries: of each its documents in order, to their depths.

    Parameters
    ----------
    everything: a look at all figures: it also sees the scores, by which refusals are judged, and which of
        them are equal.
    """
    ranking = rank(rows, release.qrels)
    documents = rows.documents.take(pa.array(ranking.order)).to_pylist()
    known = [document if document in release.documents else "" for document in documents]
    depths = sorted({one.depth or 0 for one in measures if not one.of_chunks})
    found: dict[str, dict[str, int]] = {depth_name(depth): {} for depth in depths}
    places = np.flatnonzero(release.sealed_queries & (ranking.returned > 0)).tolist()
    for place in places:
        start, returned = int(ranking.starts[place]), int(ranking.returned[place])
        inside = known[start : start + returned]
        for depth in depths:
            if sum_ := _documents_sum(inside[: depth or returned]):
                found[depth_name(depth)][release.qrels.query_ids[place]] = sum_
    if ranking.chunks is not None:
        for depth in sorted({one.depth or 0 for one in measures if one.of_chunks}):
            found[f"first {depth} chunks"] = _chunk_sums(ranking.chunks.chunks, release, depth)
    if everything:
        found[SCORES] = {
            release.qrels.query_ids[place]: _scores_sum(rows, ranking, place, known) for place in places
        }
    return found


def depth_name(depth: int | None) -> str:
    """What a measure of this depth sees of a list; None or 0 is the whole of it."""
    return f"first {depth}" if depth else WHOLE


def _chunk_sums(chunks: RunChunks, release: EvaluatedRelease, depth: int) -> dict[str, int]:
    """Of the first chunks of each sealed query, as `_documents_sum`."""
    lists: dict[int, list[str]] = {}
    inside = np.flatnonzero((chunks.rank <= depth) & release.sealed_queries[chunks.query])
    documents = chunks.documents.take(pa.array(inside)).to_pylist()
    for row, document in zip(inside.tolist(), documents, strict=True):
        known = f"{document} {chunks.start[row]} {chunks.end[row]}" if document in release.documents else ""
        lists.setdefault(int(chunks.query[row]), []).append(known)
    sums = {release.qrels.query_ids[place]: _documents_sum(one) for place, one in lists.items()}
    return {name: sum_ for name, sum_ in sums.items() if sum_}


def _documents_sum(documents: Sequence[str]) -> int | None:
    """Of ids in order, empty where the corpus does not have a document; None where it has none of them."""
    text = "".join(f">{len(document)} {document}" for document in documents)
    while text.endswith(">0 "):
        text = text.removesuffix(">0 ")
    return _sum(text) if text else None


def _scores_sum(rows: RunRows, ranking: Rankings, place: int, documents: Sequence[str]) -> int:
    """The first score, which is the confidence, and which of the others are equal, with the whole list."""
    start = int(ranking.starts[place])
    inside = slice(start, start + int(ranking.returned[place]))
    tied = ranking.tied[inside]
    same = (tied[1:] == tied[:-1]) & (tied[1:] > 0)
    parts = float(rows.scores[ranking.order[start]]), np.flatnonzero(same).tolist(), documents[inside]
    return _sum(repr(parts))


def _sum(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def refuse_what_tells_of_single_queries(
    release: EvaluatedRelease,
    names: Sequence[str],
    seen: Sequence[SeenLists],
    earlier: Sequence[EarlierRun],
    counted: Mask | None = None,
) -> None:
    """Refuse runs whose overall figures would be those of fewer than ten sealed queries.

    Parameters
    ----------
    counted: the sealed queries that have figures, shape (Q,); None is all of them.

    Raises
    ------
    RefusedError: the part is too small, a run answers too few of its queries, or it differs from another run
        in too few.
    """
    counted = release.sealed_queries if counted is None else counted
    parts, number = ", ".join(release.sealed), int(counted.sum())
    inside = {release.qrels.query_ids[place] for place in np.flatnonzero(counted).tolist()}
    if number < LEAST:
        raise RefusedError(
            f"{parts} of the release {release.name!r} has {amount(number, 'query', 'queries')}. Figures of "
            f"fewer than {LEAST} would tell of single queries, and the part is sealed."
        )
    least = max(LEAST, ceil(number / LEAST_ANSWERED))
    problems = []
    for name, own, before in _with_earlier(names, seen, earlier):
        answered = min(len(inside & set(sums)) for sums in own.values())
        if answered < least:
            problems.append(
                f"{name} answers {answered} of the {number} queries of {parts}: expected {least} or more, "
                "because its figures would tell of single queries of a sealed part."
            )
        near = [
            (other.name, len(inside & changed))
            for other in before
            for changed in _changed(own, other.seen).values()
        ]
        problems += [
            f"{name} differs from {other}, which was scored before, in {count} of the queries of {parts}: "
            f"the two looks together would tell of them. Expected {LEAST} or more, or the same lists as far "
            "down as the measures look."
            for other, count in dict.fromkeys(near)
            if 0 < count < LEAST
        ]
    if problems:
        raise RefusedError("\n".join(problems))


def secrets(
    release: EvaluatedRelease,
    names: Sequence[str],
    seen: Sequence[SeenLists],
    earlier: Sequence[EarlierRun],
) -> list[list[Mask]]:
    """For each run, sets of sealed queries of which no figure may tell fewer than ten."""
    ids = release.qrels.query_ids
    found = []
    for _, own, before in _with_earlier(names, seen, earlier):
        sets = [frozenset(sums) for sums in own.values()]
        sets += [frozenset(changed) for other in before for changed in _changed(own, other.seen).values()]
        masks = [np.array([query in one for query in ids]) for one in dict.fromkeys(sets) if one]
        found.append([release.sealed_queries, *masks])
    return found


def overlap(release: EvaluatedRelease, own: SeenLists, earlier: Sequence[EarlierRun]) -> float:
    """The share of the sealed queries whose list is that of the most similar earlier run, as far as seen."""
    shared = [
        len(own[seen].items() & other.seen[seen].items())
        for other in earlier
        for seen in own.keys() & other.seen.keys() - {SCORES}
    ]
    return max(shared, default=0) / max(1, int(release.sealed_queries.sum()))


def _with_earlier(
    names: Sequence[str], seen: Sequence[SeenLists], earlier: Sequence[EarlierRun]
) -> Iterator[tuple[str, SeenLists, list[EarlierRun]]]:
    """Each run with all that came before it, those of the same call included."""
    before = list(earlier)
    for name, own in zip(names, seen, strict=True):
        yield name, own, list(before)
        before.append(EarlierRun(name, own))


def _changed(own: SeenLists, other: SeenLists) -> dict[str, set[str]]:
    """What both looks see → the queries of which they see something else."""
    return {
        seen: {
            query for query in {*own[seen], *other[seen]} if own[seen].get(query) != other[seen].get(query)
        }
        for seen in own
        if seen in other
    }


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
