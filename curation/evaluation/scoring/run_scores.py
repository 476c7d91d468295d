"""A run's scores: the value of each query for each measure, with its bounds.

A query that the run misses scores 0 and is counted. Measures that need a relevant document leave out queries
without one, which are counted. Each score comes with the share of judged documents among the documents that
the measure looks at: down to its depth; for rprec, down to the number of relevant documents; for rbp, by its
weights; for map and bpref, in the whole list.

The bounds are the values if every unjudged document that the run returned were relevant, and if none were.
Down to the depth of a measure, unjudged documents get the scale's highest grade, or its lowest. A measure of
the whole list regrades only the first `MAX_UNJUDGED` ranks, because nobody is going to judge documents below
them. Documents that the run did not return keep their grades. Measures count an unjudged document as not
relevant, so `if_none` is the value. bpref has no bounds: it skips unjudged documents, so either grade would
change the list of judged documents. Measures of chunks have no bounds, because a grade does not say where the
evidence is.

The highest value of a query is the value of a list of its relevant documents, best first. A query with one
relevant document cannot have more than 0.1 in precision@10, whatever the run. An interval of a mean never
exceeds the highest value that any query can have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.evaluation.scoring import additional_measures, rankings, trec_eval_measures
from curation.evaluation.scoring.measure_names import CONTEXT, KINDS, Measure
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.rankings import UNJUDGED, Rankings, RunRows, TieCounts

SCORE_FIELDS = ("values", "highest", "judged", "if_none", "if_all")
"""Fields of `RunScores` with the shape (Q, M)."""
MAX_UNJUDGED = 100
UNBOUNDED = ("judged", "bpref", *(kind.name for kind in KINDS.values() if kind.source == "chunks"))
"""Kinds of measures without bounds for unjudged documents."""
REVERSED_BOUNDS = (
    "A figure may be lower if all unjudged documents are relevant than if no unjudged document is "
    "relevant, because the ideal list then contains these documents, too."
)


@dataclass(frozen=True)
class RunScores:
    """The scores of one run, query by query; scores on a sealed part never leave `evaluation`.

    Attributes
    ----------
    query_ids, measures: the Q queries, ordered, and the M measures.
    values: shape (Q, M), NaN where the query has no relevant document (for judged@k: no returned document).
        Totals have a value for each query.
    highest: shape (Q, M), the highest value that the query's grades allow (`compute_highest_values`).
    judged: shape (Q, M), the share of judged documents among the documents that the measure looks at; NaN
        where it looks at none.
    if_none, if_all: the values if no unjudged document were relevant, or every one.
    returned: shape (Q,), the number of documents that each query got; 0 where the run misses the query.
    """

    query_ids: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats
    highest: Floats
    judged: Floats
    if_none: Floats
    if_all: Floats
    returned: Ints
    ties: TieCounts

    def of(self, name: str) -> Floats:
        """Return the values of the measure with this name, shape (Q,)."""
        return self.values[:, [measure.name for measure in self.measures].index(name)]


def score_run(run: Mapping[str, Mapping[str, float]], qrels: Qrels, measures: Sequence[Measure]) -> RunScores:
    """Score a run given as a mapping query → document → score.

    Raises
    ------
    InputError: a score is not a number.
    """
    return score_rows(rankings.make_run_rows(run, qrels), qrels, measures)


def score_rows(rows: RunRows, qrels: Qrels, measures: Sequence[Measure]) -> RunScores:
    """Score a run that is given as rows of documents with scores."""
    return score_ranking(rankings.rank(rows, qrels), qrels, measures)


def score_ranking(ranking: Rankings, qrels: Qrels, measures: Sequence[Measure]) -> RunScores:
    """Score a run that is given as ranked documents with their grades."""
    values = compute_values(ranking, qrels, measures)
    if_none, if_all = compute_unjudged_bounds(ranking, qrels, measures, values)
    longest_words = ranking.chunks.longest_words if ranking.chunks else 0
    return RunScores(
        query_ids=qrels.query_ids,
        measures=tuple(measures),
        values=values,
        highest=compute_highest_values(measures, qrels, longest_words),
        judged=_compute_judged_shares(ranking, qrels, measures),
        if_none=if_none,
        if_all=if_all,
        returned=ranking.returned,
        ties=rankings.count_ties(ranking),
    )


def average_scores(runs: Sequence[RunScores]) -> RunScores:
    """Average the scores of one system's runs, query by query; the counts of ties and of returned documents
    are summed."""
    if len(runs) == 1:
        return runs[0]
    means = {field: np.mean([getattr(run, field) for run in runs], axis=0) for field in SCORE_FIELDS}
    return replace(
        runs[0],
        **means,
        returned=np.sum([run.returned for run in runs], axis=0),
        ties=TieCounts(*(sum(counts) for counts in zip(*(run.ties for run in runs), strict=True))),
    )


def compute_values(ranking: Rankings, qrels: Qrels, measures: Sequence[Measure]) -> Floats:
    """Compute a ranking's values, shape (Q, M); NaN where a query has no relevant document."""
    values = np.zeros((len(qrels.query_ids), len(measures)))
    columns = [column for column, measure in enumerate(measures) if measure.is_trec_eval]
    if columns:
        judged = trec_eval_measures.find_judged_ranks(qrels, ranking)
        shared_measures = [measures[column] for column in columns]
        values[:, columns] = trec_eval_measures.compute_measures(shared_measures, qrels, judged)
    relevant = qrels.relevant_documents
    for column, measure in enumerate(measures):
        if measure.kind == "judged":
            values[:, column] = _compute_judged_share(ranking, measure.depth)
        elif not measure.is_trec_eval:
            values[:, column] = additional_measures.compute_measure(measure, ranking, qrels, relevant)
        values[qrels.find_undefined(measure), column] = np.nan
    return values


