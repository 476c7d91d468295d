"""Background operations that freeze a release or export a release."""

from __future__ import annotations

from curation.core.errors import RefusedError
from curation.core.operation import Operation
from curation.releases.export.pack import export_zip
from curation.releases.freeze.freeze import check_name, freeze
from curation.releases.release_rows import list_releases
from curation.releases.requests import ExportRequest, FreezeRequest
from curation.store import Cursor


def _check_freeze(cursor: Cursor, request: FreezeRequest | None) -> None:
    if request is None:
        return
    check_name(request.name)
    if request.name in [row.name for row in list_releases(cursor)]:
        raise RefusedError(
            f"The project already has a release {request.name}. A release never changes: choose another name."
        )


OPERATIONS = {
    "freeze": Operation(
        FreezeRequest,
        freeze,
        in_progress="freezing the release",
        on_interrupt="Nothing was frozen. Freeze the release again.",
        check=_check_freeze,
        first_step="reading grades and parts",
        stage="freeze",
    ),
    "export": Operation(
        ExportRequest,
        export_zip,
        in_progress="exporting the release",
        on_interrupt="Nothing was exported. Export the release again. The log keeps sealed requests.",
        first_step="verifying the release",
    ),
}
