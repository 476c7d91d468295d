"""The operations of an import: a dry run, whose findings a page reads from a file, and the import itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree
from typing import Any

from curation.core.operation import Operation, OperationOutcome
from curation.core.progress import Progress
from curation.core.text import plain
from curation.ingest.picking.outcome import DryRun, ImportOutcome
from curation.ingest.picking.request import ImportRequest
from curation.operations.importing.importing import carry_out, dry_run
from curation.store import Store

CHECK, IMPORT = "check file", "import"
Parameters = Mapping[str, Any]


def _check(store: Store, parameters: Parameters, progress: Progress, author: str) -> DryRun:
    """Rehearse an import; what it finds is in the file `result`."""
    found = dry_run(store, ImportRequest(**parameters["request"]), author, progress)
    write_findings(Path(parameters["result"]), found)
    return found


def _checked(_parameters: Parameters, found: DryRun) -> OperationOutcome:
    return OperationOutcome(
        found.outcome.sentence if found.outcome else "The file cannot be imported as it is."
    )


def _import(store: Store, parameters: Parameters, progress: Progress, author: str) -> ImportOutcome:
    """Import a file; what was uploaded is removed whatever comes of it."""
    try:
        return carry_out(store, ImportRequest(**parameters["request"]), author, progress)
    finally:
        if parameters["folder"]:
            rmtree(parameters["folder"], ignore_errors=True)


def _imported(_parameters: Parameters, import_outcome: ImportOutcome) -> OperationOutcome:
    return OperationOutcome("\n".join(import_outcome.sentences))


def write_findings(path: Path, found: DryRun) -> None:
    """Write a dry run for `read_findings`: whole, or not at all."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(plain(found)), encoding="utf-8")
    new.replace(path)


def read_findings(path: Path) -> DryRun | None:
    """The dry run in a file, or None where there is none yet."""
    try:
        return DryRun.from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


OPERATIONS = {
    CHECK: Operation(
        dict[str, Any],
        _check,
        _checked,
        doing="a file is being checked",
        kept="Nothing was changed: check it again.",
    ),
    IMPORT: Operation(
        dict[str, Any],
        _import,
        _imported,
        doing="a file is being imported",
        kept="Nothing was imported: import it again.",
        on_path="import",
    ),
}
