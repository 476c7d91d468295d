"""A system's runs with their scores on a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from curation.core.arrow import int_array, string_array, to_ints
from curation.core.statistics.arrays import average
from curation.evaluation.evaluation import ContextCurve, StoredLists
from curation.evaluation.figures.means import estimate_means
from curation.evaluation.scoring import run_scores
from curation.evaluation.scoring.measure_names import CONTEXT, Measure
from curation.evaluation.scoring.rankings import Rankings, RunRows, order_chunks, rank
from curation.evaluation.scoring.release import EvaluatedRelease
from curation.evaluation.scoring.run_scores import RunScores
from curation.evaluation.scoring.system_runs import SystemRun

CONTEXT_DEPTHS = (1, 2, 3, 5, 10, 20, 50)
"""Numbers of chunks for which the report shows recall against words."""
STORED_RANKS = 20
"""Number of stored ranks of each list, so that lists can be read side by side."""


@dataclass(frozen=True)
class ScoredSystem:
    """A system with its runs and their scores.

    Attributes
    ----------
    stored_lists, context: the first ranks and the context curve of the first run.
    """

    name: str
    runs: tuple[SystemRun, ...]
    scores: tuple[RunScores, ...]
    stored_lists: StoredLists
    context: ContextCurve = ()

    @property
    def rows(self) -> list[RunRows]:
        """Return the rows (documents with scores) of each of the system's runs."""
        return [run.rows for run in self.runs]

    @cached_property
    def mean(self) -> RunScores:
        """Average the scores of the system's runs, query by query."""
        return run_scores.average_scores(self.scores)


def score_system(
    name: str, runs: Sequence[SystemRun], release: EvaluatedRelease, measures: Sequence[Measure]
) -> ScoredSystem:
    """Score all runs of one system on a release."""
    runs = [replace(run, rows=add_whole_documents(run.rows, release, measures)) for run in runs]
    first_run, *other_runs = runs
    ranking = rank(first_run.rows, release.qrels)
    first_scores = run_scores.score_ranking(ranking, release.qrels, measures)
    other_scores = [run_scores.score_rows(run.rows, release.qrels, measures) for run in other_runs]
    return ScoredSystem(
        name=name,
        runs=tuple(runs),
        scores=(first_scores, *other_scores),
        stored_lists=_collect_stored_lists(first_run.rows, ranking, release),
        context=_compute_context_curve(ranking, release),
    )


def add_whole_documents(rows: RunRows, release: EvaluatedRelease, measures: Sequence[Measure]) -> RunRows:
    """Add whole documents as chunks if a run of documents is scored by a chunk measure."""
    if rows.chunks or release.bodies is None or not any(measure.of_chunks for measure in measures):
        return rows
    documents = rows.documents
    ids = documents.dictionary.to_pylist()
    codes = to_ints(documents.indices)
    start = np.zeros(len(codes), np.int64)
    end = release.bodies.find_lengths(ids)[codes]
    words, first_word = release.bodies.count_words(ids, codes, start, end)
    columns = (start, end, words, first_word)
    chunks = order_chunks(rows.query, rows.scores, documents, columns, release.bodies.bounds)
    return rows._replace(chunks=chunks)


def _collect_stored_lists(rows: RunRows, ranking: Rankings, release: EvaluatedRelease) -> StoredLists:
    """Collect the first documents and chunks of a run in order; empty if an evaluated part is sealed."""
    if release.sealed:
        return {}
    ids = string_array(release.qrels.query_ids)
    is_first = ranking.rank <= STORED_RANKS
    documents = {
        "query_id": ids.take(int_array(ranking.query[is_first])),
        "rank": ranking.rank[is_first],
        "document_id": rows.documents.take(int_array(ranking.order[is_first])),
    }
    chunks = rows.chunks
    if chunks is None:
        return {"evaluation_lists": documents}
    is_first = chunks.rank <= STORED_RANKS
    chunk_columns = {
        "query_id": ids.take(int_array(chunks.query[is_first])),
        "rank": chunks.rank[is_first],
        "document_id": chunks.documents.take(int_array(np.flatnonzero(is_first))),
        "start_at": chunks.start[is_first],
        "end_at": chunks.end[is_first],
        "words": chunks.words[is_first],
    }
    return {"evaluation_lists": documents, "evaluation_chunks": chunk_columns}


def _compute_context_curve(ranking: Rankings, release: EvaluatedRelease) -> ContextCurve:
    """Compute the recall of evidence by words of context; empty if there is no evidence or an evaluated part
    is sealed."""
    if ranking.chunks is None or release.qrels.evidence is None or release.sealed:
        return ()
    last_rank = int(ranking.chunks.chunks.rank.max(initial=1))
    depths = [depth for depth in CONTEXT_DEPTHS if depth <= last_rank]
    curve_measures = [Measure(kind, depth) for depth in depths for kind in ("evidence_recall", CONTEXT)]
    values = run_scores.compute_values(ranking, release.qrels, curve_measures)
    values[np.isnan(values[:, 0])] = np.nan  # both means use the same queries
    recall, words = values[:, ::2], values[:, 1::2]
    recall[np.isnan(words)] = np.nan
    points = zip(depths, words.T, estimate_means(recall), strict=True)
    return tuple((depth, average(depth_words), estimate) for depth, depth_words, estimate in points)
