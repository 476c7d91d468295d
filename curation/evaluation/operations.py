"""The operation that evaluates uploaded runs and answers."""

from __future__ import annotations

from shutil import rmtree

from curation.core.operation import Operation, OperationOutcome
from curation.core.progress import Progress
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.submission import Submitted, check_request, submit
from curation.people.annotators import EVALUATING
from curation.store import Cursor, Store


def _check(_cursor: Cursor, request: EvaluateRequest | None) -> None:
    if request is not None:
        check_request(request)


def _evaluate(store: Store, request: EvaluateRequest, progress: Progress, author: str) -> Submitted:
    """Evaluate uploaded files; their folder is removed whatever comes of it."""
    try:
        return submit(store, request, author, progress)
    finally:
        rmtree(request.folder, ignore_errors=True)


def _evaluated(_request: EvaluateRequest, submitted: Submitted) -> OperationOutcome:
    return OperationOutcome(submitted.sentences)


OPERATIONS = {
    "evaluate": Operation(
        EvaluateRequest,
        _evaluate,
        _evaluated,
        doing="runs are being evaluated",
        kept="No evaluation was stored: upload the runs again.",
        check=_check,
        roles=EVALUATING,
        on_path="evaluate",
    )
}