def _compute_judged_shares(ranking: Rankings, qrels: Qrels, measures: Sequence[Measure]) -> Floats:
    depths = {measure.depth for measure in measures}
    by_depth = {depth: _compute_judged_share(ranking, depth) for depth in depths}
    shares = []
    for measure in measures:
        if measure.of_chunks and ranking.chunks is not None:
            shares.append(ranking.chunks.compute_judged_share(measure, len(qrels.query_ids)))
        elif measure.persistence is not None:
            shares.append(additional_measures.compute_judged_weight_share(ranking, measure.persistence))
        elif measure.kind == "rprec":
            shares.append(_compute_judged_share(ranking, qrels.relevant_documents))
        else:
            shares.append(by_depth[measure.depth])
    return np.stack(shares, axis=1)


def _compute_judged_share(ranking: Rankings, depth: Ints | int | None) -> Floats:
    """Compute the share of judged documents down to a depth, shape (Q,); the depth can differ by query."""
    sizes = ranking.returned if depth is None else np.minimum(ranking.returned, depth)
    is_judged = ranking.grade != UNJUDGED
    if depth is not None:
        is_judged &= ranking.rank <= np.broadcast_to(depth, sizes.shape)[ranking.query]
    return ratio(np.bincount(ranking.query[is_judged], minlength=len(sizes)), sizes)


def explain_reversed_bounds(bounds: Iterable[tuple[float | None, float | None]]) -> str:
    """Explain why a mean is lower if all unjudged documents are relevant than if none are; '' if no mean is.

    Parameters
    ----------
    bounds: the figure of each measure if no unjudged document is relevant, and if all are.
    """
    known = [(lower, upper) for lower, upper in bounds if lower is not None and upper is not None]
    return REVERSED_BOUNDS if any(upper < lower for lower, upper in known) else ""


