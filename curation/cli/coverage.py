"""`goldgrade coverage`: the regions of the corpus that queries test, and new queries for the others."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.invocation import actor, project_store
from curation.cli.language_model import NOT_SENT, MaxCalls, Send, describe_spending
from curation.cli.options import Limit, Seed, find_flags, option, refuse_unused, split_list, with_options_of
from curation.cli.output import emit, note, say, show, write_file
from curation.cli.program import app
from curation.cli.progress import progress_bar, run_operation
from curation.core.errors import InputError
from curation.core.operation import PlainResult
from curation.core.request import DEFAULT_MODEL
from curation.queries.requests import CoverageRequest

if TYPE_CHECKING:
    from curation.core.progress import Progress
    from curation.evaluation.coverage_report import EvaluatedValues
    from curation.queries.coverage.language_model.writing_plan import WritingRequest

coverage = typer.Typer()
app.add_typer(coverage, name="coverage")


class Purpose(StrEnum):
    """Purposes of written queries: regions without a query, regions with few queries, or unanswerable
    queries.
    """

    gaps = "gaps"
    few = "few"
    unanswerable = "unanswerable"


@coverage.callback(invoke_without_command=True)
@with_options_of(CoverageRequest)
def coverage_command(
    request: CoverageRequest,
    context: typer.Context,
    gaps: Annotated[
        bool, typer.Option("--gaps", help="List the regions without a query, with their documents.")
    ] = False,
    rename: Annotated[
        str | None, typer.Option(help="Give a region a name, such as '4=USB hubs'.", metavar="NUMBER=NAME")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Draw the map of the regions as one HTML file.")] = None,
    release: Annotated[str | None, typer.Option(help="Release on which --html evaluates runs.")] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(help="A run file, or NAME=FILE, for --html. Repeatable. The first run colors the map."),
    ] = None,
    limit: Limit = 20,
) -> None:
    """Show which regions of the corpus the queries test.

    A region is a cluster of entities that the documents name. Entities are joined by meaning and clustered by
    the Leiden method. MSC is the share of regions with a query, SCC is the share of documents in regions with
    five queries or more, and ZQC is the number of regions without a query. The map of a corpus is made once
    and stored; making the map embeds every entity.

    --gaps lists the regions without a query, ordered by searches × documents, or by documents in a project
    without traffic. --html draws the map as a page that needs no network: documents against queries by
    region, the graph of regions, and the entities, documents and queries of each region. With runs the
    regions are colored by nDCG@10, and systems are compared region by region. The map shows nothing of a
    sealed part.

    \b
    Examples:
      goldgrade coverage --seed 7
      goldgrade coverage --gaps --json
      goldgrade coverage --rename "4=USB hubs"
      goldgrade coverage --html map.html --release v1 --run bm25.trec --run dense=dense.trec
    """
    if context.invoked_subcommand is not None:
        refuse_unused(context, f"name options of {context.invoked_subcommand} after it")
        return
    if html is None:
        refuse_unused(context, "no map is drawn; add --html FILE", "release", "run")
    if sum((gaps, rename is not None, html is not None)) > 1:
        raise InputError("--gaps, --rename and --html do different work; expected one of them.")
    if rename is not None:
        refuse_unused(context, "a region gets a name", "seed", "model", "limit")
        _rename_region(rename)
    elif gaps:
        refuse_unused(context, "--gaps lists the gaps of the current map", "seed")
        _list_gaps(request.model, limit)
    elif html is not None:
        _draw_map(html, release, run or [], request.seed)
    else:
        from curation.operations.registry import OPERATIONS

        report = run_operation(OPERATIONS["coverage"], request)
        show(report, *report.details, limit=limit)


def _rename_region(text: str) -> None:
    from curation.queries.coverage.stored_map import rename_cluster

    number, _, name = text.partition("=")
    if not number.strip().isdecimal():
        expected = "expected the number of a region and its name, such as 4=USB hubs"
        raise InputError(f"--rename {text}: {expected}.")
    cluster = rename_cluster(project_store(), int(number), name, actor())
    emit(cluster, f"Cluster {cluster.number} is called {cluster.name!r}.")


def _list_gaps(model: str, limit: int) -> None:
    from curation.queries.coverage.gaps import build_gap_table, find_gaps

    with progress_bar() as progress:
        gaps = find_gaps(project_store(), model, progress)
    result = PlainResult(() if gaps else ("Every region has a query.",), (build_gap_table(gaps),))
    show(result, limit=limit, as_json={"gaps": gaps})


def _draw_map(file: Path, release: str | None, runs: list[str], seed: int) -> None:
    from curation.evaluation.coverage_report import write_coverage_page

    with progress_bar() as progress:
        page = write_coverage_page(project_store(), _evaluate(release, runs, seed, progress))
    write_file(file, page)
    say(f"Wrote {file}.")


def _evaluate(release: str | None, runs: list[str], seed: int, progress: Progress) -> EvaluatedValues | None:
    from curation.evaluation.coverage_report import choose_values
    from curation.evaluation.evaluate_runs import evaluate_runs
    from curation.evaluation.request import EvaluateRequest
    from curation.evaluation.scoring.system_files import parse_run_files

    if (release is None) != (not runs):
        raise InputError("Results need --release and --run together; expected both options, or neither.")
    if release is None:
        return None
    request = EvaluateRequest(release, by=(), seed=seed)
    run_files = parse_run_files(runs)
    return choose_values(evaluate_runs(project_store(), release, run_files, request, progress=progress))


@coverage.command("write")
def coverage_write(
    context: typer.Context,
    queries: Annotated[int, typer.Option(min=1, help="Number of queries to write in total.")] = 20,
    annotators: Annotated[
        str | None, typer.Option(help="Annotators who write, on the page Write. Separate them by commas.")
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(help="Share of a language model's queries that people judge. Above 0, at most 1."),
    ] = None,
    purpose: Annotated[
        Purpose,
        typer.Option(
            help="Purpose: gaps, few or unanswerable. Few are regions with 1 to 4 queries, which get "
            "5. Unanswerable queries have no answer in the corpus; only people write such queries."
        ),
    ] = Purpose.gaps,
    region: Annotated[int | None, typer.Option(help="Number of the only region to write for.")] = None,
    seed: Seed = 0,
    model: Annotated[str, option(CoverageRequest, "model")] = DEFAULT_MODEL,
    send: Send = False,
    calls: MaxCalls = None,
) -> None:
    """Have queries written for untested regions, or list queries.

    With --annotators, people write the queries; with --share, a language model writes them. Without both
    options the command lists the written queries with their source, and the state of unanswerable queries.

    A person's task has a document of a region and a style: 1–2 words, 3–4 words or a natural question, with
    proper names or in generic terms. Regions are taken in the order of searches × documents; each region
    comes once before a region comes again.

    GOLDGRADE_LLM_URL names the language model; without --send the command only says how many calls it would
    send. The model proposes a query for each of several documents of a region. The command refuses copied
    phrases, near-duplicates and texts that do not read as a query. A second call must quote the answer from
    the document, and a third call must find the answer in the quote alone. The command keeps the query that
    adds most to coverage. A query of a model becomes active once people judge it. --share without --queries
    raises the judged share of all queries that models wrote.

    \b
    Examples:
      goldgrade coverage write
      goldgrade coverage write --queries 30 --annotators anna,ben --seed 7
      goldgrade coverage write --queries 10 --annotators anna --purpose unanswerable
      goldgrade coverage write --queries 2 --annotators anna --region 4
      goldgrade coverage write --queries 30 --share 0.5 --send --calls 300
      goldgrade coverage write --share 1
    """
    if share is None:
        refuse_unused(context, "no language model writes; add --share", "send", "calls", "model")
    if annotators is None:
        refuse_unused(context, "nobody is asked to write; add --annotators", "region")
        if purpose is Purpose.unanswerable:
            reason = "a model cannot know what the corpus lacks"
            raise InputError(f"--purpose unanswerable is for people: {reason}.")
    if annotators is None and share is None:
        refuse_unused(context, "nothing is to be written; add --annotators or --share", "queries", "purpose")
        _list_written()
    elif share is None:
        _open_tasks(queries, annotators or "", purpose, region, seed)
    elif annotators is not None:
        raise InputError("--annotators has people write, --share a language model; expected one of them.")
    elif "queries" in find_flags(context) or send:
        from curation.queries.coverage.language_model.writing_plan import WritingRequest

        request = WritingRequest(queries, share, seed, embedding=model, fill=purpose is Purpose.few)
        _write_by_model(request, send, calls)
    else:
        from curation.queries.coverage.writing.coverage_queries import draw_queries

        show(draw_queries(project_store(), share, seed, actor()))


def _open_tasks(queries: int, annotators: str, purpose: Purpose, region: int | None, seed: int) -> None:
    from curation.queries.coverage.writing.coverage_queries import GAP, UNANSWERABLE
    from curation.queries.coverage.writing.tasks import open_tasks

    names = split_list(annotators)
    fill = purpose is Purpose.few
    kind = UNANSWERABLE if purpose is Purpose.unanswerable else GAP
    show(open_tasks(project_store(), queries, names, seed, kind, actor(), region=region, fill=fill))


def _write_by_model(request: WritingRequest, send: bool, calls: int | None) -> None:
    from curation.queries.coverage.language_model import chat
    from curation.queries.coverage.language_model.answers import CallLimits
    from curation.queries.coverage.language_model.writing import write_queries
    from curation.queries.coverage.language_model.writing_plan import estimate_writing

    store, name, endpoint = project_store(), chat.read_model(), chat.find_endpoint() if send else None
    with progress_bar() as progress:
        plan = estimate_writing(store, request, name, chat.read_prices(), progress)
    if endpoint is None:
        emit({"model": name, "would_send": plan}, f"{chat.name_model()}: {plan.sentence} {NOT_SENT}")
        return
    note(f"{chat.name_model()}: {plan.sentence}")
    with progress_bar() as progress:
        written = write_queries(store, request, CallLimits(endpoint, calls), actor(), progress)
    note(*describe_spending(written.spent))
    show(written)


def _list_written() -> None:
    from curation.queries.coverage.writing import coverage_queries
    from curation.queries.coverage.writing.tasks import build_batch_table, read_batches
    from curation.queries.unanswerable import build_written_table, check_written_queries

    store = project_store()
    with store.reading() as cursor:
        written, checks = coverage_queries.list_queries(cursor), check_written_queries(cursor)
        tasks = read_batches(cursor)
    models = coverage_queries.read_judged_origins(store)
    result = {
        "queries": [{**query._asdict(), "detail": json.loads(query.detail)} for query in written],
        "unanswerable": [{**check._asdict(), "verdict": check.verdict} for check in checks],
        "tasks": tasks,
        "models": models,
    }
    origins = coverage_queries.build_origins_table(models)
    tables = (build_batch_table(tasks), build_written_table(written, checks), origins)
    sentences = () if written else ("Nobody has written a query for coverage yet.",)
    show(PlainResult(sentences, tables), as_json=result)
