"""`goldgrade coverage`: which regions of the corpus the queries test, and which nothing tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.language_model import (
    ExtractorName,
    ExtractorOption,
    MatchingName,
    MatchingOption,
    MostCalls,
    Parallel,
    Send,
    Sender,
)
from curation.cli.options import refuse_unused, with_options_of
from curation.cli.output import emit, left_out, progress_bar, say, show_tables, table, write_page
from curation.cli.program import Json, Limit, Seed, app, project_store
from curation.core.text import ISOLATES, amount, percent, plain
from curation.queries.coverage import CoverageRequest

if TYPE_CHECKING:
    from curation.core.progress import Progress
    from curation.evaluation.region_values import EvaluatedValues
    from curation.queries.coverage.find_gaps import CoverageGap
    from curation.queries.coverage.measures import CoverageMeasures
    from curation.queries.coverage.report import CoverageReport
    from curation.queries.coverage.writing.coverage_queries import CoverageQuery
    from curation.queries.coverage.writing.progress import BatchProgress

IDS_SHOWN = 5
WITHOUT_SYNTHETIC = "regions, without synthetic queries"
ENTITIES_SHOWN = 6

coverage = typer.Typer()
app.add_typer(coverage, name="coverage")

MapModel = Annotated[
    str | None,
    typer.Option(
        help="Embedding model that joins entities: a name or a folder.",
        show_default="all-MiniLM-L6-v2",
    ),
]

Fill = Annotated[
    bool,
    typer.Option(help="Instead of gaps, fill regions of few queries (1 to 4) to 5."),
]


@coverage.callback(invoke_without_command=True)
@with_options_of(CoverageRequest)
def coverage_command(
    request: CoverageRequest,
    context: typer.Context,
    limit: Limit = 20,
    extractor: ExtractorOption = ExtractorName.phrases,
    matching: MatchingOption = MatchingName.rule,
    send: Send = False,
    calls: MostCalls = None,
    parallel: Parallel = 4,
    as_json: Json = False,
) -> None:
    """Show which regions of the corpus the queries test.

    Regions are clusters of what its documents are about.

    Entities of the documents are joined by meaning and clustered (Leiden). MSC is the share of regions with a
    query, SCC the share of documents in a region with five queries or more, ZQC the number of regions without
    any. The map of a corpus is made once and stored; it embeds every entity.

    With --extractor llm a language model names the entities. With --matching llm it says which of them each
    query is about. Address, name and key are in the environment: GOLDGRADE_LLM_URL, GOLDGRADE_LLM_MODEL and
    GOLDGRADE_LLM_KEY. Without --send the command only says what it would send.

    \b
    Examples:
      goldgrade coverage --seed 7
      goldgrade coverage --resolution 25 --min-documents 10
      goldgrade coverage --seed 7 --json
      goldgrade coverage --extractor llm --send --calls 200
      goldgrade coverage --matching llm --send
    """
    if context.invoked_subcommand is not None:
        refuse_unused(context, f"name options of {context.invoked_subcommand} after it")
        return
    from curation.operations.registry import OPERATIONS
    from curation.queries.coverage.coverage_map import MapSettings
    from curation.queries.coverage.language_model.endpoint import model_name
    from curation.queries.coverage.language_model.filtering import filter_settings
    from curation.queries.coverage.report import find_coverage

    store, settings = project_store(), MapSettings(**vars(request))
    sender = Sender(send, calls, parallel, as_json)
    if (extractor, matching) == (ExtractorName.phrases, MatchingName.rule):
        reason = "no language model takes part; add --extractor llm or --matching llm"
        refuse_unused(context, reason, "send", "calls", "parallel")
    if extractor is ExtractorName.llm:
        found = sender.extractor(store)
        if found is None:
            return
        settings = replace(settings, extractor=found)
    if matching is MatchingName.llm:
        settings = replace(settings, filtering=filter_settings(model_name()))
        if not sender.filter(store, settings):
            return
    with progress_bar(OPERATIONS["coverage"]) as progress:
        report = find_coverage(store, settings, progress)
    sent = {"sent": sender.spent} if sender.spent else {}
    emit(as_json, plain(report) | sent, lambda: _show(report, limit))


@coverage.command("gaps")
def coverage_gaps(
    model: MapModel = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List the regions of the corpus without a query.

    Each has documents to write queries for.

    The order is that of searches × documents, by the traffic; without traffic that of documents. The map is
    the one that `goldgrade coverage` made last.

    \b
    Examples:
      goldgrade coverage gaps
      goldgrade coverage gaps --json
    """
    from curation.core.operation import DEFAULT_MODEL
    from curation.queries.coverage.find_gaps import find_gaps

    with progress_bar() as progress:
        gaps = find_gaps(project_store(), model or DEFAULT_MODEL, progress)
    emit(as_json, {"gaps": gaps}, lambda: _show_gaps(gaps, limit))


