"""Runs that are evaluated without a project, on parts that are not sealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.evaluation.assembly import assembled, score_system
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.scoring.inputs.facets import chosen_facets
from curation.evaluation.scoring.inputs.release import EvaluatedRelease
from curation.evaluation.scoring.inputs.system_runs import SystemRun
from curation.evaluation.scoring.metrics.measures import measures_for


def evaluate_read(
    release: EvaluatedRelease, read: Mapping[str, Sequence[SystemRun]], options: EvaluationOptions
) -> Evaluation:
    """The figures of runs that were read, by system."""
    measures = measures_for(release.qrels.scale, options.measures)
    facets = chosen_facets(release.facets, options.by)
    systems = [score_system(name, runs, release, measures) for name, runs in read.items()]
    return assembled(release, measures, facets, systems, options)
