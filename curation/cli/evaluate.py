"""`goldgrade evaluate`: what systems reach on a release."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer

from curation.cli.evaluate_files import (
    Summaries,
    read_summaries,
    refuse_no_files,
    with_baseline,
    write_files,
    write_summaries,
)
from curation.cli.import_.options import Columns, Encoding, NoHeader, RunFormat, field, layout_of
from curation.cli.options import flag_of, given_flags, with_options_of
from curation.cli.output import emit, progress_bar, say, write_page
from curation.cli.program import AnyRelease, By, Json, app, release_store
from curation.core.errors import CurationError, refuse_problems
from curation.core.text import plain
from curation.evaluation.request import EvaluateRequest
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.core.reports.page import Section
    from curation.evaluation.answers.answer_evaluation import AnswerEvaluation
    from curation.evaluation.evaluation import Evaluation
    from curation.evaluation.fail_if import CheckedCondition
    from curation.evaluation.report.page import EvaluationReport
    from curation.evaluation.sealed.headline import HeadlineEvaluation

NOT_CHECKED = 2
"""The status of a gate that could not be checked; 1 is that of one that fails."""
GONE = {
    "ladder": "on a sealed part evaluators get one rounded figure of each system, without any option.",
    "correction": "p values of several pairs are always corrected by Holm's method.",
    "label_draws": "letters and possible ranks of the leaderboard say how firm the order is.",
    "turning": "--to-pool makes unjudged documents candidates for the next round.",
    "pool_sample": "the report says which share of the pool has no grade, and what measures are if none or "
    "all of the unjudged documents were relevant.",
}
"""Options that were, and what does their work now."""
ABOUT_RUNS = ("fail_if", "summary", "tables", "per_query")
"""Options that are no questions of the request, and change nothing without a run."""
ABOUT_ANSWERS = ("answer_field", "context_field", "citation_field")
Asked = ParamSpec("Asked")


def _gate(command: Callable[Asked, None]) -> Callable[Asked, None]:
    """The command, where with --fail-if an error is distinguished from figures that fail."""

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
@_gate
@with_options_of(EvaluateRequest)
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
            "and citations. Exact match and F1 are with the reference answers.",
            show_default="none",
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with 1 where this holds. 'MEASURE drops', 'drops significantly', 'drops by 0.02', "
            "'drops by more than 0.02' or 'below 0.8', also 'in any stratum' and 'with n>=30'. Repeatable. "
            "What drops is compared with --baseline, or the first run. Where nothing could be checked it "
            "exits with 2.",
            show_default="none",
        ),
    ] = None,
    summary: Annotated[
        list[str] | None,
        typer.Option(
            help="Print a summary instead. md, for a comment, or junit, with a test case for each --fail-if. "
            "md=FILE and junit=FILE write it into a file. Repeatable.",
            show_default="none",
        ),
    ] = None,
    query_field: Annotated[str | None, field("the query, by id or text", "query_id, q_id, query")] = None,
    document_field: Annotated[str | None, field("the document's id", "document, doc_id, docno")] = None,
    rank_field: Annotated[str | None, field("the rank, where there is no score")] = None,
    answer_field: Annotated[
        str | None, field("the answer, in files of answers", "answer, prediction")
    ] = None,
    context_field: Annotated[str | None, field("what a system was given", "contexts, context")] = None,
    citation_field: Annotated[
        str | None, field("the documents and chunks that an answer cites", "citations, cited")
    ] = None,
    score_field: Annotated[str | None, field("the score, which orders the list", "score, similarity")] = None,
    start_field: Annotated[str | None, field("where a chunk starts", "start, start_index")] = None,
    end_field: Annotated[str | None, field("where it ends", "end, end_index")] = None,
    text_field: Annotated[str | None, field("its text", "chunk_text, chunk, passage")] = None,
    format: RunFormat = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    actor: By = COMMAND_LINE,
    report: Annotated[
        Path | None,
        typer.Option("--html", help="Also write the report with its charts as one HTML file."),
    ] = None,
    tables: Annotated[
        list[Path] | None,
        typer.Option(
            "--table",
            help="Also write systems and measures as .csv, .md or .tex. Repeatable. The table has "
            "intervals, and says what can be distinguished.",
            show_default="none",
        ),
    ] = None,
    per_query: Annotated[
        Path | None,
        typer.Option(
            help="Also write the values of each query as trec_eval has them. Of several systems each "
            "has a file of its own: queries.txt becomes queries.NAME.txt.",
            show_default="none",
        ),
    ] = None,
    ladder: Annotated[bool, typer.Option("--ladder", hidden=True)] = False,
    correction: Annotated[str | None, typer.Option(hidden=True)] = None,
    label_draws: Annotated[str | None, typer.Option(hidden=True)] = None,
    turning: Annotated[bool, typer.Option("--turning", hidden=True)] = False,
    pool_sample: Annotated[str | None, typer.Option(hidden=True)] = None,
    as_json: Json = False,
) -> None:
    """Evaluate systems on a release, with intervals.

    Figures are given by kind of query, with what was not judged.

    Lists are ordered by score as in trec_eval 10: equal scores by document id, descending. A query that a run
    misses counts 0. A query without relevant documents is left out. Both are counted.

    A run may be one of chunks: with columns start and end, with ids such as doc#0-120, or with the chunks'
    texts. A document has the score of its best chunk. Where the release has evidence, the measures of chunks
    are shown, and recall against words of context.

    Several systems are compared in pairs: p is that of Fisher's randomisation test, corrected by Holm for all
    pairs, unless --significance-test names another. On the leaderboard, systems that share a
    letter cannot be distinguished.

    A sealed part needs a reason, which is logged. Leads see all figures of it. Evaluators see one rounded
    figure of each system, a number of times a month.

    \b
    Examples:
      goldgrade evaluate v1 --run bm25.trec.gz
      goldgrade evaluate v1 --run bm25=bm25.trec --run dense=dense.tsv --part dev --breakdown type,segment
      goldgrade evaluate v1 --run bm25.trec --run dense.trec --html report.html
      goldgrade evaluate v1 --run bm25.trec --run dense.trec --table systems.tex --per-query queries.txt
      goldgrade evaluate v1 --run bm25.trec --run dense.trec --breakdown cluster,grid
      goldgrade evaluate v1 --run new=seed1.trec --run new=seed2.trec --measures ndcg_exp@10,recall@100 --json
      goldgrade evaluate v1 --run new.trec --measures ndcg_exp@10,alpha_ndcg@10 --subtopics subtopics.txt
      goldgrade evaluate v1 --run trec.run --topics topics.tsv
      goldgrade evaluate v1 --run small=bm25-200-50.csv --run large=bm25-400-100.csv --html chunks.html
      goldgrade evaluate v1 --run index.trec --chunk-map chunks.csv
      goldgrade evaluate v1 --run old.trec --run new.trec --run other.trec --baseline old --difference 0.01
      goldgrade evaluate v1 --run old.trec --run new.trec --run other.trec --significance-test wilcoxon
      goldgrade evaluate v1 --run new.trec --part test --reason "Candidate of May"
      goldgrade evaluate v1 --run new.trec --part dev --judge gpt-5
      goldgrade evaluate v1 --run bm25=bm25.trec --run cross=reranked.trec --first-stage bm25
      goldgrade evaluate v1 --run new.trec --hard-negatives
      goldgrade evaluate v1 --run new.trec --to-pool 10
      goldgrade evaluate v1 --run old.trec --run new.trec --fail-if "ndcg_exp@10 drops 0.02 in any stratum"
      goldgrade evaluate v1 --run new.trec --baseline old.trec --fail-if "map drops significantly"
      goldgrade evaluate v1 --run new.trec --answers new=new.jsonl --correctness correctness.duckdb=graded
    """
    from curation.evaluation.answers.answer_files import AnswerFields, named_answers
    from curation.evaluation.fail_if import checked_conditions, facets_needed, read_conditions
    from curation.evaluation.scoring.inputs.run_sources import named_runs
    from curation.evaluation.scoring.inputs.system_runs import ReadingOptions
    from curation.evaluation.submission import evaluated, pooled, prepared
    from curation.ingest.readers.fields import ChunkFields
    from curation.releases.release_rows import is_file

    given = given_flags(context)
    refuse_problems([f"{given[name]} is gone: {now}" for name, now in GONE.items() if name in given])
    conditions, store = read_conditions(fail_if or ()), release_store()
    summaries = read_summaries(summary or (), as_json, bool(conditions))
    sources, baseline = with_baseline(named_runs(run or []), request.of_runs.baseline)
    request = replace(
        request,
        release=name,
        of_runs=replace(request.of_runs, baseline=baseline),
        runs=tuple((source.name, str(source.path)) for source in sources),
        answers=tuple(
            (named_answer.name, str(named_answer.path)) for named_answer in named_answers(answers or [])
        ),
    )
    read = [store.path, *([Path(name)] if is_file(name) else []), *(source.path for source in sources)]
    read += [
        path for path in (request.of_runs.subtopics, request.topics, request.chunk_map) if path is not None
    ]
    refuse_no_files(
        report,
        tables or (),
        per_query,
        list(dict.fromkeys(source.name for source in sources)),
        read,
        summaries,
    )
    if answers and run:
        _refuse_ambiguous(given)
    with progress_bar() as progress:
        work = prepared(
            *(store, request, actor),
            ReadingOptions(
                ChunkFields(
                    *(query_field, document_field, rank_field, score_field),
                    *(start_field, end_field, text_field),
                ),
                layout_of(format, encoding, columns, no_header),
            ),
            named=lambda found: flag_of(EvaluateRequest, found.name),
            about_runs=[given[name] for name in ABOUT_RUNS if name in given],
            about_answers=[given[name] for name in ABOUT_ANSWERS if name in given],
            further=[given[name] for name in ("report",) if name in given],
            answer_fields=AnswerFields(
                *(query_field if answers else None, answer_field, context_field, citation_field)
            ),
            facets=facets_needed(conditions),
            by_query=per_query is not None,
            progress=progress,
        )
        found = evaluated(work)
        candidates = pooled(work)
    if found.headlines:
        _emit_headlines(found.headlines, as_json)
    elif found.runs is None:
        _emit_answers(found.answers, report, as_json)
    else:
        checked = checked_conditions(found.runs, conditions, baseline) if conditions else ()
        written = write_files(found.runs, tables or (), per_query)
        further = {"judge": found.judged, "to_pool": candidates, "answers": found.answers}
        _emit(found.runs, further, checked, written, report, summaries, as_json)
        if status := _status(checked):
            raise typer.Exit(status)


def _status(checked: Sequence[CheckedCondition]) -> int:
    """1 where a condition holds; else that of a gate that could not be checked where one was not."""
    outcomes = {one.outcome for one in checked}
    return 1 if "failed" in outcomes else NOT_CHECKED if "not checked" in outcomes else 0


def _refuse_ambiguous(given: Mapping[str, str]) -> None:
    """Options that runs and answers have both; each names fields or the format of one file."""
    both = [given[name] for name in ("format", "columns", "query_field", "no_header") if name in given]
    refuse_problems(
        [f"{option} could be about the runs or about the answers, and both are named" for option in both],
        way_out="Evaluate --run and --answers in two calls.",
    )


def _emit_headlines(headlines: Sequence[HeadlineEvaluation], as_json: bool) -> None:
    """One rounded figure of each run, and of each file of answers."""
    first = plain(headlines[0]) | ({"of_answers": headlines[1]} if headlines[1:] else {})
    emit(as_json, first, lambda: say(*(line for one in headlines for line in one.sentences)))


def _emit(
    evaluation: Evaluation,
    further: Mapping[str, Any],
    checked: Sequence[CheckedCondition],
    written: Sequence[Path],
    report: Path | None,
    summaries: Summaries,
    as_json: bool,
) -> None:
    """Print an evaluation with what was asked for besides, and write its page and summaries."""
    from curation.evaluation.report.candidates import pooled_sections
    from curation.evaluation.report.conditions import condition_sections
    from curation.evaluation.report.page import evaluation_report, report_details
    from curation.releases.card.limits import synthetic_sentence

    page = evaluation_report(evaluation, further["answers"], further["judge"])
    if report is not None:
        write_page(report, page.html, option="--html")
    if evaluation.synthetic:  # a reader of a terminal meets this before any figure
        first = synthetic_sentence(evaluation.synthetic, evaluation.queries)
        page = replace(page, findings=(first, *(finding for finding in page.findings if finding != first)))
    written = [
        *written,
        *([report] if report else []),
        *write_summaries(summaries, page, evaluation, checked),
    ]
    if None in summaries.values():
        return
    asked = {name: value for name, value in further.items() if value is not None}
    if checked:
        asked |= {"failed": [row for one in checked for row in one.failed], "conditions": checked}
    sections = [*pooled_sections(further["to_pool"]), *condition_sections(checked)]
    emit(
        as_json,
        plain(evaluation) | asked if as_json else {},
        lambda: _show(page, sections, written, report_details(evaluation)),
    )


def _emit_answers(evaluation: AnswerEvaluation | None, report: Path | None, as_json: bool) -> None:
    """Print an evaluation of answers alone, and write its page where one was asked for."""
    from curation.evaluation.report.page import answers_report

    assert evaluation is not None  # there is a file of either kind
    page = answers_report(evaluation)
    if report is not None:
        write_page(report, page.html, option="--html")
    emit(as_json, {"answers": evaluation}, lambda: _show(page))


def _show(
    page: EvaluationReport,
    further: Sequence[Section] = (),
    written: Sequence[Path] = (),
    details: Sequence[str] = (),
) -> None:
    """The report without its details, what was asked for besides, and the files that the figures are in."""
    from curation.core.reports.terminal import show_report

    sections = [section for section in page.sections if section.heading not in details]
    show_report(page.title, page.findings, [*sections, *further], page.remark, page.lead)
    if details:
        say(f"The page of --html has also: {', '.join(details)}.")
    if written:
        say(f"Wrote {', '.join(map(str, written))}.")
