"""`goldgrade evaluate` and `goldgrade baseline`: figures of systems on a release, and runs of baselines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer

from curation.cli.evaluate_files import (
    OUT,
    check_endings,
    ending,
    mapped_chunks,
    read_graded,
    refuse_no_files,
    with_baseline,
    write_files,
)
from curation.cli.file_options import map_option, mapped
from curation.cli.options import given_flags, refuse_unused, with_options_of
from curation.cli.output import emit, progress_bar, say, show, to_people, write_file
from curation.cli.program import AnyRelease, actor, app, is_json, release_store, split_commas
from curation.core.digests import to_json_value
from curation.core.errors import CurationError, refuse_problems
from curation.evaluation.request import EvaluateRequest
from curation.retrieval.engines import RATE

if TYPE_CHECKING:
    from curation.core.reports.page import Section
    from curation.evaluation.evaluation import AnswerEvaluation, Evaluation
    from curation.evaluation.fail_if import CheckedCondition
    from curation.evaluation.report.page import EvaluationReport
    from curation.evaluation.rounded_figures import HeadlineEvaluation

NOT_CHECKED = 2
"""The exit code if a condition of --fail-if could not be checked; the exit code of a failed condition is
1."""
ON_PAGE = ("to_pool", "correctness", "faithfulness", "support")
"""Fields of the request that the command has no option for, or that --graded fills in."""
RUN_FIELDS = ("query", "document", "rank", "score", "start", "end", "text")
ANSWER_FIELDS = ("answer", "context", "citation")
"""The fields of run files, and the fields of files of answers without the query."""
Asked = ParamSpec("Asked")


@app.command()
def baseline(
    context: typer.Context,
    name: AnyRelease,
    out: Annotated[Path, typer.Option(help="Folder to write the run files to.")],
    systems: Annotated[
        str, typer.Option(help="Systems to run, separated by commas: bm25, dense, hybrid.")
    ] = "bm25",
    depth: Annotated[int, typer.Option(help="Documents for each query at most.")] = 1000,
    part: Annotated[str, typer.Option(help="The part of the split whose queries are run, or all.")] = "all",
    model: Annotated[
        str, typer.Option(help="Embedding model of dense and hybrid: a name or a folder.")
    ] = "all-MiniLM-L6-v2",
    chunks: Annotated[
        str | None,
        typer.Option(
            help="Splitters whose chunks are searched, separated by commas. 200/50 is 200 words with 50 "
            "overlapping; sentence splits by sentences, heading splits Markdown by headings.",
            show_default="whole documents",
        ),
    ] = None,
    engine: Annotated[str | None, typer.Option(help="Engine to ask instead of systems.")] = None,
    rate: Annotated[float, typer.Option(help="Requests a second to the engine, at most.")] = RATE,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Overwrite files with the same names.")
    ] = False,
) -> None:
    """Search a release's corpus for its queries. The ranked lists of each system are written as a TREC run
    file.

    A baseline searches the documents that the release pins, and reads no grade. A JSON file next to each run
    has its settings, versions and seconds per query. An engine searches its own documents.

    \b
    Examples:
      goldgrade baseline v1 --systems bm25,dense,hybrid --depth 1000 --out runs/v1
      goldgrade baseline v1 --part dev --out runs/v1-dev --json
      goldgrade baseline v1 --systems bm25,dense --chunks 200/50,sentence,heading --depth 100 --out runs/v1
      goldgrade baseline v1 --engine shop --depth 100 --out runs/v1
    """
    from curation.evaluation.scoring.baselines import write_baselines
    from curation.retrieval.engines.client import EngineClient
    from curation.retrieval.engines.template import find_engine

    store, client = release_store(), None
    if engine is not None:
        refuse_unused(context, "--engine asks an engine", "systems", "model", "chunks")
        with store.reading() as cursor:
            client = EngineClient(find_engine(cursor, engine), rate)
    else:
        refuse_unused(context, "no engine is named with --engine", "rate")
    if not {"dense", "hybrid"}.intersection(split_commas(systems)):
        refuse_unused(context, "only dense and hybrid use a model; name one in --systems", "model")
    with progress_bar() as progress:
        written = write_baselines(
            store,
            name,
            split_commas(systems),
            out,
            depth=depth,
            part=part,
            model=model,
            replace=overwrite,
            engine=client,
            chunks=split_commas(chunks or ""),
            say=to_people,
            progress=progress,
        )
    show(written)


def _with_exit_codes(command: Callable[Asked, None]) -> Callable[Asked, None]:
    """Give a command with --fail-if a different exit code for an error than for figures that fail."""

    @wraps(command)
    def checked(*given: Asked.args, **options: Asked.kwargs) -> None:
        try:
            command(*given, **options)
        except CurationError as error:
            if not options.get("fail_if"):
                raise
            print(f"goldgrade: {error}", file=sys.stderr)
            raise typer.Exit(NOT_CHECKED) from error

    return checked


@app.command()
@_with_exit_codes
@with_options_of(EvaluateRequest, besides=ON_PAGE)
def evaluate(
    request: EvaluateRequest,
    context: typer.Context,
    name: AnyRelease,
    run: Annotated[
        list[str] | None,
        typer.Option(
            help="A run file, or NAME=FILE. Repeatable; files of one NAME are several runs "
            "of one system, such as seeds.",
            show_default="none, with --answers",
        ),
    ] = None,
    answers: Annotated[
        list[str] | None,
        typer.Option(
            help="A file of answers, or NAME=FILE. Repeatable. Each line has query, answer, contexts "
            "and citations. Exact match and F1 compare with the reference answers.",
            show_default="none",
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with 1 if this holds. 'MEASURE drops', 'drops significantly', 'drops by 0.02', "
            "or 'below 0.8', also 'in any stratum' and 'with n>=30', against "
            "--baseline or the first run. Repeatable. The exit code is 2 if nothing could be checked.",
            show_default="none",
        ),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="File to write. The file extension sets the format: html is the report with charts, "
            "md a summary for a comment, xml JUnit test cases. A csv or tex file has a row for each system. "
            "A txt file has each system's values of queries in trec_eval's format. Repeatable.",
            show_default="none",
        ),
    ] = None,
    graded: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=PROJECT=RELEASE",
            help="Project and release in which people graded the answers. KIND is correctness, faithfulness "
            "or support; `answers to-grade` makes such a project. Repeatable.",
            show_default="none",
        ),
    ] = None,
    map: Annotated[list[str] | None, map_option(*RUN_FIELDS, *ANSWER_FIELDS)] = None,
) -> None:
    """Evaluate systems on a release, with intervals.

    Lists are ordered by score as in trec_eval 10. A query that a run misses counts 0; a query without
    relevant documents is left out. A run may rank chunks: with columns start and end, with ids such as
    doc#0-120, or with the texts of the chunks. Several systems are compared in pairs; systems that share a
    letter on the leaderboard cannot be distinguished.

    A sealed part needs a reason, which is logged. Leads see all figures of a sealed part. Evaluators see one
    rounded figure of each system, and may ask a limited number of times a month.

    \b
    Examples:
      goldgrade evaluate v1 --run bm25=bm25.trec --run dense=dense.tsv --part dev --breakdown type,segment
      goldgrade evaluate v1 --run new=seed1.trec --run new=seed2.trec --out report.html --out systems.tex
      goldgrade evaluate v1 --run index.trec --splitter index.jsonl
      goldgrade evaluate v1 --run new.trec --part test --reason "Candidate of May"
      goldgrade evaluate v1 --run new.trec --baseline old.trec --fail-if "map drops significantly"
      goldgrade evaluate v1 --answers new=new.jsonl --graded correctness=correctness.duckdb=graded
    """
    from curation.evaluation.answers.answer_files import AnswerFields
    from curation.evaluation.evaluate import evaluated, prepared
    from curation.evaluation.fail_if import checked_conditions, facets_needed, read_conditions
    from curation.evaluation.scoring.system_files import parse_answer_files, parse_run_files
    from curation.evaluation.scoring.system_runs import ReadingOptions
    from curation.ingest.readers.fields import ChunkFields
    from curation.releases.release_rows import is_file

    given = given_flags(context)
    conditions, store = read_conditions(fail_if or ()), release_store()
    files = out or []
    check_endings(files, bool(conditions))
    sources, baseline = with_baseline(parse_run_files(run or []), request.baseline)
    request = replace(
        request,
        release=name,
        baseline=baseline,
        **read_graded(graded or ()),
        runs=tuple((source.name, str(source.path)) for source in sources),
        answers=tuple(
            (named_answer.name, str(named_answer.path)) for named_answer in parse_answer_files(answers or [])
        ),
    )
    read = [store.path, *([Path(name)] if is_file(name) else []), *(source.path for source in sources)]
    read += [path for path in (request.topics, request.chunk_map) if path is not None]
    refuse_no_files(files, list(dict.fromkeys(source.name for source in sources)), read)
    columns_of = mapped(map, *RUN_FIELDS, *ANSWER_FIELDS)
    run_columns, answer_columns = columns_of[: len(RUN_FIELDS)], columns_of[len(RUN_FIELDS) :]
    about_answers = [
        f"--map {name}"
        for name, column in zip(ANSWER_FIELDS, answer_columns, strict=True)
        if column is not None
    ]
    if answers and run and run_columns[0] is not None:
        refuse_problems(
            ["--map query could be about the runs or about the answers, because both are given"],
            way_out="Evaluate --run and --answers in two calls.",
        )
    about_runs, reports = [given["fail_if"]] if "fail_if" in given else [], ending(files, ".html")
    with progress_bar() as progress, mapped_chunks(store, name, request, progress) as request:
        work = prepared(
            *(store, request, actor()),
            ReadingOptions(ChunkFields(*run_columns)),
            named=lambda option: option.spelling,
            about_runs=[*about_runs, *(f"--out {path}" for path in files if path not in reports)],
            about_answers=about_answers,
            further=[f"--out {path}" for path in reports],
            answer_fields=AnswerFields(run_columns[0] if answers else None, *answer_columns),
            facets=facets_needed(conditions),
            by_query=bool(ending(files, ".txt")),
            progress=progress,
        )
        headlines, of_answers, judged, evaluation = evaluated(work)
    if headlines:
        _emit_headlines(headlines)
    elif evaluation is None:
        _emit_answers(of_answers, files)
    else:
        checked = checked_conditions(evaluation, conditions, baseline) if conditions else ()
        _emit_evaluation(evaluation, {"judge": judged, "answers": of_answers}, checked, files)
        if status := _exit_code(checked):
            raise typer.Exit(status)


def _exit_code(checked: Sequence[CheckedCondition]) -> int:
    """Return 1 if a condition failed, `NOT_CHECKED` if a condition could not be checked, and 0 otherwise."""
    outcomes = {condition.outcome for condition in checked}
    return 1 if "failed" in outcomes else NOT_CHECKED if "not checked" in outcomes else 0


def _emit_headlines(headlines: Sequence[HeadlineEvaluation]) -> None:
    """Print one rounded figure of each run and of each file of answers."""
    first = to_json_value(headlines[0]) | ({"of_answers": headlines[1]} if headlines[1:] else {})
    emit(first, lambda: say(*(line for headline in headlines for line in headline.sentences)))


def _emit_evaluation(
    evaluation: Evaluation,
    further: Mapping[str, Any],
    checked: Sequence[CheckedCondition],
    files: Sequence[Path],
) -> None:
    """Print an evaluation with the judge, the answers and the conditions that were asked for, and write
    its files.
    """
    from curation.evaluation.report.files import condition_sections
    from curation.evaluation.report.page import evaluation_report, report_details
    from curation.releases.card import synthetic_sentence

    page = evaluation_report(evaluation, further["answers"], further["judge"])
    write_files(files, evaluation, page, checked)
    if evaluation.synthetic:  # a reader of a terminal meets this before any figure
        first = synthetic_sentence(evaluation.synthetic, evaluation.queries)
        page = replace(page, findings=(first, *(finding for finding in page.findings if finding != first)))
    asked = {name: value for name, value in further.items() if value is not None}
    if checked:
        asked |= {"failed": [row for condition in checked for row in condition.failed], "conditions": checked}
    sections = condition_sections(checked)
    emit(
        to_json_value(evaluation) | asked if is_json() else {},
        lambda: _print_evaluation(page, sections, files, report_details(evaluation)),
    )


def _emit_answers(evaluation: AnswerEvaluation | None, files: Sequence[Path]) -> None:
    """Print an evaluation of answers without runs, and write the requested pages."""
    from curation.evaluation.report.page import answers_report

    assert evaluation is not None  # there is a file of either kind
    page = answers_report(evaluation)
    for path in ending(files, ".html"):
        write_file(path, page.html, option=OUT)
    emit({"answers": evaluation}, lambda: _print_evaluation(page))


def _print_evaluation(
    page: EvaluationReport,
    further: Sequence[Section] = (),
    written: Sequence[Path] = (),
    details: Sequence[str] = (),
) -> None:
    """Print the report without its details, further sections, and the names of the written files."""
    from curation.core.reports.terminal import show_report

    sections = [section for section in page.sections if section.heading not in details]
    show_report(page.title, page.findings, [*sections, *further], page.remark, page.lead)
    if details:
        say(f"An .html report has also: {', '.join(details)}.")
    if written:
        say(f"Wrote {', '.join(map(str, written))}.")
