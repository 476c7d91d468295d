"""The formulas for trec_eval's measures of ranked documents.

The measures of trec_eval use the ranks of the judged documents in each list, and the number of documents of
each grade that a query has. The ranks and numbers are columns over all queries, without a Python object for
each query or document. None of trec_eval's measures needs the length of a list. The definitions are from
trec_eval 9, with the exponential gain added: C. Buckley and E. M. Voorhees (2005), Retrieval system
evaluation, in TREC: Experiment and Evaluation in Information Retrieval, MIT Press, chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.evaluation.scoring.evidence import sum_by_query
from curation.evaluation.scoring.measure_names import Measure
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.rankings import UNJUDGED, Rankings


class JudgedRanks(NamedTuple):
    """The ranks of judged documents in a run, and each query's number of judged documents.

    Attributes
    ----------
    query, rank, grade: columns of the N judged documents in the run, by query, then rank, shape (N,).
    grades: the G grades, ascending up to the highest of the scale, shape (G,).
    totals: the number of documents with each grade by query, in the list or not, shape (Q, G).
    """

    query: Ints
    rank: Ints
    grade: Ints
    grades: Ints
    totals: Ints


def find_judged_ranks(qrels: Qrels, ranking: Rankings) -> JudgedRanks:
    """Find the ranks of the judged documents in a run."""
    is_judged = ranking.grade_index != UNJUDGED
    grade = qrels.grade[ranking.grade_index[is_judged]]
    return JudgedRanks(ranking.query[is_judged], ranking.rank[is_judged], grade, *qrels.grade_counts)


def add_highest_grades(judged: JudgedRanks, query: Ints, rank: Ints) -> JudgedRanks:
    """Add unjudged documents as if people had given them the highest grade.

    Parameters
    ----------
    query, rank: the query and the rank of each document; rank 0 if the list does not have the document.
    """
    counts = judged.totals.copy()
    counts[:, -1] += np.bincount(query, minlength=len(counts))
    is_listed = rank > 0
    queries = np.concatenate([judged.query, query[is_listed]])
    ranks = np.concatenate([judged.rank, rank[is_listed]])
    grade = np.concatenate([judged.grade, np.full(is_listed.sum(), judged.grades[-1])])
    order = np.argsort(queries * (ranks.max(initial=0) + 1) + ranks, kind="stable")
    return JudgedRanks(queries[order], ranks[order], grade[order], judged.grades, counts)


def compute_measures(measures: Sequence[Measure], qrels: Qrels, judged: JudgedRanks) -> Floats:
    """Compute trec_eval's measures, shape (Q, M); 0 where the run lacks a query or the query has no relevant
    document.

    Parameters
    ----------
    measures: measures that are `is_trec_eval`.
    """
    relevant = _find_relevant_ranks(judged, qrels.relevant)
    values = np.zeros((len(judged.totals), len(measures)))
    for column, measure in zip(values.T, measures, strict=True):
        if measure.kind in ("ndcg", "ndcg_exp"):
            column[:] = _ndcg(judged, measure)
        else:
            column[:] = _BINARY[measure.kind](relevant, measure)
    return values


class _RelevantRanks(NamedTuple):
    """The ranks of the relevant documents that a run returned, by query.

    Attributes
    ----------
    query, rank, found: columns of the ranks, by query, then rank; `found` counts the query's relevant
        documents from 1.
    above: the number of judged documents above the rank that are not relevant.
    relevant, irrelevant: the numbers of judged documents of each query that are and are not relevant, shape
        (Q,).
    """

    query: Ints
    rank: Ints
    found: Ints
    above: Ints
    relevant: Ints
    irrelevant: Ints

    def total(self, amounts: Floats | None = None) -> Floats:
        """Sum the amounts of each query's relevant documents, by default 1 for each, shape (Q,)."""
        return sum_by_query(self.query, amounts, len(self.relevant))

    def down_to(self, depth: Ints | int | None) -> _RelevantRanks:
        """Keep the relevant documents' ranks down to a depth, which can differ by query; None keeps the whole
        list."""
        if depth is None:
            return self
        is_kept = self.rank <= np.broadcast_to(depth, self.relevant.shape)[self.query]
        query, rank, found, above = (column[is_kept] for column in self[:4])
        return _RelevantRanks(query, rank, found, above, self.relevant, self.irrelevant)


