"""`goldgrade coverage`: the regions of the corpus, and which of them the queries test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Context, Option

from curation.cli.invocation import actor, project_store, refuse_unused
from curation.cli.options import Limit, switch, with_options_of
from curation.cli.output import say, show, write_file
from curation.cli.program import app
from curation.cli.progress import progress_bar, run_operation
from curation.core.errors import InputError
from curation.core.operation import PlainResult
from curation.queries.requests import CoverageRequest

if TYPE_CHECKING:
    from curation.core.progress import Progress
    from curation.evaluation.by_query import EvaluatedValues


@app.command("coverage")
@with_options_of(CoverageRequest)
def coverage_command(
    request: CoverageRequest,
    context: Context,
    rename: Annotated[
        str | None, Option(help="Give a region a name, such as '4=USB hubs'.", metavar="NUMBER=NAME")
    ] = None,
    html: Annotated[Path | None, Option(help="Draw the map of the regions as one HTML file.")] = None,
    release: Annotated[str | None, Option(help="Release on which --html evaluates runs.")] = None,
    run: Annotated[
        list[str] | None,
        Option(
            help="A run file, or NAME=FILE, for --html. Repeatable. The first run's scores color the map."
        ),
    ] = None,
    dismiss: Annotated[
        int | None, Option(help="Dismiss a region as no topic, so that it is no gap.", metavar="NUMBER")
    ] = None,
    keep: Annotated[
        int | None, Option(help="Count a dismissed region as a topic again.", metavar="NUMBER")
    ] = None,
    method: Annotated[
        bool, switch("--method", "Print the measures of the method instead of the gaps.")
    ] = False,
    limit: Limit = 20,
) -> None:
    """Show which regions of the corpus the queries test.

    A region is a group of documents about one topic. The command says how many regions have no query, and
    lists them by searches × documents, or by documents in a project without traffic. The map of a corpus is
    made once and stored; making the map embeds every phrase that distinguishes a document.

    --method prints the measures of the method: MSC is the share of regions with a query, SCC is the share of
    documents in regions with five queries or more, and ZQC is the number of regions without a query. --html
    draws the map as a page that works offline: documents against queries by region, and the entities,
    documents and queries of each region. With runs the regions are colored by nDCG@10. The map shows no
    results of a sealed part.

    \b
    Examples:
      goldgrade coverage --seed 7
      goldgrade coverage --json
      goldgrade coverage --rename "4=USB hubs"
      goldgrade coverage --dismiss 12
      goldgrade coverage --html map.html --release v1 --run bm25.trec --run dense=dense.trec
    """
    if html is None:
        refuse_unused(context, "only --html draws a map; add --html FILE", "release", "run")
    given = (method, *(value is not None for value in (rename, html, dismiss, keep)))
    if sum(given) > 1:
        options = "--method, --rename, --dismiss, --keep and --html"
        raise InputError(f"{options} cannot be combined; expected only one of these options.")
    if rename is not None:
        refuse_unused(context, "a region gets a name", "seed", "model", "limit")
        _rename_region(rename)
    elif dismiss is not None or keep is not None:
        refuse_unused(context, "a region is dismissed or kept", "seed", "model", "limit")
        _dismiss_region(dismiss, keep)
    elif html is not None:
        _draw_map(html, release, run or [], request.seed)
    else:
        report = run_operation("coverage", request)
        plain = PlainResult((*report.sentences, *report.details), report.method_tables)
        show(plain if method else report, limit=limit, as_json=report)


def _rename_region(text: str) -> None:
    from curation.queries.coverage.stored_map import rename_cluster

    number, _, name = text.partition("=")
    if not number.strip().isdecimal():
        expected = "expected the number of a region and its name, such as 4=USB hubs"
        raise InputError(f"--rename {text}: {expected}.")
    show(rename_cluster(project_store(), int(number), name, actor()))


def _dismiss_region(dismiss: int | None, keep: int | None) -> None:
    from curation.queries.coverage.stored_map import dismiss_region

    number = keep if dismiss is None else dismiss
    assert number is not None
    show(dismiss_region(project_store(), number, dismiss is not None, actor()))


def _draw_map(file: Path, release: str | None, runs: list[str], seed: int) -> None:
    from curation.evaluation.coverage_report import write_coverage_page

    with progress_bar() as progress:
        page = write_coverage_page(project_store(), _evaluate(release, runs, seed, progress))
    write_file(file, page)
    say(f"Wrote {file}.")


def _evaluate(release: str | None, runs: list[str], seed: int, progress: Progress) -> EvaluatedValues | None:
    from curation.evaluation.by_query import choose_values
    from curation.evaluation.evaluate_runs import evaluate_runs
    from curation.evaluation.request import EvaluateRequest
    from curation.evaluation.scoring.system_files import parse_run_files

    if (release is None) != (not runs):
        raise InputError("To show results, give both --release and --run; otherwise give neither.")
    if release is None:
        return None
    request = EvaluateRequest(release, by=(), seed=seed)
    run_files = parse_run_files(runs)
    return choose_values(evaluate_runs(project_store(), release, run_files, request, progress=progress))
