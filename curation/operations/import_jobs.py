"""Imports as jobs of the page Import: checking a file by a dry run, importing it, and errors in words of
the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from curation.core.digests import to_json_value
from curation.core.errors import CurationError, InputError, NotFoundError, RefusedError
from curation.core.operation import Operation, options_of, read_request, written
from curation.core.progress import Progress, silent
from curation.ingest.import_outcome import ImportOutcome
from curation.ingest.readers.fields import file_fields
from curation.ingest.requests import REQUESTS, ImportRequest
from curation.operations.import_file import import_file
from curation.people.annotators import require_author
from curation.store import Rehearsal, Store

MAX_PROBLEMS = 1_000
"""The number of problems that a dry run keeps."""
_PLACE = re.compile(r"((?:line|row|entry) [\d,]+): (.*)", re.DOTALL)
_VERBS = ("Is ", "Are ", "Holds ", "Cannot ")
_OTHERWISE = {
    "First write one object on each line: jq -c '.[]' FILE": "Save the file with one object on each line.",
    "A folder of BEIR may stay packed for `goldgrade import collection`.": "",
    "pip install python-calamine, or save": "Save",
    "Give the names as in --columns time,query.": "Write the names in “Names of the columns”.",
    "say so with `--encoding latin-1`": "choose the encoding latin-1",
    "try `--encoding utf-16`": "choose the encoding utf-16",
}
_NAMING = re.compile(r"\bname (it|one|the column with their texts) with (?=--)")
_COMMAND = re.compile(r" ?\(`[^`]*`\)")
_COLUMN = re.compile(r"--map (\w+)(?:=COLUMN)?")
_OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")
CHECK, IMPORT = "check file", "import"
Parameters = Mapping[str, Any]


class DryRun(NamedTuple):
    """The outcome of a dry run of an import, or the problems for which the import would be refused.

    Attributes
    ----------
    outcome: None if the import would be refused.
    problems: the first problems, each with its place in the file, such as "line 3" or '', and a sentence.
    more: number of further problems.
    way_out: sentences on how to solve the problems, a line each.
    """

    outcome: ImportOutcome | None
    problems: list[tuple[str, str]]
    more: int = 0
    way_out: str = ""

    @property
    def sentences(self) -> list[str]:
        """The outcome in one sentence."""
        return [self.outcome.sentence if self.outcome else "The file cannot be imported as it is."]


def carry_out(store: Store, request: ImportRequest, by: str, progress: Progress = silent) -> ImportOutcome:
    """Import a file in one transaction for the lead `by`; errors have the words of a page.

    Raises
    ------
    NotFoundError, RefusedError: `by` is no lead.
    InputError: the file or an option of the request cannot be taken.
    """
    with store.reading() as cursor:
        require_author(cursor, by, "lead")
    try:
        outcome: ImportOutcome = import_file(store, request, progress, by).outcome
    except (InputError, RefusedError) as error:
        dry = refused(error, request)
        name = Path(request.source).name
        sentences = [
            f"{name}, {place}: {sentence}" if place else sentence for place, sentence in dry.problems
        ]
        raise InputError(sentences, way_out=dry.way_out) from error
    return _with_page_words(outcome, request)


def dry_run(store: Store, request: ImportRequest, by: str, progress: Progress = silent) -> DryRun:
    """Carry an import out without keeping it; report the problems for which the import would be refused.

    Raises
    ------
    NotFoundError, RefusedError: `by` is no lead.
    """
    with store.reading() as cursor:
        require_author(cursor, by, "lead")
    try:
        outcome = import_file(Rehearsal(store), request, progress, by).outcome
    except (InputError, NotFoundError, RefusedError) as error:
        return refused(error, request)
    return DryRun(_with_page_words(outcome, request), [])


def refused(error: CurationError, request: ImportRequest) -> DryRun:
    """Report the problems of an error in the words of a page."""
    if not isinstance(error, InputError):
        return DryRun(None, [("", on_a_page(error.found, request))])
    problems = []
    for problem in error.problems[:MAX_PROBLEMS]:
        placed = _PLACE.match(problem)
        place, sentence = placed.groups() if placed else ("", problem)
        sentence = on_a_page(sentence, request)
        if not place and sentence.startswith(_VERBS):
            sentence = f"{Path(request.source).name} {sentence[:1].lower()}{sentence[1:]}"
        problems.append((place, sentence))
    more = len(error.problems) - len(problems)
    ways_out = [on_a_page(line, request) for line in error.way_out.splitlines()]
    return DryRun(None, problems, more, "\n".join(ways_out))


def on_a_page(sentence: str, request: ImportRequest) -> str:
    """Rewrite a sentence on an import for a page: without commands, with the labels of options and fields."""
    for words, instead in _OTHERWISE.items():
        sentence = sentence.replace(words, instead)
    sentence = _NAMING.sub(r"choose \1 in ", sentence)
    sentence = _COMMAND.sub("", sentence).replace("`", "")
    fields = {field.name: field.label for field in file_fields(request.record)}
    sentence = _COLUMN.sub(lambda match: f"“{fields.get(match[1], match[1])}”", sentence)
    labels = {option.spelling: option.label for option in options_of(type(request))}
    sentence = _OPTION.sub(
        lambda match: f"“{labels.get(match[0], match[0][2:].replace('-', ' '))}”", sentence
    )
    return sentence[:1].upper() + sentence[1:]


def _with_page_words(outcome: ImportOutcome, request: ImportRequest) -> ImportOutcome:
    return outcome._replace(remarks=[on_a_page(remark, request) for remark in outcome.remarks])


def parameters_of(request: ImportRequest, **others: str) -> dict[str, Any]:
    """Write the parameters of a job that checks or imports a file."""
    return {"what": request.what, "request": written(request), **others}


def _read_parameters(parameters: Parameters) -> ImportRequest:
    return read_request(REQUESTS[parameters["what"]], parameters["request"])


def _run_check(store: Store, parameters: Parameters, progress: Progress, author: str) -> DryRun:
    """Do the job that checks a file: write the dry run of its import into the file `result`."""
    rehearsal = dry_run(store, _read_parameters(parameters), author, progress)
    write_findings(Path(parameters["result"]), rehearsal)
    return rehearsal


def _run_import(store: Store, parameters: Parameters, progress: Progress, author: str) -> ImportOutcome:
    """Do the job that imports a file, and remove the uploaded file also after an error."""
    try:
        return carry_out(store, _read_parameters(parameters), author, progress)
    finally:
        if parameters["folder"]:
            rmtree(parameters["folder"], ignore_errors=True)


def write_findings(path: Path, rehearsal: DryRun) -> None:
    """Write a dry run to a file, so that a reader never sees a part of the dry run."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(to_json_value(rehearsal)), encoding="utf-8")
    new.replace(path)


def read_findings(path: Path) -> DryRun | None:
    """Read the dry run that a job wrote to a file; None if the file does not exist yet."""
    try:
        return TypeAdapter(DryRun).validate_json(path.read_bytes())
    except FileNotFoundError:
        return None


OPERATIONS = {
    CHECK: Operation(
        dict[str, Any],
        _run_check,
        doing="a file is being checked",
        kept="Nothing was changed: check it again.",
    ),
    IMPORT: Operation(
        dict[str, Any],
        _run_import,
        doing="a file is being imported",
        kept="Nothing was imported: import it again.",
        stage="import",
    ),
}
