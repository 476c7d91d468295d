"""Disclosure: what figures of a sealed part may be shown, so that none is of fewer than ten queries.

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
from math import ceil
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from curation.errors import RefusedError
from curation.scoring.inputs.facets import LEAST
from curation.scoring.inputs.release import EvaluatedRelease
from curation.scoring.metrics.measures import Measure
from curation.scoring.metrics.rankings import Rankings, RunRows, rank
from curation.statistics.arrays import Mask
from curation.text import amount

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
    depths = sorted({one.depth or 0 for one in measures})
    found: dict[str, dict[str, int]] = {depth_name(depth): {} for depth in depths}
    places = np.flatnonzero(release.sealed_queries & (ranking.returned > 0)).tolist()
    for place in places:
        start, returned = int(ranking.starts[place]), int(ranking.returned[place])
        inside = known[start : start + returned]
        for depth in depths:
            if sum_ := _documents_sum(inside[: depth or returned]):
                found[depth_name(depth)][release.qrels.query_ids[place]] = sum_
    if everything:
        found[SCORES] = {
            release.qrels.query_ids[place]: _scores_sum(rows, ranking, place, known) for place in places
        }
    return found


def depth_name(depth: int | None) -> str:
    """What a measure of this depth sees of a list; None or 0 is the whole of it."""
    return f"first {depth}" if depth else WHOLE


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
            f"{parts} of the release {release.name!r} has {amount(number, 'query', 'queries')}. Figures "
            f"of fewer than {LEAST} "
            "would tell of single queries, and the part is sealed."
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
