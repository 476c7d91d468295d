"""An import, or its rehearsal: the same call, on the project or on one that keeps nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from curation.errors import CurationError, InputError, NotFoundError, RefusedError
from curation.imports import grades, texts
from curation.imports.kinds import FILE_KINDS
from curation.imports.outcome import DryRun, FileProblem, ImportOutcome
from curation.imports.request import ImportRequest
from curation.imports.wording import on_a_page
from curation.people.annotators import require_author
from curation.progress import Progress, silent
from curation.store import Rehearsal, Store

Work = Callable[[Store, ImportRequest, Progress, str], ImportOutcome]

KEPT = 1_000
"""Problems that a dry run keeps."""
_PLACE = re.compile(r"((?:line|row|entry) [\d,]+): (.*)", re.DOTALL)
_VERBS = ("Is ", "Are ", "Holds ", "Cannot ")


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
        return _WORK[request.what](store, request, progress, by)
    except (InputError, RefusedError) as error:
        found = refused(error, request)
        name = Path(request.name).name
        sentences = [
            f"{name}, {one.place}: {one.found}" if one.place else one.found for one in found.problems
        ]
        raise InputError(sentences, way_out=found.way_out) from error


def dry_run(store: Store, request: ImportRequest, by: str, progress: Progress = silent) -> DryRun:
    """Carry an import out and undo it; what would refuse it is told, line by line.

    Raises
    ------
    NotFoundError, RefusedError: `by` is no lead.
    """
    with store.reading() as cursor:
        require_author(cursor, by, "lead")
    try:
        return DryRun(_WORK[request.what](Rehearsal(store), request, progress, by), [])
    except (InputError, NotFoundError, RefusedError) as error:
        return refused(error, request)


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


_WORK: dict[str, Work] = {
    "corpus": texts.corpus,
    "traffic": texts.traffic,
    "queries": texts.queries,
    "runs": grades.run,
    "judgments": grades.judgments,
    "decisions": grades.decisions,
    "answers": texts.answers,
}
