"""`goldgrade evaluate`: evaluate systems on a release, from run files and answer files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

from typer import Argument, Exit, Option

from curation.cli import evaluate_output
from curation.cli.evaluate_output import OUT, select_by_ending
from curation.cli.file_options import get_columns, map_option
from curation.cli.invocation import actor, release_store
from curation.cli.options import with_options_of
from curation.cli.output import note
from curation.cli.program import app
from curation.cli.progress import progress_bar
from curation.core.errors import CurationError, InputError, refuse_problems
from curation.evaluation.request import ABOUT_ANSWERS, EvaluateRequest

if TYPE_CHECKING:
    from curation.core.progress import Progress
    from curation.evaluation.condition_checks import CheckedCondition
    from curation.evaluation.fail_conditions import FailCondition
    from curation.evaluation.prepare_evaluation import PreparedEvaluation
    from curation.evaluation.scoring.system_files import SystemFile
    from curation.releases.frozen_release import FrozenRelease
    from curation.store import Store

NOT_CHECKED = 2
"""The exit code if a condition of --fail-if could not be checked; the exit code of a failed condition is
1."""
WITHOUT_OPTION = ("to_pool", "systems", "correctness", "faithfulness", "support")
"""Fields of the request without an option: the page uses the first two, and --graded fills the others."""
RUN_FIELDS = ("query", "document", "rank", "score", "start", "end", "text")
ANSWER_FIELDS = ("answer", "context", "citation")
"""The fields of run files, and the fields of answer files without the query."""
BASELINE = "baseline"
"""The name of the run of --baseline if a different run has the name of the baseline's file."""
Parameters = ParamSpec("Parameters")


Evaluated = Annotated[
    str,
    Argument(
        metavar="RELEASE",
        help="A release's name, id or the start of its id, a packed file, or a file of qrels.",
    ),
]
RunFiles = Annotated[
    list[str] | None,
    Option(
        help="A run file, or NAME=FILE. Repeatable; files of one NAME are several runs "
        "of one system, such as seeds.",
        show_default="none, with --answers",
    ),
]
AnswerFiles = Annotated[
    list[str] | None,
    Option(
        help="An answer file, or NAME=FILE. Repeatable. Each line has query, answer, contexts "
        "and citations. Exact match and F1 compare with the reference answers.",
        show_default="none",
    ),
]
FailConditions = Annotated[
    list[str] | None,
    Option(
        help="Exit with 1 if this condition holds. 'MEASURE drops', 'drops significantly', 'drops by 0.02', "
        "or 'below 0.8', also 'in any stratum' and 'with n>=30', against --baseline or the first run. "
        "Repeatable. The exit code is 2 if nothing could be checked.",
        show_default="none",
    ),
]
OutFiles = Annotated[
    list[Path] | None,
    Option(
        help="File to write. The file extension sets the format: html is the report with charts, "
        "md a summary for a comment, xml JUnit test cases. A csv or tex file has a row for each system. "
        "A txt file has each system's value for each query, in trec_eval's format. Repeatable.",
        show_default="none",
    ),
]
GradedAnswers = Annotated[
    list[str] | None,
    Option(
        metavar="KIND=PROJECT=RELEASE",
        help="Project and release in which people graded the answers. KIND is correctness, faithfulness "
        "or support. `answers to-grade` prepares such a project. Repeatable.",
        show_default="none",
    ),
]
ColumnMap = Annotated[list[str] | None, map_option(*RUN_FIELDS, *ANSWER_FIELDS)]