def compute_unjudged_bounds(
    ranking: Rankings, qrels: Qrels, measures: Sequence[Measure], values: Floats
) -> tuple[Floats, Floats]:
    """Compute the values if no unjudged document were relevant and if all were, each of shape (Q, M).

    The values are NaN for the kinds of `UNBOUNDED`.
    """
    lower, upper = values.copy(), values.copy()
    unjudged = np.flatnonzero(ranking.grade == UNJUDGED)
    judged = trec_eval_measures.find_judged_ranks(qrels, ranking)
    scenarios: dict[int | None, tuple[Ints, trec_eval_measures.JudgedRanks]] = {}
    for depth in {measure.depth for measure in measures}:
        regraded = unjudged[ranking.rank[unjudged] <= (depth or MAX_UNJUDGED)]
        query, rank = ranking.query[regraded], ranking.rank[regraded]
        scenarios[depth] = (regraded, trec_eval_measures.add_highest_grades(judged, query, rank))
    for column, measure in enumerate(measures):
        regraded, scenario = scenarios[measure.depth]
        if measure.kind in UNBOUNDED:
            lower[:, column] = upper[:, column] = np.nan
        elif measure.persistence is not None:
            upper[:, column] += additional_measures.weigh_unjudged(ranking, measure.persistence)
        elif measure.is_trec_eval:
            upper[:, [column]] = trec_eval_measures.compute_measures([measure], qrels, scenario)
        else:
            upper[:, column] = _compute_regraded_values(measure, ranking, qrels, regraded)
    undefined = np.isnan(values)
    lower[undefined] = upper[undefined] = np.nan
    return lower, upper


def _compute_regraded_values(measure: Measure, ranking: Rankings, qrels: Qrels, regraded: Ints) -> Floats:
    """Compute the values of a measure that trec_eval lacks, as if these documents had the highest grade."""
    grade = ranking.grade.copy()
    grade[regraded] = qrels.scale[-1]
    added = np.bincount(ranking.query[regraded], minlength=len(ranking.returned))
    regraded_ranking = replace(ranking, grade=grade)
    relevant = qrels.relevant_documents + added
    return additional_measures.compute_measure(measure, regraded_ranking, qrels, relevant)


def compute_highest_values(measures: Sequence[Measure], qrels: Qrels, longest_words: int = 0) -> Floats:
    """Compute the highest value that each query can reach for each measure, shape (Q, M).

    Unjudged documents count as not relevant. The highest value is NaN where a query has no relevant document,
    and 1 for every judged@k.

    Parameters
    ----------
    longest_words: the number of words of the run's longest chunk.
    """
    columns = [_compute_highest_of(measure, qrels, longest_words) for measure in measures]
    return np.stack(columns, axis=1) if columns else np.empty((len(qrels.query_ids), 0))


def _compute_highest_of(measure: Measure, qrels: Qrels, longest_words: int) -> Floats:
    relevant = qrels.relevant_documents.astype(np.float64)
    with np.errstate(invalid="ignore"):  # without relevant documents there is no value
        if measure.kind in ("recall", "map") and measure.depth is not None:
            highest = np.minimum(relevant, measure.depth) / relevant
        elif measure.kind == "precision":
            highest = np.minimum(relevant, measure.depth or np.inf) / (measure.depth or 1)
        elif measure.kind in ("err", "rbp_graded"):
            highest = additional_measures.compute_measure(
                measure, _rank_best_lists(qrels), qrels, qrels.relevant_documents
            )
        elif measure.persistence is not None:
            highest = 1 - measure.persistence**relevant
        elif measure.kind == CONTEXT:
            highest = np.full(len(relevant), float((measure.depth or 1) * longest_words))
        else:
            highest = np.ones(len(relevant))
    return np.where(qrels.find_undefined(measure), np.nan, highest)


def _rank_best_lists(qrels: Qrels) -> Rankings:
    """Rank every query's judged documents, highest grades first."""
    order = np.lexsort((-qrels.grade, qrels.query))
    query = qrels.query[order]
    rank = np.arange(1, len(order) + 1) - np.searchsorted(query, query)
    returned = np.bincount(query, minlength=len(qrels.query_ids))
    return Rankings(query, rank, qrels.grade[order], order, returned, order, np.zeros_like(rank))