@coverage.command("rename")
def coverage_rename(
    number: Annotated[int, typer.Argument(help="The cluster's number, as in the tables.")],
    name: Annotated[str, typer.Argument(help="What it is called from now on.")],
    as_json: Json = False,
) -> None:
    """Give a cluster of the map in force a name. Otherwise it has the names of its most central entities.

    \b
    Examples:
      goldgrade coverage rename 4 "USB hubs"
    """
    from curation.queries.coverage.stored_map import rename_cluster

    named = rename_cluster(project_store(), number, name)
    emit(as_json, named, f"Cluster {named.number} is called {named.name!r}.")


@coverage.command("open-tasks")
def coverage_open_tasks(
    queries: Annotated[int, typer.Option(help="Queries to write, in all.")],
    annotators: Annotated[str, typer.Option(help="Annotators who write, separated by commas.")],
    seed: Seed = 0,
    unanswerable: Annotated[
        bool,
        typer.Option(
            help="Ask for what the corpus lacks instead of for its gaps. The tasks are next to its regions."
        ),
    ] = False,
    region: Annotated[int | None, typer.Option(help="Only for this region, by its number.")] = None,
    fill: Fill = False,
    as_json: Json = False,
) -> None:
    """Ask people to write queries for the gaps.

    They do so in the app, on the page Write.

    Each task has a document of a gap and a style: 1–2 words, 3–4 words or a natural question, with proper
    names or in generic terms. The gaps come in the order of searches × documents, each once before any comes
    again.

    \b
    Examples:
      goldgrade coverage open-tasks --queries 30 --annotators anna,ben --seed 7
      goldgrade coverage open-tasks --queries 10 --annotators anna --unanswerable
      goldgrade coverage open-tasks --queries 2 --annotators anna --region 4
      goldgrade coverage open-tasks --queries 40 --annotators anna,ben --fill
    """
    from curation.queries.coverage.writing.coverage_queries import GAP, UNANSWERABLE
    from curation.queries.coverage.writing.tasks import open_tasks

    names = [name.strip() for name in annotators.split(",") if name.strip()]
    kind = UNANSWERABLE if unanswerable else GAP
    opened = open_tasks(project_store(), queries, names, seed, kind, region=region, fill=fill)

    def show() -> None:
        people = ", ".join(f"{name} {count:,}" for name, count in opened.of_writers.items())
        say(
            f"Opened {amount(opened.tasks, 'query-writing task')} in {amount(opened.regions, 'region')}: "
            f"{people}."
        )
        left_out(opened.left_out)

    emit(as_json, opened, show)


@coverage.command("written")
def coverage_written(as_json: Json = False) -> None:
    """List the queries written for coverage with their source.

    It also says what became of unanswerable ones.

    \b
    Examples:
      goldgrade coverage written
      goldgrade coverage written --json
    """
    from curation.queries.coverage.writing.coverage_queries import coverage_queries
    from curation.queries.coverage.writing.progress import batches
    from curation.queries.sampling.tags.answerable import written_unanswerable

    with project_store().reading() as cursor:
        found, checks = coverage_queries(cursor), written_unanswerable(cursor)
        tasks = batches(cursor)
    verdicts = {check.query_id: check.verdict for check in checks}
    result = {
        "queries": [{**one._asdict(), "detail": json.loads(one.detail)} for one in found],
        "unanswerable": [{**check._asdict(), "verdict": check.verdict} for check in checks],
        "tasks": tasks,
    }
    emit(as_json, result, lambda: _show_written(found, verdicts, tasks))


