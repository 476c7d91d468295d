"""`goldset evaluate`: what systems reach on a release."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer

from curation.cli.evaluate_files import refuse_no_files, write_files
from curation.cli.goldset import By, Json, ReleaseName, Seed, app, listed, project_store
from curation.cli.import_.options import Columns, Encoding, NoHeader, RunFormat, field, layout_of
from curation.cli.options import refuse_unused
from curation.cli.output import emit, progress_bar, say, write_page
from curation.errors import CurationError, InputError, refuse_problems
from curation.store import COMMAND_LINE, Store
from curation.text import plain

if TYPE_CHECKING:
    from curation.evaluation.answers.evaluate_answers import AnswerEvaluation, AnswerOptions
    from curation.evaluation.evaluation import Evaluation, EvaluationOptions
    from curation.evaluation.report.page import EvaluationReport
    from curation.releases.verify import Opened
    from curation.reports.page import Section
    from curation.scoring.inputs.system_runs import RunSource

NOT_CHECKED = 2
"""The status of a gate that could not be checked; 1 is that of one that fails."""
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
            print(f"goldset: {error}", file=sys.stderr)
            raise typer.Exit(NOT_CHECKED) from error

    return checked


@app.command()
@_gate
def evaluate(
    context: typer.Context,
    name: ReleaseName,
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
            help="A file of answers (query, answer, contexts), or NAME=FILE: exact match and F1 with the "
            "reference answers. Repeatable.",
            show_default="none",
        ),
    ] = None,
    correctness: Annotated[
        str | None,
        typer.Option(
            help="PROJECT=RELEASE in which people graded the answers for correctness (`goldset answers "
            "to-grade`).",
            show_default="none",
        ),
    ] = None,
    faithfulness: Annotated[
        str | None, typer.Option(help="The same for faithfulness.", show_default="none")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            "--part", help="A part of the release, or all.", show_default="all parts that are not sealed"
        ),
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option(help="Why a sealed part is scored; logged with name and time.", show_default="refuse"),
    ] = None,
    ladder: Annotated[
        bool,
        typer.Option(
            "--ladder",
            help="On a sealed part show a figure only where it beats the best one so far by more than noise. "
            "Evaluators have nothing but that.",
        ),
    ] = False,
    by: Annotated[
        str,
        typer.Option(
            "--breakdown",
            help="Also broken down by these facets, with commas: type (stratum and tag), stratum, band, "
            "segment, tag, source, part; with a coverage map in the release also cluster, grid.",
        ),
    ] = "stratum",
    measures: Annotated[
        str | None,
        typer.Option(
            help="Separated by commas: ndcg_exp@k, ndcg@k, mrr@k, map, recall@k, success@k, precision@k, "
            "rprec, bpref, rbp(0.8), judged@k; also ndcg_exp, ndcg, mrr, map@k, gmap, err@k, "
            "rbp_graded(0.8), iprec@0.1, alpha_ndcg@k, set_precision, set_recall, set_f1, num_ret, num_rel, "
            "num_rel_ret. Names of trec_eval and ir-measures are understood.",
            show_default="those before the semicolon, at depth 10",
        ),
    ] = None,
    relevant: Annotated[
        int | None,
        typer.Option(
            "--relevant-grade",
            help="Lowest grade of a relevant document, for binary measures.",
            show_default="every grade above the lowest",
        ),
    ] = None,
    subtopics: Annotated[
        Path | None,
        typer.Option(
            help="TREC's diversity qrels (topic, subtopic, document, grade), for alpha_ndcg@k.",
            show_default="none",
        ),
    ] = None,
    first_stage: Annotated[
        str | None,
        typer.Option(
            help="The run (its NAME) whose first 10, 50, 100 and 200 documents the other runs rerank.",
            show_default="no figures of reranking",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="Also estimate the figures on all queries that this judge graded: people's grades of the "
            "evaluated queries correct the judge's.",
            show_default="none",
        ),
    ] = None,
    hard_negatives: Annotated[
        bool,
        typer.Option(
            "--hard-negatives",
            help="Also on the judged documents alone, with the hard negatives among them and without.",
        ),
    ] = False,
    pool_sample: Annotated[
        str | None,
        typer.Option(
            help="Of a release that does not record a sample of its pool: say that the judged pairs are one, "
            "and infer AP and nDCG from it. The last ranks of the bands with equal chances, separated by "
            "commas; 0 for one band.",
            show_default="the sample that the release records, if any",
        ),
    ] = None,
    to_pool: Annotated[
        int | None,
        typer.Option(
            help="Make the first documents of the runs, down to this rank, candidates for the next round.",
            show_default="the project stays as it is",
        ),
    ] = None,
    turning: Annotated[
        bool,
        typer.Option(
            "--turning",
            help="Name unjudged documents that could turn the order of two systems by the first measure.",
        ),
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(help="Compare each system with this one.", show_default="compare all pairs"),
    ] = None,
    wanted: Annotated[
        float,
        typer.Option("--difference", help="Difference that matters. How many queries find it is estimated."),
    ] = 0.02,
    test: Annotated[
        str,
        typer.Option(
            "--significance-test",
            help="The test that decides whether systems differ: randomisation, t, wilcoxon, sign, or tukey, "
            "which is of all pairs at once. All are shown.",
        ),
    ] = "randomisation",
    correction: Annotated[
        str | None,
        typer.Option(
            help="How p is corrected for all pairs: holm, bonferroni, or bh (Benjamini and Hochberg).",
            show_default="holm; none with --significance-test tukey",
        ),
    ] = None,
    label_draws: Annotated[
        int,
        typer.Option(
            help="How often to draw all grades again, as the annotators differ, to see whether the order of "
            "systems holds. Each draw scores all runs.",
        ),
    ] = 0,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with 1 where this holds, such as 'ndcg_exp@10 drops 0.02 in any stratum with n>=30' "
            "or 'success@10 below 0.8'. Repeatable. What drops is compared with --baseline, "
            "or the first run. An error exits with 2.",
            show_default="none",
        ),
    ] = None,
    skip_repeated: Annotated[
        bool,
        typer.Option(
            "--skip-repeated", help="Keep the best rank of a document that is repeated for a query."
        ),
    ] = False,
    query_field: Annotated[str | None, field("the query, by id or text", "query_id, q_id, query")] = None,
    document_field: Annotated[str | None, field("the document's id", "document, doc_id, docno")] = None,
    rank_field: Annotated[str | None, field("the rank, where there is no score")] = None,
    answer_field: Annotated[
        str | None, field("the answer, in files of answers", "answer, prediction")
    ] = None,
    context_field: Annotated[str | None, field("what a system was given", "contexts, context")] = None,
    score_field: Annotated[str | None, field("the score, which orders the list", "score, similarity")] = None,
    format: RunFormat = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    actor: By = COMMAND_LINE,
    seed: Seed = 0,
    report: Annotated[
        Path | None,
        typer.Option("--html", help="Also write the report with its charts as one HTML file."),
    ] = None,
    tables: Annotated[
        list[Path] | None,
        typer.Option(
            "--table",
            help="Also write a table of systems and measures with intervals and what can be distinguished: a "
            "name that ends in .csv, .md or .tex. Repeatable.",
            show_default="none",
        ),
    ] = None,
    per_query: Annotated[
        Path | None,
        typer.Option(
            help="Also write the values of each query as `trec_eval -q` prints them. Of several systems each "
            "has a file of its own: queries.txt becomes queries.NAME.txt.",
            show_default="none",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Evaluate systems on a release, with intervals.

    Figures are given by kind of query, with what was not judged.

    Lists are ordered by score as in trec_eval: equal scores by document id, descending. A query that a run
    misses counts 0. A query without relevant documents is left out. Both are counted.

    Several systems are compared in pairs: p is that of Fisher's randomisation test, corrected by Holm for all
    pairs, unless --significance-test and --correction name others. On the leaderboard, systems that share a
    letter cannot be distinguished.

    \b
    Examples:
      goldset evaluate v1 --run bm25.trec.gz
      goldset evaluate v1 --run bm25=bm25.trec --run dense=dense.tsv --part dev --breakdown type,segment
      goldset evaluate v1 --run bm25.trec --run dense.trec --html report.html
      goldset evaluate v1 --run bm25.trec --run dense.trec --table systems.tex --per-query queries.txt
      goldset evaluate v1 --run bm25.trec --run dense.trec --breakdown cluster,grid
      goldset evaluate v1 --run new=seed1.trec --run new=seed2.trec --measures ndcg_exp@10,recall@100 --json
      goldset evaluate v1 --run new.trec --measures ndcg_exp@10,alpha_ndcg@10 --subtopics subtopics.txt
      goldset evaluate v1 --run old.trec --run new.trec --part dev --turning
      goldset evaluate v1 --run old.trec --run new.trec --run other.trec --baseline old --difference 0.01
      goldset evaluate v1 --run old.trec --run new.trec --run other.trec --significance-test tukey
      goldset evaluate v1 --run new.trec --part test --reason "Candidate of May"
      goldset evaluate v1 --run new.trec --part test --reason "Nightly build" --ladder
      goldset evaluate v1 --run new.trec --part dev --judge gpt-5
      goldset evaluate v1 --run bm25=bm25.trec --run cross=reranked.trec --first-stage bm25
      goldset evaluate v1 --run new.trec --hard-negatives
      goldset evaluate v1 --run new.trec --to-pool 10
      goldset evaluate v1 --run old.trec --run new.trec --fail-if "ndcg_exp@10 drops 0.02 in any stratum"
      goldset evaluate v1 --run new.trec --answers new=new.jsonl --correctness correctness.duckdb=graded
    """
    from curation.evaluation.answers.answer_files import AnswerFields, named_answers
    from curation.evaluation.answers.evaluate_answers import AnswerOptions, evaluate_answers
    from curation.evaluation.answers.grading import CORRECTNESS, FAITHFULNESS, read_grades_of_answers
    from curation.evaluation.comparison.compared import ComparisonOptions
    from curation.evaluation.comparison.deciding import DecidingTest
    from curation.evaluation.evaluate_runs import evaluate_runs
    from curation.evaluation.evaluation import EvaluationOptions
    from curation.evaluation.fail_if import facets_needed, failed_figures, read_conditions
    from curation.evaluation.refusals import refuse_unfitting
    from curation.evaluation.to_pool import check_pooling, pool_runs
    from curation.files.fields import RunFields
    from curation.judges.estimates import judged_estimates
    from curation.looks.looking import by_ladder
    from curation.releases.verify import opened
    from curation.scoring.inputs.system_runs import ReadingOptions, named_runs

    layout = layout_of(format, encoding, columns, no_header)
    fields = RunFields(query_field, document_field, rank_field, score_field)
    reading = ReadingOptions(fields, layout, skip_repeated, {} if judge or to_pool else None)
    named, conditions = None if measures is None else listed(measures), read_conditions(fail_if or ())
    options = EvaluationOptions(
        *(split, named, [*listed(by), *facets_needed(conditions)], relevant, seed, reading, first_stage),
        comparison=ComparisonOptions(baseline, wanted, DecidingTest(test, correction)),
        label_draws=label_draws,
        turning=turning,
        hard_negatives=hard_negatives,
        pool_sample=_bands(pool_sample),
        subtopics=subtopics,
        by_query=per_query is not None,
    )
    answer_fields = AnswerFields(query_field if answers else None, answer_field, context_field)
    of_answers = AnswerOptions(split, listed(by), layout=layout, seed=seed, fields=answer_fields)
    store, sources = project_store(), named_runs(run or [])
    read = [store.path, *(source.path for source in sources), *([] if subtopics is None else [subtopics])]
    refuse_no_files(report, tables or (), per_query, list(dict.fromkeys(one.name for one in sources)), read)
    runs, judged, pooled = (store, opened(store, name), sources), None, None
    by_the_ladder = ladder or by_ladder(*runs[:2], split, actor)
    refuse_unfitting(
        runs=bool(run),
        answers=bool(answers),
        ladder=by_the_ladder,
        about_runs=_given(
            judge=judge,
            to_pool=to_pool,
            fail_if=fail_if,
            turning=turning,
            table=tables or None,
            per_query=per_query,
            first_stage=first_stage,
            hard_negatives=hard_negatives,
            baseline=baseline,
            label_draws=label_draws or None,
            pool_sample=pool_sample,
            subtopics=subtopics,
            correction=correction,
        ),
        about_answers=_given(
            correctness=correctness,
            faithfulness=faithfulness,
            answer_field=answer_field,
            context_field=context_field,
        ),
        further=_given(html=report),
    )
    if by_the_ladder:
        refuse_unused(context, "the Ladder shows nothing but its answer", "by", "wanted", "test")
        _climb(runs, options, answers, of_answers, reason, actor, as_json)
        return
    if to_pool is not None:
        check_pooling(store, to_pool, actor)
    if answers and run:
        refuse_problems(
            [
                f"{option} could be about the runs or about the answers, and both are named"
                for option in _given(format=format, columns=columns, query_field=query_field)
                + _given(no_header=no_header)
            ],
            way_out="Evaluate --run and --answers in two calls.",
        )
    answered = None
    if answers:
        graded = {CORRECTNESS: correctness, FAITHFULNESS: faithfulness}
        grades = {name: read_grades_of_answers(f"--{name}", text) for name, text in graded.items() if text}
        of_answers = of_answers._replace(grades=grades)
        with progress_bar() as progress:
            files = named_answers(answers)
            answered = evaluate_answers(*runs[:2], files, of_answers, reason, actor, progress)
    if answered is not None and not run:
        _emit_answers(answered, report, as_json)
        return
    with progress_bar() as progress:
        if judge is not None:
            judged = judged_estimates(*runs, judge, split, named, relevant, reading, progress)
        found = evaluate_runs(*runs, options, reason, actor, progress)
        if to_pool is not None:
            pooled = pool_runs(
                *runs, to_pool, split=split, reading=reading, seed=seed, author=actor, progress=progress
            )
    failed = failed_figures(found, conditions, baseline) if conditions else None
    further = {"judge": judged, "to_pool": pooled, "answers": answered, "failed": failed}
    written = write_files(found, tables or (), per_query)
    _emit(found, further, [*written, *([report] if report else [])], report, as_json)
    if failed:
        raise typer.Exit(1)


