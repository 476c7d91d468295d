"""`goldgrade coverage synthetic`: queries that a language model writes for the gaps, judged by people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.coverage import Fill, MapModel, coverage
from curation.cli.language_model import NOT_SENT, MostCalls, Send, note, spending_sentences
from curation.cli.output import emit, left_out, progress_bar, say, table
from curation.cli.program import Json, Seed, project_store
from curation.core.text import amount

if TYPE_CHECKING:
    from curation.queries.coverage.language_model.judged_share import JudgedOrigins, JudgedShare
    from curation.queries.coverage.language_model.writing import SyntheticQueries
    from curation.queries.coverage.language_model.writing_plan import WritingWork

synthetic = typer.Typer(
    help="Queries that a language model writes.", no_args_is_help=True, rich_markup_mode=None
)
coverage.add_typer(synthetic, name="synthetic")


@synthetic.command("write")
def synthetic_write(
    share: Annotated[
        float, typer.Option(help="Share of all synthetic queries that people judge. Above 0, at most 1.")
    ],
    queries: Annotated[int, typer.Option(min=1, help="Queries to write, one a region without any.")] = 20,
    candidates: Annotated[int, typer.Option(min=1, max=20, help="Candidates, one a document.")] = 5,
    fill: Fill = False,
    seed: Seed = 0,
    send: Send = False,
    calls: MostCalls = None,
    model: MapModel = None,
    as_json: Json = False,
) -> None:
    """Have a language model write queries for untested regions.

    It is the model of GOLDGRADE_LLM_URL.

    It proposes a candidate for each of some documents of the region. Copied phrases, near-duplicates and
    what does not read as a query are refused. A second call must quote the answer from the document, a third
    find it in the quote alone. Of those that hold, the one that adds most to coverage is kept, with source,
    model, prompts, document and region. What people do not judge is not in force.

    \b
    Examples:
      goldgrade coverage synthetic write --queries 30 --share 0.5
      goldgrade coverage synthetic write --queries 30 --share 0.5 --send --calls 300
      goldgrade coverage synthetic write --queries 60 --share 0.5 --fill --send
    """
    from curation.core.operation import DEFAULT_MODEL
    from curation.queries.coverage.language_model.answers import Asking
    from curation.queries.coverage.language_model.endpoint import (
        find_endpoint,
        model_at,
        model_name,
        prices_set,
    )
    from curation.queries.coverage.language_model.writing import write_queries
    from curation.queries.coverage.language_model.writing_plan import WritingRequest, plan_writing

    store, name = project_store(), model_name()
    request = WritingRequest(queries, share, seed, candidates, model or DEFAULT_MODEL, fill)
    endpoint = find_endpoint() if send else None
    with progress_bar() as progress:
        work = plan_writing(store, request, name, prices_set(), progress)
    if endpoint is None:
        emit(as_json, {"model": name, "would_send": work}, f"{model_at()}: {_work(work)} {NOT_SENT}")
        return
    note(f"{model_at()}: {_work(work)}")
    with progress_bar() as progress:
        found = write_queries(store, request, Asking(endpoint, calls), progress=progress)
    note(*spending_sentences(found.spent))
    emit(as_json, found, lambda: _show_written(found))


@synthetic.command("judge")
def synthetic_judge(
    share: Annotated[float, typer.Option(help="Share of all synthetic queries that people judge.")],
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Raise the share of synthetic queries that people judge.

    More of those withheld are drawn.

    \b
    Examples:
      goldgrade coverage synthetic judge --share 1
      goldgrade coverage synthetic judge --share 0.5 --seed 7 --json
    """
    from curation.queries.coverage.language_model.judged_share import draw_queries

    drawn = draw_queries(project_store(), share, seed)
    emit(as_json, drawn, f"{amount(drawn.added, 'query', 'queries')} drawn. {_drawn(drawn)}")


@synthetic.command("show")
def synthetic_show(
    relevant_grade: Annotated[
        int | None,
        typer.Option(help="Lowest grade of a relevant document.", show_default="second of the scale"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how many queries models wrote.

    It also says how people judged the documents that these were written for.

    \b
    Examples:
      goldgrade coverage synthetic show
      goldgrade coverage synthetic show --relevant-grade 2 --json
    """
    from curation.queries.coverage.language_model.judged_share import judged_origins

    found = judged_origins(project_store(), relevant_grade)
    emit(as_json, {"models": found}, lambda: _show_origins(found))


def _work(work: WritingWork) -> str:
    price = ""
    if work.least_price is not None and work.most_price is not None:
        price = f", {work.least_price:.4f} to {work.most_price:.4f} by the prices set"
    return (
        f"{amount(work.queries, 'query', 'queries')} for {amount(work.gaps, 'region')}. {work.least_calls:,} "
        f"to {amount(work.most_calls, 'call')}, which read about {work.least_tokens:,} to "
        f"{work.most_tokens:,} tokens{price}."
    )


def _drawn(drawn: JudgedShare) -> str:
    of = amount(drawn.queries, "synthetic query", "synthetic queries")
    return f"People judge {drawn.drawn:,} of {of}; the others are withheld."


def _show_written(queries: SyntheticQueries) -> None:
    rows = [(row.query_id, row.text, row.cluster, row.document_id, row.style) for row in queries.written]
    table(
        f"{amount(len(rows), 'query', 'queries')} by {queries.model}",
        ["id", "query", "region", "document", "style"],
        rows,
    )
    say(
        f"Regions to write for: {queries.gaps:,} before, {queries.gaps_left:,} now, counting queries "
        "withheld."
    )
    if queries.written:
        say(_drawn(queries.drawn))
        say("Next: goldgrade pool and goldgrade round open take those in force with all other queries.")
    if queries.ended:
        say(f"Ended before all were written: {queries.ended}. The same command goes on.")
    left_out({**queries.refused, **queries.left_out})


def _show_origins(originses: list[JudgedOrigins]) -> None:
    if not originses:
        say("No language model has written a query.")
        return
    rows = [
        (*counts, "–" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}")
        for *counts, interval in originses
    ]
    columns = ["model", "in force", "withheld", "document judged", "relevant", "share relevant, 95 %"]
    table("Synthetic queries, and the documents that they were written for", columns, rows)
