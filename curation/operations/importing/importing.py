"""An import, or its rehearsal: the same call, on the project or on one that keeps nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.errors import CurationError, InputError, NotFoundError, RefusedError
from curation.core.progress import Progress, silent
from curation.ingest.picking.kinds import FILE_KINDS
from curation.ingest.picking.outcome import DryRun, FileProblem, ImportOutcome
from curation.ingest.picking.request import ImportRequest
from curation.ingest.picking.wording import on_a_page
from curation.operations.importing import corpus, judgments, queries, runs, traffic
from curation.people.annotators import require_author
from curation.store import Rehearsal, Store

KEPT = 1_000
"""Problems that a dry run keeps."""
_PLACE = re.compile(r"((?:line|row|entry) [\d,]+): (.*)", re.DOTALL)
_VERBS = ("Is ", "Are ", "Holds ", "Cannot ")
WORK: dict[str, tuple[Callable[[Store, ImportRequest, Progress, str], Any], Callable[[Any], ImportOutcome]]]
WORK = {
    "corpus": (corpus.corpus, corpus.corpus_outcome),
    "traffic": (traffic.traffic, traffic.traffic_outcome),
    "queries": (queries.queries, queries.queries_outcome),
    "runs": (runs.run, runs.run_outcome),
    "judgments": (judgments.judgments, judgments.judgments_outcome),
    "decisions": (judgments.decisions, judgments.decisions_outcome),
    "answers": (queries.answers, queries.answers_outcome),
    "nuggets": (queries.nuggets, queries.nuggets_outcome),
}
"""Kind of file → its import, and the outcome of what that returns."""


class Imported(NamedTuple):
    """What an import did: its record, and that in figures and sentences."""

    record: Any
    outcome: ImportOutcome


def import_file(store: Store, request: ImportRequest, progress: Progress, by: str) -> Imported:
    """Import what is asked for, in one transaction; errors name options of the command line.

    Raises
    ------
    InputError: the file, or what is asked, cannot be taken.
    NotFoundError, RefusedError: as the import of the kind says.
    """
    run, outcome_of = WORK[request.what]
    record = run(store, request, progress, by)
    return Imported(record, outcome_of(record))


def carry_out(store: Store, request: ImportRequest, by: str, progress: Progress = silent) -> ImportOutcome:
    """Import what is asked for, in one transaction, for the lead of that name.

    Raises
    ------
    NotFoundError, RefusedError: `by` is no lead.
    InputError: the file, or what is asked, cannot be taken. It names the file as the person did.
    """
    with store.reading() as cursor:
        require_author(cursor, by, "lead")
    try:
        outcome = import_file(store, request, progress, by).outcome
    except (InputError, RefusedError) as error:
        found = refused(error, request)
        name = Path(request.name).name
        sentences = [
            f"{name}, {problem.place}: {problem.found}" if problem.place else problem.found
            for problem in found.problems
        ]
        raise InputError(sentences, way_out=found.way_out) from error
    return _for_a_page(outcome, request)


def dry_run(store: Store, request: ImportRequest, by: str, progress: Progress = silent) -> DryRun:
    """Carry an import out and undo it; what would refuse it is reported, line by line.

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
    return DryRun(_for_a_page(outcome, request), [])


def refused(error: CurationError, request: ImportRequest) -> DryRun:
    """The problems of an error, in words of a page."""
    kind = FILE_KINDS[request.what]
    if not isinstance(error, InputError):
        return DryRun(None, [FileProblem("", on_a_page(error.found, kind))])
    problems = []
    for problem in error.problems[:KEPT]:
        placed = _PLACE.match(problem)
        place, found = placed.groups() if placed else ("", problem)
        found = on_a_page(found, kind)
        if not place and found.startswith(_VERBS):
            found = f"{Path(request.name).name} {found[:1].lower()}{found[1:]}"
        problems.append(FileProblem(place, found))
    more = len(error.problems) - len(problems)
    ways_out = [on_a_page(line, kind) for line in error.way_out.splitlines()]
    return DryRun(None, problems, more, "\n".join(ways_out))


def _for_a_page(outcome: ImportOutcome, request: ImportRequest) -> ImportOutcome:
    kind = FILE_KINDS[request.what]
    return outcome._replace(remarks=[on_a_page(remark, kind) for remark in outcome.remarks])
