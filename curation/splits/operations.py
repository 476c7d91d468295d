"""The operations of a split: its preview, and making it."""

from __future__ import annotations

from pathlib import Path

from curation.core.operation import Operation, OperationOutcome
from curation.core.progress import Progress
from curation.core.text import amount
from curation.retrieval.embeddings import refuse_without_model
from curation.splits.preview import SplitPreview, preview_json, preview_split
from curation.splits.request import NewSplit, PreviewRequest
from curation.splits.split import SplitReport, make_split
from curation.store import Cursor, Store

PREVIEW = "preview.json"
"""The file in a job's folder that `splits.preview.parsed_preview` reads."""


def _check(cursor: Cursor, request: NewSplit | None) -> None:
    if request is not None and request.rules.paraphrase is not None:
        refuse_without_model(cursor, request.rules.model)


def _preview(store: Store, request: PreviewRequest, progress: Progress, author: str) -> SplitPreview:
    """Write the preview into the folder that the request names."""
    found = preview_split(store, request, progress)
    (Path(request.folder) / PREVIEW).write_bytes(preview_json(found))
    return found


def _previewed(_request: PreviewRequest, split_preview: SplitPreview) -> OperationOutcome:
    queries = sum(part.queries for part in split_preview.parts)
    groups = amount(split_preview.certificate.groups, "leakage group")
    return OperationOutcome(f"Previewed a split of {amount(queries, 'query', 'queries')} in {groups}.")


def _split(store: Store, request: NewSplit, progress: Progress, author: str) -> SplitReport:
    asked = vars(request) | {"parts": request.fractions}
    return make_split(store, progress=progress, actor=author, **asked)


def _made(_request: NewSplit, made: SplitReport) -> OperationOutcome:
    new, known = "This is the current split now", "This split exists already and is the current one"
    done = new if made.created else known
    groups = amount(made.certificate.groups, "leakage group")
    kept = amount(made.kept, "query keeps", "queries keep")
    remarks = [f"{kept} the part that a release has them in."] if made.kept else []
    return OperationOutcome(
        f"{done}: {amount(made.certificate.queries, 'query', 'queries')} in {groups}.",
        left_out=made.left_out,
        remarks=tuple(remarks),
    )


OPERATIONS = {
    "split preview": Operation(
        PreviewRequest,
        _preview,
        _previewed,
        doing="a split is being previewed",
        kept="The current split is unchanged. Preview again; what was embedded is kept.",
        check=_check,
        first="reading grades and documents",
    ),
    "split": Operation(
        NewSplit,
        _split,
        _made,
        doing="a split is being stored",
        kept="The current split is unchanged. Store it again.",
        check=_check,
        first="reading grades and documents",
        on_path="split",
    ),
}
