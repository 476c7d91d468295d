"""`goldgrade queries`: new queries, which people or a language model write without a log."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Context, Option

from curation.cli.invocation import actor, find_given_flags, project_store, refuse_unused
from curation.cli.language_model import NOT_SENT, MaxCalls, Send
from curation.cli.options import Seed, option, split_list, with_options_of
from curation.cli.output import emit, note, show
from curation.cli.program import command_group
from curation.cli.progress import progress_bar, run_operation
from curation.core.errors import InputError
from curation.core.operation import PlainResult
from curation.core.request import DEFAULT_MODEL
from curation.queries.requests import CoverageRequest, QuestionRequest

if TYPE_CHECKING:
    from curation.queries.coverage.language_model.writing_plan import WritingRequest

queries_group = command_group("queries", "Add queries that are not in the log.")

QueryCount = Annotated[int, Option(min=1, help="Number of queries to write in total.")]
Writers = Annotated[
    str | None, Option(help="Annotators who write, on the page Write. Separate them by commas.")
]
JudgedShare = Annotated[
    float | None, Option(help="Share of the model's queries that people judge. Above 0, at most 1.")
]
RegionNumber = Annotated[int | None, Option(help="Write only for the region with this number.")]
EmbeddingModel = Annotated[str, option(CoverageRequest, "model")]


QUESTION_OPTIONS = ("documents", "kinds", "strata", "check_model")


class Purpose(StrEnum):
    """Purposes of written queries: regions without a query, with few queries, or unanswerable queries."""

    gaps = "gaps"
    few = "few"
    unanswerable = "unanswerable"


PurposeOption = Annotated[
    Purpose,
    Option(
        help="Purpose: gaps, few or unanswerable. few adds queries to regions with 1 to 4 queries, up to 5. "
        "unanswerable asks people for queries without an answer in the corpus."
    ),
]


@queries_group.command("add")
def add(
    text: Annotated[str, Argument(help="The query, as a user would type it.")],
    id: Annotated[str | None, Option(help="The query's id.", show_default="made from the text")] = None,
    information_need: Annotated[str | None, Option(help="Information need, for annotators.")] = None,
    tag: Annotated[list[str] | None, Option(help="A tag of the query. Repeatable.")] = None,
) -> None:
    """Add a query that is not in the log. People judge the query like a query of the sample.

    A text that the project already has is refused, and so is a text with personal data.

    \b
    Examples:
      goldgrade queries add "cable for two 4k screens"
      goldgrade queries add "who repairs phones in space" --id odd-1 --tag unanswerable --tag question
      goldgrade queries add "usb c hub" --information-need "A hub that charges, too"
    """
    from curation.queries.new_query import write_query

    added = write_query(project_store(), text, id, information_need, tag or [], actor())
    emit(added, f"Added query {added.query_id}: {added.text}")


@queries_group.command("write")
@with_options_of(QuestionRequest, except_fields=("per_document", "share", "seed", "calls"))
def write_command(
    request: QuestionRequest,
    context: Context,
    per_document: Annotated[int | None, option(QuestionRequest, "per_document", min=1, max=20)] = None,
    queries: QueryCount = 20,
    annotators: Writers = None,
    share: JudgedShare = None,
    purpose: PurposeOption = Purpose.gaps,
    region: RegionNumber = None,
    seed: Seed = 0,
    model: EmbeddingModel = DEFAULT_MODEL,
    send: Send = False,
    calls: MaxCalls = None,
) -> None:
    """Have queries written, or list the written queries.

    With --per-document, a language model writes questions for documents that are drawn at random; the project
    needs neither traffic nor a coverage map. With --annotators people write queries for untested regions, and
    with --share alone a language model does. Without these options the command lists the written queries with
    their source, and the state of unanswerable queries.

    --per-document: one call writes all questions of a document. The model must quote the answer from the
    document. A second call, to the model of --check-model or of GOLDGRADE_LLM_CHECK_URL, sees the question
    with its document and BM25's first ten documents, but not the quote. The question is kept if one of these
    documents answers it, and each document that does becomes a candidate. Rejected questions are kept with
    the reason.

    A person's task has a document of a region and a style: 1–2 words, 3–4 words or a natural question, with
    proper names or in generic terms. The tasks take regions in the order of searches × documents; each region
    comes once before a region comes again.

    GOLDGRADE_LLM_URL names the language model; without --send the command only says how many calls it would
    send. The model proposes a query for each of several documents of a region. The command refuses copied
    phrases, near-duplicates and texts that do not read as a query. A second call must quote the answer from
    the document, and a third call must find the answer in the quote alone. The command keeps the query that
    adds most to coverage. A query of a model becomes active once people judge it. --share without --queries
    raises the judged share of all queries that models wrote.

    \b
    Examples:
      goldgrade queries write
      goldgrade queries write --per-document 3 --documents 200
      goldgrade queries write --per-document 2 --documents 60 --kinds question --send
      goldgrade queries write --queries 30 --annotators anna,ben --seed 7
      goldgrade queries write --queries 10 --annotators anna --purpose unanswerable
      goldgrade queries write --queries 2 --annotators anna --region 4
      goldgrade queries write --queries 30 --share 0.5 --send --calls 300
      goldgrade queries write --share 1
    """
    if per_document is not None:
        ask = ("queries", "annotators", "purpose", "region", "model")
        refuse_unused(context, "--per-document draws documents without a map", *ask)
        share = 1.0 if share is None else share
        questions = replace(request, per_document=per_document, share=share, seed=seed, calls=calls)
        _write_questions(questions, send)
        return
    refuse_unused(context, "no documents are drawn; add --per-document", *QUESTION_OPTIONS)
    _check_options(context, annotators, share, purpose)
    if annotators is not None:
        _open_tasks(queries, annotators, purpose, region, seed)
    elif share is None:
        _list_written_queries()
    elif "queries" in find_given_flags(context) or send:
        from curation.queries.coverage.language_model.writing_plan import WritingRequest

        fill = purpose is Purpose.few
        _write_by_model(WritingRequest(queries, share, seed, embedding=model, fill=fill), send, calls)
    else:
        from curation.queries.coverage.writing.synthetic_queries import draw_queries

        show(draw_queries(project_store(), share, seed, actor()))


@queries_group.command("check")
def check(
    against: Annotated[
        str, Option(help="File on which a model was trained or tuned. JSON lines, Parquet, a table or text.")
    ],
) -> None:
    """Find queries that a model has seen in training.

    The command compares the text of each query, its reference answers and its relevant documents with all
    texts of the file: exactly, and nearly by MinHash and Jaccard similarity. The result is stored for each
    query, and releases contain it. `goldgrade evaluate --breakdown contamination` gives separate scores for
    such queries. For sealed queries, only the text is compared.

    \b
    Examples:
      goldgrade queries check --against train.jsonl
    """
    from curation.queries.contamination import check_contamination

    with progress_bar() as progress:
        report = check_contamination(project_store(), Path(against), actor(), progress)
    show(report)


def _check_options(context: Context, annotators: str | None, share: float | None, purpose: Purpose) -> None:
    """Reject options that do not fit the writer: people with --annotators, a model with --share."""
    if share is None:
        refuse_unused(context, "only a language model uses this; add --share", "send", "calls", "model")
    elif annotators is not None:
        raise InputError(
            "With --annotators people write, with --share a language model writes; expected "
            "only one of these options."
        )
    if annotators is None:
        refuse_unused(context, "only people use this; add --annotators", "region")
        if purpose is Purpose.unanswerable:
            reason = "a model cannot know what the corpus lacks"
            raise InputError(f"--purpose unanswerable is for people: {reason}.")
        if share is None:
            reason = "nothing would be written; add --annotators or --share"
            refuse_unused(context, reason, "queries", "purpose")


def _open_tasks(queries: int, annotators: str, purpose: Purpose, region: int | None, seed: int) -> None:
    from curation.queries.coverage.writing.coverage_queries import GAP, UNANSWERABLE
    from curation.queries.coverage.writing.tasks import open_tasks

    writers = split_list(annotators)
    fill = purpose is Purpose.few
    kind = UNANSWERABLE if purpose is Purpose.unanswerable else GAP
    show(open_tasks(project_store(), queries, writers, seed, kind, actor(), region=region, fill=fill))


def _write_questions(request: QuestionRequest, send: bool) -> None:
    from curation.queries.questions.write_questions import estimate_questions

    sentences = estimate_questions(project_store(), request)
    if not send:
        emit({"would_send": sentences}, "\n".join([*sentences, NOT_SENT]))
        return
    note(*sentences)
    written = run_operation("write questions", request)
    note(*written.spent.sentences)
    show(written)


def _write_by_model(request: WritingRequest, send: bool, calls: int | None) -> None:
    from curation.queries.coverage.language_model import endpoint
    from curation.queries.coverage.language_model.call_runs import CallLimits
    from curation.queries.coverage.language_model.writing import write_queries
    from curation.queries.coverage.language_model.writing_plan import estimate_writing

    store, model = project_store(), endpoint.read_model()
    model_endpoint = endpoint.find_endpoint() if send else None
    with progress_bar() as progress:
        plan = estimate_writing(store, request, model, endpoint.read_prices(), progress)
    if model_endpoint is None:
        emit({"model": model, "would_send": plan}, f"{endpoint.name_model()}: {plan.sentence} {NOT_SENT}")
        return
    note(f"{endpoint.name_model()}: {plan.sentence}")
    with progress_bar() as progress:
        written = write_queries(store, request, CallLimits(model_endpoint, calls), actor(), progress)
    note(*written.spent.sentences)
    show(written)


def _list_written_queries() -> None:
    from curation.queries.coverage.writing import coverage_queries, synthetic_queries
    from curation.queries.coverage.writing.task_progress import build_batch_table, read_batches
    from curation.queries.unanswerable import build_written_table, check_written_queries

    store = project_store()
    with store.reading() as cursor:
        written, checks = coverage_queries.list_queries(cursor), check_written_queries(cursor)
        tasks = read_batches(cursor)
    models = synthetic_queries.read_judged_origins(store)
    result = {
        "queries": [{**query._asdict(), "detail": json.loads(query.detail)} for query in written],
        "unanswerable": [{**check._asdict(), "verdict": check.verdict} for check in checks],
        "tasks": tasks,
        "models": models,
    }
    origins = synthetic_queries.build_origins_table(models)
    tables = (build_batch_table(tasks), build_written_table(written, checks), origins)
    sentences = () if written else ("Nobody has written a query for coverage yet.",)
    show(PlainResult(sentences, tables), as_json=result)