def _given(**options: object) -> list[str]:
    """The options that were named, as the command line has them."""
    named = [option for option, value in options.items() if value is not None and value is not False]
    return [f"--{option.replace('_', '-')}" for option in named]


def _climb(
    runs: tuple[Store, Opened, list[RunSource]],
    options: EvaluationOptions,
    answers: Sequence[str] | None,
    of_answers: AnswerOptions,
    reason: str | None,
    actor: str,
    as_json: bool,
) -> None:
    """What the Ladders of runs and of answers say."""
    from curation.evaluation.answers.answer_files import named_answers
    from curation.evaluation.answers.evaluate_answers import ladder_answers
    from curation.looks.ladder_looks import ladder_looks

    climbed = []
    with progress_bar() as progress:
        if runs[2]:
            split, measures, _, relevant, _, reading, *_ = options
            climbed.append(ladder_looks(*runs, split, measures, relevant, reading, reason, actor, progress))
        if answers:
            files = named_answers(answers)
            climbed.append(ladder_answers(*runs[:2], files, of_answers, reason, actor, progress))
    told = plain(climbed[0]) | ({"of_answers": climbed[1]} if climbed[1:] else {})
    emit(as_json, told, lambda: say(*(line for one in climbed for line in one.sentences)))


def _emit(
    found: Evaluation, further: Mapping[str, Any], written: Sequence[Path], report: Path | None, as_json: bool
) -> None:
    """Print an evaluation with what was asked for besides, and write its page where one was asked for."""
    from curation.evaluation.report.further import failed_sections, pooled_sections
    from curation.evaluation.report.page import evaluation_report, report_details
    from curation.releases.card.limits import synthetic_sentence

    page = evaluation_report(found, further["answers"], further["judge"])
    if report is not None:
        write_page(report, page.html, option="--html")
    asked = {name: value for name, value in further.items() if value is not None}
    sections = [*pooled_sections(further["to_pool"]), *failed_sections(further["failed"])]
    if found.synthetic:  # a reader of a terminal meets this before any figure
        first = synthetic_sentence(found.synthetic, found.queries)
        page = replace(page, findings=(first, *(one for one in page.findings if one != first)))
    emit(
        as_json,
        plain(found) | asked if as_json else {},
        lambda: _show(page, sections, written, report_details(found)),
    )


