"""Disclosure: what figures of a sealed part may be shown, so that none is of fewer than ten queries.

The mean of a run that answers one query is that query's value. The difference between the means of two runs
that differ in one query is, too. So a run must answer ten sealed queries, and differ in ten, or none, from
every run that was scored before. Where one kind of query has fewer answers or differences, the figures of
that kind are left out. All this is decided by the lists of the runs alone: a rule that looked at their scores
would tell of grades by what it refuses.

What stays possible: many looks whose lists differ in many queries each can be solved for single queries, as
with any leaderboard without noise (I. Dinur and K. Nissim (2003), Revealing information while preserving
privacy, PODS). How much one look tells is limited in `precision`, and all of them are in the log.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from curation.errors import RefusedError
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.figures.reranking import RerankingDepth
from curation.evaluation.figures.strata import LEAST, Mask, StratumFigures
from curation.evaluation.inputs.release import EvaluatedRelease
from curation.evaluation.metrics.rankings import RunRows, rank
from curation.text import amount

ListSums = Mapping[str, int]
"""Query → hash of its list; queries without a document are not in it."""


class EarlierRun(NamedTuple):
    """A run that was scored before, or before in the same call."""

    name: str
    sums: ListSums


def list_sums(rows: RunRows, release: EvaluatedRelease) -> ListSums:
    """What a run returned for sealed queries: documents in order, which scores are equal, the first score.

    The latter is the confidence by which refusals are judged.
    """
    ranking = rank(rows, release.qrels)
    documents = rows.documents.take(pa.array(ranking.order)).to_pylist()
    same = np.concatenate([[False], (ranking.tied[1:] == ranking.tied[:-1]) & (ranking.tied[1:] > 0)])
    starts, ends = ranking.starts, ranking.starts + ranking.returned
    found = {}
    for place in np.flatnonzero(release.sealed_queries & (ranking.returned > 0)).tolist():
        inside = slice(int(starts[place]), int(ends[place]))
        first = float(rows.scores[ranking.order[inside.start]])
        hashed = hashlib.blake2b(repr(first).encode(), digest_size=8)
        for document, tied in zip(documents[inside], same[inside].tolist(), strict=True):
            hashed.update(f"{'=' if tied else '>'}{len(document)} {document}".encode())
        found[release.qrels.query_ids[place]] = int.from_bytes(hashed.digest(), "big")
    return found


def refuse_what_tells_of_single_queries(
    release: EvaluatedRelease,
    names: Sequence[str],
    sums: Sequence[ListSums],
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
    problems = []
    for name, own, before in _with_earlier(names, sums, earlier):
        answered = len(inside & set(own))
        if answered < LEAST:
            problems.append(
                f"{name} answers {answered} of the {number} queries of {parts}: expected {LEAST} or more, "
                "because its figures would tell of single queries of a sealed part."
            )
        near = [(other.name, len(inside & _changed(own, other.sums))) for other in before]
        problems += [
            f"{name} differs from {other}, which was scored before, in {count} of the queries of {parts}: "
            f"the two looks together would tell of them. Expected {LEAST} or more, or the same lists."
            for other, count in near
            if 0 < count < LEAST
        ]
    if problems:
        raise RefusedError("\n".join(problems))


def secrets(
    release: EvaluatedRelease, names: Sequence[str], sums: Sequence[ListSums], earlier: Sequence[EarlierRun]
) -> list[list[Mask]]:
    """For each run, sets of sealed queries of which no figure may tell fewer than ten."""
    ids = release.qrels.query_ids
    found = []
    for _, own, before in _with_earlier(names, sums, earlier):
        sets = [set(own), *(_changed(own, other.sums) for other in before)]
        masks = [np.array([query in one for query in ids]) for one in sets if one]
        found.append([release.sealed_queries, *masks])
    return found


class SealedTies(NamedTuple):
    """Equal scores, without how many queries another order would change: of few, that tells of grades."""

    groups: int
    documents: int
    queries: int


def without_ties(figures: Mapping[str, MeasureFigure]) -> dict[str, MeasureFigure]:
    """Figures without what other orders of equal scores would give, which may be of a single query."""
    return {name: figure._replace(best=None, worst=None) for name, figure in figures.items()}


def without_ties_by_kind(kinds: Mapping[str, StratumFigures]) -> dict[str, StratumFigures]:
    """The same for the figures of each kind of query."""
    return {name: replace(one, figures=without_ties(one.figures)) for name, one in kinds.items()}


def without_ties_at_depth(depth: RerankingDepth) -> RerankingDepth:
    """The same for the figures of rerankers."""
    return replace(
        depth,
        recall=depth.recall._replace(best=None, worst=None),
        first_stage=without_ties(depth.first_stage),
        oracle=without_ties(depth.oracle),
        rerankers={
            name: replace(one, figures=without_ties(one.figures)) for name, one in depth.rerankers.items()
        },
    )


def _with_earlier(
    names: Sequence[str], sums: Sequence[ListSums], earlier: Sequence[EarlierRun]
) -> Iterator[tuple[str, ListSums, list[EarlierRun]]]:
    """Each run with all that came before it, those of the same call included."""
    before = list(earlier)
    for name, own in zip(names, sums, strict=True):
        yield name, own, list(before)
        before.append(EarlierRun(name, own))


def _changed(own: ListSums, other: ListSums) -> set[str]:
    return {query for query in {*own, *other} if own.get(query) != other.get(query)}
