"""Scored systems: a system with its runs, and their scores on a release, query by query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from curation.core.arrow import int_array, string_array
from curation.evaluation.evaluation import ContextCurve, FirstPlaces
from curation.evaluation.figures.means import estimate_means
from curation.evaluation.scoring.measure_names import CONTEXT, Measure, average
from curation.evaluation.scoring.rankings import Rankings, RunRows, rank
from curation.evaluation.scoring.release import EvaluatedRelease
from curation.evaluation.scoring.run_scores import RunScores, average_scores, compute_values, score_ranking
from curation.evaluation.scoring.system_runs import SystemRun

CONTEXT_DEPTHS = (1, 2, 3, 5, 10, 20, 50)
"""The numbers of chunks for which the report shows recall against words."""
LISTED = 20
"""The number of places of each list that are stored, so that lists can be read side by side."""


@dataclass(frozen=True)
class ScoredSystem:
    """A system with its runs, and the scores of each run.

    Attributes
    ----------
    first_places, context: the first places and the context curve of the first run.
    """

    name: str
    runs: tuple[SystemRun, ...]
    scores: tuple[RunScores, ...]
    first_places: FirstPlaces
    context: ContextCurve = ()

    @property
    def rows(self) -> list[RunRows]:
        """The rows of each run."""
        return [run.rows for run in self.runs]

    @cached_property
    def mean(self) -> RunScores:
        """The mean of the runs' scores, query by query."""
        return average_scores(self.scores)


def score_system(
    name: str, runs: Sequence[SystemRun], release: EvaluatedRelease, measures: Sequence[Measure]
) -> ScoredSystem:
    """Score the runs of one system."""
    scores: list[RunScores] = []
    places: FirstPlaces = {}
    context: ContextCurve = ()
    for run in runs:
        ranking = rank(run.rows, release.qrels)
        if not scores:
            places = _first_places(run.rows, ranking, release)
            context = _context_curve(ranking, release)
        scores.append(score_ranking(ranking, release.qrels, measures))
    return ScoredSystem(name, tuple(runs), tuple(scores), places, context)


def _first_places(rows: RunRows, ranking: Rankings, release: EvaluatedRelease) -> FirstPlaces:
    """Collect the first places of a run in order; no places where a part is sealed."""
    if release.sealed:
        return {}
    ids, first = string_array(release.qrels.query_ids), ranking.rank <= LISTED
    documents = {
        "query_id": ids.take(int_array(ranking.query[first])),
        "rank": ranking.rank[first],
        "document_id": rows.documents.take(int_array(ranking.order[first])),
    }
    if (chunks := rows.chunks) is None:
        return {"evaluation_lists": documents}
    first = chunks.rank <= LISTED
    places = {
        "query_id": ids.take(int_array(chunks.query[first])),
        "rank": chunks.rank[first],
        "document_id": chunks.documents.take(int_array(np.flatnonzero(first))),
        "start_at": chunks.start[first],
        "end_at": chunks.end[first],
        "words": chunks.words[first],
    }
    return {"evaluation_lists": documents, "evaluation_chunks": places}


def _context_curve(ranking: Rankings, release: EvaluatedRelease) -> ContextCurve:
    """Compute recall of evidence against words of context; empty without evidence, or where a part is
    sealed."""
    if ranking.chunks is None or release.qrels.evidence is None or release.sealed:
        return ()
    last = int(ranking.chunks.chunks.rank.max(initial=1))
    asked = [
        Measure(kind, depth)
        for depth in CONTEXT_DEPTHS
        if depth <= last
        for kind in ("evidence_recall", CONTEXT)
    ]
    values = compute_values(ranking, release.qrels, asked)
    values[np.isnan(values[:, 0])] = np.nan  # the same queries for both
    recall, words = values[:, ::2], values[:, 1::2]
    recall[np.isnan(words)] = np.nan
    return tuple(
        (measure.depth or 1, average(of_words), estimate)
        for measure, of_words, estimate in zip(asked[::2], words.T, estimate_means(recall), strict=True)
    )