@coverage.command("map")
def coverage_map(
    file: Annotated[Path, typer.Argument(help="The HTML file to write.")],
    release: Annotated[
        str | None, typer.Option(help="Release on which the runs are evaluated.", show_default="no results")
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(
            help="A run file, or NAME=FILE. Repeatable. The first colours the map.", show_default="none"
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(help="A part of the release, or all.", show_default="all parts that are not sealed"),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Draw the map in force as one HTML file without network.

    It has documents against queries by region, the graph of regions, and for each region its entities,
    documents and queries. With runs, regions are coloured by nDCG@10; boxes show it within regions, and
    systems are compared region by region and by what counts (overall, macro, median, worst). Nothing of a
    sealed part is drawn.

    \b
    Examples:
      goldgrade coverage map map.html
      goldgrade coverage map map.html --release v1 --run bm25.trec --run dense=dense.trec
    """
    from curation.evaluation.coverage_report import coverage_page

    with progress_bar() as progress:
        found = _evaluated(release, run or [], part, seed, progress)
        page = coverage_page(project_store(), found)
    write_page(file, page, option="FILE")
    say(f"Wrote {file}.")


def _evaluated(
    release: str | None, runs: Sequence[str], split: str | None, seed: int, progress: Progress
) -> EvaluatedValues | None:
    from curation.core.errors import InputError
    from curation.evaluation.evaluate_runs import evaluate_runs
    from curation.evaluation.evaluation import EvaluationOptions
    from curation.evaluation.region_values import values_of
    from curation.evaluation.scoring.inputs.run_sources import named_runs

    if (release is None) != (not runs):
        raise InputError("Results need both --release and --run; expected both, or neither.")
    if release is None:
        return None
    options = EvaluationOptions(split=split, by=(), seed=seed)
    return values_of(evaluate_runs(project_store(), release, named_runs(runs), options, progress=progress))


def _show_written(
    queries: Sequence[CoverageQuery], verdicts: Mapping[str, str], tasks: Sequence[BatchProgress]
) -> None:
    from curation.queries.coverage.writing.progress import batch_table

    show_tables(batch_table(tasks))
    table(
        f"{amount(len(queries), 'query', 'queries')} written for coverage",
        ["query", "source", "writer", "region", "document", "style", "unanswerable"],
        [
            (
                query.text,
                query.source,
                query.writer,
                query.cluster,
                query.document_id,
                query.style,
                verdicts.get(query.query_id, ""),
            )
            for query in queries
        ],
    )


def _show(report: CoverageReport, limit: int) -> None:
    from curation.queries.coverage.report import reach_section

    say(
        f"{amount(report.documents, 'document')}, {report.entities:,} entities ({report.isolated:,} "
        f"isolated), {amount(report.queries, 'query', 'queries')}, {report.synthetic:,} of them synthetic. "
        f"Resolution {report.resolution:g}, {report.chosen}; seed {report.seed}.",
        f"A region is a cluster with {amount(report.least_documents, 'document')} or more.",
    )
    table(
        "What the queries cover",
        ["of", "clusters", "MSC", "by mass", "by traffic", "SCC", "ZQC"],
        [
            _measure_row("regions", report.regions),
            *([_measure_row(WITHOUT_SYNTHETIC, apart)] if (apart := report.without_synthetic) else []),
            _measure_row("all clusters", report.all_clusters),
        ],
    )
    reach = reach_section(report.rule, report.rules, report.outside)
    say(*ISOLATES.sub("", reach.sentence).splitlines())
    show_tables(*reach.tables)
    table(
        "Regions by resolution: lowest and highest of the seeds",
        ["γ", "clusters", "regions", "same by seed (ARI)", "recovered", "MSC", "SCC", "ZQC"],
        [
            (
                f"{step.resolution:g}",
                step.clusters.text(",.0f"),
                step.regions.text(",.0f"),
                step.rand_index,
                step.recovered,
                step.msc.text(),
                step.scc.text(),
                step.zqc.text(",.0f"),
            )
            for step in report.curve
        ],
    )
    shown = [cluster for cluster in report.clusters if cluster.is_region]
    rows = [(c.number, c.name, c.documents, c.entities, c.queries, c.searches) for c in shown[:limit]]
    columns = ["region", "name", "documents", "entities", "queries", "searches"]
    table(f"The {len(rows):,} largest of {amount(len(shown), 'region')}", columns, rows)
    if report.traffic_counted is not None:
        say(f"The texts counted are {percent(report.traffic_counted, 1)} of the searches.")
    left_out(report.left_out)


def _measure_row(name: str, measures: CoverageMeasures) -> tuple[object, ...]:
    shares = (measures.msc, measures.msc_by_mass, measures.msc_by_traffic, measures.scc)
    return name, measures.clusters, *shares, measures.zqc


def _show_gaps(gaps: Sequence[CoverageGap], limit: int) -> None:
    if not gaps:
        say("Every region has a query.")
        return
    rows = [
        (
            gap.number,
            ", ".join(gap.entities[:ENTITIES_SHOWN]),
            len(gap.documents),
            gap.searches,
            ", ".join(gap.documents[:IDS_SHOWN]) + (", …" if len(gap.documents) > IDS_SHOWN else ""),
        )
        for gap in gaps[:limit]
    ]
    columns = ["region", "most central entities", "documents", "searches", "ids"]
    table(f"{len(rows):,} of {amount(len(gaps), 'region')} without a query", columns, rows)
