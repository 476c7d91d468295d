"""The operations on a release: freeze it, and export it."""

from __future__ import annotations

from pathlib import Path

from curation.core.errors import RefusedError
from curation.core.operation import Operation, OperationOutcome
from curation.core.progress import Progress
from curation.core.reports.page import Table
from curation.core.text import amount
from curation.releases.export.export import Exported
from curation.releases.export.request import ExportRequest
from curation.releases.export.zipped import export_zip
from curation.releases.freeze.freeze import Frozen, check_name, freeze
from curation.releases.freeze.request import FreezeRequest
from curation.releases.overview import part_table
from curation.releases.release_rows import list_releases, mark_sentence
from curation.store import Cursor, Store


def _check_freeze(cursor: Cursor, request: FreezeRequest | None) -> None:
    if request is None:
        return
    check_name(request.name)
    if request.name in [row.name for row in list_releases(cursor)]:
        raise RefusedError(
            f"There is a release {request.name} already. A release never changes: choose another name."
        )


def _freeze(store: Store, request: FreezeRequest, progress: Progress, author: str) -> Frozen:
    return freeze(store, actor=author, progress=progress, **vars(request))


def _frozen(_request: FreezeRequest, frozen: Frozen) -> OperationOutcome:
    name, grades = frozen.name, sum(frozen.grades.values())
    done = f"Froze {name}" if frozen.created else f"Unchanged: {name} has exactly this content already"
    queries, documents = sum(frozen.queries.values()), amount(frozen.documents, "document")
    remarks = []
    if lacking := sum(frozen.without_relevant.values()):
        remarks.append(_without_relevant(frozen, lacking, queries))
    if frozen.changed:
        remarks.append(
            f"Kept and marked: {amount(frozen.changed, 'grade')} of another version of their document."
        )
    if frozen.sharing is not None:
        remarks.append(f"Shared between identical documents: {amount(frozen.sharing.grades, 'grade')}.")
    parts = {"nuggets": "nugget", "evidence": "evidence mark"}
    more = [amount(frozen.parts[part], one) for part, one in parts.items() if part in frozen.parts]
    counts = [amount(queries, "query", "queries"), amount(grades, "grade"), documents, *more]
    return OperationOutcome(
        f"{done}: {', '.join(counts)}.",
        (part_table(f"Release {name}", frozen),),
        frozen.left_out,
        remarks=tuple(remarks),
    )


def _without_relevant(frozen: Frozen, lacking: int, queries: int) -> str:
    parts = ", ".join(f"{count:,} of {part}" for part, count in frozen.without_relevant.items())
    every = " No system can be measured with it." if lacking == queries else ""
    return f"{amount(lacking, 'query has', 'queries have')} no relevant document ({parts}).{every}"


def _export(store: Store, request: ExportRequest, progress: Progress, author: str) -> Exported:
    """Write the zip file into the folder that the request names."""
    return export_zip(
        *(store, request.name, request.format, Path(request.folder), author, progress),
        reason=request.reason,
        parts=request.parts,
        options=request.options,
    )


def _exported(request: ExportRequest, exported: Exported) -> OperationOutcome:
    grades = amount(sum(exported.counts["grades"].values()), "grade")
    files = amount(len(exported.files) + 1, "file")
    remarks = mark_sentence(exported.name, exported.mark)
    if exported.without_grades:
        remarks.append(f"Without the grades of {', '.join(exported.without_grades)}.")
    if exported.opening is not None:
        remarks.append(f"With the sealed grades of {', '.join(exported.opening.parts)}, which is logged.")
    remarks += [f"{file}: {amount(rows, 'row')}." for file, rows in exported.rows.items()]
    rows = tuple((file, entry["bytes"], entry["sha256"]) for file, entry in exported.files.items())
    return OperationOutcome(
        f"Exported {request.name} as {request.format}: {files}, {grades}.",
        (Table(f"Exported {request.name} as {request.format}", ("file", "bytes", "sha256"), rows),),
        exported.left_out,
        remarks=tuple(remarks),
    )


OPERATIONS = {
    "freeze": Operation(
        FreezeRequest,
        _freeze,
        _frozen,
        doing="a release is being frozen",
        kept="Nothing was frozen: freeze it again.",
        check=_check_freeze,
        first="reading grades and parts",
        on_path="freeze",
    ),
    "export": Operation(
        ExportRequest,
        _export,
        _exported,
        doing="a release is being exported",
        kept="Nothing was exported: export it again. If sealed grades were asked for, that is logged.",
        first="verifying the release",
    ),
}
