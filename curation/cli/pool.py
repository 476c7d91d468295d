"""`goldgrade pool`: find the documents to be judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.options import given_flags, refuse_unused, with_options_of
from curation.cli.output import (
    NO_FORMULAS,
    carry_out,
    emit,
    left_out,
    progress_bar,
    say,
    show_outcome,
    to_people,
)
from curation.cli.program import Json, app, project_store
from curation.core.errors import InputError
from curation.core.text import amount, plain
from curation.pooling.request import PoolRequest

if TYPE_CHECKING:
    from curation.labeling.judged_elsewhere import PairsWritten
    from curation.retrieval.verify_bm25 import Bm25Check

SHOWN = 3
"""So many documents of a BM25 list that differs are printed; --json has all."""
_OUT_ALONE = frozenset({"out", "text", "seed", "as_json"})
"""Options that ask for no pool."""


@app.command()
@with_options_of(PoolRequest)
def pool(
    request: PoolRequest,
    context: typer.Context,
    verify_bm25: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Compare BM25 lists of so many queries with rank-bm25. The queries are drawn at random.",
            show_default="no comparison",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write the pairs to be judged to, .csv or .jsonl. It is for judging elsewhere. "
            "Without other options no pool is built."
        ),
    ] = None,
    text: Annotated[
        str,
        typer.Option(help="Texts in --out: whole or excerpt. An excerpt is what the grading screen shows."),
    ] = "whole",
    ids: Annotated[
        Path | None,
        typer.Option(help="File of all ids of an engine. Random negatives are drawn from it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the documents to judge for each query. They are the top of each system, and random negatives.

    Each candidate is stored with the systems, ranks and scores that proposed it. Embeddings are computed once
    and stored; an interrupted run continues where it stopped. A budget is used rank by rank: first each
    query's best candidate, then each query's second, and so on. Random negatives are not part of the budget.

    A sample keeps every pair of the pool with its probability. Only the drawn ones are judged. With
    --verify-bm25 the exit status is 1 if a list differs.

    engine:NAME asks an engine and stores its lists of today as a run, on which the pool rests. Where the
    corpus has only what engines brought, random negatives are drawn from the engine or from --ids, one id a
    line.

    With --out the pairs that are in no round and not judged are written with empty columns for grade and
    note: no rank, score or system, in random order. `goldgrade import judgments FILE --annotator NAME` takes
    the filled file.

    \b
    Examples:
      goldgrade pool --systems bm25 --depth 10 --random-negatives 5 --seed 7
      goldgrade pool --systems bm25,dense,hybrid --depth 20 --seed 7 --json
      goldgrade pool --systems bm25,run:splade,run:shop --depth 20 --budget 2000
      goldgrade pool --systems bm25,dense --depth 100 --sample-bands 10:1,30:0.4,100:0.1 --seed 7
      goldgrade pool --systems bm25,dense --depth 100 --sample-budget 3000 --seed 7
      goldgrade pool --systems dense --model ./models/my-finetuned-encoder
      goldgrade pool --systems engine:shop --depth 20 --rate 2 --ids all-ids.txt
      goldgrade pool --systems bm25 --verify-bm25 50
      goldgrade pool --systems bm25,dense --stemmer german
      goldgrade pool --out pairs.csv --text excerpt
    """
    from curation.labeling.judged_elsewhere import export_pairs, refuse_file
    from curation.operations.registry import OPERATIONS
    from curation.pooling.from_engines import notices
    from curation.retrieval import verify_bm25 as verification

    if verify_bm25 is not None and not {"bm25", "hybrid"}.intersection(request.systems):
        raise InputError("--verify-bm25 checks the system bm25: name it in --systems.")
    if out is None:
        refuse_unused(context, "no file is written; name one with --out", "text")
    else:
        refuse_file(out, text)  # before a pool is built that would be stored all the same
    store, seed = project_store(), request.seed
    if out is not None and not given_flags(context).keys() - _OUT_ALONE:
        written = export_pairs(store, out, seed, text)
        emit(as_json, written, lambda: _show_export(written))
        return
    if ids is not None:
        request = replace(request, ids=str(ids))
    with store.reading() as cursor:
        for notice in notices(cursor, request):
            to_people(notice)
    report, outcome = carry_out(OPERATIONS["pool"], request)
    result, check = plain(report), None
    if verify_bm25 is not None:
        with progress_bar() as progress:
            check = verification.verify_bm25(store, verify_bm25, request.depth, seed, progress)
        result |= {"verified_bm25": check}
    exported = None if out is None else export_pairs(store, out, seed, text)
    if exported is not None:
        result |= {"exported": plain(exported)}
    emit(as_json, result, lambda: show_outcome(outcome))
    if check is not None and not as_json:
        _show_check(check)
    if exported is not None and not as_json:
        _show_export(exported)
    if check is not None and check.differing:
        raise typer.Exit(1)


def _show_export(written: PairsWritten) -> None:
    say(
        f"Wrote {amount(written.pairs, 'pair')} of {amount(written.queries, 'query', 'queries')} to "
        f"{written.path}."
    )
    left_out(written.left_out, "candidates")
    if written.path.suffix.lower() == ".csv":
        say(NO_FORMULAS)
    say(f"Back: goldgrade import judgments {written.path.name} --annotator NAME")


def _show_check(check: Bm25Check) -> None:
    say(
        f"BM25: {check.agree:,} of {amount(check.queries, 'query', 'queries')} have the list of rank-bm25 to "
        f"depth {check.depth:,}; the largest difference of a score is {check.largest_difference:.2g}."
    )
    for difference in check.differing:
        ours, theirs = (
            ", ".join(f"{document_id} {score:.6f}" for document_id, score in hits[:SHOWN]) or "nothing"
            for hits in (difference.found, difference.expected)
        )
        say(f"{difference.text!r} ({difference.query_id}) differs: {ours} here, {theirs} by rank-bm25.")
