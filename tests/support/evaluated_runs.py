"""Runs that are evaluated without a project, on parts that are not sealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from curation.evaluation.assemble_evaluation import assemble_evaluation
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scored_system import score_system
from curation.evaluation.scoring.drawn_queries import find_drawn_queries
from curation.evaluation.scoring.facets import choose_facets, make_sample_facets
from curation.evaluation.scoring.measure_names import choose_measures
from curation.evaluation.scoring.pooled_pairs import PooledPairs
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.rankings import make_run_rows
from curation.evaluation.scoring.release import EvaluatedRelease
from curation.evaluation.scoring.system_runs import SystemRun
from curation.ingest.importers.known_queries import KnownQueries


def evaluate_read(
    release: EvaluatedRelease, read: Mapping[str, Sequence[SystemRun]], options: EvaluateRequest
) -> Evaluation:
    """The figures of runs that were read, by system."""
    measures = choose_measures(release.qrels.scale, options.measures)
    facets = choose_facets(release.facets, options.by)
    systems = [score_system(name, runs, release, measures) for name, runs in read.items()]
    return assemble_evaluation(release, measures, facets, systems, options)


def evaluate_lists(
    qrels: Qrels,
    kinds: Sequence[Mapping[str, Any]],
    dimensions: Sequence[str],
    systems: Mapping[str, Mapping[str, Mapping[str, float]]],
    options: EvaluateRequest,
) -> Evaluation:
    """The figures of systems, each query → document → score, on a release of nothing but queries and grades.

    Parameters
    ----------
    kinds: what a release says of each query, in the order of the qrels.
    """
    ids, nothing = qrels.query_ids, np.full(len(qrels.query_ids), np.nan)
    release = EvaluatedRelease(
        *("v1", "0" * 64, ("dev",), (), qrels, {query: query for query in ids}),
        make_sample_facets(kinds, dimensions),
        find_drawn_queries(ids, nothing, nothing, {}, {}, None),
        *(KnownQueries([], {}), frozenset(), PooledPairs({})),
    )
    read = {}
    for name, run in systems.items():
        rows = make_run_rows(run, qrels)
        read[name] = [SystemRun(name, f"{name}.trec", rows, len(rows.query), 0, 0, {})]
    return evaluate_read(release, read, options)
