"""The effect of hard negatives: what systems reach on the judged documents, with hard negatives and without.

A candidate list holds a query's judged documents: the relevant ones and the negatives. A hard negative is a
document below relevant that a system proposed for the query's pool, an easy one was drawn at random from
outside every system's reach. Of any other, such as one that came with imported judgments, nobody here knows
where a system ranks it: it is neither, and counted apart. Each run orders the list; what it did not return
is at the end. Without the hard negatives the task is easier than the one that a search engine has, which
says how far figures on lists of random negatives flatter.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from curation.core.statistics.arrays import Mask
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.core.statistics.paired.differences import paired_intervals
from curation.core.text import amount
from curation.evaluation.figures.means import MeasureFigure, mean_figures
from curation.evaluation.scoring.inputs.pooled import PooledPairs
from curation.evaluation.scoring.metrics.measures import Measure, mean_of
from curation.evaluation.scoring.metrics.qrels import UNJUDGED, Qrels, RunRows, rank
from curation.evaluation.scoring.metrics.run_scores import RunScores, mean_scores, score_rows


class FigureDrop(NamedTuple):
    """The mean over queries of a measure without hard negatives minus with them; the interval is 95 %."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class CandidateFigures:
    """One system on candidate lists, by measure.

    Attributes
    ----------
    with_hard, without_hard: its figures on both lists.
    drop: what hard negatives cost it, query by query; unknown of gmap and totals, which are no means.
    returned: share of the judged documents that it returned at all.
    """

    with_hard: Mapping[str, MeasureFigure]
    without_hard: Mapping[str, MeasureFigure]
    drop: Mapping[str, FigureDrop]
    returned: float


@dataclass(frozen=True)
class HardNegativeEffect:
    """What hard negatives change.

    Attributes
    ----------
    relevant, hard, easy: judged documents of the evaluated queries: relevant, proposed by a system and not
        relevant, and drawn at random and not relevant.
    unknown: other ones that are not relevant, such as those of imported judgments; they are in both lists.
    queries: how many have a relevant document and a hard negative; only they can differ.
    systems: by name; of a sealed part none where fewer than ten queries can differ.
    """

    relevant: int
    hard: int
    easy: int
    unknown: int
    queries: int
    systems: Mapping[str, CandidateFigures]

    @property
    def sentence(self) -> str:
        """What the candidate lists hold, for people."""
        lists = (
            f"Candidate lists of {self.relevant:,} relevant documents, {self.hard:,} hard and "
            f"{self.easy:,} easy negatives"
        )
        if self.unknown:
            lists += (
                f", and {self.unknown:,} not relevant from elsewhere, such as imported judgments: no system "
                "placed them and nobody drew them at random, so they are neither"
            )
        which = f"{amount(self.queries, 'query has', 'queries have')} a relevant document and a hard negative"
        return f"{lists}. {which}, and only they can differ."


def hard_negative_effect(
    runs: Mapping[str, Sequence[RunRows]],
    qrels: Qrels,
    pooled: PooledPairs,
    measures: Sequence[Measure],
    seed: int,
) -> HardNegativeEffect:
    """The figures of each system on both lists; of several runs of one system each query gets the mean."""
    hard, easy = hard_negatives_of(qrels, pooled), _among(qrels, pooled.random)
    relevant = qrels.grade >= qrels.relevant
    have_hard = np.bincount(qrels.query[hard], minlength=len(qrels.query_ids)) > 0
    return HardNegativeEffect(
        relevant=int(relevant.sum()),
        hard=int(hard.sum()),
        easy=int((~relevant & easy).sum()),
        unknown=int((~relevant & ~hard & ~easy).sum()),
        queries=int((have_hard & (qrels.relevant_documents > 0)).sum()),
        systems={name: _system(run, qrels, hard, measures, seed) for name, run in runs.items()},
    )


def hard_negatives_of(qrels: Qrels, pooled: PooledPairs) -> Mask:
    """Which of the grades are of hard negatives, shape (J,)."""
    return _among(qrels, pooled.ranks) & (qrels.grade < qrels.relevant)


def _among(qrels: Qrels, chosen: Container[tuple[str, str]]) -> Mask:
    """Which of the graded pairs are among these, shape (J,)."""
    documents = qrels.documents.to_pylist()
    pairs = zip(qrels.query.tolist(), qrels.document.tolist(), strict=True)
    return np.array([(qrels.query_ids[q], documents[d]) in chosen for q, d in pairs], bool)


def _system(
    runs: Sequence[RunRows], qrels: Qrels, hard: Mask, measures: Sequence[Measure], seed: int
) -> CandidateFigures:
    everything = np.ones(len(qrels.grade), bool)
    lists = [_candidate_list(run, qrels, everything) for run in runs]
    without = [_candidate_list(run, qrels, ~hard) for run in runs]
    with_hard, without_hard = (
        mean_scores([score_rows(one, qrels, measures) for one in found]) for found in (lists, without)
    )
    figures = mean_figures([with_hard, without_hard])
    returned = sum(len(one.query) for one in lists) / (len(lists) * len(qrels.grade))
    lowest = -1.0 if (qrels.grade[hard] > 0).any() else 0.0  # nobody gains by a document without gain
    return CandidateFigures(figures[0], figures[1], _drops(with_hard, without_hard, seed, lowest), returned)


def _candidate_list(rows: RunRows, qrels: Qrels, wanted: Mask) -> RunRows:
    """The run's places whose grades are wanted, in its order."""
    ranking = rank(rows, qrels)
    judged = np.flatnonzero(ranking.judged != UNJUDGED)
    kept = judged[wanted[ranking.judged[judged]]]
    documents = rows.documents.take(pa.array(ranking.order[kept]))
    return RunRows(ranking.query[kept], documents, -np.arange(len(kept), dtype=np.float64))


def _drops(with_hard: RunScores, without_hard: RunScores, seed: int, lowest: float) -> dict[str, FigureDrop]:
    means = np.array([measure.summary == "mean" for measure in with_hard.measures])
    differences = np.where(means, without_hard.values - with_hard.values, np.nan)
    differences = np.maximum(differences, lowest)  # rounding goes below
    low, high = paired_intervals(differences, seed)
    enough = (~np.isnan(differences)).sum(axis=0) >= MINIMUM_QUERIES
    return {
        measure.name: FigureDrop(
            mean_of(differences[:, place]),
            max(float(low[place]), lowest) if enough[place] else None,
            float(high[place]) if enough[place] else None,
        )
        for place, measure in enumerate(with_hard.measures)
    }
