"""The jobs of the page Import: one checks a file by a dry run, the other imports the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree
from typing import Any

from pydantic import TypeAdapter

from curation.core.digests import to_json_value
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.operation import Operation
from curation.core.progress import Progress, silent
from curation.core.request import dump_request, read_request
from curation.ingest.outcome import ImportOutcome
from curation.ingest.requests import REQUESTS, ImportRequest
from curation.operations.import_file import import_file
from curation.operations.import_wording import DryRun, describe_refusal, reword_outcome
from curation.people.annotators import require_author
from curation.store import Rehearsal, Store

CHECK, IMPORT = "check file", "import"
NOT_CHECKED = "Nothing was changed. Check the file again."
Parameters = Mapping[str, Any]


def import_for_page(
    store: Store, request: ImportRequest, by: str, progress: Progress = silent
) -> ImportOutcome:
    """Import a file in one transaction for the lead `by`; errors are worded for a page.

    Raises
    ------
    NotFoundError, RefusedError: `by` is not a lead.
    InputError: the file or an option of the request cannot be taken.
    """
    store.read(require_author, by, "lead")
    try:
        outcome: ImportOutcome = import_file(store, request, progress, by).outcome
    except (InputError, RefusedError) as error:
        refusal = describe_refusal(error, request)
        name = Path(request.source).name
        problems = refusal.problems
        sentences = [f"{name}, {place}: {sentence}" if place else sentence for place, sentence in problems]
        raise InputError(sentences, way_out=refusal.way_out) from error
    return reword_outcome(outcome, request)


def dry_run(store: Store, request: ImportRequest, by: str, progress: Progress = silent) -> DryRun:
    """Try an import without keeping its result; return the problems that would stop the import.

    Raises
    ------
    NotFoundError, RefusedError: `by` is not a lead.
    """
    store.read(require_author, by, "lead")
    try:
        outcome = import_file(Rehearsal(store), request, progress, by).outcome
    except (InputError, NotFoundError, RefusedError) as error:
        return describe_refusal(error, request)
    return DryRun(reword_outcome(outcome, request), [])


def dump_job(request: ImportRequest, **others: str) -> dict[str, Any]:
    """Write the parameters of a job that checks or imports a file."""
    return {"what": request.what, "request": dump_request(request), **others}


def _read_parameters(parameters: Parameters) -> ImportRequest:
    return read_request(REQUESTS[parameters["what"]], parameters["request"])


def _run_check(store: Store, parameters: Parameters, progress: Progress, author: str) -> DryRun:
    """Run the job that checks a file: write the result of the import's dry run into the file `result`."""
    rehearsal = dry_run(store, _read_parameters(parameters), author, progress)
    write_dry_run(Path(parameters["result"]), rehearsal)
    return rehearsal


def _run_import(store: Store, parameters: Parameters, progress: Progress, author: str) -> ImportOutcome:
    """Run the job that imports a file, and remove the uploaded file even after an error."""
    try:
        return import_for_page(store, _read_parameters(parameters), author, progress)
    finally:
        if parameters["folder"]:
            rmtree(parameters["folder"], ignore_errors=True)


def write_dry_run(path: Path, rehearsal: DryRun) -> None:
    """Write a dry run to a file, so that a reader never sees an incomplete dry run."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(to_json_value(rehearsal)), encoding="utf-8")
    new.replace(path)


def read_dry_run(path: Path) -> DryRun | None:
    """Read the dry run that a job wrote to a file; None if the file does not exist yet."""
    try:
        return TypeAdapter(DryRun).validate_json(path.read_bytes())
    except FileNotFoundError:
        return None


OPERATIONS = {
    CHECK: Operation(dict[str, Any], _run_check, "checking a file", NOT_CHECKED),
    IMPORT: Operation(
        dict[str, Any],
        _run_import,
        in_progress="importing a file",
        on_interrupt="Nothing was imported. Import the file again.",
        stage="import",
    ),
}
