"""What `goldgrade evaluate` makes of its options: files by their endings, graded answers, mapped chunks."""

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
    from curation.evaluation.scoring.system_runs import RunSource
    from curation.store import Store

OUT = "--out"
BASELINE = "baseline"
"""What the file of a baseline is called where another run has its name."""

ENDINGS = (".html", ".md", ".xml", ".csv", ".tex", ".txt")


def ending(files: Sequence[Path], *suffixes: str) -> list[Path]:
    """The files whose names have one of these endings."""
    return [path for path in files if path.suffix.lower() in suffixes]


def with_baseline(
    sources: Sequence[RunSource], baseline: str | None
) -> tuple[Sequence[RunSource], str | None]:
    """The runs with the file of the baseline before them, where it is one, and the name of the baseline.

    Raises
    ------
    InputError: it is neither a run nor a file.
    """
    from curation.evaluation.scoring.system_runs import named_runs

    names = [source.name for source in sources]
    if baseline is None or baseline in names or not sources:
        return sources, baseline
    [base] = named_runs([baseline])
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
    """Stop where a file that is asked for cannot be made.

    Raises
    ------
    InputError: an ending that says no format, or no condition for a test case.
    """
    refuse_problems(
        [
            *(
                f"{OUT} {path}: expected an ending of {', '.join(ENDINGS)}"
                for path in files
                if path not in ending(files, *ENDINGS)
            ),
            *(
                f"{OUT} {path}: it has a test case for each --fail-if, and no --fail-if was given"
                for path in ending(files, ".xml")
                if not conditions
            ),
        ]
    )


def read_graded(texts: Sequence[str]) -> dict[str, Any]:
    """Kind → PROJECT=RELEASE, of KIND=PROJECT=RELEASE.

    Raises
    ------
    InputError: a kind that there is not.
    """
    kinds = dict(text.partition("=")[::2] for text in texts)
    expected = f"expected KIND=PROJECT=RELEASE, with {' or '.join(ABOUT_ANSWERS)}"
    refuse_problems([f"--graded {kind}: {expected}" for kind in kinds if kind not in ABOUT_ANSWERS])
    return kinds


@contextmanager
def mapped_chunks(
    store: Store, name: str, request: EvaluateRequest, progress: Progress
) -> Iterator[EvaluateRequest]:
    """The request with a map of the chunks of the splitter's table that it names, while it is worked on."""
    from curation.evaluation.scoring.run_chunks import map_chunks

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
    """Stop, before any work, where a file could not be written, is another one, or is one that is `read`.

    Parameters
    ----------
    systems: their names; of several, each has a file of its own with the values of queries.
    read: the project first, then what is evaluated.

    Raises
    ------
    InputError: as said.
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
    """The file of each system: the one that was named, or with several one with the system's name in it."""
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
    InputError: one of them cannot be written.
    """
    from curation.core.reports.page import csv_table, writer_for
    from curation.evaluation.report.files import junit, markdown, system_figures, system_table, trec_lines

    for path in ending(files, ".html"):
        write_file(path, page.html, OUT)
    for path in ending(files, ".md"):
        write_file(path, markdown(page, evaluation, conditions), OUT)
    for path in ending(files, ".xml"):
        write_file(path, junit(page.title, conditions), OUT)
    for path in ending(files, ".csv", ".tex"):
        writer = writer_for(path, OUT)
        made = system_figures(evaluation) if writer is csv_table else system_table(evaluation)
        write_file(path, writer(made), OUT)
    for path in ending(files, ".txt"):
        paths = _query_paths(path, [system.name for system in evaluation.runs])
        for query_path, system in zip(paths, evaluation.runs, strict=True):
            write_file(query_path, "".join(trec_lines(evaluation, system)), OUT)
