"""`goldset pool`: find the documents to be judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json, Seed, app, listed, project_store
from curation.cli.output import emit, left_out, progress_bar, say, table
from curation.errors import InputError
from curation.text import amount, percent, plain

if TYPE_CHECKING:
    from curation.labeling.judged_elsewhere import PairsWritten
    from curation.pooling import PoolReport
    from curation.retrieval.verify_bm25 import Bm25Check

SHOWN = 3
"""So many documents of a BM25 list that differs are printed; --json has all."""


@app.command()
def pool(
    context: typer.Context,
    systems: Annotated[
        str,
        typer.Option(
            help="Systems that propose documents, separated by commas: bm25, dense, hybrid, run:NAME."
        ),
    ] = "bm25,dense,hybrid",
    depth: Annotated[int, typer.Option(help="How many documents to take from the top of each system.")] = 10,
    random_negatives: Annotated[
        int, typer.Option(help="Random documents for each query from outside every system's first 1,000.")
    ] = 5,
    budget: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of pairs from the systems, spread evenly over queries.",
            show_default="no limit",
        ),
    ] = None,
    sample_bands: Annotated[
        str | None,
        typer.Option(
            help="Judge a random sample of the pool: last ranks of bands with the rate of each, such as "
            "10:1,50:0.3,100:0.1; the last one ends at the depth. With --sample-budget ranks alone.",
            show_default="judge the whole pool",
        ),
    ] = None,
    sample_budget: Annotated[
        int | None,
        typer.Option(
            help="Judge a random sample of so many pairs: the first band whole, the deeper ones at one rate.",
            show_default="judge the whole pool",
        ),
    ] = None,
    seed: Seed = 0,
    model: Annotated[
        str, typer.Option(help="Embedding model of dense and hybrid: a name or a folder.")
    ] = "all-MiniLM-L6-v2",
    stemmer: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="Snowball stemmer of bm25 in this project from now on: english, german, …, or none.",
            show_default="as before; at first none",
        ),
    ] = None,
    verify_bm25: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Compare the BM25 lists of this many random queries with those of rank-bm25.",
            show_default="no comparison",
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write the pairs to be judged to this file, .csv or .jsonl, for judging elsewhere. Without "
            "other options no pool is built."
        ),
    ] = None,
    export_text: Annotated[
        str, typer.Option(help="Texts of --export: whole, or excerpt as the grading screen shows them.")
    ] = "whole",
    as_json: Json = False,
) -> None:
    """Find the documents to judge for each query. They are the top of each system, and random negatives.

    Each candidate is stored with the systems, ranks and scores that proposed it. Embeddings are computed once
    and stored; an interrupted run continues where it stopped. A budget is used rank by rank: first each
    query's best candidate, then each query's second, and so on. Random negatives are not part of the budget.

    A sample keeps every pair of the pool with its probability. Only the drawn ones are judged. With
    --verify-bm25 the exit status is 1 if a list differs.

    With --export the pairs that are in no round and not judged are written with empty columns for grade and
    note: no rank, score or system, in random order. `goldset import judgments FILE --annotator NAME` takes
    the filled file.

    \b
    Examples:
      goldset pool --systems bm25 --depth 10 --random-negatives 5 --seed 7
      goldset pool --systems bm25,dense,hybrid --depth 20 --seed 7 --json
      goldset pool --systems bm25,run:splade,run:shop --depth 20 --budget 2000
      goldset pool --systems bm25,dense --depth 100 --sample-bands 10:1,30:0.4,100:0.1 --seed 7
      goldset pool --systems bm25,dense --depth 100 --sample-budget 3000 --seed 7
      goldset pool --systems dense --model ./models/my-finetuned-encoder
      goldset pool --systems bm25 --verify-bm25 50
      goldset pool --systems bm25,dense --stemmer german
      goldset pool --export pairs.csv --export-text excerpt
    """
    from curation.labeling.judged_elsewhere import export_pairs, refuse_file
    from curation.pooling import build_pool
    from curation.retrieval import verify_bm25 as verification

    names = listed(systems)
    if verify_bm25 is not None and not {"bm25", "hybrid"}.intersection(names):
        raise InputError("--verify-bm25 checks the system bm25: name it in --systems.")
    if export is not None:
        refuse_file(export, export_text)  # before a pool is built that would be stored all the same
    store = project_store()
    if export is not None and not _asks_for_a_pool(context):
        written = export_pairs(store, export, seed, export_text)
        emit(as_json, written, lambda: _show_export(written))
        return
    with progress_bar() as progress:
        report = build_pool(
            *(store, names, depth, random_negatives, seed, model, progress, budget),
            stemmer=stemmer,
            sample_bands=sample_bands,
            sample_budget=sample_budget,
        )
        if verify_bm25 is None:
            check = None
        else:
            check = verification.verify_bm25(store, verify_bm25, depth, seed, progress)
    result = plain(report) if check is None else plain(report) | {"verified_bm25": check}
    if export is None:
        emit(as_json, result, lambda: _show_pool(report, check))
    else:
        written = export_pairs(store, export, seed, export_text)
        emit(as_json, result | {"exported": plain(written)}, lambda: _show_both(report, check, written))
    if check is not None and check.differing:
        raise typer.Exit(1)


_EXPORT_ALONE = frozenset({"export", "export_text", "seed", "as_json"})


def _asks_for_a_pool(context: typer.Context) -> bool:
    """Whether an option of the pool itself was given."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    given = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
    return bool(given - _EXPORT_ALONE)


def _show_both(report: PoolReport, check: Bm25Check | None, written: PairsWritten) -> None:
    _show_pool(report, check)
    _show_export(written)


def _show_export(written: PairsWritten) -> None:
    say(
        f"Wrote {amount(written.pairs, 'pair')} of {amount(written.queries, 'query', 'queries')} to "
        f"{written.path}."
    )
    left_out(written.left_out, "candidates")
    if written.path.suffix.lower() == ".csv":
        say("Texts are written as they are: in a spreadsheet, import the columns as text, not as formulas.")
    say(f"Back: goldset import judgments {written.path.name} --annotator NAME")


def _show_pool(report: PoolReport, check: Bm25Check | None) -> None:
    table(
        f"Pool {report.pool_id[:8]}",
        ["system", "candidates", "of these alone"],
        [(system.system, system.candidates, system.alone) for system in report.systems],
    )
    if report.built_before:
        say("This pool was built before from the same inputs; nothing was added.")
    else:
        say(f"{report.sentences[0].rstrip('.')}; {report.added:,} are new to the project.")
    if report.sample:
        table(
            "Sample of the pool",
            ["ranks", "pooled pairs", "drawn", "share"],
            [(band.ranks, band.pairs, band.drawn, percent(band.share, 1)) for band in report.sample],
        )
    say(*report.gaps)
    if check is not None:
        _show_check(check)


def _show_check(check: Bm25Check) -> None:
    say(
        f"BM25: {check.agree:,} of {amount(check.queries, 'query', 'queries')} have the list of "
        "rank-bm25 to depth "
        f"{check.depth:,}; the largest difference of a score is {check.largest_difference:.2g}."
    )
    for difference in check.differing:
        ours, theirs = (
            ", ".join(f"{document_id} {score:.6f}" for document_id, score in hits[:SHOWN]) or "nothing"
            for hits in (difference.found, difference.expected)
        )
        say(f"{difference.text!r} ({difference.query_id}) differs: {ours} here, {theirs} by rank-bm25.")
