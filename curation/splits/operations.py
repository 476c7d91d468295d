"""Background operations that store a split or preview it."""

from __future__ import annotations

from pathlib import Path

from curation.core.operation import Operation
from curation.core.progress import Progress
from curation.retrieval.embeddings import refuse_without_model
from curation.splits.preview import SplitPreview, preview_split, write_preview
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Cursor, Store

PREVIEW = "preview.json"
"""Name of the file with a split's preview, in the folder of the background job."""


def _check_model(cursor: Cursor, request: SplitRequest | None) -> None:
    if request is not None and request.rules.paraphrase is not None:
        refuse_without_model(cursor, request.rules.model)


def _write_preview(store: Store, request: SplitRequest, progress: Progress, author: str) -> SplitPreview:
    """Write the preview of a split into the folder named in the request."""
    preview = preview_split(store, request, progress)
    (Path(request.folder) / PREVIEW).write_bytes(write_preview(preview))
    return preview


OPERATIONS = {
    "split preview": Operation(
        SplitRequest,
        _write_preview,
        in_progress="previewing the split",
        on_interrupt="The current split is unchanged. Preview again; the embeddings are kept.",
        check=_check_model,
        first_step="reading grades and documents",
    ),
    "split": Operation(
        SplitRequest,
        make_split,
        in_progress="storing the split",
        on_interrupt="The current split is unchanged. Store the new split again.",
        check=_check_model,
        first_step="reading grades and documents",
        stage="split",
    ),
}
