"""Imports as jobs: a dry run, whose findings go into a file for the page, and the import itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree
from typing import Any

from curation.imports.importing import carry_out, dry_run
from curation.imports.outcome import DryRun
from curation.imports.request import ImportRequest
from curation.progress import Progress
from curation.store import Store
from curation.text import plain

CHECK, IMPORT = "check file", "import"


def check_file(store: Store, parameters: Mapping[str, Any], progress: Progress, author: str) -> str:
    """Rehearse an import; what it finds is in the file `result`."""
    found = dry_run(store, ImportRequest(**parameters["request"]), author, progress)
    write_findings(Path(parameters["result"]), found)
    return found.outcome.sentence if found.outcome else "The file cannot be imported as it is."


def import_file(store: Store, parameters: Mapping[str, Any], progress: Progress, author: str) -> str:
    """Import a file; what was uploaded is removed whatever comes of it."""
    try:
        found = carry_out(store, ImportRequest(**parameters["request"]), author, progress)
    finally:
        if parameters["folder"]:
            rmtree(parameters["folder"], ignore_errors=True)
    return "\n".join(found.sentences)


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
