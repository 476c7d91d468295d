"""Reranking: what a run makes of a first stage's candidates, and what a perfect reranker would make of them.

A reranker is measured on the first d documents of the first stage, for several d. Its list is cut to these: a
document that the first stage has not among its first d is dropped, and counted. One that the reranker did not
return stays below what it did return, in the first stage's order, and is counted. So each system orders the
same candidates, and figures at one depth can be compared.

The perfect reranker puts these candidates in the order of their grades, those without a grade last. No
reranker can reach more with them; what is missing to 1 the first stage did not find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from curation.core.errors import InputError, refuse_problems
from curation.core.statistics.arrays import Ints
from curation.evaluation.figures.means import MeasureFigure, mean_figures
from curation.evaluation.scoring.metrics.measures import Measure
from curation.evaluation.scoring.metrics.qrels import Qrels, Rankings, RunRows, rank
from curation.evaluation.scoring.metrics.run_scores import RunScores, mean_scores, score_rows

DEPTHS = (10, 50, 100, 200)


@dataclass(frozen=True)
class RerankedFigures:
    """One reranker on the first `depth` candidates of each query.

    Attributes
    ----------
    dropped: documents that it returned and the first stage has not among its first, over all its runs.
    missing: candidates that it did not return, likewise; they stay below.
    """

    figures: Mapping[str, MeasureFigure]
    dropped: int
    missing: int


@dataclass(frozen=True)
class RerankingDepth:
    """What can be made of the first `depth` documents of the first stage.

    Attributes
    ----------
    candidates: over all queries.
    recall: share of each query's relevant documents that are among them.
    first_stage, oracle: measure → figure, of the first stage's own order and of the best one.
    rerankers: by name.
    """

    depth: int
    candidates: int
    recall: MeasureFigure
    first_stage: Mapping[str, MeasureFigure]
    oracle: Mapping[str, MeasureFigure]
    rerankers: Mapping[str, RerankedFigures]


class _Candidates:
    """The first stage's places, and where each document is in them."""

    def __init__(self, rows: RunRows, others: Mapping[str, Sequence[RunRows]], qrels: Qrels) -> None:
        runs = [(name, run) for name, found in others.items() for run in found]
        names = pa.concat_arrays([rows.documents, *(run.documents for _, run in runs)])
        encoded = names.dictionary_encode()
        codes = np.asarray(encoded.indices, np.int64)
        self._names = encoded.dictionary
        self._number = max(1, len(self._names))
        self.ranking = rank(rows, qrels)
        own = codes[: len(rows.query)][self.ranking.order]
        self._keys = self.ranking.query * self._number + own
        self._by_key = np.argsort(self._keys, kind="stable")
        self.places: dict[str, list[Ints]] = {}
        """Reranker → for each place of each of its runs in order, that in the first stage; -1 for none."""
        start = len(rows.query)
        for name, run in runs:
            ordered = rank(run, qrels)
            found = codes[start : start + len(run.query)][ordered.order]
            self.places.setdefault(name, []).append(self._find(ordered.query * self._number + found))
            start += len(run.query)

    def rows(self, places: Ints) -> RunRows:
        """A run with these places of the first stage, the first of each query at the top."""
        documents = self._names.take(pa.array(self._keys[places] % self._number))
        return RunRows(self.ranking.query[places], documents, -np.arange(len(places), dtype=np.float64))

    def _find(self, keys: Ints) -> Ints:
        if not len(self._keys):
            return np.full(len(keys), -1)
        ordered = self._keys[self._by_key]
        at = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
        found: Ints = np.where(ordered[at] == keys, self._by_key[at], -1)
        return found


def check_depths(depths: Sequence[int]) -> tuple[int, ...]:
    """The depths, each once, ascending.

    Raises
    ------
    InputError: one is below 1, or there is none.
    """
    refuse_problems([f"a depth of {depth}: expected at least 1" for depth in depths if depth < 1])
    if not depths:
        raise InputError("No depth was given to which candidates are reranked.")
    return tuple(sorted(set(depths)))


def reranking(
    first_stage: RunRows,
    rerankers: Mapping[str, Sequence[RunRows]],
    qrels: Qrels,
    measures: Sequence[Measure],
    depths: Sequence[int] = DEPTHS,
) -> list[RerankingDepth]:
    """The figures at each depth, ascending.

    Parameters
    ----------
    rerankers: by name, each with one run or several, such as seeds, of which each query gets the mean.

    Raises
    ------
    InputError: a depth below 1.
    """
    candidates = _Candidates(first_stage, rerankers, qrels)
    return [_at_depth(depth, candidates, qrels, measures) for depth in check_depths(depths)]


def _at_depth(
    depth: int, candidates: _Candidates, qrels: Qrels, measures: Sequence[Measure]
) -> RerankingDepth:
    ranking = candidates.ranking
    inside = np.flatnonzero(ranking.rank <= depth)
    cuts = {
        name: [_cut(places, ranking, depth) for places in runs] for name, runs in candidates.places.items()
    }

    def scores(places: Ints, wanted: Sequence[Measure] = measures) -> RunScores:
        return score_rows(candidates.rows(places), qrels, wanted)

    best = inside[np.lexsort((inside, -ranking.grade[inside], ranking.query[inside]))]
    reranked = [mean_scores([scores(cut.places) for cut in runs]) for runs in cuts.values()]
    first, oracle, *others = mean_figures([scores(inside), scores(best), *reranked])
    recall = mean_figures([scores(inside, [Measure("recall", depth)])])[0][f"recall@{depth}"]
    return RerankingDepth(
        depth=depth,
        candidates=len(inside),
        recall=recall,
        first_stage=first,
        oracle=oracle,
        rerankers={
            name: RerankedFigures(figures, sum(cut.dropped for cut in runs), sum(cut.missing for cut in runs))
            for (name, runs), figures in zip(cuts.items(), others, strict=True)
        },
    )


@dataclass(frozen=True)
class _CutList:
    """Places of the first stage in a reranker's order."""

    places: Ints
    dropped: int
    missing: int


def _cut(places: Ints, ranking: Rankings, depth: int) -> _CutList:
    """A reranker's list of the first `depth` candidates, what it did not return below."""
    known = np.flatnonzero(places >= 0)
    kept = places[known][ranking.rank[places[known]] <= depth]
    inside = ranking.rank <= depth
    inside[kept] = False
    missing = np.flatnonzero(inside)
    together = np.concatenate([kept, missing])
    order = np.lexsort((np.arange(len(together)), ranking.query[together]))
    return _CutList(together[order], len(places) - len(kept), len(missing))