def _emit_answers(found: AnswerEvaluation, report: Path | None, as_json: bool) -> None:
    """Print an evaluation of answers alone, and write its page where one was asked for."""
    from curation.evaluation.report.page import answers_report

    page = answers_report(found)
    if report is not None:
        write_page(report, page.html, option="--html")
    emit(as_json, {"answers": found}, lambda: _show(page))


def _show(
    page: EvaluationReport,
    further: Sequence[Section] = (),
    written: Sequence[Path] = (),
    details: Sequence[str] = (),
) -> None:
    """The report without its details, what was asked for besides, and the files that the figures are in."""
    from curation.reports.terminal import show_report

    sections = [one for one in page.sections if one.heading not in details]
    show_report(page.title, page.findings, [*sections, *further], page.remark, page.lead)
    if details:
        say(f"The page of --html has also: {', '.join(details)}.")
    if written:
        say(f"Wrote {', '.join(map(str, written))}.")


def _bands(text: str | None) -> list[int] | None:
    """The last ranks of bands; 0 is no rank, and so one band."""
    if text is None:
        return None
    wrong = [name for name in listed(text) if not name.isdecimal()]
    if wrong:
        raise InputError(f"--pool-sample {text}: {', '.join(wrong)} is no rank; expected such as 10,50.")
    return [int(name) for name in listed(text) if int(name)]
