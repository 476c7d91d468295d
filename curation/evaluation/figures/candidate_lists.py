"""The effect of hard negatives on systems' scores over candidate lists.

A candidate list holds a query's relevant documents and its negatives. A hard negative is a document that is
not relevant and that a system proposed for the query's pool. An easy negative was drawn at random from
documents that no system proposed. Documents with unknown ranks, such as documents of imported judgments, are
neither and are counted separately. Each run orders the list; documents that the run did not return are at the
end. The difference between lists with and without hard negatives shows how much random negatives alone
overstate a system's scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from curation.core.statistics.arrays import Mask, average
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.core.statistics.paired_intervals import paired_intervals
from curation.core.text import pluralize
from curation.evaluation.figures.means import MeasureFigure, compute_means
from curation.evaluation.scoring.measure_names import Measure
from curation.evaluation.scoring.pooled_pairs import PooledPairs
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.rankings import UNJUDGED, RunRows, rank
from curation.evaluation.scoring.run_scores import RunScores, average_scores, score_rows


@dataclass(frozen=True)
class CandidateFigures:
    """One system's scores on candidate lists with and without hard negatives, by measure.

    Attributes
    ----------
    with_hard, without_hard: figures on the lists with and without hard negatives.
    drop: the mean over queries of the value without hard negatives minus the value with hard negatives.
    returned: the share of the judged documents that the system returned.
    """

    with_hard: Mapping[str, MeasureFigure]
    without_hard: Mapping[str, MeasureFigure]
    drop: Mapping[str, Estimate]
    returned: float


@dataclass(frozen=True)
class HardNegativeEffect:
    """How much hard negatives change the systems' scores.

    Attributes
    ----------
    relevant: the number of relevant documents of the evaluated queries.
    hard: the number of documents that a system proposed and that are not relevant.
    easy: the number of documents that were drawn at random and are not relevant.
    unknown: the number of other documents that are not relevant, such as documents of imported judgments;
        both lists have them.
    queries: the number of queries with a relevant document and a hard negative; only these can differ.
    systems: system → figures; empty for a sealed part where fewer than ten queries can differ.
    """

    relevant: int
    hard: int
    easy: int
    unknown: int
    queries: int
    systems: Mapping[str, CandidateFigures]

    @property
    def sentence(self) -> str:
        """Say in a sentence how many documents the candidate lists have."""
        negatives = f"{self.hard:,} hard and {self.easy:,} easy negatives"
        lists = f"The candidate lists have {self.relevant:,} relevant documents, {negatives}"
        if self.unknown:
            lists += (
                f", and {self.unknown:,} other documents that are not relevant, such as documents of "
                "imported judgments: no system placed them and nobody drew them at random, so they are "
                "neither hard nor easy"
            )
        queries = pluralize(self.queries, "query has", "queries have")
        return f"{lists}. {queries} a relevant document and a hard negative; only these queries can differ."


def measure_hard_negatives(
    runs: dict[str, list[RunRows]], qrels: Qrels, pooled: PooledPairs, measures: Sequence[Measure], seed: int
) -> HardNegativeEffect:
    """Score each system on candidate lists with and without hard negatives, averaging each system's runs by
    query.
    """
    hard = find_hard_negatives(qrels, pooled)
    relevant = qrels.grade >= qrels.relevant
    easy = np.array([pair in pooled.random for pair in qrels.pair_ids], bool)
    has_hard = np.bincount(qrels.query[hard], minlength=len(qrels.query_ids)) > 0
    return HardNegativeEffect(
        relevant=int(relevant.sum()),
        hard=int(hard.sum()),
        easy=int((~relevant & easy).sum()),
        unknown=int((~relevant & ~hard & ~easy).sum()),
        queries=int((has_hard & (qrels.relevant_documents > 0)).sum()),
        systems={name: _score_candidates(run, qrels, hard, measures, seed) for name, run in runs.items()},
    )


def find_hard_negatives(qrels: Qrels, pooled: PooledPairs) -> Mask:
    """Find which of J grades belong to hard negatives, as booleans of shape (J,)."""
    proposed = np.array([pair in pooled.ranks for pair in qrels.pair_ids], bool)
    return proposed & (qrels.grade < qrels.relevant)


def _score_candidates(
    runs: Sequence[RunRows], qrels: Qrels, hard: Mask, measures: Sequence[Measure], seed: int
) -> CandidateFigures:
    complete = [_make_candidate_list(run, qrels, np.ones_like(hard)) for run in runs]
    without = [_make_candidate_list(run, qrels, ~hard) for run in runs]
    with_hard = average_scores([score_rows(candidates, qrels, measures) for candidates in complete])
    without_hard = average_scores([score_rows(candidates, qrels, measures) for candidates in without])
    returned = sum(len(candidates.query) for candidates in complete) / (len(complete) * len(qrels.grade))
    lowest = -1.0 if (qrels.grade[hard] > 0).any() else 0.0  # a document without gain makes no list better
    hard_figures, other_figures = compute_means([with_hard, without_hard])
    drops = _estimate_drops(with_hard, without_hard, seed, lowest)
    return CandidateFigures(hard_figures, other_figures, drops, returned)


def _make_candidate_list(rows: RunRows, qrels: Qrels, is_candidate: Mask) -> RunRows:
    """Keep the run's documents that are in the candidate list, in the order of the run."""
    ranking = rank(rows, qrels)
    judged = np.flatnonzero(ranking.grade_index != UNJUDGED)
    candidates = judged[is_candidate[ranking.grade_index[judged]]]
    documents = rows.documents.take(pa.array(ranking.order[candidates]))
    return RunRows(ranking.query[candidates], documents, -np.arange(len(candidates), dtype=np.float64))


def _estimate_drops(harder: RunScores, easier: RunScores, seed: int, lowest: float) -> dict[str, Estimate]:
    differences = np.maximum(easier.values - harder.values, lowest)  # rounding can fall below 0
    low, high = paired_intervals(differences, seed)
    counts = (~np.isnan(differences)).sum(axis=0).tolist()
    drops = {}
    for column, (measure, n) in enumerate(zip(harder.measures, counts, strict=True)):
        low_end = max(float(low[column]), lowest) if n >= MINIMUM_QUERIES else None
        high_end = float(high[column]) if n >= MINIMUM_QUERIES else None
        drops[measure.name] = Estimate(average(differences[:, column]), low_end, high_end, n)
    return drops
