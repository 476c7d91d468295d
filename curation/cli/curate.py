"""`goldset sample` and `goldset pool`: which queries, and which documents for them, will be judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, Seed, left_out, print_json, progress_bar, say, table

if TYPE_CHECKING:
    from curation.pooling import PoolReport
    from curation.sampling import SampleReport


@app.command()
def sample(
    context: typer.Context,
    size: Annotated[int, typer.Option(help="How many distinct queries to draw, exactly.")],
    seed: Seed = 0,
    head: Annotated[
        float, typer.Option(help="The head is the most asked queries, up to this share of the traffic.")
    ] = 1 / 3,
    torso: Annotated[
        float, typer.Option(help="The torso reaches from there to this share; the rest is tail.")
    ] = 2 / 3,
    as_json: Json = False,
) -> None:
    """Draw the queries to be judged from all imported traffic, without replacement.

    Head, torso and tail get equal shares of the sample; what a small head cannot use goes to the others.
    Queries asked equally often stay in one band. Each query keeps the probability with which it was drawn.
    The sample becomes the current one; earlier samples stay stored.

    \b
    Examples:
      goldset sample --size 200 --seed 7
      goldset sample --size 200 --seed 7 --head 0.5 --torso 0.8 --json
    """
    from curation.sampling import draw_sample

    report = draw_sample(project_store(context), size, seed, head, torso)
    if as_json:
        print_json(report)
    else:
        _show_sample(report)


@app.command()
def pool(
    context: typer.Context,
    systems: Annotated[
        str, typer.Option(help="Systems that propose documents, separated by commas: bm25, dense, hybrid.")
    ] = "bm25,dense,hybrid",
    depth: Annotated[int, typer.Option(help="How many documents to take from the top of each system.")] = 10,
    random_negatives: Annotated[
        int, typer.Option(help="Random documents for each query from outside every system's first 1,000.")
    ] = 5,
    seed: Seed = 0,
    model: Annotated[
        str, typer.Option(help="Embedding model of dense and hybrid: a name or a folder.")
    ] = "all-MiniLM-L6-v2",
    as_json: Json = False,
) -> None:
    """Find the documents to be judged for each query: the union of the systems' top and random negatives.

    Every candidate keeps the systems, ranks and scores that proposed it. Embeddings are computed once and
    stored; an interrupted run goes on where it was.

    \b
    Examples:
      goldset pool --systems bm25 --depth 10 --random-negatives 5 --seed 7
      goldset pool --systems bm25,dense,hybrid --depth 20 --seed 7 --json
      goldset pool --systems dense --model ./models/my-finetuned-encoder
    """
    from curation.pooling import build_pool

    names = [name.strip() for name in systems.split(",") if name.strip()]
    store = project_store(context)
    with progress_bar() as progress:
        report = build_pool(store, names, depth, random_negatives, seed, model, progress)
    if as_json:
        print_json(report)
    else:
        _show_pool(report)


def _show_sample(report: SampleReport) -> None:
    table(
        f"Sample {report.sample_id[:8]}",
        ["stratum", "queries", "traffic", "drawn", "probability"],
        [tuple(stratum) for stratum in report.strata],
    )
    if report.drawn_before:
        say("This sample was drawn before; it is the current one, and nothing was added.")
    else:
        say(f"Drew {report.size:,} queries; {report.added:,} of them are new to the project.")
    left_out(report.left_out, "rows of traffic")
    say(*report.warnings)


def _show_pool(report: PoolReport) -> None:
    table(
        f"Pool {report.pool_id[:8]}",
        ["system", "candidates", "of these alone"],
        [(system.system, system.candidates, system.alone) for system in report.systems],
    )
    if report.built_before:
        say("This pool was built before from the same inputs; nothing was added.")
    else:
        say(
            f"{report.candidates:,} candidates for {report.queries:,} queries, "
            f"{report.random_negatives:,} of them random negatives; {report.added:,} are new to the project."
        )
    for system in report.systems:
        for reason, count in system.no_hit.items():
            say(f"{system.system} found nothing for {count:,} queries: {reason}")
    for reason, count in report.left_out.items():
        say(f"{count:,} {reason}")