def _with_exit_codes(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Give a command with --fail-if different exit codes for an error and for a condition that holds."""

    @wraps(command)
    def call_with_exit_codes(*arguments: Parameters.args, **options: Parameters.kwargs) -> None:
        try:
            command(*arguments, **options)
        except CurationError as error:
            if not options.get("fail_if"):
                raise
            print(f"goldgrade: {error}", file=sys.stderr)
            raise Exit(NOT_CHECKED) from error

    return call_with_exit_codes


@app.command()
@_with_exit_codes
@with_options_of(EvaluateRequest, except_fields=WITHOUT_OPTION)
def evaluate(
    request: EvaluateRequest,
    name: Evaluated,
    run: RunFiles = None,
    answers: AnswerFiles = None,
    fail_if: FailConditions = None,
    out: OutFiles = None,
    graded: GradedAnswers = None,
    map: ColumnMap = None,
) -> None:
    """Evaluate systems on a release or on qrels, with intervals.

    Lists are ordered by score as in trec_eval 10. A query that is missing from a run counts as 0; a query
    without relevant documents is left out. A run may rank chunks: with columns start and end, with ids such
    as doc#0-120, or with the texts of the chunks. Several systems are compared in pairs; systems that share a
    letter on the leaderboard cannot be distinguished.

    You can evaluate on a qrels file without a project. --topics can give its queries texts, strata and other
    columns.

    A sealed part needs a reason, which is logged. Leads see all figures of a sealed part. Evaluators see one
    rounded figure per system, and may evaluate only a limited number of times a month.

    \b
    Examples:
      goldgrade evaluate v1 --run bm25.trec --run dense.tsv --breakdown type,segment
      goldgrade evaluate qrels.txt --run a.trec --run b.trec
      goldgrade evaluate v1 --run new=seed1.trec --run new=seed2.trec --out page.html
      goldgrade evaluate v1 --run index.trec --splitter index.jsonl
      goldgrade evaluate v1 --run new.trec --part test --reason "Candidate of May"
      goldgrade evaluate v1 --run new.trec --baseline old.trec --fail-if "map drops significantly"
      goldgrade evaluate v1 --answers new=new.jsonl --graded correctness=correctness.duckdb=graded
    """
    from curation.evaluation.condition_checks import check_conditions
    from curation.evaluation.evaluate import evaluate_files
    from curation.evaluation.fail_conditions import read_conditions

    store = release_store()
    files = out or []
    conditions = read_conditions(fail_if or ())
    evaluate_output.check_endings(files, bool(conditions))
    request = _fill_request(request, name, run or [], answers or [], graded or ())
    systems = list(dict.fromkeys(system for system, _ in request.runs))
    evaluate_output.refuse_unwritable(files, systems, _list_inputs(store, request))
    columns = _read_columns(map, request)
    release = _read_qrels(request)
    with progress_bar() as progress, _map_chunks(store, request, progress) as request:
        prepared = _prepare(store, request, files, conditions, columns, progress, release)
        outcome = evaluate_files(prepared)
    if outcome.headlines:
        evaluate_output.emit_headlines(outcome.headlines)
    elif outcome.runs is None:
        evaluate_output.emit_answers(outcome.answers, files)
    else:
        checks = check_conditions(outcome.runs, conditions, request.baseline) if conditions else ()
        additions = {"judge": outcome.judged, "answers": outcome.answers}
        evaluate_output.emit_evaluation(outcome.runs, additions, checks, files)
        _exit_by_checks(checks)


def _fill_request(
    request: EvaluateRequest, name: str, run: Sequence[str], answers: Sequence[str], graded: Sequence[str]
) -> EvaluateRequest:
    """Fill the request with the release and the files named on the command line."""
    from curation.evaluation.scoring.system_files import parse_answer_files, parse_run_files

    run_sources, baseline = _add_baseline(parse_run_files(run), request.baseline)
    run_files = tuple((source.name, str(source.path)) for source in run_sources)
    answer_files = tuple((source.name, str(source.path)) for source in parse_answer_files(answers))
    request = replace(request, release=name, baseline=baseline, runs=run_files, answers=answer_files)
    return replace(request, **_read_graded(graded))


def _add_baseline(sources: Sequence[SystemFile], name: str | None) -> tuple[Sequence[SystemFile], str | None]:
    """Put the baseline's run before all other runs if --baseline names a file; also return its name.

    Raises
    ------
    InputError: --baseline names neither a run nor a file.
    """
    from curation.evaluation.scoring.system_files import parse_run_files

    names = [source.name for source in sources]
    if name is None or name in names or not sources:
        return sources, name
    [run] = parse_run_files([name])
    if not run.path.is_file():
        problem = f"no run ({', '.join(names)}) and no file has this name"
        raise InputError(f"--baseline {name}: {problem}; expected the NAME of a run, FILE or NAME=FILE.")
    for source in sources:
        if source.path.resolve() == run.path.resolve():
            return sources, source.name
    if run.name in names:
        run = run._replace(name=BASELINE)
    return [run, *sources], run.name


def _read_graded(texts: Sequence[str]) -> dict[str, Any]:
    """Parse texts KIND=PROJECT=RELEASE, and return PROJECT=RELEASE by kind.

    Raises
    ------
    InputError: a text names an unknown kind.
    """
    projects = dict(text.partition("=")[::2] for text in texts)
    expected = f"expected KIND=PROJECT=RELEASE, with {' or '.join(ABOUT_ANSWERS)}"
    refuse_problems([f"--graded {kind}: {expected}" for kind in projects if kind not in ABOUT_ANSWERS])
    return projects


def _read_qrels(request: EvaluateRequest) -> FrozenRelease | None:
    """Read the qrels if the request names a qrels file; None if it names a release."""
    from curation.evaluation.prepare_evaluation import refuse_project_options
    from curation.evaluation.scoring.qrels_file import is_qrels_file, read_qrels_release

    if not is_qrels_file(request.release):
        return None
    refuse_project_options(request, lambda option: option.spelling)
    return read_qrels_release(Path(request.release), request.topics)


def _list_inputs(store: Store, request: EvaluateRequest) -> list[Path]:
    """List the project, and the files of the release and of runs that the evaluation reads."""
    from curation.evaluation.scoring.qrels_file import is_qrels_file
    from curation.releases.packed import is_file

    names_file = is_file(request.release) or is_qrels_file(request.release)
    release = [Path(request.release)] if names_file else []
    tables = [path for path in (request.topics, request.chunk_map) if path is not None]
    return [store.path, *release, *(Path(path) for _, path in request.runs), *tables]


def _read_columns(pairs: Sequence[str] | None, request: EvaluateRequest) -> dict[str, str | None]:
    """Read the columns of runs and of answers from --map.

    Raises
    ------
    InputError: a column of queries could be about the runs or about the answers.
    """
    fields = (*RUN_FIELDS, *ANSWER_FIELDS)
    columns = dict(zip(fields, get_columns(pairs, *fields), strict=True))
    if request.answers and request.runs and columns["query"] is not None:
        problem = "--map query is ambiguous, because both --run and --answers are given"
        refuse_problems([problem], way_out="Run the command once with --run, and once with --answers.")
    return columns


@contextmanager
def _map_chunks(store: Store, request: EvaluateRequest, progress: Progress) -> Iterator[EvaluateRequest]:
    """Replace the splitter's table of a request by a temporary map of its chunks."""
    from curation.evaluation.scoring.chunk_map import map_chunks

    if request.chunk_map is None:
        yield request
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "chunks.csv"
        for sentence in map_chunks(store, request.release, request.chunk_map, file, progress=progress):
            note(sentence)
        yield replace(request, chunk_map=file)


def _prepare(
    store: Store,
    request: EvaluateRequest,
    files: Sequence[Path],
    conditions: Sequence[FailCondition],
    columns: Mapping[str, str | None],
    progress: Progress,
    release: FrozenRelease | None,
) -> PreparedEvaluation:
    """Check an evaluation request together with the command's other options."""
    from curation.evaluation.fail_conditions import list_needed_facets
    from curation.evaluation.prepare_evaluation import prepare_evaluation
    from curation.evaluation.scoring.system_files import AnswerFields
    from curation.evaluation.scoring.system_runs import ReadingOptions
    from curation.ingest.readers.fields import ChunkFields

    pages = select_by_ending(files, ".html")
    query_column = columns["query"] if request.answers else None
    about_runs = [f"{OUT} {path}" for path in files if path not in pages]
    if conditions:
        about_runs.insert(0, "--fail-if")
    prepared = prepare_evaluation(
        store,
        request if release is None else replace(request, topics=None),  # the qrels have the topics
        actor(),
        ReadingOptions(ChunkFields(*(columns[field] for field in RUN_FIELDS))),
        name_option=lambda option: option.spelling,
        about_runs=about_runs,
        about_answers=[f"--map {field}" for field in ANSWER_FIELDS if columns[field] is not None],
        about_both=[f"{OUT} {path}" for path in pages],
        facets=list_needed_facets(conditions),
        release=release,
    )
    return prepared._replace(
        answer_fields=AnswerFields(query_column, *(columns[field] for field in ANSWER_FIELDS)),
        by_query=bool(select_by_ending(files, ".txt")),
        progress=progress,
    )


def _exit_by_checks(checks: Sequence[CheckedCondition]) -> None:
    """Set the exit code: 1 if a condition failed, or `NOT_CHECKED` if one could not be checked."""
    outcomes = {check.outcome for check in checks}
    if "failed" in outcomes:
        raise Exit(1)
    if "not checked" in outcomes:
        raise Exit(NOT_CHECKED)
