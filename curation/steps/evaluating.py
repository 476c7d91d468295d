"""The step that evaluates uploaded runs and answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree
from typing import Any

from curation.evaluation.answers.answer_files import AnswerSource
from curation.evaluation.submission import RunSubmission, Submitted, submit
from curation.people.annotators import EVALUATING
from curation.progress import Progress
from curation.scoring.inputs.system_runs import RunSource
from curation.step import Step, StepOutcome
from curation.store import Store


def _evaluate(store: Store, parameters: Mapping[str, Any], progress: Progress, author: str) -> Submitted:
    """Evaluate uploaded files; their folder is removed whatever comes of it."""
    sources = [RunSource(name, Path(path)) for name, path in parameters["runs"]]
    answers = [AnswerSource(name, Path(path)) for name, path in parameters["answers"]]
    asked = RunSubmission(**{name: parameters[name] for name in RunSubmission._fields})
    try:
        return submit(store, asked, sources, author, progress, answers)
    finally:
        rmtree(parameters["folder"], ignore_errors=True)


def _evaluated(_parameters: Mapping[str, Any], submitted: Submitted) -> StepOutcome:
    return StepOutcome(submitted.sentences)


STEPS = {
    "evaluate": Step(
        "evaluate",
        dict[str, Any],
        _evaluate,
        _evaluated,
        doing="runs are being evaluated",
        kept="No evaluation was stored: upload the runs again.",
        roles=EVALUATING,
        on_path="evaluate",
    )
}