def _find_relevant_ranks(judged: JudgedRanks, relevant: int) -> _RelevantRanks:
    first = np.searchsorted(judged.query, np.arange(len(judged.totals)))
    is_relevant = judged.grade >= relevant
    relevant_before = np.concatenate([[0], np.cumsum(is_relevant)])
    index = np.flatnonzero(is_relevant)
    query = judged.query[index]
    found = relevant_before[index + 1] - relevant_before[first[query]]
    is_relevant_grade = judged.grades >= relevant
    return _RelevantRanks(
        query=query,
        rank=judged.rank[index],
        found=found,
        above=index - first[query] - (found - 1),
        relevant=judged.totals[:, is_relevant_grade].sum(axis=1),
        irrelevant=judged.totals[:, ~is_relevant_grade].sum(axis=1),
    )


def _reciprocal_rank(ranks: _RelevantRanks, measure: Measure) -> Floats:
    kept = ranks.down_to(measure.depth)
    return kept.total((kept.found == 1) / kept.rank)


def _average_precision(ranks: _RelevantRanks, measure: Measure) -> Floats:
    kept = ranks.down_to(measure.depth)
    return ratio(kept.total(kept.found / kept.rank), ranks.relevant, 0.0)


def _r_precision(ranks: _RelevantRanks, measure: Measure) -> Floats:
    return ratio(ranks.down_to(ranks.relevant).total(), ranks.relevant, 0.0)


def _bpref(ranks: _RelevantRanks, measure: Measure) -> Floats:
    """Compute bpref: a relevant document counts 1 minus the share of irrelevant documents ranked above it."""
    relevant = ranks.relevant[ranks.query]
    counted_irrelevant = np.maximum(np.minimum(ranks.irrelevant[ranks.query], relevant), 1)
    gains = 1 - np.minimum(ranks.above, relevant) / counted_irrelevant
    return ratio(ranks.total(gains), ranks.relevant, 0.0)


_BINARY: dict[str, Callable[[_RelevantRanks, Measure], Floats]] = {
    "mrr": _reciprocal_rank,
    "map": _average_precision,
    "recall": lambda ranks, measure: ratio(ranks.down_to(measure.depth).total(), ranks.relevant, 0.0),
    "success": lambda ranks, measure: np.minimum(ranks.down_to(measure.depth).total(), 1.0),
    "precision": lambda ranks, measure: ranks.down_to(measure.depth).total() / (measure.depth or 1),
    "rprec": _r_precision,
    "bpref": _bpref,
}


def _ndcg(judged: JudgedRanks, measure: Measure) -> Floats:
    """Compute nDCG; both sums add the ranks from the top down, so that the best order scores exactly 1."""
    is_counted = slice(None) if measure.depth is None else judged.rank <= measure.depth
    gains = _gains(judged.grade[is_counted], measure)
    discounted = gains / np.log2(judged.rank[is_counted] + 1)
    dcg = np.bincount(judged.query[is_counted], discounted, len(judged.totals))
    return ratio(dcg, _ideal_dcg(judged, measure), 0.0)


def _ideal_dcg(judged: JudgedRanks, measure: Measure) -> Floats:
    """Compute the DCG of each query's documents in the best possible order, shape (Q,)."""
    queries = len(judged.totals)
    last_ranks = np.cumsum(judged.totals[:, ::-1], axis=1)  # by grade, the highest grade first
    last_ranks = last_ranks if measure.depth is None else np.minimum(last_ranks, measure.depth)
    lengths = last_ranks[:, -1]
    query = np.repeat(np.arange(queries), lengths)
    rank = np.arange(1, len(query) + 1) - (np.cumsum(lengths) - lengths)[query]
    grade_gains = np.tile(_gains(judged.grades[::-1], measure), queries)
    gains = np.repeat(grade_gains, np.diff(last_ranks, prepend=0).ravel())
    return np.bincount(query, gains / np.log2(rank + 1), queries).astype(np.float64)


def _gains(grade: Ints, measure: Measure) -> Floats:
    return np.exp2(grade) - 1 if measure.kind == "ndcg_exp" else grade.astype(np.float64)
