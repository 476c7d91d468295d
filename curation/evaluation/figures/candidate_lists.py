"""Candidate lists of judged documents that systems put in order: with and without hard negatives.

A list of judged documents holds a query's relevant ones and the negatives. A hard negative is a document
below relevant that a system proposed for the query's pool, an easy one was drawn at random from outside every
system's reach. Nobody here knows where systems rank other documents, such as documents that came with
imported judgments: they are neither, and counted apart. Each run orders the list; what it did not return is
at the end. Without the hard negatives the task is easier than the one that a search engine has, which says
how far figures on lists of random negatives flatter.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from curation.core.statistics.arrays import Mask
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.core.statistics.paired_intervals import paired_intervals
from curation.core.text import pluralize
from curation.evaluation.figures.means import MeasureFigure, mean_figures
from curation.evaluation.scoring.measure_names import Measure, mean_of
from curation.evaluation.scoring.pooled_pairs import PooledPairs
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.rankings import UNJUDGED, RunRows, rank
from curation.evaluation.scoring.run_scores import RunScores, mean_scores, score_rows


@dataclass(frozen=True)
class CandidateFigures:
    """One system on candidate lists, by measure.

    Attributes
    ----------
    with_hard, without_hard: its figures on both lists.
    drop: what hard negatives cost it: the mean over queries without them minus with them; unknown of gmap and
        totals, which are no means.
    returned: share of the judged documents that it returned at all.
    """

    with_hard: Mapping[str, MeasureFigure]
    without_hard: Mapping[str, MeasureFigure]
    drop: Mapping[str, Estimate]
    returned: float


@dataclass(frozen=True)
class HardNegativeEffect:
    """What hard negatives change.

    Attributes
    ----------
    relevant, hard, easy: judged documents of the evaluated queries: relevant, proposed by a system and not
        relevant, and drawn at random and not relevant.
    unknown: other documents that are not relevant, such as documents of imported judgments; they are in both
        lists.
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
        which = (
            f"{pluralize(self.queries, 'query has', 'queries have')} a relevant document and a hard negative"
        )
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
        mean_scores([score_rows(candidates, qrels, measures) for candidates in candidate_lists])
        for candidate_lists in (lists, without)
    )
    figures = mean_figures([with_hard, without_hard])
    returned = sum(len(candidates.query) for candidates in lists) / (len(lists) * len(qrels.grade))
    lowest = -1.0 if (qrels.grade[hard] > 0).any() else 0.0  # nobody gains by a document without gain
    return CandidateFigures(figures[0], figures[1], _drops(with_hard, without_hard, seed, lowest), returned)


def _candidate_list(rows: RunRows, qrels: Qrels, wanted: Mask) -> RunRows:
    """The run's places whose grades are wanted, in its order."""
    ranking = rank(rows, qrels)
    judged = np.flatnonzero(ranking.judged != UNJUDGED)
    kept = judged[wanted[ranking.judged[judged]]]
    documents = rows.documents.take(pa.array(ranking.order[kept]))
    return RunRows(ranking.query[kept], documents, -np.arange(len(kept), dtype=np.float64))


def _drops(with_hard: RunScores, without_hard: RunScores, seed: int, lowest: float) -> dict[str, Estimate]:
    means = np.array([measure.summary == "mean" for measure in with_hard.measures])
    differences = np.where(means, without_hard.values - with_hard.values, np.nan)
    differences = np.maximum(differences, lowest)  # rounding goes below
    low, high = paired_intervals(differences, seed)
    enough = (~np.isnan(differences)).sum(axis=0) >= MINIMUM_QUERIES
    return {
        measure.name: Estimate(
            mean_of(differences[:, column]),
            max(float(low[column]), lowest) if enough[column] else None,
            float(high[column]) if enough[column] else None,
            int((~np.isnan(differences[:, column])).sum()),
        )
        for column, measure in enumerate(with_hard.measures)
    }
