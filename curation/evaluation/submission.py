"""Submissions: what somebody asks about uploaded runs on the page Evaluate, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from curation.evaluation.evaluation import EvaluationOptions
from curation.evaluation.inputs.system_runs import RunSource
from curation.evaluation.sealed.ladder_looks import ladder_looks
from curation.evaluation.submitted import submit_runs
from curation.progress import Progress, silent
from curation.store import Store


class RunSubmission(NamedTuple):
    """What is asked; also parameters of a job, as JSON knows them.

    Attributes
    ----------
    measures, by: names of measures and of facets; the first measure is the headline.
    reason: why a sealed part is scored.
    ladder: show an improvement beyond noise and nothing else; for sealed parts.
    """

    release: str
    part: str
    measures: list[str]
    by: list[str]
    reason: str | None = None
    ladder: bool = False


class Submitted(NamedTuple):
    """What came of it; the Ladder stores no evaluation."""

    sentences: str
    evaluation_id: str | None


def submit(
    store: Store,
    asked: RunSubmission,
    runs: Sequence[RunSource],
    author: str,
    progress: Progress = silent,
) -> Submitted:
    """Score runs.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `submit_runs` or `ladder_looks`.
    """
    if asked.ladder:
        climbed = ladder_looks(
            *(store, asked.release, runs, asked.part, asked.measures),
            reason=asked.reason,
            actor=author,
            progress=progress,
        )
        return Submitted("\n".join(climbed.sentences), None)
    options = EvaluationOptions(asked.part, asked.measures, asked.by)
    found = submit_runs(store, asked.release, runs, options, asked.reason, author, progress)
    return Submitted(f"Evaluated {len(runs):,} runs on {asked.release}, {asked.part}.", found)
