"""Options of `goldgrade evaluate`: files by their endings, the baseline, graded answers and mapped chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from curation.cli.output import to_people, write_file
from curation.core.errors import InputError, refuse_problems
from curation.evaluation.request import ABOUT_ANSWERS

if TYPE_CHECKING:
    from curation.core.progress import Progress
    from curation.evaluation.evaluation import Evaluation
    from curation.evaluation.fail_if import CheckedCondition
    from curation.evaluation.report.page import EvaluationReport
    from curation.evaluation.request import EvaluateRequest
    from curation.evaluation.scoring.system_files import SystemFile
    from curation.store import Store

OUT = "--out"
BASELINE = "baseline"
"""The name of the baseline's run if a different run has the name of its file."""

ENDINGS = (".html", ".md", ".xml", ".csv", ".tex", ".txt")


def ending(files: Sequence[Path], *suffixes: str) -> list[Path]:
    """Select the files whose names have one of the endings."""
    return [path for path in files if path.suffix.lower() in suffixes]


def with_baseline(
    sources: Sequence[SystemFile], baseline: str | None
) -> tuple[Sequence[SystemFile], str | None]:
    """Add the run of the baseline before the runs if --baseline names a file; return the name of the
    baseline, too.

    Raises
    ------
    InputError: --baseline names neither a run nor a file.
    """
    from curation.evaluation.scoring.system_files import parse_run_files

    names = [source.name for source in sources]
    if baseline is None or baseline in names or not sources:
        return sources, baseline
    [base] = parse_run_files([baseline])
    if not base.path.is_file():
        raise InputError(
            f"--baseline {baseline}: it is not one of the runs ({', '.join(names) or 'none is named'}), and "
            "there is no such file; expected the NAME of a run, FILE or NAME=FILE."
        )
    for source in sources:
        if source.path.resolve() == base.path.resolve():
            return sources, source.name
    base = base._replace(name=BASELINE) if base.name in names else base
    return [base, *sources], base.name


def check_endings(files: Sequence[Path], conditions: bool) -> None:
    """Refuse files that cannot be made.

    Raises
    ------
    InputError: an ending names no format, or a file of test cases has no --fail-if.
    """
    refuse_problems(
        [
            *(
                f"{OUT} {path}: expected an ending of {', '.join(ENDINGS)}"
                for path in files
                if path not in ending(files, *ENDINGS)
            ),
            *(
                f"{OUT} {path}: the file has a test case for each --fail-if, and no --fail-if was given"
                for path in ending(files, ".xml")
                if not conditions
            ),
        ]
    )


def read_graded(texts: Sequence[str]) -> dict[str, Any]:
    """Read PROJECT=RELEASE for each kind from texts KIND=PROJECT=RELEASE.

    Raises
    ------
    InputError: a text names an unknown kind.
    """
    kinds = dict(text.partition("=")[::2] for text in texts)
    expected = f"expected KIND=PROJECT=RELEASE, with {' or '.join(ABOUT_ANSWERS)}"
    refuse_problems([f"--graded {kind}: {expected}" for kind in kinds if kind not in ABOUT_ANSWERS])
    return kinds


@contextmanager
def mapped_chunks(
    store: Store, name: str, request: EvaluateRequest, progress: Progress
) -> Iterator[EvaluateRequest]:
    """Replace the splitter's table of a request by a temporary map of its chunks."""
    from curation.evaluation.scoring.chunk_map import map_chunks

    if request.chunk_map is None:
        yield request
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "chunks.csv"
        _, sentences = map_chunks(store, name, request.chunk_map, file, progress=progress)
        for sentence in sentences:
            to_people(sentence)
        yield replace(request, chunk_map=file)


def refuse_no_files(files: Sequence[Path], systems: Sequence[str], read: Sequence[Path]) -> None:
    """Refuse, before any work, files that cannot be written, that are named twice, or that are read.

    Parameters
    ----------
    systems: names of the systems; with several systems each has its own file with the values of queries.
    read: the project first, then the files that are evaluated.

    Raises
    ------
    InputError: a file is refused.
    """
    taken = {path.resolve(): "also a file that is read" for path in read[1:]}
    taken[read[0].resolve()] = "the project itself"
    for named in files:
        for path in _query_paths(named, systems) if ending([named], ".txt") else [named]:
            expected = "expected the name of a file in an existing folder"
            if path.is_dir():
                raise InputError(f"{OUT} {path}: it is a folder; {expected}.")
            if not path.resolve().parent.is_dir():
                raise InputError(f"{OUT} {path}: its folder does not exist; {expected}.")
            if other := taken.get(path.resolve()):
                raise InputError(f"{OUT} {path}: it is {other}; expected a different name.")
            taken[path.resolve()] = f"also a file that {OUT} writes"


def _query_paths(path: Path, systems: Sequence[str]) -> list[Path]:
    """Return the file of each system; with several systems the name of the file contains the system's
    name.
    """
    if len(systems) < 2:
        return [path]
    return [path.with_name(f"{path.stem}.{name}{path.suffix}") for name in systems]


def write_files(
    files: Sequence[Path],
    evaluation: Evaluation,
    page: EvaluationReport,
    conditions: Sequence[CheckedCondition],
) -> None:
    """Write the files that were asked for.

    Raises
    ------
    InputError: a file cannot be written.
    """
    from curation.core.reports.page import csv_table, writer_for
    from curation.evaluation.report.files import (
        make_figures_table,
        make_system_table,
        write_junit,
        write_markdown,
        write_trec_lines,
    )

    for path in ending(files, ".html"):
        write_file(path, page.html, OUT)
    for path in ending(files, ".md"):
        write_file(path, write_markdown(page, evaluation, conditions), OUT)
    for path in ending(files, ".xml"):
        write_file(path, write_junit(page.title, conditions), OUT)
    for path in ending(files, ".csv", ".tex"):
        writer = writer_for(path, OUT)
        made = make_figures_table(evaluation) if writer is csv_table else make_system_table(evaluation)
        write_file(path, writer(made), OUT)
    for path in ending(files, ".txt"):
        paths = _query_paths(path, [system.name for system in evaluation.runs])
        for query_path, system in zip(paths, evaluation.runs, strict=True):
            write_file(query_path, "".join(write_trec_lines(evaluation, system)), OUT)
